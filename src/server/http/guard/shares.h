/* shares.h: limits how many connections or streams one address may have.
 *
 * Addresses share counters by their hash: memory is fixed. The hash is seeded, so that an attacker
 * cannot choose an address that shares a counter with a given client. Of an IPv6 address only the
 * network part (64 bits) counts, since a client has all addresses of its network. Threads: any. */
#ifndef SB_SERVER_HTTP_SHARES_H
#define SB_SERVER_HTTP_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define SB_SHARE_COUNTERS 4096

typedef struct sb_shares {
    unsigned most; /* of one address; UINT_MAX: no limit */
    _Atomic unsigned count[SB_SHARE_COUNTERS];
} sb_shares;

/* The limit of one address is half of `all`; when `all` is small (below 128) there is no limit. */
void sb_shares_init(sb_shares *s, unsigned all);

/* The counter of an address. */
unsigned sb_share_slot(uint64_t seed, const struct sockaddr *address);

/* Has the address reached its limit? */
static inline bool sb_share_is_used_up(const sb_shares *s, unsigned slot) {
    return atomic_load_explicit(&s->count[slot], memory_order_relaxed) >= s->most;
}

static inline void sb_share_take(sb_shares *s, unsigned slot) {
    atomic_fetch_add_explicit(&s->count[slot], 1, memory_order_relaxed);
}

static inline void sb_share_give(sb_shares *s, unsigned slot) {
    atomic_fetch_sub_explicit(&s->count[slot], 1, memory_order_relaxed);
}

#endif
