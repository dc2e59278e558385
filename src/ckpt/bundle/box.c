/* box.c: the runs of a box, innermost dimensions joined as far as both arrays allow. */
#include "ckpt/bundle/box.h"

#include <string.h>

#include "base/banned.h"

void sb_box_begin(sb_box_walk *w, uint32_t rank, size_t width, const int64_t *length,
                  sb_box_array from, sb_box_array to) {
    w->is_over = false;
    w->from_place = w->to_place = 0;
    w->run = width;
    w->outer = rank;
    uint64_t from_stride = width, to_stride = width;
    bool is_joined = true; /* all dimensions so far are whole in both arrays */
    for (uint32_t d = rank; d-- > 0;) {
        w->length[d] = (uint64_t)length[d];
        w->at[d] = 0;
        w->from_stride[d] = from_stride;
        w->to_stride[d] = to_stride;
        w->from_place += (uint64_t)from.start[d] * from_stride;
        w->to_place += (uint64_t)to.start[d] * to_stride;
        if (length[d] == 0) w->is_over = true;
        if (is_joined) {
            w->run *= (uint64_t)length[d];
            w->outer = d;
            is_joined = length[d] == from.dims[d] && length[d] == to.dims[d];
        }
        from_stride *= (uint64_t)from.dims[d];
        to_stride *= (uint64_t)to.dims[d];
    }
}

bool sb_box_next(sb_box_walk *w, uint64_t *from, uint64_t *to) {
    if (w->is_over) return false;
    *from = w->from_place;
    *to = w->to_place;
    for (uint32_t d = w->outer; d-- > 0;) {
        w->from_place += w->from_stride[d];
        w->to_place += w->to_stride[d];
        if (++w->at[d] < w->length[d]) return true;
        w->from_place -= w->length[d] * w->from_stride[d];
        w->to_place -= w->length[d] * w->to_stride[d];
        w->at[d] = 0;
    }
    w->is_over = true;
    return true;
}

void sb_box_copy(sb_box_walk *w, const uint8_t *from, uint8_t *to) {
    uint64_t source, target;
    while (sb_box_next(w, &source, &target)) memcpy(to + target, from + source, (size_t)w->run);
}
