# ---- tests ------------------------------------------------------------------------------------
# A folder's C files are one program, tests/check_FOLDER; tests/README.md says how to run a part.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .sh
# Threads that wait sleep instead of spinning: tests share the machine with other tests.
AM_TESTS_ENVIRONMENT = \
	OMP_WAIT_POLICY=passive; export OMP_WAIT_POLICY; \
	BEVSCOPE_DATA='$(abs_top_srcdir)'; export BEVSCOPE_DATA; \
	BEVSCOPE='$(abs_top_builddir)/bevscope$(EXEEXT)'; export BEVSCOPE; \
	SRCDIR='$(abs_top_srcdir)'; export SRCDIR; \
	BUILDDIR='$(abs_top_builddir)'; export BUILDDIR; \
	CC='$(CC)'; export CC; \
	CXX='$(CXX)'; export CXX; \
	TENSORRT_CPPFLAGS='$(TENSORRT_CPPFLAGS)'; export TENSORRT_CPPFLAGS; \
	HARDENED='$(HARDEN_CFLAGS) $(HARDEN_LDFLAGS)'; export HARDENED; \
	SANITIZED='$(SANITIZE_FLAGS)'; export SANITIZED; \
	NVCC='$(NVCC)'; export NVCC;

# What all programs share: the protocol, terminals, processes, problems between guard bands.
check_LIBRARIES = tests/libsupport.a
tests_libsupport_a_SOURCES = tests/support/tap.c tests/support/suites.c tests/support/guard.c \
	tests/support/process.c tests/support/pty.c tests/support/typed.c tests/support/vt.c
LDADD = tests/libsupport.a libcli.a libtry.a libapi.a $(ui_libs) -lutil -ldl $(X11_LIBS)

tests_check_base_SOURCES = tests/base/test_data.c tests/base/test_omp_wait.c \
	tests/base/test_worker.c
tests_check_cachesim_SOURCES = tests/cachesim/test_findings.c tests/cachesim/test_predict.c \
	tests/cachesim/test_reuse.c tests/cachesim/test_steps.c tests/cachesim/test_trace.c \
	tests/cachesim/test_trace_backward.c tests/cachesim/test_traffic.c
tests_check_fuzz_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/fuzz_npy.c tests/fuzz/fuzz_npz.c \
	tests/fuzz/replay.c
tests_check_kernels_SOURCES = tests/kernels/test_bevpool.c tests/kernels/test_codec.c \
	tests/kernels/test_even.c tests/kernels/test_fp64.c tests/kernels/test_gates.c \
	tests/kernels/test_gradients.c tests/kernels/test_height.c tests/kernels/test_operator_gates.c \
	tests/kernels/test_race.c tests/kernels/test_regime.c
tests_check_lessons_SOURCES = tests/lessons/test_lesson.c tests/lessons/test_lesson_expression.c \
	tests/lessons/test_lesson_file.c tests/lessons/test_lessons.c
tests_check_lib_SOURCES = tests/lib/test_lib.c tests/lib/test_lib_layouts.c \
	tests/lib/test_lib_refuses.c tests/lib/test_lib_view.c tests/lib/test_library_run.c
tests_check_live_SOURCES = tests/live/test_engine.c tests/live/test_engine_background.c \
	tests/live/test_engine_file.c tests/live/test_engine_give_up.c tests/live/test_live_model.c \
	tests/live/test_loss.c tests/live/test_timed_kernel.c tests/live/test_train.c \
	tests/live/test_train_live.c
tests_check_run_SOURCES = tests/run/test_counters.c tests/run/test_recorded.c \
	tests/run/test_session.c
