/* capture.c: walks a log directory and finds the captures in it. */
#include "profile/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/intern.h"
#include "base/sha256.h"
#include "base/text/utf8.h"
#include "fsio/fs.h"
#include "profile/read/read.h"
#include "base/banned.h"

#define MOST_DEPTH 48u
#define MOST_NAMES 4000000u
#define MOST_CAPTURES 100000u
#define UNNAMED "trace"                   /* the host of a file whose name has none */
#define TOGETHER_NS INT64_C(600000000000) /* files written within ten minutes may be one capture */

typedef struct walk {
    const sb_env *env;
    sb_arena *arena;
    const _Atomic bool *stop;
    sb_recognized *recognized;
    /* device and inode of each directory that was visited: links may form a cycle */
    sb_intern seen;
    SB_VEC(sb_capture) found;
    uint64_t names;
    const char *prefix;
    size_t root_n;
    sb_status failed;
} walk;

static bool is_stopped(const walk *w) {
    return w->stop && atomic_load(w->stop);
}

typedef struct listing {
    walk *w;
    SB_VEC(const char *) names;
} listing;

void sb_capture_set_id(char out[SB_CAPTURE_ID + 1], sb_slice text) {
    char hex[SB_SHA256_HEX + 1];
    sb_sha256_hex(text, hex);
    memcpy(out, hex, SB_CAPTURE_ID);
    out[SB_CAPTURE_ID] = 0;
}

static sb_slice joined(walk *w, sb_slice dir, const char *name) {
    size_t n = strlen(name);
    uint8_t *p = sb_arena_get(w->arena, dir.n + n + 2);
    if (!p) {
        w->failed = SB_NOMEM;
        return (sb_slice){NULL, 0};
    }
    memcpy(p, dir.p, dir.n);
    p[dir.n] = '/';
    memcpy(p + dir.n + 1, name, n + 1);
    return sb_slice_of(p, dir.n + n + 1);
}

static sb_slice spelled(walk *w, sb_slice text) {
    sb_buf out;
    sb_alloc alloc = sb_arena_alloc(w->arena);
    sb_buf_init(&out, &alloc, 1 << 16);
    sb_utf8_spell(&out, text);
    return sb_buf_slice(&out);
}

/* The name of the run that a directory stands for: its path relative to the log directory. */
static sb_slice run_of(walk *w, sb_slice dir) {
    sb_slice below =
        dir.n > w->root_n ? sb_slice_of(dir.p + w->root_n + 1, dir.n - w->root_n - 1) : SB_LIT(".");
    below = spelled(w, below);
    if (!w->prefix || !*w->prefix) return below;
    sb_slice prefix = sb_slice_str(w->prefix);
    if (sb_slice_eq(below, SB_LIT("."))) return sb_arena_dup(w->arena, prefix);
    sb_slice whole = sb_arena_dup(w->arena, prefix);
    return whole.p ? joined(w, whole, (const char *)sb_arena_dup(w->arena, below).p) : whole;
}

/* ---- names of files -------------------------------------------------------------------------- */

typedef struct trace_name {
    sb_trace_format format;
    sb_slice host;   /* the file name without its extension */
    int64_t stamp;   /* the timestamp in the names of torch, in nanoseconds; 0: the name has none */
    bool is_session; /* this kind of file may be in plugins/profile/<session> */
    bool is_torch;   /* named as torch does it: <worker>[.<timestamp>].pt.trace.json */
    bool is_unsure;  /* only its content tells whether it is a trace */
} trace_name;

static bool cut_end(sb_slice *name, const char *end) {
    if (!sb_slice_ends(*name, sb_slice_str(end))) return false;
    name->n -= strlen(end);
    return true;
}

/* Nanoseconds; older versions of torch write milliseconds. What no clock says is the latest. */
static int64_t read_stamp(sb_slice digits) {
    int64_t stamp = 0;
    bool is_off = false;
    for (size_t i = 0; i < digits.n; i++)
        is_off |= __builtin_mul_overflow(stamp, 10, &stamp) ||
                  __builtin_add_overflow(stamp, digits.p[i] - '0', &stamp);
    if (digits.n <= 13) is_off |= __builtin_mul_overflow(stamp, 1000000, &stamp);
    return is_off ? INT64_MAX : stamp;
}

