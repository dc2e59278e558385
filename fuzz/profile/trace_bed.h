/* trace_bed.h: what both fuzz targets of traces do with their bytes. */
#ifndef SB_FUZZ_TRACE_BED_H
#define SB_FUZZ_TRACE_BED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/analysis/critical_path.h"
#include "profile/analysis/views.h"
#include "profile/chrome_write.h"
#include "profile/read/read.h"
#include "profile/trace/totals.h"
#include "profile/trace/window.h"

static inline sb_status trace_bed_ignore(void *ud, sb_slice piece, uint64_t done, uint64_t total,
                                         sb_err *err) {
    (void)ud;
    (void)piece;
    (void)done;
    (void)total;
    (void)err;
    return SB_OK;
}

/* Spans of a lane must not overlap, and every window must show all of them. */
static inline void trace_bed_check_track(const sb_trace *t, const sb_track *k) {
    sb_rects rects = {0};
    uint64_t spans = 0, sum = 0;
    sb_window w = {0, t->duration, 7};
    if (!sb_window_rects(k, &w, &rects, t->alloc, &spans)) abort();
    for (size_t i = 0; i < rects.n; i++) sum += rects.items[i].count;
    if (sum != spans || spans != k->spans.n) abort();
    for (uint32_t lane = 0; lane < k->lane_count; lane++)
        for (uint32_t i = k->lanes[lane] + 1; i < k->lanes[lane + 1]; i++)
            if (k->spans.items[i].start < sb_span_end(&k->spans.items[i - 1])) abort();
    SB_VEC_FREE(&rects, t->alloc);
}

/* Pieces of a critical path follow each other and are as long as the step. Where fewer are kept,
 * those are the first ones, and the sums by name are the same. */
static inline void trace_bed_check_paths(const sb_analysis *a, sb_arena *arena) {
    for (size_t i = 0; i < a->step_count && i < 16; i++) {
        sb_path_ask ask = {.step = i, .most_pieces = SIZE_MAX};
        sb_path_view v, few;
        int64_t at = a->steps[i].start, sum = 0;
        if (sb_view_path(a, &ask, &v, arena, NULL) != SB_OK) abort();
        for (size_t k = 0; k < v.n; at += v.pieces[k++].dur)
            if (v.pieces[k].start != at || v.pieces[k].dur <= 0) abort();
        for (size_t k = 0; k < v.row_count; k++) sum += v.rows[k].dur;
        if (at != a->steps[i].start + a->steps[i].dur || sum != a->steps[i].dur) abort();
        ask.most_pieces = v.n / 2;
        if (v.n != v.total || sb_view_path(a, &ask, &few, arena, NULL) != SB_OK) abort();
        if (few.n != v.n / 2 || few.total != v.total || few.row_count != v.row_count) abort();
        for (size_t k = 0; k < few.n; k++)
            if (few.pieces[k].start != v.pieces[k].start) abort();
    }
}

static inline void trace_bed_ask(sb_trace *t) {
    sb_analysis *a;
    sb_arena arena;
    sb_arena_init(&arena, t->alloc, 1 << 16, (size_t)1 << 30);
    for (uint32_t i = 0; i < t->tracks.n && i < 64; i++) {
        const sb_track *k = &t->tracks.items[i];
        sb_buf out;
        sb_slice category;
        trace_bed_check_track(t, k);
        sb_buf_init(&out, t->alloc, 1 << 20);
        if (k->spans.n)
            sb_span_args(t, i, (uint32_t)(k->spans.n / 2), &out, &category, &arena, NULL);
        sb_buf_fini(&out);
    }
    if (sb_analysis_new(&a, t, NULL, NULL) == SB_OK) {
        sb_advice *advice;
        size_t n;
        sb_module_view modules;
        sb_rank_view ranks;
        sb_input_view input;
        sb_wait *waits;
        uint64_t total;
        sb_difference difference;
        sb_view_advice(a, &advice, &n, &arena);
        sb_view_modules(t, &modules, &arena);
        sb_view_ranks(a, &ranks, &arena);
        sb_view_input(a, &input, &arena);
        sb_view_waits(t, 0, t->duration, 100, &waits, &n, &total, &arena);
        sb_view_difference(a, a, SB_DIFFER_OPS, &difference, &arena);
        trace_bed_check_paths(a, &arena);
        if (sb_trace_add_idle(t, a, NULL) != SB_OK) abort();
        for (uint32_t i = 0; i < t->tracks.n && i < 64; i++)
            trace_bed_check_track(t, &t->tracks.items[t->track_order[i]]);
        sb_analysis_free(a);
    }
    for (uint32_t i = 0; i < t->memory_devices.n; i++) {
        sb_memory_view memory;
        sb_view_memory(t, i, 100, &memory, &arena);
    }
    for (uint32_t i = 0; i < t->tracks.n && i < 64; i++) {
        sb_totals_ask ask = {.tracks = &i, .track_count = 1, .to = t->duration};
        sb_totals totals;
        sb_trace_totals(t, &ask, &totals, &arena, NULL);
    }
    sb_search_ask ask = {.text = SB_LIT("a"), .in_args = true, .to = t->duration, .limit = 10};
    sb_search_result found;
    sb_trace_search(t, &ask, &found, &arena, NULL);
    sb_chrome_write(t, 0, t->duration / 2, trace_bed_ignore, NULL, NULL);
    sb_arena_fini(&arena);
}

/* The files of a capture that could be read are asked, too. */
static inline void trace_bed_open(const sb_trace_file *files, size_t n) {
    sb_trace *t = NULL;
    sb_trace_opts opts = {.most_bytes = 64 << 20, .most_spans = 1 << 20};
    if (sb_trace_open(&t, &sb_alloc_libc, &sb_fs_local, files, n, &opts, NULL) != SB_OK) return;
    trace_bed_ask(t);
    sb_trace_free(t);
}

/* As the only file of a capture; every other input as the files of two ranks, the second without
 * its last bytes. */
static inline void sb_trace_bed_try(const uint8_t *data, size_t size) {
    size_t files = 1 + size % 2, n = 0;
    char paths[2][32];
    sb_trace_file file[2];
    for (; n < files; n++) {
        snprintf(paths[n], sizeof paths[n], "/tmp/seaboard-fuzz-XXXXXX");
        int fd = mkstemp(paths[n]);
        if (fd < 0) break;
        size_t length = n ? size - size / 8 : size;
        bool is_written = write(fd, data, length) == (ssize_t)length;
        close(fd);
        file[n] = (sb_trace_file){.path = paths[n], .name = SB_LIT("host")};
        if (!is_written) files = 0;
    }
    if (n == files) trace_bed_open(file, n);
    for (size_t i = 0; i < n; i++) unlink(paths[i]);
}

#endif
