/* axes.c: reading axis letters, and transposing arrays of up to five dimensions. */
#include "writer/kinds/axes.h"

#include <string.h>

#include "base/banned.h"

bool sb_axes_read(char out[SB_AXES_MAX + 1], const char *letters, uint32_t rank,
                  const char *allowed) {
    memset(out, 0, SB_AXES_MAX + 1);
    if (rank > SB_AXES_MAX || strlen(letters) != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        char letter = (char)(letters[i] & ~0x20);
        if (!letter || !strchr(allowed, letter) || strchr(out, letter)) return false;
        out[i] = letter;
    }
    return strchr(out, 'H') && strchr(out, 'W');
}

/* Steps of the source in bytes for each dimension of the result; 0 where the source lacks it. */
typedef struct walk {
    size_t size[SB_AXES_MAX];
    size_t step[SB_AXES_MAX];
    size_t rank;
    size_t element;
} walk;

static void copy_all(const walk *k, uint8_t *to, const uint8_t *from) {
    size_t at[SB_AXES_MAX] = {0};
    size_t inner = k->rank - 1;
    for (;;) {
        const uint8_t *p = from;
        for (size_t i = 0; i < inner; i++) p += at[i] * k->step[i];
        for (size_t i = 0; i < k->size[inner]; i++, to += k->element)
            memcpy(to, p + i * k->step[inner], k->element);
        size_t i = inner;
        while (i > 0 && ++at[i - 1] == k->size[i - 1]) at[--i] = 0;
        if (i == 0) return;
    }
}

sb_status sb_axes_order(sb_arena *arena, const sb_array *in, size_t element_size,
                        const char *letters, const char *wanted, int64_t *dims, sb_array *out) {
    walk k = {.rank = strlen(wanted), .element = element_size};
    size_t steps[SB_AXES_MAX], total = element_size;
    for (uint32_t i = in->rank; i-- > 0; total *= (size_t)in->dims[i]) steps[i] = total;
    bool in_order = true;
    const char *last = letters;
    for (size_t i = 0; i < k.rank; i++) {
        const char *found = strchr(letters, wanted[i]);
        size_t from = found ? (size_t)(found - letters) : 0;
        dims[i] = found ? in->dims[from] : 1;
        k.size[i] = (size_t)dims[i];
        k.step[i] = found ? steps[from] : 0;
        if (found && found < last) in_order = false;
        if (found) last = found;
    }
    *out = (sb_array){in->data, in->dtype, (uint32_t)k.rank, dims};
    if (in_order || total == 0) return SB_OK;
    uint8_t *moved = sb_arena_get(arena, total);
    if (!moved) return SB_NOMEM;
    copy_all(&k, moved, in->data);
    out->data = moved;
    return SB_OK;
}
