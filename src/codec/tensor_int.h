/* tensor_int.h: what the parts of the tensor module share: which typed field holds the values of a
 * dtype, and one element as a number. Private to src/codec. */
#ifndef SB_CODEC_TENSOR_INT_H
#define SB_CODEC_TENSOR_INT_H

#include "codec/tensor.h"

typedef struct sb_typed_field {
    uint8_t number; /* 0: this dtype has none */
    uint8_t wire;   /* of one value */
    uint8_t values; /* for one element: 2 for complex numbers */
    bool byte_each; /* one field of bytes, a byte an element: float8_val */
} sb_typed_field;

sb_typed_field sb_tensor_typed_field(sb_dtype dtype);

/* Where the number of a float or double scalar begins that is written as TF2, torch and
 * tensorboard.summary write them: dtype, maybe an empty shape, then content or a packed field with
 * the one value, and nothing else. 0: it is not. */
static inline size_t sb_tensor_usual_scalar(sb_slice tensor, sb_dtype *dtype) {
    const uint8_t *p = tensor.p;
    if (tensor.n < 8 || tensor.n > 14 || p[0] != (SB_TENSOR_DTYPE << 3 | SB_PB_VARINT)) return 0;
    bool is_float = p[1] == SB_FLOAT;
    if (!is_float && p[1] != SB_DOUBLE) return 0;
    size_t size = is_float ? 4 : 8, at = 2;
    if (p[2] == (SB_TENSOR_TENSOR_SHAPE << 3 | SB_PB_BYTES) && p[3] == 0) at = 4;
    if (tensor.n != at + 2 + size || p[at + 1] != size) return 0;
    int typed = (is_float ? SB_TENSOR_FLOAT_VAL : SB_TENSOR_DOUBLE_VAL) << 3 | SB_PB_BYTES;
    if (p[at] != (SB_TENSOR_TENSOR_CONTENT << 3 | SB_PB_BYTES) && p[at] != typed) return 0;
    *dtype = is_float ? SB_FLOAT : SB_DOUBLE;
    return at + 2;
}

/* One raw little-endian element of this dtype, as in tensor_content. */
sb_number sb_number_of_raw(sb_dtype dtype, const uint8_t *p);
/* The same from the 64 bits of a value in a typed field (`im`: the second of a complex pair). */
sb_number sb_number_of_bits(sb_dtype dtype, bool wide_half, uint64_t re, uint64_t im);

#endif
