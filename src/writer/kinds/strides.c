/* strides.c: gathering of arrays with strides.
 *
 * Dimensions of size 1 are dropped, and neighbours that can be walked with a single stride are
 * merged, so that most views end up with one or two dimensions over blocks of contiguous bytes. */
#include "writer/kinds/strides.h"

#include <stdint.h>
#include <string.h>

#include "base/banned.h"

typedef struct axis {
    size_t size;
    int64_t stride;
} axis;

static bool is_empty(const sb_array *array) {
    for (uint32_t i = 0; i < array->rank; i++)
        if (array->dims[i] == 0) return true;
    return false;
}

bool sb_strides_contiguous(const sb_array *array, size_t element) {
    if (!array->strides || is_empty(array)) return true;
    int64_t expected = (int64_t)element;
    for (uint32_t i = array->rank; i-- > 0;) {
        if (array->dims[i] == 1) continue;
        if (array->strides[i] != expected) return false;
        if (__builtin_mul_overflow(expected, array->dims[i], &expected)) return false;
    }
    return true;
}

bool sb_strides_in_range(const sb_array *array) {
    if (!array->strides || is_empty(array)) return true;
    int64_t lowest = 0, highest = 0;
    for (uint32_t i = 0; i < array->rank; i++) {
        int64_t reach;
        if (__builtin_mul_overflow(array->dims[i] - 1, array->strides[i], &reach)) return false;
        int64_t *end = reach < 0 ? &lowest : &highest;
        if (__builtin_add_overflow(*end, reach, end)) return false;
    }
    int64_t span;
    return !__builtin_sub_overflow(highest, lowest, &span) && span <= PTRDIFF_MAX;
}

/* The dimensions that have to be walked, outermost first. Returns how many there are. */
static uint32_t merge_axes(const sb_array *array, size_t element, axis *out) {
    uint32_t n = 0;
    int64_t dense = (int64_t)element; /* the stride that a contiguous array has here */
    for (uint32_t i = array->rank; i-- > 0;) {
        int64_t dim = array->dims[i], stride = array->strides ? array->strides[i] : dense, whole;
        if (!array->strides) dense *= dim;
        if (dim == 1) continue;
        bool joins = n &&
                     !__builtin_mul_overflow(out[n - 1].stride, (int64_t)out[n - 1].size, &whole) &&
                     whole == stride;
        if (joins)
            out[n - 1].size *= (size_t)dim;
        else
            out[n++] = (axis){(size_t)dim, stride};
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        axis swapped = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = swapped;
    }
    return n;
}

#define COPY_EACH(bytes)                                                                           \
    for (size_t i = 0; i < count; i++, to += (bytes), from += stride) memcpy(to, from, (bytes))

/* A constant size lets the compiler copy an element with one load and one store. */
static void copy_blocks(uint8_t *to, const uint8_t *from, int64_t stride, size_t count,
                        size_t block) {
    switch (block) {
    case 1:
        COPY_EACH(1);
        return;
    case 2:
        COPY_EACH(2);
        return;
    case 4:
        COPY_EACH(4);
        return;
    case 8:
        COPY_EACH(8);
        return;
    default:
        COPY_EACH(block);
    }
}

void sb_strides_copy(void *to, size_t n, const sb_array *array, size_t element) {
    axis axes[SB_RANK_LIMIT];
    size_t at[SB_RANK_LIMIT] = {0};
    if (n == 0) return;
    uint32_t rank = merge_axes(array, element, axes);
    size_t block = element;
    if (rank && axes[rank - 1].stride == (int64_t)element) block *= axes[--rank].size;
    axis inner = rank ? axes[--rank] : (axis){1, 0};
    uint8_t *out = to;
    int64_t offset = 0;
    for (;;) {
        const uint8_t *from = (const uint8_t *)array->data + offset;
        size_t whole = n / block < inner.size ? n / block : inner.size;
        copy_blocks(out, from, inner.stride, whole, block);
        out += whole * block;
        n -= whole * block;
        if (whole < inner.size) { /* the copy ends inside this block */
            if (n) memcpy(out, from + (int64_t)whole * inner.stride, n);
            return;
        }
        uint32_t i = rank;
        for (; i > 0; i--) {
            const axis *a = &axes[i - 1];
            offset += a->stride;
            if (++at[i - 1] < a->size) break;
            offset -= a->stride * (int64_t)a->size;
            at[i - 1] = 0;
        }
        if (i == 0) return;
    }
}
