/* repeats.h: predicts the next event of a log that writes the same tags again and again.
 *
 * Training writes its scalars in the same order every step. So for each series the form of its last
 * event is kept (codec/form.h), and which series came behind it; the next event is compared with
 * that form before anybody reads its fields or looks its tag up. A wrong guess costs the compare.
 *
 * Nothing here decides what a point is: forms are learned from events that were read in full.
 *
 * Memory: one table, as large as there are series, at most MOST_REPEATS of 128 bytes; none before
 * FIRST_REPEATS events. Threads: a table belongs to one thread. */
#ifndef SB_CODEC_REPEATS_H
#define SB_CODEC_REPEATS_H

#include "base/alloc.h"
#include "codec/form.h"

typedef struct sb_repeat {
    uint32_t series;
    uint32_t next; /* where the form is that came behind this one */
    sb_form form;
} sb_repeat;

typedef struct sb_repeats {
    const sb_alloc *alloc;
    sb_repeat *items; /* a series is at the place that its number's low bits say */
    uint32_t room;    /* a power of two, or 0 */
    uint32_t last;
    uint32_t learned;
    uint32_t lost; /* entries that another series evicted before they were used */
    bool is_off;   /* there are too many series for this to help */
} sb_repeats;

void sb_repeats_init(sb_repeats *r, const sb_alloc *alloc);
void sb_repeats_fini(sb_repeats *r);

/* Is this payload the event that is expected now? */
static inline bool sb_repeats_read(sb_repeats *r, sb_slice payload, uint32_t *series,
                                   sb_form_point *out) {
    if (r->room == 0) return false;
    uint32_t next = r->items[r->last].next;
    const sb_repeat *guess = &r->items[next];
    if (!sb_form_read(&guess->form, payload, out)) return false;
    r->last = next;
    *series = guess->series;
    return true;
}

/* This payload gave one point, to this scalar series. */
void sb_repeats_learn(sb_repeats *r, uint32_t series, sb_slice payload);

#endif
