/* event_file.c: naming, creating and writing of event files. */
#include "writer/event_file.h"

#include <errno.h>
#include <unistd.h>

#include "base/slice.h"
#include "codec/proto/messages.h"
#include "codec/proto/proto.h"
#include "codec/record.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define MAX_PATH_BYTES ((size_t)1 << 16)
#define MAX_TRIES 1000000u

/* How each framework names its files, and what it writes into the header record. */
typedef struct style_row {
    bool has_counter;   /* the name always contains .PID.N */
    bool whole_seconds; /* the header's wall time has no fraction of a second */
    bool adds_dot;      /* a dot is put before a suffix that does not begin with one */
    const char *suffix;
    sb_slice writer; /* source_metadata; empty: not written */
} style_row;

#define TF_WRITER "tensorflow.core.util.events_writer"
#define TB_WRITER "tensorboard.summary.writer.event_file_writer"

static const style_row styles[] = {
    [SB_STYLE_TF2] = {true, true, true, ".v2", {(const uint8_t *)TF_WRITER, sizeof TF_WRITER - 1}},
    [SB_STYLE_TF1] = {false, true, false, "", {(const uint8_t *)TF_WRITER, sizeof TF_WRITER - 1}},
    [SB_STYLE_TORCH] = {true, false, false, "", {(const uint8_t *)TB_WRITER, sizeof TB_WRITER - 1}},
    [SB_STYLE_TBX] = {false, false, false, "", {NULL, 0}},
};

void sb_event_file_init(sb_event_file *f, const sb_env *env, sb_style style, const char *logdir,
                        const char *suffix) {
    *f =
        (sb_event_file){.env = env, .style = style, .logdir = logdir, .suffix = suffix, .file = -1};
    sb_buf_init(&f->path, env->alloc, MAX_PATH_BYTES);
}

static sb_status make_path(sb_event_file *f, uint64_t seconds, const char *host, uint32_t try,
                           sb_err *err) {
    const style_row *style = &styles[f->style];
    size_t n = strlen(f->logdir);
    sb_buf_clear(&f->path);
    sb_buf_add(&f->path, f->logdir, n);
    if (n && f->logdir[n - 1] != '/') sb_buf_add_byte(&f->path, '/');
    sb_buf_printf(&f->path, "events.out.tfevents.%010llu.%s", (unsigned long long)seconds, host);
    /* With TF1 and tensorboardX, two writers that open in the same second overwrite each other's
     * file. Here the second one gets .PID.N in its name. */
    if (style->has_counter || try > 0)
        sb_buf_printf(&f->path, ".%ld.%u", (long)getpid(), try - !style->has_counter);
    const char *suffix = f->suffix ? f->suffix : style->suffix;
    if (style->adds_dot && suffix[0] != '.') sb_buf_add_byte(&f->path, '.');
    sb_buf_add_str(&f->path, suffix);
    sb_buf_add_byte(&f->path, 0);
    return sb_buf_check(&f->path, "the path of an event file", err);
}

static sb_status write_header(sb_event_file *f, uint64_t now, sb_err *err) {
    const style_row *style = &styles[f->style];
    sb_buf b;
    sb_buf_init(&b, f->env->alloc, 4096);
    size_t at = sb_record_begin(&b);
    double seconds =
        style->whole_seconds ? (double)(now / 1000000000u) : (double)(now / 1000u) / 1e6;
    sb_pb_add_double(&b, SB_EVENT_WALL_TIME, seconds);
    sb_pb_add_bytes(&b, SB_EVENT_FILE_VERSION, SB_LIT("brain.Event:2"));
    if (style->writer.n) {
        size_t source = sb_pb_begin(&b, SB_EVENT_SOURCE_METADATA, style->writer.n);
        sb_pb_add_bytes(&b, SB_SOURCE_METADATA_WRITER, style->writer);
        sb_pb_end(&b, source);
    }
    sb_record_end(&b, at);
    sb_status status = sb_buf_check(&b, "the header record", err);
    if (status == SB_OK) {
        size_t done;
        status = sb_event_file_write(f, sb_buf_slice(&b), &done, err);
    }
    sb_buf_fini(&b);
    return status;
}

static void close_quietly(sb_event_file *f) {
    int file = f->file;
    /* Cleared first: after a fork in between, the child must not close a descriptor number that
     * belongs to another file by then. */
    f->file = -1;
    if (file >= 0) f->env->fs->close(f->env->fs->ctx, file);
}

static sb_status create_file(sb_event_file *f, uint64_t now, sb_err *err) {
    const sb_fs *fs = f->env->fs;
    char host[256] = "localhost";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == 0) memcpy(host, "localhost", 10);
    for (uint32_t try = 0; try < MAX_TRIES; try++) {
        sb_status status = make_path(f, now / 1000000000u, host, try, err);
        if (status != SB_OK) return status;
        int file = fs->open(fs->ctx, (const char *)f->path.p, SB_OPEN_NEW);
        if (file >= 0) {
            f->file = file;
            f->size = 0;
            return SB_OK;
        }
        if (file != -EEXIST)
            return sb_fail_errno(err, SB_IO, -file, "%s: can't make this event file",
                                 (const char *)f->path.p);
    }
    return sb_fail(err, SB_LIMIT, 0, "%s: a million event files of this second are there already",
                   f->logdir);
}

sb_status sb_event_file_open(sb_event_file *f, sb_err *err) {
    close_quietly(f);
    sb_status status = sb_fs_make_dirs(f->env->fs, f->env->alloc, f->logdir, err);
    if (status != SB_OK) return status;
    uint64_t now = f->env->clock->wall(f->env->clock->ctx);
    status = create_file(f, now, err);
    if (status != SB_OK) return status;
    status = write_header(f, now, err);
    if (status == SB_OK) return SB_OK;
    /* Do not leave an empty file behind: it would be shown as an empty run. */
    close_quietly(f);
    f->env->fs->remove(f->env->fs->ctx, (const char *)f->path.p);
    return status;
}

bool sb_event_file_is_gone(const sb_event_file *f) {
    sb_file_info info;
    return f->file < 0 ||
           (f->env->fs->info(f->env->fs->ctx, f->file, &info) == 0 && info.links == 0);
}

sb_status sb_event_file_write(sb_event_file *f, sb_slice data, size_t *done, sb_err *err) {
    int result = sb_fs_write_all(f->env->fs, f->file, data, done);
    f->size += *done;
    if (result == 0) return SB_OK;
    return sb_fail_errno(err, SB_IO, -result, "%s: can't write this event file",
                         (const char *)f->path.p);
}

sb_status sb_event_file_cut(sb_event_file *f, uint64_t size, sb_err *err) {
    int result = f->env->fs->cut(f->env->fs->ctx, f->file, size);
    if (result < 0)
        return sb_fail_errno(err, SB_IO, -result, "%s: can't cut off an incomplete record",
                             (const char *)f->path.p);
    f->size = size;
    return SB_OK;
}

sb_status sb_event_file_close(sb_event_file *f, sb_err *err) {
    int file = f->file;
    f->file = -1;
    sb_status status = SB_OK;
    if (file >= 0) {
        /* Network file systems may report a full disk only when the file is closed. */
        int result = f->env->fs->close(f->env->fs->ctx, file);
        if (result < 0)
            status = sb_fail_errno(err, SB_IO, -result, "%s: can't close this event file",
                                   (const char *)f->path.p);
    }
    sb_buf_fini(&f->path);
    return status;
}
