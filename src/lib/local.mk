# SPDX-License-Identifier: MIT
# libbevpool for other programs, and as a plugin of TensorRT.
libapi_a_SOURCES = %D%/device.c %D%/error.c %D%/map.c %D%/map_rig.c %D%/moving.c %D%/plan.c %D%/prepare.c %D%/run.c %D%/view.c
if HAVE_CUDA
libapi_a_SOURCES += %D%/lib_cuda.cu %D%/map_gpu.cu %D%/prepare_gpu.cu
endif
if HAVE_TENSORRT
noinst_LIBRARIES += libtrt.a
libtrt_a_SOURCES = %D%/tensorrt/fields.cpp %D%/tensorrt/plugin.cpp %D%/tensorrt/pooling.cpp \
	%D%/tensorrt/sizes.cpp
libtrt_a_CPPFLAGS = $(AM_CPPFLAGS) $(TENSORRT_CPPFLAGS)
libtrt_a_CXXFLAGS = $(TRT_CXXFLAGS)
plugin = lib/libbevpool_trt.so
endif
TRT_CXXFLAGS = -std=c++17 -fvisibility-inlines-hidden $(STRICT_CXXFLAGS) $(HARDEN_CFLAGS) \
	$(SANITIZE_FLAGS) $(PIC_FLAGS)

# Shared, with the names of bevpool_* alone, and static: one object whose other names are its own.
# A change that breaks programs that are linked already counts the last digit of the soname up.
bevpool_rest = libscene.a libbase.a libkernels.a
bevpool_soname = libbevpool.so.1
bevpool_shared = libbevpool.so.$(PACKAGE_VERSION)

lib/$(bevpool_shared): libapi.a $(bevpool_rest) $(srcdir)/%D%/bevpool.map
	@$(MKDIR_P) lib
	$(AM_V_CCLD)$(CC) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -fPIC -Wl,-soname,$(bevpool_soname) \
		-Wl,--version-script,$(srcdir)/%D%/bevpool.map \
		-Wl,--whole-archive libapi.a -Wl,--no-whole-archive $(bevpool_rest) $(CUDA_LIBS) -lm -o $@
lib/libbevpool.a: libapi.a $(bevpool_rest)
	@$(MKDIR_P) lib
	$(AM_V_AR)$(LD) -r -o lib/bevpool.o --whole-archive libapi.a --no-whole-archive $(bevpool_rest) && \
		$(OBJCOPY) --wildcard --keep-global-symbol='bevpool_*' lib/bevpool.o && \
		rm -f $@ && $(AR) $(ARFLAGS) $@ lib/bevpool.o && rm -f lib/bevpool.o

lib/$(bevpool_soname): lib/$(bevpool_shared)
	$(AM_V_GEN)ln -sf $(bevpool_shared) $@
# For pip: the library, linked for old systems, and the package in samples/torch.
wheel: lib/$(bevpool_shared)
	$(AM_V_GEN)CC="$(CC)" python3 $(srcdir)/samples/torch/build_backend.py .
.PHONY: wheel

# The plugin finds libbevpool on the usual paths and beside itself.
lib/libbevpool_trt.so: libtrt.a lib/$(bevpool_soname) $(srcdir)/%D%/tensorrt/exports.map
	$(AM_V_CCLD)$(CXX) $(CXXFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -shared -fPIC \
		-Wl,-soname,libbevpool_trt.so -Wl,--version-script,$(srcdir)/%D%/tensorrt/exports.map \
		-Wl,-rpath,'$$ORIGIN' -Wl,--whole-archive libtrt.a -Wl,--no-whole-archive \
		lib/$(bevpool_soname) $(CUDA_LIBS) -o $@
bevlibdir = $(libdir)
bevlib_DATA = lib/$(bevpool_shared) lib/libbevpool.a $(plugin)
include_HEADERS = %D%/bevpool.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/lib/bevpool.pc
cmakedir = $(libdir)/cmake/bevpool
cmake_DATA = src/lib/bevpoolConfig.cmake src/lib/bevpoolConfigVersion.cmake
CLEANFILES += $(bevlib_DATA) lib/$(bevpool_soname) lib/libbevpool-wheel.so lib/manylinux.o man/*.3
install-data-hook:
	cd "$(DESTDIR)$(libdir)" && ln -sf $(bevpool_shared) $(bevpool_soname) && \
		ln -sf $(bevpool_soname) libbevpool.so
uninstall-hook:
	cd "$(DESTDIR)$(libdir)" && rm -f $(bevpool_soname) libbevpool.so

# The manual of the library is its header, typeset. It is found by each function's name as well.
bevpool_functions = $(sort $(shell sed -n 's/^[A-Za-z].*\(bevpool_[a-z_]*\)[^a-z_].*/\1/p' \
	$(srcdir)/%D%/bevpool.h))
libmanualdir = $(mandir)/man3
libmanual_DATA = man/bevpool.3 $(bevpool_functions:%=man/%.3)
man/bevpool.3: %D%/bevpool.h %D%/man.awk
	@$(MKDIR_P) man
	$(AM_V_GEN)$(AWK) -v version=$(PACKAGE_VERSION) -f $(srcdir)/%D%/man.awk $(srcdir)/%D%/bevpool.h \
		>$@.tmp && mv $@.tmp $@
man/bevpool_%.3: man/bevpool.3
	@echo '.so man3/bevpool.3' >$@
