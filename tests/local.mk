# SPDX-License-Identifier: MIT
# ---- tests ------------------------------------------------------------------------------------
# A folder's C files are one program, tests/check_FOLDER; tests/README.md says how to run a part.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .sh
# Threads that wait sleep instead of spinning: tests share the machine with other tests.
AM_TESTS_ENVIRONMENT = \
	export OMP_WAIT_POLICY=passive BEVSCOPE_DATA='$(abs_top_srcdir)' SRCDIR='$(abs_top_srcdir)' \
		BUILDDIR='$(abs_top_builddir)' BEVSCOPE='$(abs_top_builddir)/bevscope$(EXEEXT)' \
		CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' TENSORRT_CPPFLAGS='$(TENSORRT_CPPFLAGS)' \
		HARDENED='$(HARDEN_CFLAGS) $(HARDEN_LDFLAGS)' SANITIZED='$(SANITIZE_FLAGS)' \
		PATH='$(abs_top_builddir)/tests/bin':"$$PATH";

# Tests run the Python itself: a version manager's stand-in takes 80 ms to find it, at each start.
# Of several it is the first that has NumPy.
check_DATA = tests/bin/python3
tests/bin/python3:
	@$(MKDIR_P) tests/bin
	@for python in python3 /usr/bin/python3 python3; do \
	    "$$python" -c 'import numpy' 2>/dev/null && break; \
	done; \
	path=`"$$python" -c 'import sys; print(sys.executable)' 2>/dev/null` || exit 0; \
	printf '#!/bin/sh\nexec "%s" "$$@"\n' "$$path" >$@ && chmod +x $@

# What all programs share: the protocol, terminals, processes, problems between guard bands.
if TOOL
check_LIBRARIES = tests/libsupport.a
endif
tests_libsupport_a_SOURCES = %D%/support/tap.c %D%/support/suites.c %D%/support/guard.c \
	%D%/support/pty.c
LDADD = tests/libsupport.a $(program_libs) -lutil -ldl
tests_check_base_SOURCES = %D%/base/test_data.c %D%/base/test_omp_wait.c \
	%D%/base/test_srgb.c %D%/base/test_worker.c
tests_check_cachesim_SOURCES = %D%/cachesim/test_findings.c %D%/cachesim/test_network.c %D%/cachesim/test_timeline.c %D%/cachesim/test_predict.c \
	%D%/cachesim/test_reuse.c %D%/cachesim/test_sass.c %D%/cachesim/test_schedule.c %D%/cachesim/test_steps.c %D%/cachesim/test_trace.c \
	%D%/cachesim/test_traffic.c
tests_check_fuzz_SOURCES = %D%/fuzz/fuzz_json.c %D%/fuzz/fuzz_npy.c %D%/fuzz/fuzz_npz.c \
	%D%/fuzz/replay.c
tests_check_kernels_SOURCES = %D%/kernels/test_bevpool.c %D%/kernels/test_codec.c \
	%D%/kernels/test_even.c %D%/kernels/test_fp64.c %D%/kernels/test_gates.c \
	%D%/kernels/test_gradients.c %D%/kernels/test_height.c %D%/kernels/test_view_gates.c %D%/kernels/test_operator_gates.c \
	%D%/kernels/test_race.c %D%/kernels/test_regime.c
tests_check_lessons_SOURCES = %D%/lessons/test_lesson.c %D%/lessons/test_lessons.c
tests_check_lib_SOURCES = %D%/lib/test_lib.c %D%/lib/test_lib_layouts.c %D%/lib/test_lib_refuses.c \
	%D%/lib/test_lib_moving.c %D%/lib/test_lib_process.c %D%/lib/test_lib_transform.c %D%/lib/test_lib_view.c
# A test of the library lets its allocations fail.
tests_check_lib_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_check_live_SOURCES = %D%/live/test_engine.c %D%/live/test_engine_background.c \
	%D%/live/test_engine_give_up.c %D%/live/test_live_model.c \
	%D%/live/test_inputs.c %D%/live/test_loss.c %D%/live/test_timed_kernel.c
tests_check_run_SOURCES = %D%/run/test_counters.c %D%/run/test_recorded.c %D%/run/test_session.c
tests_check_scene_SOURCES = %D%/scene/test_classes.c %D%/scene/test_clip.c \
	%D%/scene/test_features.c %D%/scene/test_geometry.c %D%/scene/test_npy.c %D%/scene/test_npz.c \
	%D%/scene/test_npz_refused.c %D%/scene/test_npz_written.c %D%/scene/test_npz_zip.c \
	%D%/scene/test_operators.c %D%/scene/test_scatter.c %D%/scene/test_scene.c \
	%D%/scene/test_scene_json.c %D%/scene/test_world.c
tests_check_state_SOURCES = %D%/state/test_bits.c %D%/state/test_keys.c %D%/state/test_live_data.c \
	%D%/state/test_state_any_order.c %D%/state/test_state_kernel.c %D%/state/test_state_log.c \
	%D%/state/test_state_look.c %D%/state/test_state_program.c %D%/state/test_state_scripts.c %D%/state/test_state_words.c \
	%D%/state/test_state_world.c
tests_check_ui_SOURCES = %D%/ui/test_commands.c %D%/ui/test_loop.c %D%/ui/test_mouse.c \
	%D%/ui/test_options.c
tests_check_view_SOURCES = %D%/view/test_cells.c %D%/view/test_chart.c \
	%D%/view/test_color.c %D%/view/test_dashboard.c %D%/view/test_dashboard_panels.c \
	%D%/view/test_figure.c %D%/view/test_gradient_view.c %D%/view/test_image.c \
	%D%/view/test_origin.c %D%/view/test_panels.c %D%/view/test_plot.c %D%/view/test_raster.c %D%/view/test_stats.c \
	%D%/view/test_text.c %D%/view/test_view.c
