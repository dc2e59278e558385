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

/* One raw little-endian element of this dtype, as in tensor_content. */
sb_number sb_number_of_raw(sb_dtype dtype, const uint8_t *p);
/* The same from the 64 bits of a value in a typed field (`im`: the second of a complex pair). */
sb_number sb_number_of_bits(sb_dtype dtype, bool wide_half, uint64_t re, uint64_t im);

#endif
