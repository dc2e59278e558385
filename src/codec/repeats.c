/* repeats.c: the table of forms. */
#include "codec/repeats.h"

#include "base/banned.h"

#define FIRST_REPEATS 256u /* events read in full before it is worth a table */
#define MOST_REPEATS 4096u /* series in the table */

_Static_assert(sizeof(sb_repeat) == 128, "two cache lines");

void sb_repeats_init(sb_repeats *r, const sb_alloc *alloc) {
    *r = (sb_repeats){.alloc = alloc};
}

void sb_repeats_fini(sb_repeats *r) {
    sb_alloc_put(r->alloc, r->items, r->room * sizeof *r->items);
    r->items = NULL;
    r->room = 0;
}

/* Room for this series, as far as there may be. Series keep their places: all are below the old
 * room. */
static bool make_room_for_series(sb_repeats *r, uint32_t series) {
    uint32_t room = r->room ? r->room : 64;
    while (room <= series && room < MOST_REPEATS) room *= 2;
    if (room == r->room) return true;
    sb_repeat *items = sb_alloc_zeroed(r->alloc, room, sizeof *items);
    if (!items) return r->room > 0;
    if (r->room) memcpy(items, r->items, r->room * sizeof *items);
    sb_alloc_put(r->alloc, r->items, r->room * sizeof *items);
    r->items = items;
    r->room = room;
    return true;
}

void sb_repeats_learn(sb_repeats *r, uint32_t series, sb_slice payload) {
    if (r->is_off || r->learned++ < FIRST_REPEATS || !make_room_for_series(r, series)) return;
    uint32_t at = series & (r->room - 1);
    sb_repeat *item = &r->items[at];
    if (item->form.n && item->series != series && ++r->lost > MOST_REPEATS) {
        sb_repeats_fini(r);
        r->is_off = true;
        return;
    }
    r->items[r->last].next = at;
    r->last = at;
    item->series = series;
    sb_form_learn(&item->form, payload);
}
