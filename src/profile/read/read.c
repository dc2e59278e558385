/* read.c: finds out the format of a file, and reads all files of a capture. */
#include "profile/read/read.h"

#include "profile/trace/build.h"
#include "base/banned.h"

void sb_trace_expect(sb_trace *t, uint64_t bytes) {
    t->build->total = bytes;
}

/* The first character that is not a space tells JSON from an XSpace. */
static bool looks_like_json(sb_slice head) {
    size_t i = 0;
    if (head.n >= 3 && memcmp(head.p, "\xef\xbb\xbf", 3) == 0) i = 3;
    while (i < head.n &&
           (head.p[i] == ' ' || head.p[i] == '\n' || head.p[i] == '\r' || head.p[i] == '\t'))
        i++;
    return i < head.n && (head.p[i] == '{' || head.p[i] == '[');
}

/* The first field of an XSpace is a plane, an error, a warning or a host name. */
static bool looks_like_xspace(sb_slice head) {
    return head.n >= 2 &&
           (head.p[0] == 0x0a || head.p[0] == 0x12 || head.p[0] == 0x1a || head.p[0] == 0x22);
}

/* Riegeli records begin with a block header, whose checksum is the same in all files. */
static bool looks_like_riegeli(sb_slice head) {
    return sb_slice_starts(head, SB_LIT("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f"));
}

static sb_status begin_source(sb_trace *t, const sb_trace_file *file, sb_err *err) {
    sb_trace_source *s = SB_VEC_PUSH(&t->sources, t->alloc, 65536);
    if (!s) return sb_fail_nomem(err, "for a trace");
    *s = (sb_trace_source){.rank = -1};
    s->name = sb_build_text(t, file->name.n ? file->name : SB_LIT("host"));
    s->path = sb_build_text(t, sb_slice_str(file->path));
    sb_build_begin_source(t);
    return s->name.p && s->path.p ? SB_OK : sb_fail_nomem(err, "for a trace");
}

static sb_status read_bytes(sb_trace *t, sb_trace_bytes *bytes, const char *path, sb_err *err) {
    sb_slice head = sb_trace_bytes_need(bytes, 0, 64);
    sb_status status;
    if (head.n == 0)
        status =
            sb_trace_bytes_is_cut(bytes) ? SB_OK : sb_fail(err, SB_INVALID, 0, "%s is empty", path);
    else if (looks_like_json(head))
        status = sb_read_chrome(t, bytes, err);
    else if (looks_like_xspace(head))
        status = sb_read_xspace(t, bytes, err);
    else if (looks_like_riegeli(head))
        status =
            sb_fail(err, SB_INVALID, 0,
                    "%s has Riegeli records, which are not read here: save it as .xplane.pb", path);
    else
        status = sb_fail(err, SB_INVALID, 0, "%s is neither an XSpace nor a Chrome trace", path);
    if (status == SB_OK && sb_trace_bytes_is_cut(bytes))
        sb_trace_note(t, SB_TRACE_ODD_CUT_GZIP, 1, sb_slice_str(path));
    return status;
}

typedef struct watching {
    sb_trace *t;
    sb_trace_bytes *bytes;
} watching;

static bool tell_progress(void *ud) {
    watching *w = ud;
    uint64_t done, all;
    sb_trace_bytes_progress(w->bytes, &done, &all);
    return sb_build_progress(w->t, done);
}

sb_status sb_trace_read(sb_trace *t, const sb_fs *fs, const sb_trace_file *file, sb_err *err) {
    sb_status status = begin_source(t, file, err);
    if (status != SB_OK) return status;
    uint32_t source = t->build->source;
    if (file->run_metadata.p) {
        status = sb_read_step_stats(t, file->run_metadata, err);
        return status == SB_OK ? sb_build_end_source(t, err) : status;
    }
    sb_trace_bytes *bytes;
    status =
        sb_trace_bytes_open(&bytes, t->alloc, fs, file->path, &t->spool, t->opts.most_bytes, err);
    if (status != SB_OK) return status;
    t->sources.items[source].bytes = bytes;
    sb_trace_bytes_watch(bytes, tell_progress, &(watching){t, bytes});
    status = read_bytes(t, bytes, file->path, err);
    sb_trace_bytes_watch(bytes, NULL, NULL);
    uint64_t done, all;
    sb_trace_bytes_progress(bytes, &done, &all);
    t->sources.items[source].size = all;
    t->build->done_before += all;
    sb_trace_bytes_put_down(bytes);
    if (status != SB_OK) return status;
    if (!sb_build_progress(t, 0)) return sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    return sb_build_end_source(t, err);
}

sb_status sb_trace_open(sb_trace **out, const sb_alloc *alloc, const sb_fs *fs,
                        const sb_trace_file *files, size_t n, const sb_trace_opts *opts,
                        sb_err *err) {
    sb_trace *t;
    sb_status status = sb_trace_new(&t, alloc, opts, err);
    if (status != SB_OK) return status;
    uint64_t total = 0;
    sb_file_info info;
    for (size_t i = 0; i < n; i++)
        if (files[i].path && fs->stat(fs->ctx, files[i].path, &info) == 0) total += info.size;
    sb_trace_expect(t, total);
    size_t failed = 0;
    for (size_t i = 0; status == SB_OK && i < n; i++) {
        status = sb_trace_read(t, fs, &files[i], err);
        /* if one of several files cannot be read, that is noted and the others are shown */
        if (n > 1 && (status == SB_INVALID || status == SB_IO || status == SB_NOT_FOUND)) {
            sb_trace_note(t, SB_TRACE_ODD_UNREAD_FILE, 1,
                          sb_slice_str(err ? err->text : files[i].path));
            if (++failed < n) status = sb_build_end_source(t, err);
        }
    }
    if (status == SB_OK) status = sb_trace_finish(t, err);
    if (status == SB_OK)
        *out = t;
    else
        sb_trace_free(t);
    return status;
}