static bool read_trace_name(const char *file, trace_name *out) {
    sb_slice name = sb_slice_str(file);
    *out = (trace_name){0};
    cut_end(&name, ".gz");
    /* XSpaces in Riegeli records are not read: they are listed, and refused with that reason */
    if (cut_end(&name, ".xplane.pb") || cut_end(&name, ".xplane.riegeli")) {
        out->format = SB_FORMAT_XSPACE;
        out->is_session = true;
    } else if (cut_end(&name, ".pt.trace.json")) {
        out->format = SB_FORMAT_KINETO;
        out->is_torch = true;
        size_t n = name.n;
        while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
        if (n && name.p[n - 1] == '.' && name.n - n >= 10 && name.n - n <= 19) {
            out->stamp = read_stamp(sb_slice_of(name.p + n, name.n - n));
            name.n = n - 1;
        }
    } else if (cut_end(&name, ".trace.json")) {
        out->format = SB_FORMAT_CHROME;
        out->is_session = true;
    } else if (cut_end(&name, "chrome_trace.json") || cut_end(&name, "trace.json")) {
        out->format = SB_FORMAT_CHROME;
        while (name.n && (name.p[name.n - 1] == '_' || name.p[name.n - 1] == '.')) name.n--;
        /* it repeats the events of the other files */
        if (sb_slice_ends(name, SB_LIT("perfetto"))) return false;
    } else if (cut_end(&name, ".json")) {
        out->is_unsure = true;
    } else {
        return false;
    }
    out->host = name.n ? name : SB_LIT(UNNAMED);
    return true;
}

/* ---- captures -------------------------------------------------------------------------------- */

/* `run`: its directory. */
static sb_capture *add_capture(walk *w, sb_slice run, sb_slice name, sb_trace_format format) {
    sb_capture *c = SB_VEC_PUSH(&w->found, w->env->alloc, MOST_CAPTURES);
    if (!c) {
        w->failed = w->found.n < MOST_CAPTURES ? SB_NOMEM : w->failed;
        return NULL;
    }
    *c = (sb_capture){.format = format, .name = spelled(w, name)};
    c->run = run_of(w, run);
    return c;
}

static bool add_file(walk *w, sb_capture *c, sb_slice dir, const char *file, sb_slice name) {
    sb_file_info info;
    sb_slice path = joined(w, dir, file);
    if (!path.p) return false;
    const sb_fs *fs = w->env->fs;
    if (fs->stat(fs->ctx, (const char *)path.p, &info) != 0 || !info.is_file) return true;
    if ((c->file_count & (c->file_count - 1)) == 0) { /* there is room up to a power of two */
        sb_alloc alloc = sb_arena_alloc(w->arena);
        size_t room = c->file_count ? 2 * c->file_count : 1;
        sb_capture_file *files =
            alloc.resize(alloc.ctx, c->files, c->file_count * sizeof *files, room * sizeof *files);
        if (!files) return false;
        c->files = files;
    }
    sb_slice shown =
        path.n > w->root_n + 1 ? sb_slice_of(path.p + w->root_n + 1, path.n - w->root_n - 1) : path;
    c->files[c->file_count++] = (sb_capture_file){.path = path,
                                                  .shown = spelled(w, shown),
                                                  .name = spelled(w, name),
                                                  .size = info.size,
                                                  .inode = info.inode,
                                                  .mtime_ns = info.mtime_ns,
                                                  .rank = -1,
                                                  .span = 1};
    c->bytes += info.size;
    if (info.mtime_ns > c->time_ns) c->time_ns = info.mtime_ns;
    return true;
}

/* Compares digits as numbers: rank2 comes before rank10. */
static int compare_files(const void *a, const void *b) {
    const sb_capture_file *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->name.n != y->name.n) return x->name.n < y->name.n ? -1 : 1;
    return sb_slice_cmp(x->name, y->name);
}

