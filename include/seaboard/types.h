/* types.h: the types and conventions that every part of the public interface shares.
 *
 * Ownership: an sb_slice borrows its bytes, always. Each function that returns one says who owns
 * the bytes and how long they stay valid.
 *
 * Structs that may get more fields in a later version have their own size as the first member.
 * Always create them with SB_INIT, which fills it in:
 *
 *     sb_image(w, "photo", &pixels, step, &SB_INIT(sb_image_opts, .layout = "HWC"), NULL);
 *
 * A field that is not named is zero, and zero asks for the default. A struct whose size is 0 is
 * refused with SB_INVALID. In C++ write: sb_image_opts opts = SB_INIT(sb_image_opts); then assign.
 *
 * Structs that the library fills in for the caller (sb_reader_event and the others of reader.h,
 * sb_ckpt_tensor) belong to the library and are handed out as pointers to const: they can grow as
 * well, and need no size. All other structs (sb_slice, sb_array, sb_err, sb_hparam,
 * sb_hparam_value, sb_dims, sb_feed) never change. */
#ifndef SEABOARD_TYPES_H
#define SEABOARD_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SB_API __attribute__((visibility("default")))
#else
#define SB_API
#endif

/* Makes a struct of the given type with its size filled in and the named fields set; see above. */
#if defined(__cplusplus)
extern "C++" {
template <class type> inline type sb_init_struct() {
    type made = type();
    made.size = sizeof(type);
    return made;
}
}
#define SB_INIT(type) (sb_init_struct<type>())
#else
#define SB_INIT(type, ...) ((type){.size = sizeof(type), __VA_ARGS__})
#endif

/* Borrowed bytes: never owned, not terminated by a NUL. */
typedef struct sb_slice {
    const uint8_t *p;
    size_t n;
} sb_slice;

/* Element types, with the numbers that TensorFlow's DataType gives them. */
#define SB_DTYPE_MAP(X)                                                                            \
    X(NO_DTYPE, 0, 0, "invalid")                                                                   \
    X(FLOAT, 1, 4, "float32")                                                                      \
    X(DOUBLE, 2, 8, "float64")                                                                     \
    X(INT32, 3, 4, "int32")                                                                        \
    X(UINT8, 4, 1, "uint8")                                                                        \
    X(INT16, 5, 2, "int16")                                                                        \
    X(INT8, 6, 1, "int8")                                                                          \
    X(STRING, 7, 0, "string")                                                                      \
    X(COMPLEX64, 8, 8, "complex64")                                                                \
    X(INT64, 9, 8, "int64")                                                                        \
    X(BOOL, 10, 1, "bool")                                                                         \
    X(QINT8, 11, 1, "qint8")                                                                       \
    X(QUINT8, 12, 1, "quint8")                                                                     \
    X(QINT32, 13, 4, "qint32")                                                                     \
    X(BFLOAT16, 14, 2, "bfloat16")                                                                 \
    X(QINT16, 15, 2, "qint16")                                                                     \
    X(QUINT16, 16, 2, "quint16")                                                                   \
    X(UINT16, 17, 2, "uint16")                                                                     \
    X(COMPLEX128, 18, 16, "complex128")                                                            \
    X(HALF, 19, 2, "float16")                                                                      \
    X(RESOURCE, 20, 0, "resource")                                                                 \
    X(VARIANT, 21, 0, "variant")                                                                   \
    X(UINT32, 22, 4, "uint32")                                                                     \
    X(UINT64, 23, 8, "uint64")                                                                     \
    X(FLOAT8_E5M2, 24, 1, "float8_e5m2")                                                           \
    X(FLOAT8_E4M3FN, 25, 1, "float8_e4m3fn")                                                       \
    X(FLOAT8_E4M3FNUZ, 26, 1, "float8_e4m3fnuz")                                                   \
    X(FLOAT8_E4M3B11FNUZ, 27, 1, "float8_e4m3b11fnuz")                                             \
    X(FLOAT8_E5M2FNUZ, 28, 1, "float8_e5m2fnuz")                                                   \
    X(INT4, 29, 1, "int4")                                                                         \
    X(UINT4, 30, 1, "uint4")                                                                       \
    X(INT2, 31, 1, "int2")                                                                         \
    X(UINT2, 32, 1, "uint2")                                                                       \
    X(FLOAT4_E2M1FN, 33, 1, "float4_e2m1fn")

#define SB_DTYPE_ENUM(name, number, bytes, text) SB_##name = number,
typedef enum sb_dtype { SB_DTYPE_MAP(SB_DTYPE_ENUM) } sb_dtype;
#undef SB_DTYPE_ENUM

/* A borrowed array of any memory layout. data points to the element whose indices are all 0. rank 0
 * is a single element and needs no dims. For SB_STRING the elements are sb_slice.
 *
 * strides[i] is the distance in bytes from one element to the next along dimension i, as in numpy
 * and in Python's buffer protocol. It may be negative (a reversed view), 0 (a broadcast view) or
 * any other number: elements need not be aligned. NULL: the array is contiguous in row-major
 * order. */
typedef struct sb_array {
    const void *data;
    sb_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    const int64_t *strides;
} sb_array;

#ifdef __cplusplus
}
#endif
#endif
