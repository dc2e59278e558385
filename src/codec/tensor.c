/* tensor.c: the view of a TensorProto and the table of dtypes. The byte table is in tensor.h. */
#include "codec/tensor.h"

#include "base/checked.h"
#include "codec/plain_int.h"
#include "codec/tensor_int.h"
#include "base/banned.h"

size_t sb_dtype_size(sb_dtype dtype) {
#define SIZE_CASE(name, number, bytes, text)                                                       \
    case SB_##name:                                                                                \
        return bytes;
    switch (dtype) { SB_DTYPE_MAP(SIZE_CASE) }
#undef SIZE_CASE
    return 0;
}

const char *sb_dtype_name(sb_dtype dtype) {
#define NAME_CASE(name, number, bytes, text)                                                       \
    case SB_##name:                                                                                \
        return text;
    switch (dtype) { SB_DTYPE_MAP(NAME_CASE) }
#undef NAME_CASE
    return "invalid";
}

sb_dtype sb_dtype_named(sb_slice name) {
#define NAME_TEST(dtype, number, bytes, text)                                                      \
    if (number && sb_slice_eq(name, SB_LIT(text))) return SB_##dtype;
    SB_DTYPE_MAP(NAME_TEST)
#undef NAME_TEST
    return SB_NO_DTYPE;
}

bool sb_dtype_numeric(sb_dtype dtype) {
    return sb_dtype_size(dtype) != 0;
}

sb_typed_field sb_tensor_typed_field(sb_dtype dtype) {
    switch (dtype) {
    case SB_FLOAT:
        return (sb_typed_field){SB_TENSOR_FLOAT_VAL, SB_PB_FIXED32, 1, false};
    case SB_DOUBLE:
        return (sb_typed_field){SB_TENSOR_DOUBLE_VAL, SB_PB_FIXED64, 1, false};
    case SB_INT32:
    case SB_INT16:
    case SB_INT8:
    case SB_UINT8:
    case SB_UINT16:
    case SB_QINT8:
    case SB_QUINT8:
    case SB_QINT16:
    case SB_QUINT16:
    case SB_QINT32:
    case SB_INT4:
    case SB_UINT4:
    case SB_INT2:
    case SB_UINT2:
        return (sb_typed_field){SB_TENSOR_INT_VAL, SB_PB_VARINT, 1, false};
    case SB_STRING:
        return (sb_typed_field){SB_TENSOR_STRING_VAL, SB_PB_BYTES, 1, false};
    case SB_COMPLEX64:
        return (sb_typed_field){SB_TENSOR_SCOMPLEX_VAL, SB_PB_FIXED32, 2, false};
    case SB_INT64:
        return (sb_typed_field){SB_TENSOR_INT64_VAL, SB_PB_VARINT, 1, false};
    case SB_BOOL:
        return (sb_typed_field){SB_TENSOR_BOOL_VAL, SB_PB_VARINT, 1, false};
    case SB_COMPLEX128:
        return (sb_typed_field){SB_TENSOR_DCOMPLEX_VAL, SB_PB_FIXED64, 2, false};
    case SB_HALF:
    case SB_BFLOAT16:
        return (sb_typed_field){SB_TENSOR_HALF_VAL, SB_PB_VARINT, 1, false};
    case SB_UINT32:
        return (sb_typed_field){SB_TENSOR_UINT32_VAL, SB_PB_VARINT, 1, false};
    case SB_UINT64:
        return (sb_typed_field){SB_TENSOR_UINT64_VAL, SB_PB_VARINT, 1, false};
    case SB_FLOAT8_E5M2:
    case SB_FLOAT8_E4M3FN:
    case SB_FLOAT8_E4M3FNUZ:
    case SB_FLOAT8_E4M3B11FNUZ:
    case SB_FLOAT8_E5M2FNUZ:
        return (sb_typed_field){SB_TENSOR_FLOAT8_VAL, SB_PB_BYTES, 1, true};
    case SB_NO_DTYPE:
    case SB_RESOURCE:
    case SB_VARIANT:
    case SB_FLOAT4_E2M1FN:
        break;
    }
    return (sb_typed_field){0, 0, 1, false};
}

