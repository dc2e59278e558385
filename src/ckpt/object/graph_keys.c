/* graph_keys.c: a pass over the graph that copies every field but the keys. */
#include "ckpt/object/graph_keys.h"

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "base/banned.h"

typedef struct change {
    sb_graph_key_fn fn;
    void *ud;
    sb_buf key;
} change;

/* The bytes of a field, key included, as they stand in the message. */
static void copy_field(sb_buf *out, const uint8_t *from, const sb_pb *c) {
    sb_buf_add(out, from, (size_t)(c->p - from));
}

/* One SerializedTensor; false in *is_kept when its value is gone. */
static bool change_attribute(sb_buf *out, sb_slice attribute, change *x, bool *is_kept) {
    sb_pb c = sb_pb_over(attribute);
    sb_pb_field f;
    sb_pb_step step;
    const uint8_t *from = c.p;
    *is_kept = true;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_SERIALIZED_TENSOR_CHECKPOINT_KEY && f.wire == SB_PB_BYTES) {
            sb_buf_clear(&x->key);
            if (!x->fn(x->ud, f.bytes, &x->key)) *is_kept = false;
            sb_pb_add_bytes(out, SB_SERIALIZED_TENSOR_CHECKPOINT_KEY, sb_buf_slice(&x->key));
        } else {
            copy_field(out, from, &c);
        }
        from = c.p;
    }
    return step == SB_PB_END;
}

static bool change_object(sb_buf *out, sb_slice object, change *x) {
    sb_pb c = sb_pb_over(object);
    sb_pb_field f;
    sb_pb_step step;
    const uint8_t *from = c.p;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_OBJECT_ATTRIBUTES && f.wire == SB_PB_BYTES) {
            size_t before = out->n;
            bool is_kept;
            size_t at = sb_pb_begin(out, SB_OBJECT_ATTRIBUTES, f.bytes.n);
            if (!change_attribute(out, f.bytes, x, &is_kept)) return false;
            sb_pb_end(out, at);
            if (!is_kept && out->failed == SB_OK) out->n = before;
        } else {
            copy_field(out, from, &c);
        }
        from = c.p;
    }
    return step == SB_PB_END;
}

sb_status sb_graph_keys_change(sb_buf *out, sb_slice graph, sb_graph_key_fn fn, void *ud,
                               sb_err *err) {
    change x = {.fn = fn, .ud = ud};
    sb_buf_init(&x.key, out->alloc, (size_t)1 << 24);
    sb_pb c = sb_pb_over(graph);
    sb_pb_field f;
    sb_pb_step step;
    const uint8_t *from = c.p;
    bool is_good = true;
    while (is_good && (step = sb_pb_next(&c, &f)) != SB_PB_END) {
        if (step == SB_PB_BAD) {
            is_good = false;
        } else if (f.number == SB_OBJECT_GRAPH_NODES && f.wire == SB_PB_BYTES) {
            size_t at = sb_pb_begin(out, SB_OBJECT_GRAPH_NODES, f.bytes.n);
            is_good = change_object(out, f.bytes, &x);
            sb_pb_end(out, at);
        } else {
            copy_field(out, from, &c);
        }
        from = c.p;
    }
    sb_status status = sb_buf_check(&x.key, "a key", err);
    sb_buf_fini(&x.key);
    if (!is_good) return sb_fail(err, SB_CORRUPT, 0, "the object graph is malformed");
    return status == SB_OK ? sb_buf_check(out, "an object graph", err) : status;
}