# These put kernels of their own in place of kernels/variants.c.
tests_check_bench_SOURCES = %D%/run/test_bench.c
tests_device_line_SOURCES = %D%/run/device_line.c
tests_checkbev_SOURCES = %D%/kernels/checkbev.c
# The first ring, `make check`, and the second, `make check-hard`: see tests/README.md.
# Those that take longest begin first, so that none of them runs alone at the end.
short_tests = tests/check_lib tests/check_cachesim tests/check_view tests/check_kernels \
	tests/check_scene tests/check_lessons tests/check_base tests/check_run tests/check_state \
	tests/check_bench tests/check_fuzz
long_tests = tests/check_ui tests/check_live tests/checkbev
long_scripts = tests/cli/test_cli.sh tests/cli/test_try.sh tests/house/test_docs.sh \
	tests/cli/test_report.sh tests/house/test_add_control.sh tests/data/test_from_nuscenes.sh
check_tests = $(long_tests) $(short_tests)
# Scripts are found by their names: those in hard/ belong to the second ring.
hard_tests = tests/check_base tests/check_cachesim tests/check_kernels \
	tests/check_lessons tests/check_lib tests/check_live tests/check_ui tests/check_view tests/checkbev $(call here,tests/hard/test_*.sh)
helper_programs = tests/device_line

if HAVE_NCURSES
tests_check_lessons_SOURCES += %D%/lessons/test_learn_pty.c
tests_check_ui_SOURCES += %D%/ui/test_ends_pty.c %D%/ui/test_first_second.c %D%/ui/test_mouse_pty.c %D%/ui/test_term_answers.c %D%/ui/test_term_colors.c \
	%D%/ui/test_pixels_pty.c %D%/ui/test_progress_pty.c %D%/ui/test_tables_pty.c \
	%D%/ui/test_term_keys.c %D%/ui/test_term_pty.c
endif
if HAVE_SDL
tests_check_ui_SOURCES += %D%/ui/test_window.c
tests_check_ui_LDADD = $(LDADD) $(SDL_LIBS) $(X11_LIBS)
if HAVE_X11
tests_check_ui_SOURCES += %D%/ui/test_window_pty.c
endif
endif

# The third ring, tests/gpu.sh, runs these on a GPU; `make check` runs them as well.
if HAVE_CUDA
tests_check_gpu_SOURCES = %D%/gpu/test_device_gpu.c %D%/gpu/test_gradients_gpu.c \
	%D%/gpu/test_lib_devices.c %D%/gpu/test_lib_gpu.c \
	%D%/gpu/test_moving_gpu.c %D%/gpu/test_range_gpu.c
tests_recorder_SOURCES = %D%/gpu/recorder.c
short_tests += tests/check_gpu
helper_programs += tests/recorder
if HAVE_TENSORRT
tests_check_gpu_SOURCES += %D%/gpu/test_trt_gpu.c %D%/gpu/test_trt_streams.c %D%/gpu/trt_host.cpp
tests_check_gpu_CPPFLAGS = $(AM_CPPFLAGS) $(TENSORRT_CPPFLAGS)
tests_check_gpu_CXXFLAGS = $(TRT_CXXFLAGS)
EXTRA_tests_check_gpu_DEPENDENCIES = $(plugin)
endif
endif
# Its runtime library is found by BEVPOOL_NVINFER, the plugin and libbevpool in lib/.
if HAVE_TENSORRT
short_tests += tests/check_trt
tests_check_trt_SOURCES = %D%/lib/test_trt.cpp
tests_check_trt_CPPFLAGS = $(AM_CPPFLAGS) $(TENSORRT_CPPFLAGS)
tests_check_trt_CXXFLAGS = $(TRT_CXXFLAGS)
tests_check_trt_LDADD = tests/libsupport.a lib/$(bevpool_soname) -ldl
tests_check_trt_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'
EXTRA_tests_check_trt_DEPENDENCIES = $(plugin)
endif

if TOOL
check_PROGRAMS = $(check_tests) $(helper_programs)
TESTS = $(long_tests) @script_tests@ $(short_tests)
endif
if !TOOL
TESTS = tests/lib/test_lib_install.sh
endif

# `make check` says which tests were slow; it is quick as long as somebody looks at that.
check:
	@$(SHELL) $(srcdir)/tests/support/slowest.sh $(TEST_LOGS)
# Its random keys are others each day; HARD_SEED=20261126 repeats those of a day.
check-hard:
	@seed=$${HARD_SEED:-`date +%Y%m%d`}; echo "HARD_SEED=$$seed"; \
	    HARD_SEED=$$seed $(MAKE) $(AM_MAKEFLAGS) check RING=hard TESTS='$(hard_tests)'
# `make goldens` draws the screens and texts in tests/golden anew; look at what changed (git diff).
goldens: bevscope$(EXEEXT)
	BEVSCOPE_UPDATE_GOLDEN=1 $(MAKE) $(AM_MAKEFLAGS) check-am \
	    FILTER=dashboard TESTS='tests/check_view tests/cli/test_steps_text.sh tests/cli/test_cli.sh'
	BEVSCOPE_UPDATE_GOLDEN=1 $(MAKE) $(AM_MAKEFLAGS) check-am \
	    FILTER=scripts TESTS='tests/check_state tests/check_live tests/check_lessons tests/check_ui tests/check_scene'
.PHONY: check-hard goldens
