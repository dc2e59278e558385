/* guesses.c: the counters of guesses.h. */
#include "server/http/guard/guesses.h"

#include "base/banned.h"

#define EACH 200000000u /* nanoseconds */
#define AT_ONCE 1000u

static _Atomic uint64_t *counter_of(sb_guesses *g, sb_guess_kind kind, sb_slice peer) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < peer.n; i++) hash = (hash ^ peer.p[i]) * 16777619u;
    return &g->until[kind][(hash ^ hash >> 16) % SB_GUESS_COUNTERS];
}

bool sb_guesses_allow(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now) {
    uint64_t until = atomic_load_explicit(counter_of(g, kind, peer), memory_order_relaxed);
    return until < now + (uint64_t)AT_ONCE * EACH;
}

void sb_guesses_count(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now) {
    _Atomic uint64_t *counter = counter_of(g, kind, peer);
    uint64_t until = atomic_load_explicit(counter, memory_order_relaxed), next;
    do {
        next = (until > now ? until : now) + EACH;
    } while (!atomic_compare_exchange_weak_explicit(counter, &until, next, memory_order_relaxed,
                                                    memory_order_relaxed));
}
