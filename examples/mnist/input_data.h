/* input_data.h: handwritten digits: 55 000 to train with, 5000 to validate, 10 000 to test.
 *
 * Read from IDX files (plain or gzip) or from mnist.npz. The order of training batches is a pure
 * function of the seed and the number of the batch: a run that is interrupted and restored sees the
 * same batches as one that is not. */
#ifndef INPUT_DATA_H
#define INPUT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VALIDATION_SIZE = 5000, FAKE_SIZE = 10000 };

typedef struct data_set {
    const uint8_t *images; /* IMAGE_PIXELS bytes each; NULL: fake ones, all 255 with label 0 */
    const uint8_t *labels;
    size_t count;
    bool is_shuffled;
    uint64_t seed;
    uint32_t *order; /* of one epoch */
    uint64_t epoch;  /* whose order that is */
} data_set;

typedef struct digits {
    data_set train, validation, test;
    uint8_t *memory[4];
} digits;

/* Prints "Extracting ..." for each file. On failure false, with a text that names the file. */
bool digits_read(digits *d, const char *dir, uint64_t seed, char *text, size_t n);
/* Three sets of equal pictures, without any file. */
bool digits_fake(digits *d);
void digits_free(digits *d);
/* Does the folder hold digits in one of the known forms? */
bool digits_are_in(const char *dir);

/* Batch `number` (counted over all epochs) of a set: images as 0 .. 1, and labels. size divides the
 * set. False when memory is out. */
bool fill_batch(data_set *set, uint64_t number, size_t size, float *images, uint8_t *labels);

#endif
