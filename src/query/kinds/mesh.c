/* mesh.c: parts of meshes, by the user's name. */
#include "query/kinds/mesh.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/slice.h"
#include "codec/tensor.h"
#include "query/records/value.h"
#include "base/banned.h"

static bool read_part(const sb_series_entry *series, sb_mesh_plugin *out) {
    return series->kind == SB_SERIES_TENSOR &&
           sb_mesh_plugin_read(out, series->plugin_content) == SB_OK && out->version == 0;
}

sb_status sb_mesh_names(const sb_run_entry *run, sb_arena *arena, sb_mesh_name **out, size_t *n,
                        sb_err *err) {
    *n = 0;
    *out = sb_arena_zeroed(arena, run->n, sizeof **out);
    if (!*out) return sb_fail_nomem(err, "for names of meshes");
    for (size_t i = 0; i < run->n; i++) {
        sb_mesh_plugin part;
        if (!read_part(&run->series[i], &part) || part.rank == 0) continue;
        size_t k = 0;
        while (k < *n && !sb_slice_eq((*out)[k].name, part.name)) k++;
        if (k == *n) (*n)++;
        (*out)[k] = (sb_mesh_name){part.name, part.shape[0]};
    }
    return SB_OK;
}

/* ---- listing --------------------------------------------------------------------------------- */

typedef struct placed {
    sb_mesh_item mesh;
    size_t at;
} placed;

static int by_step(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->mesh.item.step != y->mesh.item.step)
        return x->mesh.item.step < y->mesh.item.step ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Appends the points of one part to the list. */
static sb_status add_part(const sb_run_entry *run, const sb_series_entry *entry,
                          const sb_mesh_plugin *part, const sb_sampling *sampling, sb_arena *arena,
                          placed **all, size_t *n, sb_err *err) {
    sb_series series;
    sb_ref_item *items;
    size_t count;
    sb_status status = sb_series_take(run->run, entry->tag, arena, &series);
    if (status == SB_NOT_FOUND) return SB_OK; /* its file was removed meanwhile */
    if (status != SB_OK) return sb_fail_nomem(err, "for a mesh");
    sb_ref_ask ask = {.sampling = sampling};
    status = sb_refs_list(&series, &ask, arena, &items, &count, NULL, err);
    sb_series_release(&series);
    if (status != SB_OK) return status;
    size_t total, bytes;
    placed *more = NULL;
    if (sb_add_size(&total, *n, count) && sb_mul_size(&bytes, total, sizeof *more))
        more = sb_arena_get(arena, bytes);
    if (!more) return sb_fail_nomem(err, "for a mesh");
    if (*n) memcpy(more, *all, *n * sizeof *more);
    for (size_t i = 0; i < count; i++)
        more[*n + i] = (placed){.mesh = {.item = items[i], .part = *part}, .at = *n + i};
    *all = more;
    *n = total;
    return SB_OK;
}

