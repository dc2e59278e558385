/* tensor_build.c: TensorProto from an array, in the forms that the reference writers use. */
#include "base/checked.h"
#include "codec/tensor_int.h"
#include "base/banned.h"

bool sb_array_count(const sb_array *array, size_t *count) {
    size_t n = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->dims[i] < 0 || !sb_mul_size(&n, n, (size_t)array->dims[i])) return false;
    *count = n;
    return true;
}

static void add_shape(sb_buf *b, const sb_array *array) {
    size_t shape = sb_pb_begin(b, SB_TENSOR_TENSOR_SHAPE, array->rank * 6);
    for (uint32_t i = 0; i < array->rank; i++) {
        size_t dim = sb_pb_begin(b, SB_SHAPE_DIM, 4);
        sb_pb_add_int_nz(b, SB_DIM_SIZE, array->dims[i]);
        sb_pb_end(b, dim);
    }
    sb_pb_end(b, shape);
}

/* Does make_tensor_proto put several elements of this dtype into tensor_content? */
static bool python_packs(sb_dtype dtype) {
    switch (dtype) {
    case SB_FLOAT:
    case SB_DOUBLE:
    case SB_INT8:
    case SB_INT16:
    case SB_INT32:
    case SB_INT64:
    case SB_UINT8:
    case SB_UINT32:
    case SB_UINT64:
    case SB_QINT8:
    case SB_QUINT8:
    case SB_QINT16:
    case SB_QUINT16:
    case SB_QINT32:
        return true;
    default:
        return false;
    }
}

/* Elements in this machine's byte order as little-endian bytes. unit: the size of one number, half
 * an element for complex ones. */
static void add_raw(sb_buf *b, const uint8_t *p, size_t bytes, size_t unit) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void)unit;
    sb_buf_add(b, p, bytes);
#else
    if (!sb_buf_reserve(b, bytes)) return;
    for (size_t i = 0; i < bytes; i += unit)
        for (size_t j = 0; j < unit; j++) b->p[b->n + i + j] = p[i + unit - 1 - j];
    b->n += bytes;
#endif
}

static size_t unit_of(sb_dtype dtype) {
    size_t size = sb_dtype_size(dtype);
    return sb_dtype_complex(dtype) ? size / 2 : size;
}

/* The 64 bits of an element that goes into a varint field; negative numbers are sign-extended. */
static uint64_t varint_of(sb_dtype dtype, const uint8_t *p) {
    uint16_t x16;
    uint32_t x32;
    uint64_t x64;
    switch (sb_dtype_size(dtype)) {
    case 1:
        x64 = *p;
        break;
    case 2:
        memcpy(&x16, p, sizeof x16);
        x64 = x16;
        break;
    case 4:
        memcpy(&x32, p, sizeof x32);
        x64 = x32;
        break;
    default:
        memcpy(&x64, p, sizeof x64);
        break;
    }
    if (dtype == SB_HALF || dtype == SB_BFLOAT16) return x64;
    return (uint64_t)sb_number_of_bits(dtype, false, x64, 0).i;
}

static void add_varints(sb_buf *b, uint32_t number, const sb_array *array, size_t count) {
    if (count == 0) return;
    const uint8_t *p = array->data;
    size_t size = sb_dtype_size(array->dtype);
    size_t at = sb_pb_begin(b, number, count * 2);
    for (size_t i = 0; i < count; i++) sb_pb_add_varint(b, varint_of(array->dtype, p + i * size));
    sb_pb_end(b, at);
}

static void add_typed(sb_buf *b, const sb_array *array, size_t count, sb_typed_field typed) {
    if (array->dtype == SB_STRING) {
        const sb_slice *strings = array->data;
        for (size_t i = 0; i < count; i++) sb_pb_add_bytes(b, typed.number, strings[i]);
    } else if (typed.wire == SB_PB_VARINT) {
        add_varints(b, typed.number, array, count);
    } else if (count) {
        size_t bytes = count * sb_dtype_size(array->dtype);
        sb_pb_add_key(b, typed.number, SB_PB_BYTES);
        sb_pb_add_varint(b, bytes);
        add_raw(b, array->data, bytes, unit_of(array->dtype));
    }
}

static void add_content(sb_buf *b, const sb_array *array, size_t bytes) {
    if (bytes == 0) return;
    sb_pb_add_key(b, SB_TENSOR_TENSOR_CONTENT, SB_PB_BYTES);
    sb_pb_add_varint(b, bytes);
    add_raw(b, array->data, bytes, unit_of(array->dtype));
}

sb_status sb_tensor_add_fields(sb_buf *b, const sb_array *array, sb_tensor_style style) {
    size_t count, bytes;
    sb_typed_field typed = sb_tensor_typed_field(array->dtype);
    size_t size = sb_dtype_size(array->dtype);
    if (!sb_array_count(array, &count) || !sb_mul_size(&bytes, count, size)) return SB_INVALID;
    if (size == 0 && array->dtype != SB_STRING) return SB_INVALID;
    bool content =
        size != 0 && (style == SB_TENSOR_CONTENT || typed.number == 0 ||
                      (style == SB_TENSOR_PYTHON && count > 1 && python_packs(array->dtype)));
    sb_pb_add_int(b, SB_TENSOR_DTYPE, array->dtype);
    if (style != SB_TENSOR_BARE) add_shape(b, array);
    if (content)
        add_content(b, array, bytes);
    else
        add_typed(b, array, count, typed);
    return SB_OK;
}

sb_status sb_tensor_add(sb_buf *b, uint32_t number, const sb_array *array, sb_tensor_style style) {
    size_t count, bytes;
    if (!sb_array_count(array, &count) || !sb_mul_size(&bytes, count, sb_dtype_size(array->dtype)))
        return SB_INVALID;
    size_t before = b->n;
    size_t at = sb_pb_begin(b, number, bytes + 8 + 6 * (size_t)array->rank);
    sb_status status = sb_tensor_add_fields(b, array, style);
    if (status != SB_OK) {
        b->n = before;
        return status;
    }
    sb_pb_end(b, at);
    return SB_OK;
}
