/* crc32c_join.c: the checksum of two pieces from the checksums of each, so that several threads can
 * work on one run of bytes.
 *
 * A checksum is a polynomial modulo P. Appending n zero bits multiplies it by x^n, and the checksum
 * of A followed by B is crc(A) * x^(8 * bytes of B) + crc(B). Polynomials are bit-reflected: the
 * highest bit is x^0. Cost: some 64 multiplications of 32 steps, about 3 microseconds. */
#include "codec/crc32c/crc32c.h"

#include "base/banned.h"

#define POLYNOMIAL 0x82F63B78u
#define ONE 0x80000000u /* x^0 */
#define X 0x40000000u   /* x^1 */

static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

uint32_t sb_crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes) {
    uint32_t square = X, power = ONE;
    for (int i = 0; i < 3; i++) square = multiply(square, square); /* x^8: a byte */
    for (uint64_t n = second_bytes; n; n >>= 1) {
        if (n & 1) power = multiply(power, square);
        square = multiply(square, square);
    }
    return multiply(first, power) ^ second;
}
