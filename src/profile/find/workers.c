/* workers.c: captures of workers: which files of a directory were written together by the ranks of
 * a program. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profile/find/walk_int.h"
#include "base/banned.h"

#define TOGETHER_NS INT64_C(600000000000) /* files written within ten minutes may be one capture */

static int compare_numbers(int64_t x, int64_t y) {
    return (x > y) - (x < y);
}

static int compare_groups(const sb_worker_file *x, const sb_worker_file *y) {
    int order = sb_slice_cmp(x->stem, y->stem);
    if (!order) order = compare_numbers(x->world, y->world);
    if (!order) order = (x->name.stamp == 0) - (y->name.stamp == 0);
    return order ? order : x->is_apart - y->is_apart;
}

static int compare_workers(const sb_worker_file *x, const sb_worker_file *y) {
    int order = compare_groups(x, y);
    if (!order) order = compare_numbers(x->rank, y->rank);
    return order || x->rank >= 0 ? order : sb_slice_cmp(x->name.host, y->name.host);
}

static int compare_times(const sb_worker_file *x, const sb_worker_file *y) {
    int order = compare_numbers(x->name.stamp, y->name.stamp);
    return order ? order : strcmp(x->file, y->file);
}

static int compare_by_worker(const void *a, const void *b) {
    int order = compare_workers(a, b);
    return order ? order : compare_times(a, b);
}

static int compare_by_span(const void *a, const void *b) {
    const sb_worker_file *x = a, *y = b;
    int order = compare_groups(x, y);
    if (!order) order = compare_numbers(x->span, y->span);
    return order ? order : compare_times(x, y);
}

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

/* Finds the last "rank" with a number behind it, such as rank0, rank_0, RANK-12. *from and *to:
 * where its digits are. -1: there is none. */
static int64_t rank_in_name(sb_slice name, size_t *from, size_t *to) {
    for (size_t i = name.n; i-- > 0;) {
        if (name.n - i < 5 || strncasecmp((const char *)name.p + i, "rank", 4) != 0) continue;
        size_t n = i + 4;
        if (n < name.n && (name.p[n] == '_' || name.p[n] == '-' || name.p[n] == '.')) n++;
        int64_t rank = 0;
        for (*from = n; n < name.n && n - *from < 9 && is_digit(name.p[n]); n++)
            rank = rank * 10 + (name.p[n] - '0');
        *to = n;
        if (n > *from) return rank;
    }
    return -1;
}

bool sb_set_worker_stem(sb_capture_walk *w, sb_worker_file *f, const sb_trace_head *head) {
    sb_slice host = f->name.host;
    size_t from = 0, to = host.n;
    f->rank = -1;
    if (head->rank >= 0 && head->world > 1) {
        f->rank = head->rank;
        f->world = head->world;
    } else if (!f->name.stamp) {
        if (head->world < 0) f->rank = rank_in_name(host, &from, &to);
        if (f->rank < 0) {
            from = 0;
            to = host.n;
            f->is_apart = !f->name.is_torch || head->world > 0;
        }
    }
    uint8_t *stem = sb_arena_get(w->arena, host.n + 1);
    size_t n = 0;
    for (size_t i = 0; stem && i < host.n; i++)
        if (i < from || i >= to || !is_digit(host.p[i])) stem[n++] = host.p[i];
    f->stem = sb_slice_of(stem, n);
    return stem != NULL;
}

/* Names of hosts may be anything. If a program had more ranks than files have a name with the same
 * letters, then all files of programs with so many ranks belong together. The files are ordered by
 * worker. */
static void join_hosts(sb_worker_file *files, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t end = i;
        int64_t ranks = 0;
        for (; end < n && compare_groups(&files[end], &files[i]) == 0; end++)
            ranks += end == i || files[end].rank != files[end - 1].rank;
        for (size_t k = i; k < end && files[k].name.stamp && ranks < files[k].world; k++)
            files[k].stem.n = 0;
        i = end;
    }
    qsort(files, n, sizeof *files, compare_by_worker);
}

/* One capture: the files from i on that are the same span and were written at about the same time.
 * Answers the index behind them. */
static size_t take_capture(sb_capture_walk *w, sb_slice dir, const sb_worker_file *files, size_t i,
                           size_t n) {
    const sb_worker_file *first = &files[i];
    bool is_session = sb_is_session(dir);
    sb_slice name = first->name.host, run = is_session ? sb_session_run(dir) : dir;
    if (is_session) { /* a worker of the session; if the file does not name one, the session */
        sb_slice worker = sb_arena_dup(w->arena, name);
        bool is_named = !sb_slice_eq(name, SB_LIT(SB_UNNAMED_HOST));
        name = sb_session_name(dir);
        if (is_named && worker.p) name = sb_walk_join(w, name, (const char *)worker.p);
    }
    sb_capture *c = name.p ? sb_walk_add(w, run, name, first->name.format) : NULL;
    if (!c) return n;
    do {
        const sb_worker_file *f = &files[i++];
        size_t before = c->file_count;
        if (!sb_walk_add_file(w, c, dir, f->file, f->name.host)) return n;
        if (c->file_count > before) {
            c->files[before].span = f->span;
            c->files[before].rank = f->rank;
        }
    } while (i < n && !first->is_apart && compare_groups(&files[i], first) == 0 &&
             files[i].span == first->span && files[i].name.stamp - first->name.stamp < TOGETHER_NS);
    if (c->file_count == 0) {
        sb_walk_drop(w);
        return i;
    }
    if (first->name.stamp) c->time_ns = first->name.stamp;
    sb_slice place = sb_walk_join(w, dir, first->file);
    if (place.p) sb_walk_set_ids(w, c, place);
    return i;
}

void sb_walk_workers(sb_capture_walk *w, sb_slice dir, sb_worker_file *files, size_t n) {
    qsort(files, n, sizeof *files, compare_by_worker);
    join_hosts(files, n);
    for (size_t i = 0; i < n; i++)
        files[i].span =
            i && compare_workers(&files[i], &files[i - 1]) == 0 ? files[i - 1].span + 1 : 1;
    qsort(files, n, sizeof *files, compare_by_span);
    for (size_t i = 0; i < n && w->failed == SB_OK;) i = take_capture(w, dir, files, i, n);
}
