/* input_data.c: IDX files and batches.
 *
 *   images  magic 2051, count, rows, columns (big-endian u32), then bytes
 *   labels  magic 2049, count, then bytes */
#include "input_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "mnist.h"
#include "npz.h"

enum { IMAGES_MAGIC = 2051, LABELS_MAGIC = 2049, MOST_IMAGES = 10000000 };

static const char *const file_names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* ---- files ----------------------------------------------------------------------------------- */

/* DIR/NAME or DIR/NAME.gz, whichever there is. */
static bool find_file(const char *dir, const char *name, char *path, size_t n) {
    static const char *const endings[] = {".gz", ""};
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, n, "%s/%s%s", dir, name, endings[i]);
        if (length > 0 && (size_t)length < n && access(path, R_OK) == 0) return true;
    }
    return false;
}

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

enum { PART = 1 << 20 };

/* Exactly n bytes; a plain file is read as it is. */
static bool read_exactly(gzFile file, uint8_t *to, size_t n) {
    while (n) {
        int got = gzread(file, to, n > PART ? PART : (unsigned)n);
        if (got <= 0) return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

/* The same into memory that grows with what is really there, whatever the header announces. The
 * caller frees it, also on failure. */
static bool read_all(gzFile file, uint8_t **out, size_t n) {
    for (size_t have = 0, room = PART; have < n; room *= 2) {
        if (room > n) room = n;
        uint8_t *more = realloc(*out, room);
        if (!more) return false;
        *out = more;
        if (!read_exactly(file, more + have, room - have)) return false;
        have = room;
    }
    return true;
}

typedef struct idx {
    uint8_t *bytes;
    size_t count;
} idx;

static bool read_body(gzFile file, const char *path, bool is_images, idx *out, char *text,
                      size_t n) {
    uint8_t head[16];
    uint32_t wanted = is_images ? IMAGES_MAGIC : LABELS_MAGIC;
    size_t each = is_images ? IMAGE_PIXELS : 1;
    if (!read_exactly(file, head, is_images ? 16 : 8)) {
        snprintf(text, n, "%s: ends within its header, or is damaged", path);
        return false;
    }
    if (big_endian(head) != wanted) {
        snprintf(text, n, "Invalid magic number %u in MNIST %s file: %s", big_endian(head),
                 is_images ? "image" : "label", path);
        return false;
    }
    out->count = big_endian(head + 4);
    if (is_images && (big_endian(head + 8) != IMAGE_SIZE || big_endian(head + 12) != IMAGE_SIZE)) {
        snprintf(text, n, "%s: pictures of %ux%u; this program is for %dx%d", path,
                 big_endian(head + 8), big_endian(head + 12), IMAGE_SIZE, IMAGE_SIZE);
        return false;
    }
    if (out->count == 0 || out->count > MOST_IMAGES) {
        snprintf(text, n, "%s: says that it holds %zu examples", path, out->count);
        return false;
    }
    uint8_t more;
    if (!read_all(file, &out->bytes, out->count * each)) {
        snprintf(text, n, "%s: is shorter than the %zu examples that it announces, or is damaged",
                 path, out->count);
        return false;
    }
    if (gzread(file, &more, 1) != 0) {
        snprintf(text, n, "%s: is longer than the %zu examples that it announces, or is damaged",
                 path, out->count);
        return false;
    }
    return true;
}

static bool read_idx(const char *dir, int which, idx *out, char *text, size_t n) {
    char path[4096];
    *out = (idx){0};
    if (!find_file(dir, file_names[which], path, sizeof path)) {
        snprintf(text, n, "%s: there is neither %s nor %s.gz", dir, file_names[which],
                 file_names[which]);
        return false;
    }
    printf("Extracting %s\n", path);
    gzFile file = gzopen(path, "rb");
    if (!file) {
        snprintf(text, n, "%s: cannot be opened", path);
        return false;
    }
    bool done = read_body(file, path, which % 2 == 0, out, text, n);
    gzclose_r(file);
    if (!done) {
        free(out->bytes);
        out->bytes = NULL;
    }
    return done;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static bool check_labels(const idx *images, const idx *labels, const char *dir, const char *what,
                         char *text, size_t n) {
    if (images->count != labels->count) {
        snprintf(text, n, "%s: %zu %s images, but %zu labels", dir, images->count, what,
                 labels->count);
        return false;
    }
    for (size_t i = 0; i < labels->count; i++)
        if (labels->bytes[i] >= NUM_CLASSES) {
            snprintf(text, n, "%s: label %zu of the %s set is %u; there are classes 0 to 9", dir, i,
                     what, labels->bytes[i]);
            return false;
        }
    return true;
}

static bool make_sets(digits *d, const idx *four, const char *dir, uint64_t seed, char *text,
                      size_t n) {
    if (!check_labels(&four[0], &four[1], dir, "training", text, n) ||
        !check_labels(&four[2], &four[3], dir, "test", text, n))
        return false;
    if (four[0].count <= VALIDATION_SIZE) {
        snprintf(text, n, "Validation size should be between 0 and %zu. Received: %d.",
                 four[0].count, VALIDATION_SIZE);
        return false;
    }
    d->validation =
        (data_set){.images = four[0].bytes, .labels = four[1].bytes, .count = VALIDATION_SIZE};
    d->train = (data_set){.images = four[0].bytes + (size_t)VALIDATION_SIZE * IMAGE_PIXELS,
                          .labels = four[1].bytes + VALIDATION_SIZE,
                          .count = four[0].count - VALIDATION_SIZE,
                          .is_shuffled = true,
                          .seed = seed,
                          .epoch = UINT64_MAX};
    d->test = (data_set){.images = four[2].bytes, .labels = four[3].bytes, .count = four[2].count};
    return true;
}

bool digits_are_in(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/mnist.npz", dir);
    return find_file(dir, file_names[0], path, sizeof path) ||
           (snprintf(path, sizeof path, "%s/mnist.npz", dir) < (int)sizeof path &&
            access(path, R_OK) == 0);
}

bool digits_read(digits *d, const char *dir, uint64_t seed, char *text, size_t n) {
    char path[4096];
    idx four[4] = {{0}};
    bool done = true;
    *d = (digits){0};
    snprintf(path, sizeof path, "%s/mnist.npz", dir);
    if (!find_file(dir, file_names[0], path, sizeof path) && digits_are_in(dir)) {
        static const char *const names[] = {"x_train.npy", "y_train.npy", "x_test.npy",
                                            "y_test.npy"};
        snprintf(path, sizeof path, "%s/mnist.npz", dir);
        printf("Extracting %s\n", path);
        for (int i = 0; i < 4 && done; i++)
            done = npz_read(path, names[i], i % 2 == 0 ? IMAGE_SIZE : 0, &four[i].bytes,
                            &four[i].count, text, n);
    } else {
        for (int i = 0; i < 4 && done; i++) done = read_idx(dir, i, &four[i], text, n);
    }
    for (int i = 0; i < 4; i++) d->memory[i] = four[i].bytes;
    if (done) done = make_sets(d, four, dir, seed, text, n);
    if (!done) digits_free(d);
    return done;
}

bool digits_fake(digits *d) {
    const data_set set = {.count = FAKE_SIZE};
    *d = (digits){.train = set, .validation = set, .test = set};
    return true;
}

void digits_free(digits *d) {
    for (int i = 0; i < 4; i++) free(d->memory[i]);
    free(d->train.order);
    *d = (digits){0};
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A good mixture of 64 bits (splitmix64). */
static uint64_t mix(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The order of an epoch depends on the seed and the epoch, on nothing else. */
static bool shuffle(data_set *set, uint64_t epoch) {
    if (set->order && set->epoch == epoch) return true;
    if (!set->order) set->order = malloc(set->count * sizeof *set->order);
    if (!set->order) return false;
    uint64_t state = set->seed * 0xD1342543DE82EF95u + epoch;
    for (size_t i = 0; i < set->count; i++) set->order[i] = (uint32_t)i;
    for (size_t i = set->count; i > 1; i--) {
        size_t k = (size_t)(mix(&state) % i);
        uint32_t other = set->order[k];
        set->order[k] = set->order[i - 1];
        set->order[i - 1] = other;
    }
    set->epoch = epoch;
    return true;
}

bool fill_batch(data_set *set, uint64_t number, size_t size, float *images, uint8_t *labels) {
    uint64_t each = set->count / size;
    size_t first = (size_t)(number % each) * size;
    if (set->is_shuffled && !shuffle(set, number / each)) return false;
    for (size_t i = 0; i < size; i++) {
        size_t at = set->is_shuffled ? set->order[first + i] : first + i;
        float *to = images + i * IMAGE_PIXELS;
        labels[i] = set->images ? set->labels[at] : 0;
        for (size_t k = 0; k < IMAGE_PIXELS; k++)
            to[k] =
                set->images ? (float)set->images[at * IMAGE_PIXELS + k] * (1.0f / 255.0f) : 1.0f;
    }
    return true;
}
