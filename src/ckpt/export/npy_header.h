/* npy_header.h: the header of a .npy file: NumPy's name of the type, the order, the shape.
 *
 *   93 NUMPY | u8 major, u8 minor | u16 length (from version 2 on u32) | a Python dict as text:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Types: f2 f4 f8, i1 .. i8, u1 .. u8, b1, c8 c16, of either byte order; V2, which is what NumPy
 * makes of bfloat16; S and U, which are strings of one width. Objects (pickles, which are
 * programs), structures and dates are refused by their names. */
#ifndef SB_CKPT_EXPORT_NPY_HEADER_H
#define SB_CKPT_EXPORT_NPY_HEADER_H

#include <stdbool.h>

#include "base/status.h"
#include "ckpt/bundle/box.h"

typedef enum sb_npy_text { SB_NPY_NO_TEXT, SB_NPY_BYTES, SB_NPY_UNICODE } sb_npy_text;

typedef struct sb_npy_header {
    sb_dtype dtype;
    sb_npy_text text;
    uint64_t width; /* bytes of an element in the file */
    bool is_big_endian;
    bool is_fortran; /* the first dimension varies fastest */
    uint32_t rank;
    int64_t dims[SB_CKPT_MAX_RANK];
} sb_npy_header;

/* How many bytes the front has that says how long the text is. */
#define SB_NPY_FRONT 12
/* The length of the text, and where it begins, from the first SB_NPY_FRONT bytes. False: this is no
 * .npy file. */
bool sb_npy_front(const uint8_t front[SB_NPY_FRONT], size_t *begin, size_t *length);
/* Reads the text. SB_CORRUPT when it is malformed, SB_INVALID for types that are not read; messages
 * name the array. */
sb_status sb_npy_header_parse(sb_npy_header *out, sb_slice text, sb_slice name, sb_err *err);

#endif