/* A dim without a size field has size 0. */
static bool read_dim(sb_slice dim, int64_t *size) {
    sb_pb c = sb_pb_over(dim);
    sb_pb_field f;
    sb_pb_step step;
    *size = 0;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD)
        if (f.number == SB_DIM_SIZE && f.wire == SB_PB_VARINT) *size = sb_pb_int64(&f);
    return step == SB_PB_END;
}

/* Unknown sizes have no place in a tensor that holds values. */
static bool read_shape(sb_tensor_view *t, sb_slice shape) {
    sb_pb c = sb_pb_over(shape);
    sb_pb_field f;
    sb_pb_step step;
    t->shape_given = true;
    t->rank = 0;
    t->count = 1;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_SHAPE_UNKNOWN_RANK && f.wire == SB_PB_VARINT && f.u64) return false;
        if (f.number != SB_SHAPE_DIM || f.wire != SB_PB_BYTES) continue;
        int64_t size;
        if (!read_dim(f.bytes, &size) || size < 0) return false;
        if (!sb_mul_size(&t->count, t->count, (size_t)size)) return false;
        if (t->rank < SB_MAX_RANK) t->dims[t->rank] = size;
        t->rank++;
    }
    t->deep = t->rank > SB_MAX_RANK;
    return step == SB_PB_END;
}

/* Counts the varints of one field; false when one is malformed. */
static bool count_varints(sb_tensor_view *t, const sb_pb_field *f) {
    sb_pb_many many = sb_pb_many_of(f, SB_PB_VARINT);
    uint64_t bits;
    sb_pb_step step;
    while ((step = sb_pb_many_next(&many, &bits)) == SB_PB_FIELD) {
        t->given++;
        if (t->field == SB_TENSOR_HALF_VAL && bits > UINT16_MAX) t->wide_half = true;
    }
    return step == SB_PB_END;
}

/* Finds the typed values: how many, and whether they lie in one piece. */
static bool find_typed(sb_tensor_view *t, sb_typed_field typed) {
    sb_pb c = sb_pb_over(t->message);
    sb_pb_field f;
    size_t count, total = 0;
    t->field = typed.number;
    while (sb_pb_next(&c, &f) == SB_PB_FIELD) {
        if (f.number != t->field || (f.wire != typed.wire && f.wire != SB_PB_BYTES)) continue;
        if (typed.byte_each) {
            t->run = f.bytes.p;
            total = f.bytes.n;
        } else if (typed.wire == SB_PB_BYTES) {
            total++;
        } else if (typed.wire == SB_PB_VARINT) {
            if (!count_varints(t, &f)) return false;
        } else {
            if (!sb_pb_many_count(&f, typed.wire, &count)) return false;
            if (count == 0) continue;
            t->run = total == 0 && f.wire == SB_PB_BYTES ? f.bytes.p : NULL;
            total += count;
        }
    }
    if (typed.wire != SB_PB_VARINT) t->given = total / typed.values;
    if (t->given == 0) t->run = NULL; /* an odd count of numbers is no list of complex ones */
    return true;
}

/* Gives a tensor without a shape the shape that its values suggest. */
static void guess_shape(sb_tensor_view *t, size_t values) {
    if (t->shape_given || values <= 1) return;
    t->rank = 1;
    t->dims[0] = (int64_t)values;
    t->count = values;
}

static sb_status find_values(sb_tensor_view *t) {
    size_t size = sb_dtype_size(t->dtype), bytes;
    if (t->content.n && size) {
        if (t->content.n % size != 0) return SB_CORRUPT;
        guess_shape(t, t->content.n / size);
        bool same = sb_mul_size(&bytes, t->count, size) && bytes == t->content.n;
        return same ? SB_OK : SB_CORRUPT;
    }
    if (t->content.n && t->dtype == SB_STRING) {
        return SB_OK; /* lengths, then bytes: see sb_tensor_strings */
    }
    sb_typed_field typed = sb_tensor_typed_field(t->dtype);
    if (typed.number == 0) return SB_OK;
    if (!find_typed(t, typed)) return SB_CORRUPT;
    if (t->dtype == SB_UINT8 && t->given == 0) {
        typed.number = SB_TENSOR_UINT32_VAL;
        if (!find_typed(t, typed)) return SB_CORRUPT;
    }
    guess_shape(t, t->given);
    return SB_OK;
}

