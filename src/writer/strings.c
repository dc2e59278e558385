/* strings.c: packing and unpacking arrays of strings. */
#include "writer/strings.h"

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/utf8.h"

#include "base/banned.h"

static sb_status check_strings(sb_writer *w, const char *what, const sb_slice *strings,
                               size_t count, bool utf8) {
    for (size_t i = 0; i < count; i++) {
        if (strings[i].n && !strings[i].p)
            return sb_call_refuse(w, SB_INVALID, "%s: string %zu is NULL", what, i);
        if (utf8 && strings[i].n && !sb_utf8_valid(strings[i]))
            return sb_call_refuse(w, SB_INVALID, "%s: string %zu, '%.*s', is not valid UTF-8", what,
                                  i, SB_SHOWN(strings[i]));
    }
    return SB_OK;
}

static size_t pieces_bytes(size_t count) {
    return (count + 1) * sizeof(sb_piece);
}

/* Lengths and bytes of several strings. */
static sb_status pack_many(sb_writer *w, const char *what, const sb_slice *from, size_t count,
                           sb_packed_strings *out) {
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    out->pieces = sb_alloc_get(alloc, pieces_bytes(count));
    out->lengths = sb_alloc_get(alloc, (count + 1) * sizeof(uint64_t));
    out->count = count + 1;
    if (!out->pieces || !out->lengths) {
        sb_strings_free(w, out);
        return sb_call_refuse(w, SB_NOMEM, "%s: out of memory for %zu strings", what, count);
    }
    out->pieces[0] = (sb_piece){.p = out->lengths, .n = count * sizeof(uint64_t)};
    for (size_t i = 0; i < count; i++) {
        out->lengths[i] = from[i].n;
        out->pieces[i + 1] = sb_piece_of(from[i]);
    }
    return SB_OK;
}

static sb_status pack_contiguous(sb_writer *w, const char *what, const sb_slice *from, size_t count,
                                 bool utf8, sb_packed_strings *out) {
    sb_status status = check_strings(w, what, from, count, utf8);
    if (status != SB_OK) return status;
    if (count != 1) return pack_many(w, what, from, count, out);
    out->single = sb_piece_of(from[0]);
    out->pieces = &out->single;
    out->count = 1;
    return SB_OK;
}

sb_status sb_strings_pack(sb_writer *w, const char *what, const sb_array *strings, bool utf8,
                          sb_shape *shape, sb_packed_strings *out) {
    size_t count, bytes;
    *out = (sb_packed_strings){0};
    sb_status status = sb_take_shape(w, what, strings, shape, &count);
    if (status != SB_OK) return status;
    if (count > SIZE_MAX / sizeof(sb_piece) / 2 || !sb_mul_size(&bytes, count, sizeof(sb_slice)))
        return sb_call_refuse(w, SB_LIMIT, "%s: %zu strings are too many", what, count);
    if (count && !strings->data)
        return sb_call_refuse(w, SB_INVALID, "%s: data is NULL, but %zu strings are announced",
                              what, count);
    if (sb_strides_contiguous(strings, sizeof(sb_slice)))
        return pack_contiguous(w, what, strings->data, count, utf8, out);
    sb_slice *gathered = sb_alloc_get(sb_writer_env(w)->alloc, bytes);
    if (!gathered)
        return sb_call_refuse(w, SB_NOMEM, "%s: out of memory for %zu strings", what, count);
    sb_strides_copy(gathered, bytes, strings, sizeof(sb_slice));
    status = pack_contiguous(w, what, gathered, count, utf8, out);
    sb_alloc_put(sb_writer_env(w)->alloc, gathered, bytes);
    return status;
}

void sb_strings_free(sb_writer *w, sb_packed_strings *packed) {
    if (packed->pieces == &packed->single) return;
    const sb_alloc *alloc = sb_writer_env(w)->alloc;
    sb_alloc_put(alloc, packed->pieces, pieces_bytes(packed->count - 1));
    sb_alloc_put(alloc, packed->lengths, packed->count * sizeof(uint64_t));
}

sb_status sb_strings_unpack(sb_arena *arena, const sb_shape *shape, sb_slice data, sb_array *out) {
    size_t count = sb_shape_count(shape);
    sb_slice *strings = sb_arena_zeroed(arena, count ? count : 1, sizeof *strings);
    if (!strings) return SB_NOMEM;
    *out = sb_shape_array(shape, strings);
    if (count == 1) {
        strings[0] = data;
        return SB_OK;
    }
    const uint64_t *lengths = (const void *)data.p;
    const uint8_t *at = data.p + count * sizeof *lengths;
    for (size_t i = 0; i < count; at += lengths[i++])
        strings[i] = sb_slice_of(at, (size_t)lengths[i]);
    return SB_OK;
}
