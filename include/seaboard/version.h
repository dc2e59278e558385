/* version.h: the version of this header, and of the library that runs.
 *
 * The three numbers below are the only place where the version is written down: CMake, the command,
 * the man pages and the packages read them here. A program that was compiled against an older
 * header of the same major version works with a newer libseaboard.so (docs/decisions/0006). */
#ifndef SEABOARD_VERSION_H
#define SEABOARD_VERSION_H

#include "seaboard/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SB_VERSION_MAJOR 0
#define SB_VERSION_MINOR 1
#define SB_VERSION_PATCH 0

/* One number that grows with the version: 1.2.3 is 1002003. For comparisons in #if. */
#define SB_VERSION_NUMBER (SB_VERSION_MAJOR * 1000000 + SB_VERSION_MINOR * 1000 + SB_VERSION_PATCH)

#define SB_VERSION_TEXT_OF(number) #number
#define SB_VERSION_JOIN(major, minor, patch)                                                       \
    SB_VERSION_TEXT_OF(major) "." SB_VERSION_TEXT_OF(minor) "." SB_VERSION_TEXT_OF(patch)
/* "1.2.3" */
#define SB_VERSION SB_VERSION_JOIN(SB_VERSION_MAJOR, SB_VERSION_MINOR, SB_VERSION_PATCH)

/* The version of the library that the program runs with: "1.2.3". It may be newer than SB_VERSION,
 * which is the version of the header that the program was compiled with. */
SB_API const char *sb_version(void);
/* The same as one number, to be compared with SB_VERSION_NUMBER. */
SB_API int sb_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