sb_status sb_tensor_read(sb_tensor_view *out, sb_slice tensor) {
    *out = (sb_tensor_view){.count = 1, .message = tensor};
    sb_pb c = sb_pb_over(tensor);
    sb_pb_field f;
    sb_pb_step step;
    while ((step = sb_pb_next(&c, &f)) == SB_PB_FIELD) {
        if (f.number == SB_TENSOR_DTYPE && f.wire == SB_PB_VARINT) {
            uint64_t number = f.u64 > 100 && f.u64 < 200 ? f.u64 - 100 : f.u64;
            out->dtype = number <= SB_FLOAT4_E2M1FN ? (sb_dtype)number : SB_NO_DTYPE;
        } else if (f.number == SB_TENSOR_TENSOR_SHAPE && f.wire == SB_PB_BYTES) {
            if (!read_shape(out, f.bytes)) return SB_CORRUPT;
        } else if (f.number == SB_TENSOR_TENSOR_CONTENT && f.wire == SB_PB_BYTES) {
            out->content = f.bytes;
        }
    }
    return step == SB_PB_END ? find_values(out) : SB_CORRUPT;
}

bool sb_tensor_scalar_plain(sb_slice tensor, double *out, sb_dtype *dtype) {
    sb_tensor_view t;
    sb_number number;
    if (sb_tensor_read(&t, tensor) != SB_OK || t.count != 1 || sb_dtype_complex(t.dtype) ||
        sb_tensor_at(&t, 0, &number) != SB_OK)
        return false;
    /* An empty message holds no value; it is not taken for the number 0. */
    if (t.content.n == 0 && t.given == 0) return false;
    *out = number.re;
    if (dtype) *dtype = t.dtype;
    return true;
}

bool sb_tensor_scalar(sb_slice tensor, double *out, sb_dtype *dtype) {
    sb_dtype found;
    size_t at = sb_tensor_usual_scalar(tensor, &found);
    if (!at) return sb_tensor_scalar_plain(tensor, out, dtype);
    *out = found == SB_FLOAT ? (double)sb_bits_float(sb_load32(tensor.p + at))
                             : sb_bits_double(sb_load64(tensor.p + at));
    if (dtype) *dtype = found;
    return true;
}

/* ---- strings ----------------------------------------------------------------------------------
 */

/* tensor_content of strings: count varint lengths, then all bytes. Splits them apart; on nonsense
 * there are no strings at all. */
static sb_strings strings_of_content(const sb_tensor_view *t) {
    sb_strings s = {.from_content = true};
    sb_pb c = sb_pb_over(t->content);
    uint64_t length, sum = 0;
    if (t->count > t->content.n) return s; /* each length takes a byte at least */
    for (size_t i = 0; i < t->count; i++)
        if (!sb_pb_varint(&c, &length) || __builtin_add_overflow(sum, length, &sum)) return s;
    if (sum != (size_t)(c.end - c.p)) return s;
    s.lengths = sb_pb_over(t->content);
    s.c = c;
    s.left = t->count;
    return s;
}

sb_strings sb_tensor_strings(const sb_tensor_view *t) {
    if (t->dtype != SB_STRING) return (sb_strings){.left = 0};
    if (t->content.n) return strings_of_content(t);
    return (sb_strings){.c = sb_pb_over(t->message), .left = t->count};
}

bool sb_strings_next(sb_strings *strings, sb_slice *out) {
    if (strings->left == 0) return false;
    strings->left--;
    if (strings->from_content) {
        uint64_t length = 0;
        if (!sb_pb_varint(&strings->lengths, &length)) return false;
        *out = sb_slice_of(strings->c.p, (size_t)length);
        strings->c.p += length;
        return true;
    }
    sb_pb_field f;
    while (sb_pb_next(&strings->c, &f) == SB_PB_FIELD) {
        if (f.number != SB_TENSOR_STRING_VAL || f.wire != SB_PB_BYTES) continue;
        strings->last = f.bytes;
        break;
    }
    *out = strings->last;
    return true;
}
