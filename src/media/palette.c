/* palette.c: collects colours exactly, or reduces them to 256 by median cut. */
#include "media/palette.h"

#include <string.h>
#include "base/banned.h"

static inline uint32_t colour_at(const uint8_t *p, size_t channels) {
    if (channels < 3) return p[0] * 0x010101u;
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

void sb_palette_clear(sb_palette *palette) {
    palette->n = 0;
    palette->exact = true;
    memset(palette->slot, 0, sizeof palette->slot);
}

/* The slot that holds the colour, or the empty slot where it would be inserted. The table is at
 * most a quarter full, so there is always an empty slot. */
static inline size_t slot_of(const sb_palette *palette, uint32_t colour) {
    size_t i = colour * 0x9e3779b1u >> 22;
    while (palette->slot[i] != 0 && palette->slot[i] != colour + 1) {
        i = (i + 1) % sb_palette_slots;
    }
    return i;
}

bool sb_palette_collect(sb_palette *palette, const uint8_t *pixels, size_t count, size_t channels) {
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint32_t colour = colour_at(pixels, channels);
        if (colour == last) continue;
        last = colour;
        size_t slot = slot_of(palette, colour);
        if (palette->slot[slot] != 0) continue;
        if (palette->n == sb_palette_max) return false;
        palette->slot[slot] = colour + 1;
        palette->slot_number[slot] = (uint8_t)palette->n;
        palette->colour[palette->n++] = colour;
    }
    return true;
}

/* A bin's number has five bits of red, then green, then blue. */
static inline uint32_t bin_of(uint32_t colour) {
    return (colour >> 9 & 0x7c00u) | (colour >> 6 & 0x3e0u) | (colour >> 3 & 0x1fu);
}

static inline unsigned bin_axis(uint32_t bin, unsigned axis) {
    return bin >> (10 - 5 * axis) & 0x1fu;
}

/* A box of median cut: the used bins order[first .. last). */
struct box {
    size_t first, last;
    uint64_t count; /* pixels in it */
    unsigned axis;  /* the axis along which the box is longest */
    unsigned extent;
};

static void measure_box(struct box *box, const sb_palette *palette) {
    unsigned low[3] = {31, 31, 31}, high[3] = {0, 0, 0};
    box->count = 0;
    for (size_t i = box->first; i < box->last; i++) {
        uint32_t bin = palette->order[i];
        box->count += palette->bin[bin].count;
        for (unsigned axis = 0; axis < 3; axis++) {
            unsigned at = bin_axis(bin, axis);
            if (at < low[axis]) low[axis] = at;
            if (at > high[axis]) high[axis] = at;
        }
    }
    box->axis = 0;
    box->extent = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (high[axis] - low[axis] > box->extent) {
            box->extent = high[axis] - low[axis];
            box->axis = axis;
        }
    }
}

/* Sorts the bins of a box along its longest axis. An axis has 32 values, so by counting. */
static void sort_box(sb_palette *palette, const struct box *box) {
    size_t start[33] = {0};
    for (size_t i = box->first; i < box->last; i++) {
        start[bin_axis(palette->order[i], box->axis) + 1]++;
    }
    for (size_t i = 1; i < 33; i++) start[i] += start[i - 1];
    for (size_t i = box->first; i < box->last; i++) {
        uint16_t bin = palette->order[i];
        palette->sorted[start[bin_axis(bin, box->axis)]++] = bin;
    }
    memcpy(palette->order + box->first, palette->sorted,
           (box->last - box->first) * sizeof palette->order[0]);
}

/* Splits *box in two halves with about as many pixels: *box keeps the lower half, the upper half is
 * returned. Each has at least one bin. */
static struct box split_box(sb_palette *palette, struct box *box) {
    sort_box(palette, box);
    uint64_t below = 0;
    size_t at = box->first;
    do {
        below += palette->bin[palette->order[at++]].count;
    } while (at + 1 < box->last && below * 2 < box->count);
    struct box rest = {.first = at, .last = box->last};
    box->last = at;
    measure_box(box, palette);
    measure_box(&rest, palette);
    return rest;
}

/* The box to split next: the one with the largest product of pixels and length. SIZE_MAX when no
 * box has two bins. */
static size_t worst_box(const struct box *boxes, size_t n) {
    size_t worst = SIZE_MAX;
    uint64_t badness = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t b = boxes[i].count * boxes[i].extent;
        if (b > badness) {
            badness = b;
            worst = i;
        }
    }
    return worst;
}

static void name_box(sb_palette *palette, const struct box *box, size_t number) {
    uint64_t sum[3] = {0, 0, 0};
    for (size_t i = box->first; i < box->last; i++) {
        uint32_t bin = palette->order[i];
        palette->bin_number[bin] = (uint8_t)number;
        for (unsigned axis = 0; axis < 3; axis++) sum[axis] += palette->bin[bin].sum[axis];
    }
    uint32_t colour = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        colour = colour << 8 | (uint32_t)((sum[axis] + box->count / 2) / box->count);
    }
    palette->colour[number] = colour;
}

void sb_palette_cut(sb_palette *palette, const uint8_t *pixels, size_t count, size_t channels) {
    memset(palette->bin, 0, sizeof palette->bin);
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint32_t colour = colour_at(pixels, channels);
        sb_palette_bin *bin = &palette->bin[bin_of(colour)];
        bin->count++;
        for (unsigned axis = 0; axis < 3; axis++) bin->sum[axis] += colour >> (16 - 8 * axis) & 255;
    }
    struct box boxes[sb_palette_max] = {{.first = 0}};
    for (uint32_t bin = 0; bin < sb_palette_bins; bin++) {
        if (palette->bin[bin].count) palette->order[boxes[0].last++] = (uint16_t)bin;
    }
    measure_box(&boxes[0], palette);
    size_t n = 1;
    for (; n < sb_palette_max; n++) {
        size_t worst = worst_box(boxes, n);
        if (worst == SIZE_MAX) break;
        boxes[n] = split_box(palette, &boxes[worst]);
    }
    for (size_t i = 0; i < n; i++) name_box(palette, &boxes[i], i);
    palette->n = (uint32_t)n;
    palette->exact = false;
}

void sb_palette_apply(const sb_palette *palette, uint8_t *numbers, const uint8_t *pixels,
                      size_t count, size_t channels) {
    for (size_t i = 0; i < count; i++, pixels += channels) {
        uint32_t colour = colour_at(pixels, channels);
        numbers[i] = palette->exact ? palette->slot_number[slot_of(palette, colour)]
                                    : palette->bin_number[bin_of(colour)];
    }
}
