/* made_digits.c: draws digits and writes them as IDX files. */
#include "made_digits.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mnist.h"

#define NOTE "GENERATED.txt"
#define PI 3.14159265358979323846

/* Corners of the strokes in a square of 0 .. 9, as digits x, y; a blank lifts the pen. */
static const char *const strokes[NUM_CLASSES] = {
    "", /* round ones are arcs, below */
    "354151 5159 4969",
    "324151617264463828395979",
    "3241516172734454 54647566686748594938",
    "61385 616168 5676",
    "713141415153 3444556667684859494938",
    "6141323436485968675635",
    "316171 7154 5449",
    "",
    "",
};

typedef struct point {
    double x, y;
} point;

typedef struct pen {
    uint64_t state;
    double turn, shear, scale_x, scale_y, shift_x, shift_y, width, ink;
    float canvas[IMAGE_PIXELS];
} pen;

static double uniform(pen *p) {
    uint64_t z = p->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double between(pen *p, double low, double high) {
    return low + (high - low) * uniform(p);
}

/* From the square of 0 .. 9 to pixels, the way this picture is written. */
static point place(const pen *p, double x, double y) {
    double u = (x - 4.75) * p->scale_x + (y - 5) * p->shear, v = (y - 5) * p->scale_y;
    return (point){14 + p->shift_x + u * cos(p->turn) - v * sin(p->turn),
                   14 + p->shift_y + u * sin(p->turn) + v * cos(p->turn)};
}

/* Darkens the pixels near a piece of a line. */
static void draw_line(pen *p, point a, point b) {
    double reach = p->width + 1.5, dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    int x0 = (int)fmax(0, fmin(a.x, b.x) - reach), x1 = (int)fmin(27, fmax(a.x, b.x) + reach);
    int y0 = (int)fmax(0, fmin(a.y, b.y) - reach), y1 = (int)fmin(27, fmax(a.y, b.y) + reach);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            double t = length > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            double distance = hypot(x - a.x - t * dx, y - a.y - t * dy);
            double dark = p->ink * (1 - (distance - p->width) / 1.1);
            float *pixel = &p->canvas[y * IMAGE_SIZE + x];
            if (dark > (double)*pixel) *pixel = (float)(dark > 1 ? 1 : dark);
        }
}

static void draw_arc(pen *p, double x, double y, double rx, double ry, double from, double to) {
    enum { PIECES = 14 };
    point last = place(p, x + rx * cos(from), y + ry * sin(from));
    for (int i = 1; i <= PIECES; i++) {
        double angle = from + (to - from) * i / PIECES;
        point next = place(p, x + rx * cos(angle), y + ry * sin(angle));
        draw_line(p, last, next);
        last = next;
    }
}

static void draw_strokes(pen *p, const char *s) {
    point last = {0};
    bool is_down = false;
    for (; s[0]; s += 2) {
        if (s[0] == ' ') {
            is_down = false;
            s--;
            continue;
        }
        if (!s[1]) return;
        point next =
            place(p, s[0] - '0' + between(p, -0.25, 0.25), s[1] - '0' + between(p, -0.25, 0.25));
        if (is_down) draw_line(p, last, next);
        last = next;
        is_down = true;
    }
}

static void draw_digit(pen *p, int digit) {
    double wide = between(p, 1.9, 2.7);
    if (digit == 0) {
        draw_arc(p, 4.75, 5, wide, 4, between(p, -2, -1), between(p, 4.2, 5.2));
    } else if (digit == 8) {
        draw_arc(p, 4.75, 3, wide - 0.5, 1.9, 0, 2 * PI);
        draw_arc(p, 4.75, 7, wide, 2.1, 0, 2 * PI);
    } else if (digit == 9) {
        draw_arc(p, 4.75, 3.2, wide - 0.3, 2.1, 0, 2 * PI);
        draw_line(p, place(p, 4.45 + wide, 3.2), place(p, between(p, 4.5, 6.5), 9));
    } else {
        draw_strokes(p, strokes[digit]);
    }
}