/* content_type 0: all parts. */
static sb_status gather_parts(const sb_run_entry *run, sb_slice name, int32_t content_type,
                              const sb_sampling *sampling, sb_arena *arena, placed **all, size_t *n,
                              sb_err *err) {
    *n = 0;
    *all = NULL;
    for (size_t i = 0; i < run->n; i++) {
        sb_mesh_plugin part;
        if (!read_part(&run->series[i], &part) || !sb_slice_eq(part.name, name)) continue;
        if (content_type && part.content_type != content_type) continue;
        sb_status status = add_part(run, &run->series[i], &part, sampling, arena, all, n, err);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

sb_status sb_mesh_list(const sb_run_entry *run, sb_slice name, const sb_sampling *sampling,
                       sb_arena *arena, sb_mesh_item **out, size_t *n, sb_err *err) {
    placed *all;
    sb_status status = gather_parts(run, name, 0, sampling, arena, &all, n, err);
    if (status != SB_OK) return status;
    *out = sb_arena_get(arena, *n * sizeof **out);
    if (!*out) return sb_fail_nomem(err, "for a mesh");
    if (*n > 1) qsort(all, *n, sizeof *all, by_step);
    for (size_t i = 0; i < *n; i++) (*out)[i] = all[i].mesh;
    return SB_OK;
}

/* ---- data ------------------------------------------------------------------------------------ */

static size_t element_size(int32_t content_type) {
    return content_type == SB_MESH_CONTENT_COLOR ? 1 : 4;
}

static void convert(int32_t content_type, const double *from, size_t n, uint8_t *to) {
    for (size_t i = 0; i < n; i++) {
        /* Faces and colours are whole numbers; what is out of range wraps, NaN is 0. */
        int64_t whole = from[i] > -9e18 && from[i] < 9e18 ? (int64_t)from[i] : 0;
        if (content_type == SB_MESH_CONTENT_VERTEX)
            sb_store32(to + i * 4, sb_float_bits((float)from[i]));
        else if (content_type == SB_MESH_CONTENT_FACE)
            sb_store32(to + i * 4, (uint32_t)whole);
        else
            to[i] = (uint8_t)whole;
    }
}

/* The slice [sample] of a tensor. */
static sb_status slice_of(const sb_tensor_view *t, int32_t content_type, uint32_t sample,
                          size_t max_bytes, sb_arena *arena, sb_slice *out, sb_err *err) {
    if (t->rank == 0 || (int64_t)sample >= t->dims[0])
        return sb_fail(err, SB_INVALID, 0, "there is no sample %u", sample);
    size_t n = t->count / (size_t)t->dims[0];
    if (n > max_bytes / sizeof(double))
        return sb_fail(err, SB_LIMIT, 0, "a mesh of %zu numbers", n);
    double *numbers = sb_arena_get(arena, n * sizeof *numbers);
    uint8_t *bytes = sb_arena_get(arena, n * element_size(content_type));
    if (!numbers || !bytes) return sb_fail_nomem(err, "for a mesh");
    if (sb_tensor_doubles(t, n * sample, n, numbers) != SB_OK)
        return sb_fail(err, SB_CORRUPT, 0, "the tensor holds no numbers");
    convert(content_type, numbers, n, bytes);
    *out = sb_slice_of(bytes, n * element_size(content_type));
    return SB_OK;
}

static sb_status join(sb_slice *all, sb_slice more, sb_arena *arena, sb_err *err) {
    if (all->n == 0) {
        *all = more;
        return SB_OK;
    }
    size_t n;
    uint8_t *both = NULL;
    if (sb_add_size(&n, all->n, more.n)) both = sb_arena_get(arena, n);
    if (!both) return sb_fail_nomem(err, "for a mesh");
    memcpy(both, all->p, all->n);
    if (more.n) memcpy(both + all->n, more.p, more.n);
    *all = sb_slice_of(both, n);
    return SB_OK;
}

sb_status sb_mesh_data(sb_blob_cache *blobs, const sb_run_entry *run, sb_slice name,
                       int32_t content_type, uint32_t sample, double step, size_t max_bytes,
                       sb_arena *arena, sb_slice *out, sb_err *err) {
    *out = SB_LIT("");
    if (content_type < SB_MESH_CONTENT_VERTEX || content_type > SB_MESH_CONTENT_COLOR)
        return sb_fail(err, SB_INVALID, 0, "a mesh has no part %d", content_type);
    placed *all;
    size_t n;
    sb_status status = gather_parts(run, name, content_type, NULL, arena, &all, &n, err);
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        const sb_ref_item *item = &all[i].mesh.item;
        if ((double)item->step != step) continue;
        sb_slice payload, bytes = {NULL, 0};
        sb_tensor_view t;
        status =
            sb_blob_read(blobs, run->run, item->file, &item->ref, max_bytes, arena, &payload, err);
        if (status == SB_OK) status = sb_ref_tensor(&item->ref, payload, &t, err);
        if (status == SB_OK)
            status = slice_of(&t, content_type, sample, max_bytes, arena, &bytes, err);
        if (status == SB_OK) status = join(out, bytes, arena, err);
    }
    return status;
}
