/* recognize.c: tells traces among JSON files by their first bytes, and remembers the answers. */
#include "profile/recognize.h"

#include <errno.h>

#include "base/intern.h"
#include "fsio/gz.h"
#include "base/banned.h"

#define HEAD ((size_t)16 << 10)
#define MOST_REMEMBERED 1000000u

/* What is known of a file, under the id of its device and inode. */
typedef struct answer {
    uint64_t size;
    int64_t mtime_ns;
    bool is_known; /* its head was read */
    bool is_trace;
    sb_trace_format format;
} answer;

struct sb_recognized {
    const sb_alloc *alloc;
    sb_intern files;
    SB_VEC(answer) answers;
};

sb_recognized *sb_recognized_new(const sb_alloc *alloc) {
    sb_recognized *r = sb_alloc_zeroed(alloc, 1, sizeof *r);
    if (!r) return NULL;
    r->alloc = alloc;
    sb_intern_init(&r->files, alloc, 83, MOST_REMEMBERED);
    return r;
}

void sb_recognized_free(sb_recognized *r) {
    if (!r) return;
    sb_intern_fini(&r->files);
    SB_VEC_FREE(&r->answers, r->alloc);
    sb_alloc_put(r->alloc, r, sizeof *r);
}

/* ---- the content ----------------------------------------------------------------------------- */

static bool contains(sb_slice text, const char *wanted) {
    return text.n && memmem(text.p, text.n, wanted, strlen(wanted));
}

static sb_slice after_blanks(sb_slice text) {
    while (text.n && (*text.p == ' ' || *text.p == '\n' || *text.p == '\r' || *text.p == '\t'))
        text = sb_slice_of(text.p + 1, text.n - 1);
    return text;
}

bool sb_begins_trace(sb_slice head, sb_trace_format *format) {
    if (sb_slice_starts(head, SB_LIT("\xef\xbb\xbf"))) head = sb_slice_of(head.p + 3, head.n - 3);
    head = after_blanks(head);
    if (!head.n) return false;
    *format = SB_FORMAT_CHROME;
    if (*head.p == '[') { /* a bare array: its first event has a phase */
        head = after_blanks(sb_slice_of(head.p + 1, head.n - 1));
        return head.n && *head.p == '{' && contains(head, "\"ph\"") &&
               (contains(head, "\"ts\"") || contains(head, "\"pid\""));
    }
    if (*head.p != '{') return false;
    /* torch lists devices and process groups before the events, which may be long */
    bool has_events = contains(head, "\"traceEvents\"");
    if (!contains(head, "\"schemaVersion\"")) return has_events;
    *format = SB_FORMAT_KINETO;
    return has_events || contains(head, "\"deviceProperties\"");
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads up to HEAD bytes of the content; -1: it can't be read. */
static int64_t read_head(const sb_env *env, const char *path, uint8_t *to) {
    const sb_fs *fs = env->fs;
    int file = fs->open(fs->ctx, path, SB_OPEN_READ);
    if (file < 0) return -1;
    int64_t n = fs->read_at(fs->ctx, file, to, HEAD, 0);
    sb_gz *gz;
    if (n > 0 && sb_gz_begins(sb_slice_of(to, (size_t)n))) {
        n = -1;
        if (sb_gz_new(&gz, env->alloc, fs, file, NULL) == SB_OK) {
            n = sb_gz_read_at(gz, to, HEAD, 0);
            sb_gz_free(gz);
        }
    }
    fs->close(fs->ctx, file);
    return n;
}

/* Is it a trace? False also where it can't be read now; *is_read tells. */
static bool look_into(const sb_env *env, const char *path, sb_trace_format *format, bool *is_read) {
    uint8_t head[HEAD];
    int64_t n = read_head(env, path, head);
    *is_read = n >= 0 || n == -EBADMSG; /* a damaged archive stays one */
    return n > 0 && sb_begins_trace(sb_slice_of(head, (size_t)n), format);
}

bool sb_recognize_trace(sb_recognized *r, const sb_env *env, const char *path,
                        const sb_file_info *info, sb_trace_format *format) {
    uint64_t key[2] = {info->device, info->inode};
    uint32_t id;
    bool is_new, is_read;
    if (!r || !SB_VEC_RESERVE(&r->answers, r->alloc, 1, MOST_REMEMBERED) ||
        sb_intern_add(&r->files, sb_slice_of(key, sizeof key), &id, &is_new) != SB_OK)
        return look_into(env, path, format, &is_read);
    answer *a = &r->answers.items[id];
    if (is_new) r->answers.n++;
    if (is_new) *a = (answer){0};
    if (!a->is_known || a->size != info->size || a->mtime_ns != info->mtime_ns) {
        *a = (answer){.size = info->size, .mtime_ns = info->mtime_ns};
        a->is_trace = look_into(env, path, &a->format, &a->is_known);
    }
    *format = a->format;
    return a->is_trace;
}
