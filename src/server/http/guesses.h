/* guesses.h: slows down who tries tokens.
 *
 * An address may offer a thousand wrong tokens at once, then five a second; until then its offers
 * are not even looked at. Cookies are counted apart, so that a page with the cookie of an older
 * token, which asks again and again, does not keep its reader from logging in.
 *
 * Addresses share 256 counters by their hash: memory is fixed, and a neighbour in the same counter
 * only waits as well. Threads: any. */
#ifndef SB_SERVER_HTTP_GUESSES_H
#define SB_SERVER_HTTP_GUESSES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/slice.h"

#define SB_GUESS_COUNTERS 256

typedef enum sb_guess_kind { SB_GUESS_TOKEN, SB_GUESS_COOKIE, SB_GUESS_KINDS } sb_guess_kind;

typedef struct sb_guesses {
    /* Steady nanoseconds: each wrong guess moves it a fifth of a second ahead; it must not get too
     * far ahead of the present. */
    _Atomic uint64_t until[SB_GUESS_KINDS][SB_GUESS_COUNTERS];
} sb_guesses;

/* May this address offer a token now? */
bool sb_guesses_allow(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now);
/* It did, and it was wrong. */
void sb_guesses_count(sb_guesses *g, sb_guess_kind kind, sb_slice peer, uint64_t now);

#endif
