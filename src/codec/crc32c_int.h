/* crc32c_int.h: the kernels by name, for the files of this module. A kernel may run only on a
 * processor that has its instructions; the functions of crc32c.h hand it out after that check. */
#ifndef SB_CODEC_CRC32C_INT_H
#define SB_CODEC_CRC32C_INT_H

#include <stddef.h>
#include <stdint.h>

/* From this many bytes on three streams at once beat one. */
#define SB_CRC32C_WIDE_FROM 768

#if defined(__x86_64__)
uint32_t sb_crc32c_sse42(uint32_t crc, const void *p, size_t n);
#endif

#endif
