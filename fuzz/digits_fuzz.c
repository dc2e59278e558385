/* digits_fuzz.c: any bytes as a file of digits: images or labels in IDX, plain or gzip, or
 * mnist.npz. The other files of the folder are whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input_data.h"

#define TRAIN 5001 /* one more than the validation set */

enum { NPZ = 4, KINDS = 5, PIXELS = 784 };

static const char *const names[KINDS] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
                                         "mnist.npz"};
static char folder[] = "/tmp/seaboard-digits-XXXXXX";

static void path_of(char to[128], int which) {
    snprintf(to, 128, "%s/%s", folder, names[which]);
}

static void write_file(int which, const uint8_t *data, size_t size) {
    char path[128];
    path_of(path, which);
    FILE *f = fopen(path, "wb");
    if (!f) abort();
    if (size && fwrite(data, 1, size, f) != size) abort();
    fclose(f);
}

static void put_u32(uint8_t *to, uint32_t x) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(x >> (24 - 8 * i));
}

static void write_whole(int which) {
    static uint8_t bytes[16 + TRAIN * PIXELS];
    bool is_images = which % 2 == 0;
    uint32_t count = which < 2 ? TRAIN : 2;
    memset(bytes, 0, sizeof bytes);
    put_u32(bytes, is_images ? 2051 : 2049);
    put_u32(bytes + 4, count);
    put_u32(bytes + 8, is_images ? 28 : 0);
    put_u32(bytes + 12, is_images ? 28 : 0);
    write_file(which, bytes, is_images ? 16 + (size_t)count * PIXELS : 8 + count);
}

static void clean(void) {
    char path[128];
    for (int i = 0; i < KINDS; i++) {
        path_of(path, i);
        unlink(path);
    }
    rmdir(folder);
}

static void begin(void) {
    static bool has_begun;
    if (has_begun) return;
    has_begun = true;
    if (!mkdtemp(folder) || !freopen("/dev/null", "w", stdout)) abort();
    atexit(clean);
    for (int i = 0; i < NPZ; i++) write_whole(i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    begin();
    int which = data[0] % KINDS;
    char path[128], text[600];
    digits d;
    write_file(which, data + 1, size - 1);
    if (which == NPZ) { /* it is read where there are no IDX files */
        path_of(path, 0);
        unlink(path);
    }
    if (digits_read(&d, folder, 1, text, sizeof text)) {
        static float images[PIXELS];
        uint8_t label;
        if (!fill_batch(&d.train, 0, 1, images, &label) || label > 9) abort();
        digits_free(&d);
    } else if (!memchr(text, 0, sizeof text) || !text[0]) {
        abort(); /* every refusal has a reason */
    }
    if (which == NPZ) {
        path_of(path, NPZ);
        unlink(path);
        write_whole(0);
    } else {
        write_whole(which);
    }
    return 0;
}
