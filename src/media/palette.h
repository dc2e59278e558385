/* palette.h: at most 256 colours for a picture, exact when it has no more than that.
 *
 * Colours are 0xRRGGBB. A picture of 1 or 2 channels is grey, and alpha is dropped. More than 256
 * colours are first sorted into 32 * 32 * 32 bins; the bins are then divided by median cut, and a
 * pixel gets the mean colour of its share. Deterministic; no dithering, which GIF would pay for.
 * Threads: an object belongs to one thread. Memory: 1.2 MiB, in the object. */
#ifndef SB_MEDIA_PALETTE_H
#define SB_MEDIA_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { sb_palette_max = 256, sb_palette_bins = 1 << 15, sb_palette_slots = 1 << 10 };

typedef struct sb_palette_bin {
    uint64_t sum[3]; /* of red, green, blue */
    uint64_t count;
} sb_palette_bin;

typedef struct sb_palette {
    uint32_t colour[sb_palette_max];
    uint32_t n;
    bool exact;
    /* exact: an open hash table from colour to number; a slot holds colour + 1, or 0 */
    uint32_t slot[sb_palette_slots];
    uint8_t slot_number[sb_palette_slots];
    /* reduced: the palette index of each bin, and the state of median cut */
    uint8_t bin_number[sb_palette_bins];
    sb_palette_bin bin[sb_palette_bins];
    uint16_t order[sb_palette_bins]; /* the used bins, box by box */
    uint16_t sorted[sb_palette_bins];
} sb_palette;

/* Empties the palette; afterwards colours are collected exactly. */
void sb_palette_clear(sb_palette *palette);

/* Adds every colour of count pixels. False, with the palette undefined, when there are over 256. */
bool sb_palette_collect(sb_palette *palette, const uint8_t *pixels, size_t count, size_t channels);

/* Chooses 256 colours or fewer that suit these pixels. count is at least 1. */
void sb_palette_cut(sb_palette *palette, const uint8_t *pixels, size_t count, size_t channels);

/* Writes each pixel's colour number. The pixels must be among those the palette was made from. */
void sb_palette_apply(const sb_palette *palette, uint8_t *numbers, const uint8_t *pixels,
                      size_t count, size_t channels);

#endif
