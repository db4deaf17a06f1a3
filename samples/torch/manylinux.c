// SPDX-License-Identifier: MIT
// Linked into the library of a wheel: symbols of glibc that systems from glibc 2.28 on have, in the place
// of newer versions of the same functions, which the machine of the build would name.
#include <features.h>

#if defined __x86_64__ && defined __GLIBC__
#define OLD(function) __asm__(".symver old_" #function "," #function "@GLIBC_2.2.5")
struct stat;

double old_exp(double x);
double old_hypot(double x, double y);
void *old_dlopen(const char *name, int flags);
void *old_dlsym(void *library, const char *name);
int old_dlclose(void *library);
int old___xstat(int version, const char *path, struct stat *found);
OLD(exp);
OLD(hypot);
OLD(dlopen);
OLD(dlsym);
OLD(dlclose);
OLD(__xstat);

double exp(double x) { return old_exp(x); }
double hypot(double x, double y) { return old_hypot(x, y); }
void *dlopen(const char *name, int flags) { return old_dlopen(name, flags); }
void *dlsym(void *library, const char *name) { return old_dlsym(library, name); }
int dlclose(void *library) { return old_dlclose(library); }
int stat(const char *path, struct stat *found) { return old___xstat(1, path, found); }
#endif
