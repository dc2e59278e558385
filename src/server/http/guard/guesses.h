/* guesses.h: rate limit for wrong tokens.
 *
 * An address may send a thousand wrong tokens at once, then five a second. Beyond that its tokens
 * are refused without being compared. Cookies are counted apart, so that a page with the cookie of
 * an older token, which asks again and again, does not use up the attempts of a user who logs in.
 *
 * Addresses share 256 counters by their hash: memory is fixed, and an address that shares a counter
 * with an attacker only has to wait too. Threads: any. */
#ifndef SB_SERVER_HTTP_GUESSES_H
#define SB_SERVER_HTTP_GUESSES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/slice.h"

#define SB_GUESS_COUNTERS 256

typedef enum sb_guess_kind { SB_GUESS_TOKEN, SB_GUESS_COOKIE, SB_GUESS_KINDS } sb_guess_kind;

typedef struct sb_guesses {
    /* Steady nanoseconds: each wrong guess moves it a fifth of a second ahead; an address that is
     * more than a thousand guesses ahead of the present time is refused. */
    _Atomic uint64_t until[SB_GUESS_KINDS][SB_GUESS_COUNTERS];
} sb_guesses;

/* May this address send a token now? */
bool sb_guesses_allow(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now);
/* Counts a wrong token of this address. */
void sb_guesses_count(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now);

#endif
