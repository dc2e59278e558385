/* axes.c: reading axis letters, and transposing arrays of up to five dimensions by strides. */
#include "writer/kinds/axes.h"

#include <string.h>

#include "writer/kinds/strides.h"
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

sb_status sb_axes_order(sb_arena *arena, const sb_array *in, size_t element_size,
                        const char *letters, const char *wanted, int64_t *dims, sb_array *out) {
    int64_t steps[SB_AXES_MAX], strides[SB_AXES_MAX], total = (int64_t)element_size;
    for (uint32_t i = in->rank; i-- > 0; total *= in->dims[i]) steps[i] = total;
    uint32_t rank = (uint32_t)strlen(wanted);
    for (uint32_t i = 0; i < rank; i++) {
        const char *found = strchr(letters, wanted[i]);
        dims[i] = found ? in->dims[found - letters] : 1;
        strides[i] = found ? steps[found - letters] : 0;
    }
    const sb_array view = {in->data, in->dtype, rank, dims, strides};
    *out = (sb_array){in->data, in->dtype, rank, dims, NULL};
    if (sb_strides_contiguous(&view, element_size)) return SB_OK;
    void *moved = sb_arena_get(arena, (size_t)total);
    if (!moved) return SB_NOMEM;
    sb_strides_copy(moved, (size_t)total, &view, element_size);
    out->data = moved;
    return SB_OK;
}
