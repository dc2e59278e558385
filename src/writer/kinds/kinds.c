/* kinds.c: checking arrays and texts for all kinds, and the small rules of the styles. */
#include "writer/kinds/kinds.h"

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "media/png.h"
#include "writer/tag_clean.h"

#include "base/banned.h"

/* A side of a picture is at most 2^31 - 1; a picture of that many pixels would take gigabytes. */
#define PNG_MAX_PIXELS ((uint64_t)1 << 30)
/* The maximum length of a serialized protobuf message. */
#define MAX_BYTES ((size_t)INT32_MAX)

/* ---- the caller's side ----------------------------------------------------------------------- */

sb_status sb_take_shape(sb_writer *w, const char *what, const sb_array *array, sb_shape *shape,
                        size_t *count) {
    if (!array) return sb_call_refuse(w, SB_INVALID, "%s: the array is missing", what);
    if (array->rank > SB_RANK_LIMIT)
        return sb_call_refuse(w, SB_LIMIT, "%s: rank %u is too large: the most is %d", what,
                              array->rank, SB_RANK_LIMIT);
    if (array->rank && !array->dims)
        return sb_call_refuse(w, SB_INVALID, "%s: an array of rank %u needs dims", what,
                              array->rank);
    shape->dtype = (uint32_t)array->dtype;
    shape->rank = array->rank;
    size_t product = 1;
    for (uint32_t i = 0; i < array->rank; i++) {
        int64_t dim = array->dims[i];
        if (dim < 0)
            return sb_call_refuse(w, SB_INVALID, "%s: dimension %u is %lld; it can't be negative",
                                  what, i, (long long)dim);
        shape->dims[i] = dim;
        if ((uint64_t)dim > SIZE_MAX || !sb_mul_size(&product, product, (size_t)dim))
            return sb_call_refuse(w, SB_LIMIT, "%s: the dimensions' product overflows", what);
    }
    if (!sb_strides_in_range(array))
        return sb_call_refuse(w, SB_LIMIT, "%s: the strides reach beyond the address space", what);
    *count = product;
    return SB_OK;
}

sb_status sb_take_array(sb_writer *w, const char *what, const sb_array *array, bool complex_too,
                        sb_shape *shape, sb_piece *elements) {
    size_t count = 0, bytes;
    sb_status status = sb_take_shape(w, what, array, shape, &count);
    if (status != SB_OK) return status;
    size_t size = sb_dtype_numeric(array->dtype) ? sb_dtype_size(array->dtype) : 0;
    if (size == 0 || (!complex_too && sb_dtype_complex(array->dtype)))
        return sb_call_refuse(w, SB_INVALID,
                              "%s: an array of %s can't be used here; give %snumbers", what,
                              sb_dtype_name(array->dtype), complex_too ? "" : "real ");
    if (!sb_mul_size(&bytes, count, size) || bytes > MAX_BYTES)
        return sb_call_refuse(w, SB_LIMIT, "%s: the array is over 2 GiB, which no event can hold",
                              what);
    if (bytes && !array->data)
        return sb_call_refuse(w, SB_INVALID, "%s: data is NULL, but %zu elements are announced",
                              what, count);
    *elements = (sb_piece){.p = bytes ? array->data : NULL, .n = bytes};
    if (!sb_strides_contiguous(array, size)) elements->gather = array;
    return SB_OK;
}

sb_status sb_take_text(sb_writer *w, const char *what, const char *text, bool may_miss, size_t max,
                       sb_slice *out) {
    *out = sb_slice_of(NULL, 0);
    if (!text) return may_miss ? SB_OK : sb_call_refuse(w, SB_INVALID, "%s is missing", what);
    size_t n = strnlen(text, max + 1);
    if (n > max) return sb_call_refuse(w, SB_LIMIT, "%s is longer than %zu bytes", what, max);
    *out = sb_slice_of(text, n);
    if (!sb_utf8_valid(*out))
        return sb_call_refuse(w, SB_INVALID, "%s '%.*s' is not valid UTF-8", what, SB_SHOWN(*out));
    return SB_OK;
}

size_t sb_shape_count(const sb_shape *shape) {
    size_t product = 1;
    for (uint32_t i = 0; i < shape->rank; i++) product *= (size_t)shape->dims[i];
    return product;
}

/* ---- the encoders' side ---------------------------------------------------------------------- */

sb_tensor_view sb_array_view(const sb_array *array) {
    sb_tensor_view view = {.dtype = array->dtype, .rank = 1, .shape_given = true};
    size_t count = 0;
    if (!sb_array_count(array, &count)) count = 0;
    view.count = count;
    view.dims[0] = (int64_t)count;
    view.content = sb_slice_of(array->data, count * sb_dtype_size(array->dtype));
    return view;
}

bool sb_metadata_due(sb_encoder *e, sb_slice tag) {
    if (e->style != SB_STYLE_TF1) return true;
    uint32_t id;
    bool is_new = true;
    /* When the table of tags is full, writing metadata too often is better than not at all. */
    if (sb_intern_add(&e->seen_tags, tag, &id, &is_new) != SB_OK) return true;
    return is_new;
}

void sb_value_metadata_once(sb_encoder *e, sb_buf *event, const sb_call *call, sb_slice tag,
                            sb_slice plugin_name, sb_slice plugin_content, bool force) {
    if (sb_metadata_due(e, tag)) sb_value_metadata(event, call, plugin_name, plugin_content, force);
}

/* Most tags contain no character that has to be replaced, and need no copy. */
static bool is_plain(sb_slice tag) {
    if (tag.p[0] == '/') return false;
    for (size_t i = 0; i < tag.n; i++) {
        uint8_t c = tag.p[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && !(c >= '-' && c <= '9') && c != '_') return false; /* - . / and digits */
    }
    return true;
}

sb_slice sb_style_tag(sb_encoder *e, sb_slice tag) {
    if (tag.n == 0) return SB_LIT("");
    if (e->style != SB_STYLE_TBX || is_plain(tag)) return tag;
    uint8_t *room = sb_arena_get(&e->scratch, tag.n);
    if (!room) return sb_slice_of(NULL, 0);
    size_t stored;
    sb_tag_clean_into(tag, room, tag.n, &stored);
    return sb_slice_of(room, stored);
}

sb_slice sb_join(sb_encoder *e, sb_slice prefix, sb_slice suffix) {
    uint8_t *room = sb_arena_get(&e->scratch, prefix.n + suffix.n);
    if (!room) return sb_slice_of(NULL, 0);
    if (prefix.n) memcpy(room, prefix.p, prefix.n);
    if (suffix.n) memcpy(room + prefix.n, suffix.p, suffix.n);
    return sb_slice_of(room, prefix.n + suffix.n);
}

sb_png_encoder *sb_encoder_png(sb_encoder *e) {
    if (e->png) return e->png;
    e->png = sb_alloc_get(e->env->alloc, sizeof *e->png);
    if (e->png) sb_png_encoder_init(e->png, e->env->alloc, PNG_MAX_PIXELS);
    return e->png;
}

sb_status sb_encode_nomem(sb_err *err, const sb_call *call) {
    return sb_fail(err, SB_NOMEM, 0, "out of memory to encode '%.*s'", SB_SHOWN(call->tag));
}
