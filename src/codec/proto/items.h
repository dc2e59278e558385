/* items.h: the elements of one repeated field of strings, bytes or messages, in file order.
 *
 *     sb_items nodes = sb_items_of(graph_def, SB_GRAPH_NODE);
 *     while ((status = sb_items_next(&nodes, &node)) == SB_OK) ...
 *
 * Fields of other numbers, and fields of this number that are not length-delimited, are stepped
 * over. The slices borrow from the message. Cost of a whole walk: one pass. */
#ifndef SB_CODEC_PROTO_ITEMS_H
#define SB_CODEC_PROTO_ITEMS_H

#include "codec/proto/proto.h"

typedef struct sb_items {
    sb_pb c;
    uint32_t number;
} sb_items;

static inline sb_items sb_items_of(sb_slice message, uint32_t number) {
    return (sb_items){sb_pb_over(message), number};
}

/* SB_OK, SB_END, or SB_CORRUPT when the message is malformed from here on. */
static inline sb_status sb_items_next(sb_items *items, sb_slice *out) {
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&items->c, &f)) == SB_PB_FIELD) {
        if (f.number != items->number || f.wire != SB_PB_BYTES) continue;
        *out = f.bytes;
        return SB_OK;
    }
    return step == SB_PB_END ? SB_END : SB_CORRUPT;
}

#endif