/* Makes the two hashes of a capture: `id` from its path, `epoch` from its files as they are
 * now. */
static void name_capture(walk *w, sb_capture *c, sb_slice place) {
    if (c->file_count) qsort(c->files, c->file_count, sizeof c->files[0], compare_files);
    sb_buf text;
    sb_alloc alloc = sb_arena_alloc(w->arena);
    sb_buf_init(&text, &alloc, 1 << 20);
    sb_buf_add_slice(&text, place);
    sb_capture_set_id(c->id, sb_buf_slice(&text));
    for (size_t i = 0; i < c->file_count; i++)
        sb_buf_printf(&text, " %llu %llu %lld", (unsigned long long)c->files[i].size,
                      (unsigned long long)c->files[i].inode, (long long)c->files[i].mtime_ns);
    sb_capture_set_id(c->epoch, sb_buf_slice(&text));
}

static sb_slice last_part(sb_slice path) {
    size_t slash = path.n;
    while (slash && path.p[slash - 1] != '/') slash--;
    return sb_slice_of(path.p + slash, path.n - slash);
}

/* The directory of the run that a session is of. */
static sb_slice run_of_session(sb_slice dir) {
    static const char below[] = "/plugins/profile/";
    size_t cut = last_part(dir).n + sizeof below - 1;
    return sb_slice_of(dir.p, dir.n > cut ? dir.n - cut : 0);
}

static bool is_in_session(sb_slice dir) {
    dir.n -= last_part(dir).n;
    return sb_slice_ends(dir, SB_LIT("plugins/profile/"));
}

/* A session directory is one capture. Of each host one file is taken: the XSpace if there is
 * one. *is_found: there is such a file. */
static void take_session(walk *w, sb_slice dir, const listing *l, bool *is_found) {
    sb_capture *c = NULL;
    *is_found = false;
    for (int format = SB_FORMAT_XSPACE; format <= SB_FORMAT_CHROME; format += 2) {
        for (size_t i = 0; i < l->names.n; i++) {
            trace_name name;
            bool is_known = false;
            if (!read_trace_name(l->names.items[i], &name) || (int)name.format != format ||
                !name.is_session)
                continue;
            for (size_t k = 0; c && k < c->file_count; k++)
                is_known |= sb_slice_eq(c->files[k].name, name.host);
            if (is_known) continue;
            if (!c)
                c = add_capture(w, run_of_session(dir), last_part(dir), (sb_trace_format)format);
            *is_found = c != NULL;
            if (!c || !add_file(w, c, dir, l->names.items[i], name.host)) return;
        }
    }
    if (c && c->file_count == 0) { /* what has such a name is no file, or was just deleted */
        w->found.n--;
        *is_found = false;
        return;
    }
    if (c) name_capture(w, c, dir);
}

/* ---- workers --------------------------------------------------------------------------------- */

/* A file that is the capture of one worker, or a part of one that several ranks made.
 *
 * Which files belong together: their names differ in digits only, or, where the names have torch's
 * timestamps and the files say of which rank of how many they are, in anything. The k-th files of
 * all workers are one capture. A name without a timestamp tells less, its digits may be those of a
 * step: unless torch's ending says that it is the name of a worker, the rank must be known. */
typedef struct worker_file {
    const char *file;
    trace_name name;
    sb_slice stem; /* files that belong together have the same one, and the same `world` */
    int64_t rank;  /* -1: unknown */
    int64_t world; /* the ranks of the program; 0: unknown */
    bool is_apart; /* it is a capture by itself */
    uint32_t span; /* this is the 1st, 2nd, 3rd... file of its worker */
} worker_file;

static int compare_numbers(int64_t x, int64_t y) {
    return (x > y) - (x < y);
}

static int compare_groups(const worker_file *x, const worker_file *y) {
    int order = sb_slice_cmp(x->stem, y->stem);
    if (!order) order = compare_numbers(x->world, y->world);
    if (!order) order = (x->name.stamp == 0) - (y->name.stamp == 0);
    return order ? order : x->is_apart - y->is_apart;
}