/* Picture number i: which digit it is, and its pixels. */
static uint8_t draw_picture(pen *p, uint64_t i, uint8_t *pixels) {
    *p = (pen){.state = i * 0xA24BAED4963EE407u + 99};
    int digit = (int)(uniform(p) * NUM_CLASSES);
    p->turn = between(p, -0.28, 0.28);
    p->shear = between(p, -0.5, 0.25);
    p->scale_x = between(p, 1.7, 2.6);
    p->scale_y = between(p, 1.9, 2.5);
    p->shift_x = between(p, -2, 2);
    p->shift_y = between(p, -2, 2);
    p->width = between(p, 0.5, 1.5);
    p->ink = between(p, 0.75, 1.1);
    draw_digit(p, digit);
    for (int k = 0; k < IMAGE_PIXELS; k++) {
        double dark = (double)p->canvas[k];
        if (dark > 0) dark += between(p, -0.12, 0.12);
        pixels[k] = (uint8_t)(255 * (dark < 0 ? 0 : dark > 1 ? 1 : dark));
    }
    return (uint8_t)digit;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_big_endian(FILE *f, uint32_t x) {
    const uint8_t bytes[] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
    fwrite(bytes, 1, 4, f);
}

static FILE *create(const char *dir, const char *name, char *text, size_t n) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f) snprintf(text, n, "%s: cannot be written: %s", path, strerror(errno));
    return f;
}

static bool write_set(const char *dir, const char *images_name, const char *labels_name,
                      uint64_t first, uint32_t count, char *text, size_t n) {
    FILE *images = create(dir, images_name, text, n);
    FILE *labels = images ? create(dir, labels_name, text, n) : NULL;
    bool done = labels != NULL;
    if (done) {
        const uint32_t head[] = {2051, count, IMAGE_SIZE, IMAGE_SIZE};
        for (int i = 0; i < 4; i++) put_big_endian(images, head[i]);
        put_big_endian(labels, 2049);
        put_big_endian(labels, count);
    }
    for (uint32_t i = 0; i < count && done; i++) {
        uint8_t pixels[IMAGE_PIXELS];
        pen p;
        int digit = draw_picture(&p, first + i, pixels);
        done =
            fwrite(pixels, 1, sizeof pixels, images) == sizeof pixels && fputc(digit, labels) >= 0;
    }
    if (images && fclose(images) != 0) done = false;
    if (labels && fclose(labels) != 0) done = false;
    if (!done && labels) snprintf(text, n, "%s: %s", dir, strerror(errno));
    return done;
}

bool digits_are_made(const char *dir) {
    char path[4096];
    return snprintf(path, sizeof path, "%s/" NOTE, dir) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static bool make_folders(const char *dir) {
    char path[4096];
    size_t n = strlen(dir);
    if (n >= sizeof path) return false;
    for (size_t i = 1; i <= n; i++)
        if (dir[i] == '/' || dir[i] == 0) {
            memcpy(path, dir, i);
            path[i] = 0;
            if (mkdir(path, 0777) != 0 && errno != EEXIST) return false;
        }
    return true;
}

/* The note is written last: a folder that has it is complete. */
bool made_digits_write(const char *dir, char *text, size_t n) {
    if (digits_are_made(dir)) return true;
    if (!make_folders(dir)) {
        snprintf(text, n, "%s: cannot be made: %s", dir, strerror(errno));
        return false;
    }
    if (!write_set(dir, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", 0, 60000, text, n) ||
        !write_set(dir, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 60000, 10000, text, n))
        return false;
    FILE *note = create(dir, NOTE, text, n);
    if (!note) return false;
    fputs("These digits are not MNIST. They were drawn by a program (examples/mnist/made_digits.c "
          "of\n"
          "Seaboard) because the real files could not be had. `tools/setup digits` brings those.\n",
          note);
    return fclose(note) == 0;
}
