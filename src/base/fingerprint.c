/* fingerprint.c: xxh3, as text. */
#include "base/fingerprint.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/banned.h"

void sb_fingerprint(sb_slice bytes, uint64_t seed, char text[SB_FINGERPRINT_TEXT]) {
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.n ? (const void *)bytes.p : "", bytes.n, seed);
    snprintf(text, SB_FINGERPRINT_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
