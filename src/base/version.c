/* version.c: the version that this library was compiled as. */
#include "seaboard/version.h"

#include "base/banned.h"

const char *sb_version(void) {
    return SB_VERSION;
}

int sb_version_number(void) {
    return SB_VERSION_NUMBER;
}