tests_check_scene_SOURCES = tests/scene/test_classes.c tests/scene/test_clip.c \
	tests/scene/test_features.c tests/scene/test_geometry.c tests/scene/test_npy.c \
	tests/scene/test_npz.c tests/scene/test_npz_changed.c tests/scene/test_npz_moments.c \
	tests/scene/test_npz_refused.c tests/scene/test_npz_written.c tests/scene/test_npz_zip.c \
	tests/scene/test_operators.c tests/scene/test_scatter.c tests/scene/test_scatter_foreign.c \
	tests/scene/test_scene.c tests/scene/test_scene_json.c tests/scene/test_scene_json_edits.c \
	tests/scene/test_scene_json_fields.c tests/scene/test_scene_json_sizes.c \
	tests/scene/test_world.c
tests_check_state_SOURCES = tests/state/test_keys.c tests/state/test_live_data.c \
	tests/state/test_state_any_order.c tests/state/test_state_kernel.c tests/state/test_state_log.c \
	tests/state/test_state_look.c tests/state/test_state_program.c tests/state/test_state_world.c
tests_check_ui_SOURCES = tests/ui/test_loop.c tests/ui/test_mouse.c
tests_check_view_SOURCES = tests/view/test_bev_cells.c tests/view/test_cells.c \
	tests/view/test_chart.c tests/view/test_color.c tests/view/test_dashboard.c \
	tests/view/test_dashboard_backward.c tests/view/test_dashboard_lesson.c \
	tests/view/test_dashboard_model.c tests/view/test_dashboard_scenes.c \
	tests/view/test_dashboard_sizes.c tests/view/test_figure_backward.c \
	tests/view/test_figure_bytes.c tests/view/test_figure_layout.c tests/view/test_figure_truth.c \
	tests/view/test_gradient_view.c tests/view/test_image.c tests/view/test_plot.c \
	tests/view/test_raster.c tests/view/test_stats.c tests/view/test_steps_controls.c \
	tests/view/test_text.c tests/view/test_view.c
# These put kernels of their own in place of kernels/variants.c.
tests_check_bench_SOURCES = tests/run/test_bench.c
tests_check_device_lost_SOURCES = tests/ui/test_device_lost.c
tests_checkbev_SOURCES = tests/kernels/checkbev.c
tests_device_line_SOURCES = tests/run/device_line.c
tests_nvml_line_SOURCES = tests/run/nvml_line.c

# The first ring, `make check`, and the second, `make check-hard`: see tests/README.md.
check_tests = tests/check_base tests/check_bench tests/check_cachesim tests/check_fuzz \
	tests/check_kernels tests/check_lessons tests/check_lib tests/check_live tests/check_run \
	tests/check_scene tests/check_state tests/check_ui tests/check_view tests/checkbev
hard_programs =
hard_tests = $(hard_programs) $(hard_scripts)
helper_programs = tests/device_line tests/nvml_line

if HAVE_NCURSES
tests_check_lessons_SOURCES += tests/lessons/test_learn_pty.c
tests_check_ui_SOURCES += tests/ui/test_ends_pty.c tests/ui/test_mouse_pty.c tests/ui/test_palette.c \
	tests/ui/test_progress_pty.c tests/ui/test_steps_pty.c tests/ui/test_tables_pty.c \
	tests/ui/test_term_keys.c tests/ui/test_term_pty.c
tests_check_hard_SOURCES = tests/hard/test_budget.c tests/hard/test_heavy_pty.c tests/hard/test_soak.c
check_tests += tests/check_device_lost
hard_programs += tests/check_hard
if HAVE_SDL
tests_check_hard_SOURCES += tests/hard/test_live_pace.c
if HAVE_X11
tests_check_ui_SOURCES += tests/ui/test_window_pty.c tests/ui/xserver.c
endif
endif
endif
if HAVE_SDL
tests_check_ui_SOURCES += tests/ui/test_window.c
endif

# The third ring, tests/gpu.sh, runs these on a GPU; `make check` runs them as well.
if HAVE_CUDA
tests_check_gpu_SOURCES = tests/gpu/test_device_gpu.c tests/gpu/test_gradients_gpu.c \
	tests/gpu/test_lib_devices.c tests/gpu/test_lib_gpu.c tests/gpu/test_range_gpu.c
