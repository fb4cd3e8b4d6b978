/*===- version.h - The version of these headers ---------------------------===*\
 *
 * A part of effc.h, which includes it. effc_version() tells that of the library.
 * Until 1.0 a minor version may change types and functions; programs and
 * libraries of different minor versions do not go together, and the library's
 * SONAME and symbol versions say so to the linker and the loader.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_VERSION_H
#define EFFC_VERSION_H

#define EFFC_VERSION_MAJOR 0
#define EFFC_VERSION_MINOR 1
#define EFFC_VERSION_PATCH 0

/* For comparisons: EFFC_VERSION_NUMBER >= 100 is 0.1.0 or later. */
#define EFFC_VERSION_NUMBER                                                    \
  (EFFC_VERSION_MAJOR * 10000 + EFFC_VERSION_MINOR * 100 + EFFC_VERSION_PATCH)

#endif /* EFFC_VERSION_H */
