/* shares.c: from addresses to counters. */
#include "server/http/guard/shares.h"

#include <limits.h>
#include <netinet/in.h>

#include "base/banned.h"

#define FEW 128

void sb_shares_init(sb_shares *s, unsigned all) {
    *s = (sb_shares){.most = all < FEW ? UINT_MAX : all / 2};
}

static uint64_t mix(uint64_t hash, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ p[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

unsigned sb_share_slot(uint64_t seed, const struct sockaddr *address) {
    uint64_t hash = seed;
    if (address && address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        hash = mix(hash, (const uint8_t *)&four->sin_addr, 4);
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *six =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        bool is_four = IN6_IS_ADDR_V4MAPPED(six);
        hash = mix(hash, is_four ? six->s6_addr + 12 : six->s6_addr, is_four ? 4 : 8);
    }
    return (unsigned)(hash >> 40) % SB_SHARE_COUNTERS;
}
