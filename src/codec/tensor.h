/* tensor.h: a view of a TensorProto, its elements as numbers or strings, and the builder.
 *
 * In:  a borrowed encoded TensorProto.  Out: shape and numbers, string slices into it.
 *
 *   1 dtype | 2 tensor_shape {2 dim {1 size, 2 name}, 3 unknown_rank} | 4 tensor_content
 *   typed fields: 5 float 6 double 7 int 8 string 9 scomplex 10 int64 11 bool 12 dcomplex 13 half
 *                 16 uint32 17 uint64 18 float8
 *
 * Elements come from tensor_content (row-major, little-endian) when that is not empty, else from
 * the typed field of the dtype. Fewer typed values than elements: the last one is repeated; none at
 * all: zero or the empty string. More values than elements: the rest is ignored. All this as
 * TensorFlow does. Content of the wrong size is corrupt.
 * Without a shape field there is one element, or, leniently, as many as there are values (rank 1).
 * half_val entries outside 0..65535 are float32 bits, as torch writes them; that goes for a whole
 * tensor when it goes for one entry. torch's uint8 tensors have their values in uint32_val. 4-bit
 * and 2-bit types take one byte an element, low bits.
 *
 * Threads: views are values.  Cost: reading a view is one pass over the fields (and over the
 * varints of a packed varint field); no allocation. */
#ifndef SB_CODEC_TENSOR_H
#define SB_CODEC_TENSOR_H

#include "codec/proto/messages.h"
#include "codec/proto/proto.h"

#define SB_MAX_RANK 16

typedef struct sb_tensor_view {
    sb_dtype dtype;   /* reference types (+100) are given as what they refer to */
    uint32_t rank;    /* as many dims as the shape has; may be above SB_MAX_RANK */
    bool shape_given; /* is there a shape field? */
    bool deep;        /* rank > SB_MAX_RANK: dims holds the first SB_MAX_RANK only */
    int64_t dims[SB_MAX_RANK];
    size_t count;     /* elements, the product of all dims */
    sb_slice content; /* tensor_content */
    /* Where the typed values are. For the functions below. */
    sb_slice message;
    size_t given;       /* how many there are */
    const uint8_t *run; /* fixed-size ones in one piece; NULL when scattered or varints */
    uint32_t field;     /* their number; 0 when content is used or the dtype has no field */
    bool wide_half;     /* half_val holds float32 bits */
} sb_tensor_view;

/* SB_OK or SB_CORRUPT. An unknown dtype is read as SB_NO_DTYPE with count and shape intact. */
sb_status sb_tensor_read(sb_tensor_view *out, sb_slice tensor);

/* Bytes of one element in tensor_content and in sb_array; 0 for strings, handles and unknown
 * types. */
size_t sb_dtype_size(sb_dtype dtype);
/* "float32", "int64", ...; "invalid" for a number outside the table. */
const char *sb_dtype_name(sb_dtype dtype);
/* The opposite; SB_NO_DTYPE when there is no such name. */
sb_dtype sb_dtype_named(sb_slice name);
/* Does it hold numbers (bool and complex included)? */
bool sb_dtype_numeric(sb_dtype dtype);
static inline bool sb_dtype_complex(sb_dtype dtype) {
    return dtype == SB_COMPLEX64 || dtype == SB_COMPLEX128;
}

/* The number in a TensorProto that has exactly one numeric element in any form; false for all
 * others, complex ones too. *dtype may be NULL. The fast path of sb_scalar_of. */
bool sb_tensor_scalar(sb_slice tensor, double *out, sb_dtype *dtype);

/* One element, seen in every way that makes sense for its dtype. */
typedef struct sb_number {
    double re, im; /* im is 0 for real types; int64 and uint64 are rounded */
    int64_t i; /* integers exactly (uint64 as its bit pattern); reals cut towards zero, NaN as 0,
                      too large ones as the nearest int64 */
} sb_number;

/* Element i < count. SB_INVALID for strings and other types without numbers. Cost: constant for
 * content and one run of fixed-size values, else a pass up to i: use the bulk forms for many. */
sb_status sb_tensor_at(const sb_tensor_view *t, size_t i, sb_number *out);

/* Elements from..from+n into out. SB_INVALID when the range is outside count or the dtype has no
 * numbers. Complex elements give their real part, but for _complex, which writes pairs (re, im).
 * Cost: a memcpy for float to float and double to double in one piece, else one pass. */
sb_status sb_tensor_doubles(const sb_tensor_view *t, size_t from, size_t n, double *out);
sb_status sb_tensor_floats(const sb_tensor_view *t, size_t from, size_t n, float *out);
sb_status sb_tensor_complex(const sb_tensor_view *t, size_t from, size_t n, double *out);

/* The strings of an SB_STRING tensor, in order; no more than count of them. */
typedef struct sb_strings {
    sb_pb c;       /* string_val fields, or the bytes behind the lengths of tensor_content */
    sb_pb lengths; /* of tensor_content */
    size_t left;
    sb_slice last;
    bool from_content;
} sb_strings;

/* Of a tensor of another dtype: no strings. */
sb_strings sb_tensor_strings(const sb_tensor_view *t);
/* False behind the last. The slice borrows from the tensor's message. */
bool sb_strings_next(sb_strings *strings, sb_slice *out);

/* ---- building ---------------------------------------------------------------------------------
 */

typedef enum sb_tensor_style {
    SB_TENSOR_CONTENT, /* TF's C++ writers: all but strings in tensor_content, shape always there */
    SB_TENSOR_PYTHON,  /* make_tensor_proto: tensor_content for more than one element of most types,
                          the typed field otherwise, shape always there */
    SB_TENSOR_TYPED,   /* the typed field always, shape always there */
    SB_TENSOR_BARE,    /* the typed field always, no shape: torch's new-style scalars */
} sb_tensor_style;

/* Appends the array as field `number`. SB_INVALID when the dtype cannot be stored or a dim is
 * negative or their product overflows; memory and size failures stay in the buffer. */
sb_status sb_tensor_add(sb_buf *b, uint32_t number, const sb_array *array, sb_tensor_style style);

/* Only the fields of the TensorProto, without key and length. */
sb_status sb_tensor_add_fields(sb_buf *b, const sb_array *array, sb_tensor_style style);

/* The body of the tensor that stands for "no value": float32 of shape [0]. */
#define SB_TENSOR_NULL SB_LIT("\x08\x01\x12\x02\x12\x00")

/* How many elements the array has; false for a negative dim or overflow. */
bool sb_array_count(const sb_array *array, size_t *count);

#endif
