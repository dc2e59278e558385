/* attrs.c: copies the encoded attributes of nodes into the model. Attributes that are too large,
 * such as constants of a hundred megabytes, are replaced by a placeholder that contains their
 * size. */
#include <stdio.h>

#include "base/slice.h"
#include "codec/proto/proto.h"
#include "graph/model/model_int.h"
#include "base/banned.h"

#define MOST_ATTR_BYTES 1024u

/* Adds an entry whose value is a placeholder with the size in bytes of what was left out. */
static void add_large(sb_buf *out, sb_slice key, size_t bytes) {
    char text[64];
    int n = snprintf(text, sizeof text, "%zu bytes, left out", bytes);
    size_t entry = sb_pb_begin(out, SB_NODE_ATTR, key.n + 64);
    sb_pb_add_bytes(out, SB_NODE_ATTR_KEY, key);
    size_t value = sb_pb_begin(out, SB_NODE_ATTR_VALUE, 40);
    sb_pb_add_bytes(out, SB_ATTR_VALUE_PLACEHOLDER, sb_slice_of(text, (size_t)n));
    sb_pb_end(out, value);
    sb_pb_end(out, entry);
}

static void keep_of(sb_model *m, const sb_raw_node *node, sb_buf *out) {
    sb_items entries = sb_items_of(node->message, SB_NODE_ATTR);
    sb_slice entry;
    while (sb_items_next(&entries, &entry) == SB_OK) {
        sb_items one = sb_items_of(entry, SB_NODE_ATTR_KEY), two;
        sb_slice key = {NULL, 0}, value = {NULL, 0};
        sb_items_next(&one, &key);
        two = sb_items_of(entry, SB_NODE_ATTR_VALUE);
        sb_items_next(&two, &value);
        if (entry.n <= MOST_ATTR_BYTES || sb_slice_eq(key, SB_LIT("_output_shapes"))) {
            sb_pb_add_bytes(out, SB_NODE_ATTR, entry);
        } else {
            add_large(out, key, value.n);
            sb_model_note(m, SB_ODD_LARGE, node->name);
        }
    }
}

/* Returns the ListValue of the attribute _output_shapes; empty when there is none. */
static sb_slice shapes_of(sb_slice attrs) {
    sb_node node = {.message = attrs};
    sb_slice value;
    sb_attr_value attr;
    if (sb_node_find_attr(&value, &node, SB_LIT("_output_shapes")) == SB_OK &&
        sb_attr_value_read(&attr, value) == SB_OK && attr.kind == SB_ATTR_LIST)
        return attr.body;
    return (sb_slice){NULL, 0};
}

/* A Keras layer has no operation type; its class is used instead. Returns false when memory runs
 * out. */
static bool take_class(sb_model *m, sb_box *box) {
    sb_node node = {.message = box->attrs};
    sb_slice value;
    sb_attr_value attr;
    if (box->op != SB_BOX_NONE ||
        sb_node_find_attr(&value, &node, SB_LIT("keras_class")) != SB_OK ||
        sb_attr_value_read(&attr, value) != SB_OK || attr.kind != SB_ATTR_STRING ||
        attr.body.n == 0)
        return true;
    return sb_intern_add(&m->texts, attr.body, &box->op, NULL) == SB_OK;
}

sb_status sb_attrs_keep(sb_raw *r, sb_err *err) {
    sb_model *m = r->m;
    sb_buf out;
    sb_buf_init(&out, m->alloc, (size_t)1 << 30);
    for (size_t i = 0; i < r->nodes.n && out.failed == SB_OK; i++) {
        sb_buf_clear(&out);
        keep_of(m, &r->nodes.items[i], &out);
        if (out.failed != SB_OK) break;
        sb_box *box = &m->boxes[r->nodes.items[i].box];
        box->attrs = sb_arena_dup(&m->arena, sb_buf_slice(&out));
        if (!box->attrs.p || !take_class(m, box)) out.failed = SB_NOMEM;
        box->outputs = shapes_of(box->attrs);
    }
    sb_status status = sb_buf_check(&out, "a graph", err);
    sb_buf_fini(&out);
    return status;
}