static int compare_workers(const worker_file *x, const worker_file *y) {
    int order = compare_groups(x, y);
    if (!order) order = compare_numbers(x->rank, y->rank);
    return order || x->rank >= 0 ? order : sb_slice_cmp(x->name.host, y->name.host);
}

static int compare_times(const worker_file *x, const worker_file *y) {
    int order = compare_numbers(x->name.stamp, y->name.stamp);
    return order ? order : strcmp(x->file, y->file);
}

static int compare_by_worker(const void *a, const void *b) {
    int order = compare_workers(a, b);
    return order ? order : compare_times(a, b);
}

static int compare_by_span(const void *a, const void *b) {
    const worker_file *x = a, *y = b;
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

/* Sets to which other files this one may belong. `head`: what its first bytes say. false: no
 * memory. */
static bool set_stem(walk *w, worker_file *f, const sb_trace_head *head) {
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
static void join_hosts(worker_file *files, size_t n) {
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
static size_t take_capture(walk *w, sb_slice dir, const worker_file *files, size_t i, size_t n) {
    const worker_file *first = &files[i];
    bool is_session = is_in_session(dir);
    sb_slice name = first->name.host, run = is_session ? run_of_session(dir) : dir;
    if (is_session) { /* a worker of the session; if the file does not name one, the session */
        sb_slice worker = sb_arena_dup(w->arena, name);
        bool is_named = !sb_slice_eq(name, SB_LIT(UNNAMED));
        name = last_part(dir);
        if (is_named && worker.p) name = joined(w, name, (const char *)worker.p);
    }
    sb_capture *c = name.p ? add_capture(w, run, name, first->name.format) : NULL;
    if (!c) return n;
    do {
        const worker_file *f = &files[i++];
        size_t before = c->file_count;
        if (!add_file(w, c, dir, f->file, f->name.host)) return n;
        if (c->file_count > before) {
            c->files[before].span = f->span;
            c->files[before].rank = f->rank;
        }
    } while (i < n && !first->is_apart && compare_groups(&files[i], first) == 0 &&
             files[i].span == first->span && files[i].name.stamp - first->name.stamp < TOGETHER_NS);
    if (c->file_count == 0) {
        w->found.n--;
        return i;
    }
    if (first->name.stamp) c->time_ns = first->name.stamp;
    sb_slice place = joined(w, dir, first->file);
    if (place.p) name_capture(w, c, place);
    return i;
}

static void take_workers(walk *w, sb_slice dir, worker_file *files, size_t n) {
    qsort(files, n, sizeof *files, compare_by_worker);
    join_hosts(files, n);
    for (size_t i = 0; i < n; i++)
        files[i].span =
            i && compare_workers(&files[i], &files[i - 1]) == 0 ? files[i - 1].span + 1 : 1;
    qsort(files, n, sizeof *files, compare_by_span);
    for (size_t i = 0; i < n && w->failed == SB_OK;) i = take_capture(w, dir, files, i, n);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static int keep_name(void *ud, const char *name) {
    listing *l = ud;
    if (++l->w->names > MOST_NAMES || is_stopped(l->w)) return 1;
    sb_slice copy = sb_arena_dup(l->w->arena, sb_slice_str(name));
    const char **slot = copy.p ? SB_VEC_PUSH(&l->names, l->w->env->alloc, MOST_NAMES) : NULL;
    if (slot)
        *slot = (const char *)copy.p;
    else
        l->w->failed = SB_NOMEM;
    return slot == NULL;
}

static int compare_strings(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Looks into a JSON file. What is no trace by its name must be one by its first bytes. */
static bool is_trace(walk *w, sb_slice dir, worker_file *f, sb_trace_head *head) {
    sb_arena_mark mark = sb_arena_here(w->arena);
    sb_slice path = joined(w, dir, f->file);
    const sb_fs *fs = w->env->fs;
    sb_file_info info;
    bool is_one = path.p && fs->stat(fs->ctx, (const char *)path.p, &info) == 0 && info.is_file &&
                  sb_recognize_trace(w->recognized, w->env, (const char *)path.p, &info, head);
    sb_arena_reset(w->arena, mark);
    if (!is_one) *head = (sb_trace_head){.rank = -1, .world = -1};
    if (is_one && f->name.is_unsure) f->name.format = head->format;
    return is_one || !f->name.is_unsure;
}

static void take_files(walk *w, sb_slice dir, const listing *l) {
    bool is_session = is_in_session(dir), is_taken = false;
    worker_file *files = NULL;
    size_t n = 0, kept = 0;
    if (is_session) take_session(w, dir, l, &is_taken);
    for (size_t i = 0; i < l->names.n; i++) {
        trace_name name;
        /* beside what profilers put into a session there are files that XProf made of it */
        if (!read_trace_name(l->names.items[i], &name) ||
            (is_session && (name.is_session || (is_taken && !name.is_torch))))
            continue;
        if (!files) files = sb_arena_zeroed(w->arena, l->names.n, sizeof *files);
        if (!files) {
            w->failed = SB_NOMEM;
            return;
        }
        files[n++] = (worker_file){.file = l->names.items[i], .name = name};
    }
    for (size_t i = 0; i < n; i++) {
        sb_trace_head head = {.rank = -1, .world = -1};
        bool is_sure = !files[i].name.is_unsure;
        bool is_asked = !is_sure || (n > 1 && files[i].name.format != SB_FORMAT_XSPACE);
        if (is_stopped(w)) return;
        if (is_asked && !is_trace(w, dir, &files[i], &head)) continue;
        files[kept] = files[i];
        if (!set_stem(w, &files[kept++], &head)) {
            w->failed = SB_NOMEM;
            return;
        }
    }
    if (kept) take_workers(w, dir, files, kept);
}

static void walk_dir(walk *w, sb_slice dir, unsigned depth) {
    listing l = {.w = w};
    const sb_fs *fs = w->env->fs;
    sb_file_info info;
    bool is_new = false;
    uint32_t id;
    if (fs->stat(fs->ctx, (const char *)dir.p, &info) != 0 || !info.is_dir) return;
    uint64_t key[2] = {info.device, info.inode};
    if (sb_intern_add(&w->seen, sb_slice_of(key, sizeof key), &id, &is_new) != SB_OK) {
        w->failed = SB_NOMEM;
        return;
    }
    if (!is_new || (fs->kind && fs->kind(fs->ctx, (const char *)dir.p) == SB_FS_VIRTUAL)) return;
    fs->list(fs->ctx, (const char *)dir.p, keep_name, &l);
    if (l.names.n) qsort(l.names.items, l.names.n, sizeof l.names.items[0], compare_strings);
    take_files(w, dir, &l);
    for (size_t i = 0; i < l.names.n && w->failed == SB_OK && depth < MOST_DEPTH; i++) {
        trace_name name;
        if (strstr(l.names.items[i], "tfevents") ||
            (read_trace_name(l.names.items[i], &name) && !name.is_unsure))
            continue;
        if (is_stopped(w)) break;
        sb_arena_mark mark = sb_arena_here(w->arena);
        size_t before = w->found.n;
        sb_slice inner = joined(w, dir, l.names.items[i]);
        if (inner.p) walk_dir(w, inner, depth + 1);
        if (w->found.n == before && w->failed == SB_OK) sb_arena_reset(w->arena, mark);
    }
    SB_VEC_FREE(&l.names, w->env->alloc);
}

static int compare_captures(const void *a, const void *b) {
    const sb_capture *x = a, *y = b;
    int order = sb_slice_cmp(x->run, y->run);
    if (order) return order;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return sb_slice_cmp(y->name, x->name);
}

static sb_status finish_walk(walk *w, sb_captures *out, sb_err *err) {
    *out = (sb_captures){0};
    if (w->failed == SB_OK && w->found.n) {
        qsort(w->found.items, w->found.n, sizeof w->found.items[0], compare_captures);
        out->items = sb_arena_get(w->arena, w->found.n * sizeof *out->items);
        if (!out->items) w->failed = SB_NOMEM;
    }
    if (w->failed == SB_OK && w->found.n) {
        memcpy(out->items, w->found.items, w->found.n * sizeof *out->items);
        out->n = w->found.n;
    }
    SB_VEC_FREE(&w->found, w->env->alloc);
    sb_intern_fini(&w->seen);
    return w->failed == SB_OK ? SB_OK : sb_fail_nomem(err, "for the list of captures");
}

sb_status sb_captures_find(sb_captures *out, const sb_env *env, const sb_capture_root *roots,
                           size_t root_count, sb_recognized *recognized, sb_arena *arena,
                           const _Atomic bool *stop, sb_err *err) {
    walk w = {.env = env, .arena = arena, .stop = stop, .recognized = recognized};
    sb_intern_init(&w.seen, env->alloc, 31, UINT32_MAX - 1);
    for (size_t i = 0; i < root_count && w.failed == SB_OK; i++) {
        sb_slice root = sb_arena_dup(arena, sb_slice_str(roots[i].path));
        while (root.n > 1 && root.p[root.n - 1] == '/') root.n--;
        sb_slice clean = sb_arena_dup(arena, root);
        if (!clean.p) {
            w.failed = SB_NOMEM;
            break;
        }
        w.prefix = roots[i].name;
        w.root_n = clean.n;
        walk_dir(&w, clean, 0);
    }
    return finish_walk(&w, out, err);
}

/* Looks for traces below the path. If there are several captures, it takes the newest one. */
sb_status sb_capture_of_path(sb_capture *out, const sb_env *env, const char *path, sb_arena *arena,
                             sb_err *err) {
    sb_file_info info;
    int failed = env->fs->stat(env->fs->ctx, path, &info);
    if (failed == -ENOENT || failed == -ENOTDIR)
        return sb_fail_errno(err, SB_NOT_FOUND, -failed, "%s", path);
    if (failed < 0) return sb_fail_errno(err, SB_IO, -failed, "%s", path);
    if (info.is_dir) {
        sb_captures found;
        sb_capture_root root = {.path = path};
        sb_status status = sb_captures_find(&found, env, &root, 1, NULL, arena, NULL, err);
        if (status != SB_OK) return status;
        if (found.n == 0)
            return sb_fail(err, SB_NOT_FOUND, 0, "%s: there is no profile beneath it", path);
        *out = found.items[0];
        for (size_t i = 1; i < found.n; i++)
            if (found.items[i].time_ns > out->time_ns) *out = found.items[i];
        return SB_OK;
    }
    trace_name name;
    const char *file = strrchr(path, '/');
    file = file ? file + 1 : path;
    bool is_known = read_trace_name(file, &name);
    sb_capture_file *f = sb_arena_zeroed(arena, 1, sizeof *f);
    sb_slice copy = sb_arena_dup(arena, sb_slice_str(path));
    if (!f || !copy.p) return sb_fail_nomem(err, "for a capture");
    *f = (sb_capture_file){
        .path = copy, .shown = copy, .size = info.size, .mtime_ns = info.mtime_ns, .rank = -1};
    f->name = is_known ? sb_arena_dup(arena, name.host) : copy;
    *out = (sb_capture){.run = SB_LIT("."), .name = f->name, .files = f, .file_count = 1};
    out->bytes = info.size;
    out->time_ns = info.mtime_ns;
    return SB_OK;
}

sb_status sb_capture_read(const sb_capture *c, const sb_env *env, const sb_trace_opts *opts,
                          sb_trace **out, sb_err *err) {
    sb_trace_file *files = sb_alloc_zeroed(env->alloc, c->file_count + 1, sizeof *files);
    if (!files) return sb_fail_nomem(err, "for a capture");
    for (size_t i = 0; i < c->file_count; i++)
        files[i] =
            (sb_trace_file){.path = (const char *)c->files[i].path.p, .name = c->files[i].name};
    sb_status status = sb_trace_open(out, env->alloc, env->fs, files, c->file_count, opts, err);
    sb_alloc_put(env->alloc, files, (c->file_count + 1) * sizeof *files);
    return status;
}