tests_ladder_SOURCES = tests/gpu/ladder.c
check_tests += tests/check_gpu
helper_programs += tests/ladder
if HAVE_TENSORRT
tests_check_gpu_SOURCES += tests/gpu/test_trt_gpu.c tests/gpu/test_trt_streams.c tests/gpu/trt_host.cpp
tests_check_gpu_CPPFLAGS = $(AM_CPPFLAGS) $(TENSORRT_CPPFLAGS)
tests_check_gpu_CXXFLAGS = $(TRT_CXXFLAGS)
EXTRA_tests_check_gpu_DEPENDENCIES = lib/libbevpool_trt.so
endif
endif
# Its runtime library is found by BEVPOOL_NVINFER, the plugin and libbevpool in lib/.
if HAVE_TENSORRT
check_tests += tests/check_trt
tests_check_trt_SOURCES = tests/lib/test_trt.cpp
tests_check_trt_CPPFLAGS = $(AM_CPPFLAGS) $(TENSORRT_CPPFLAGS)
tests_check_trt_CXXFLAGS = $(TRT_CXXFLAGS)
tests_check_trt_LDADD = tests/libsupport.a lib/$(bevpool_soname) -ldl
tests_check_trt_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'
EXTRA_tests_check_trt_DEPENDENCIES = lib/libbevpool_trt.so
endif

check_scripts = \
	tests/house/test_add_control.sh tests/house/test_add_kernel.sh tests/house/test_bootstrap.sh tests/house/test_docs.sh \
	tests/house/test_hardening.sh tests/house/test_headers.sh tests/house/test_layers.sh \
	tests/cli/test_agreement.sh tests/cli/test_backward.sh tests/cli/test_cli.sh \
	tests/cli/test_counted.sh tests/cli/test_outside.sh tests/cli/test_report.sh \
	tests/cli/test_script.sh tests/cli/test_silence.sh tests/cli/test_steps_text.sh \
	tests/cli/test_try.sh tests/data/test_clip_file.sh tests/data/test_export_numpy.sh \
	tests/data/test_export_pooled.sh tests/data/test_from_kitti360.sh \
	tests/data/test_from_nuscenes.sh tests/data/test_grad_out.sh \
	tests/data/test_operator_arrays.sh tests/data/test_photos.sh tests/lessons/test_learn.sh \
	tests/lib/test_lib_install.sh tests/lib/test_lib_python.sh tests/lib/test_lib_readme.sh \
	tests/lib/test_onnx.sh tests/run/test_device.sh tests/run/test_nvml.sh
hard_scripts = tests/hard/test_hard.sh tests/hard/test_inject.sh
check_PROGRAMS = $(check_tests) $(hard_programs) $(helper_programs)
TESTS = $(check_tests) $(check_scripts)

# `make check` says which tests were slow; it is quick as long as somebody looks at that.
check:
	@status=0; $(MAKE) $(AM_MAKEFLAGS) check-am || status=$$?; \
	$(SHELL) $(srcdir)/tests/support/slowest.sh $(TEST_LOGS); exit $$status
check-hard:
	$(MAKE) $(AM_MAKEFLAGS) check RING=hard TESTS='$(hard_tests)'

# `make goldens` draws the screens and texts in tests/golden anew; look at what changed (git diff).
goldens: bevscope$(EXEEXT)
	BEVSCOPE_UPDATE_GOLDEN=1 $(MAKE) $(AM_MAKEFLAGS) check-am \
	    FILTER=dashboard TESTS='tests/check_view tests/cli/test_steps_text.sh'
.PHONY: check-hard goldens

test_files = $(foreach type,c h cpp hpp sh py dict md,$(wildcard $(srcdir)/tests/*/*.$(type)))
EXTRA_DIST += $(test_files:$(srcdir)/%=%) tests/README.md tests/gpu.sh tests/hard.sh tests/golden \
	tests/fuzz/corpus_json tests/fuzz/corpus_npz tests/fuzz/corpus_npy
