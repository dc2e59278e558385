/* profile_file.c: names of profiles, and the file itself. */
#include "writer/profile_file.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "fsio/fs.h"
#include "writer/event_file.h"

#include "base/banned.h"

#define MAX_PATH_BYTES 65536
#define MAX_NAME 200
#define MOST_TRIES 10000u
#define MARKER ".profile-empty"

/* What the callback of fs->list returns when it has found an event file. */
enum { FOUND = 1 };

bool sb_profile_name_ok(const char *text) {
    sb_slice name = sb_slice_str(text);
    if (name.n == 0 || name.n > MAX_NAME || !sb_utf8_valid(name)) return false;
    if (memchr(name.p, '/', name.n) || memchr(name.p, '\\', name.n)) return false;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] == 0x7f) return false;
    return !sb_slice_eq(name, SB_LIT(".")) && !sb_slice_eq(name, SB_LIT(".."));
}

void sb_profile_session(char to[SB_SESSION_ROOM], uint64_t wall_ns) {
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm local;
    if (!localtime_r(&seconds, &local)) memset(&local, 0, sizeof local);
    to[strftime(to, SB_SESSION_ROOM, "%Y_%m_%d_%H_%M_%S", &local)] = 0;
}

void sb_profile_host(char to[SB_HOST_ROOM]) {
    memset(to, 0, SB_HOST_ROOM);
    if (gethostname(to, SB_HOST_ROOM - 1) != 0 || !to[0]) memcpy(to, "localhost", 10);
    for (char *c = to; *c; c++)
        if (*c == ':' || *c == '/') *c = '_';
}

/* The folder, or the file in it, as a terminated path. */
static sb_status make_path(sb_buf *path, const sb_profile_place *place, uint32_t attempt, bool file,
                           sb_err *err) {
    sb_buf_clear(path);
    sb_buf_printf(path, "%s/plugins/profile/%s", place->logdir, place->session);
    if (attempt > 1) sb_buf_printf(path, "_%u", attempt);
    if (file) sb_buf_printf(path, "/%s.xplane.pb", place->host);
    sb_buf_add_byte(path, 0);
    return sb_buf_check(path, "the path of a profile", err);
}

static int is_event_file(void *ud, const char *name) {
    (void)ud;
    return strstr(name, "tfevents") ? FOUND : 0;
}

/* Makes the directory a run. */
static sb_status put_marker(const sb_env *env, const char *logdir, sb_err *err) {
    if (env->fs->list(env->fs->ctx, logdir, is_event_file, NULL) == FOUND) return SB_OK;
    sb_event_file file;
    sb_event_file_init(&file, env, SB_STYLE_TF1, logdir, MARKER);
    sb_status status = sb_event_file_open(&file, err);
    sb_status closed = sb_event_file_close(&file, status == SB_OK ? err : NULL);
    return status == SB_OK ? closed : status;
}

sb_status sb_profile_put(const sb_env *env, const sb_profile_place *place, sb_slice xspace,
                         sb_err *err) {
    sb_buf path;
    sb_file_info info;
    uint32_t attempt = 1;
    sb_buf_init(&path, env->alloc, MAX_PATH_BYTES);
    sb_status status = make_path(&path, place, attempt, true, err);
    while (place->is_free && status == SB_OK && attempt < MOST_TRIES &&
           env->fs->stat(env->fs->ctx, (const char *)path.p, &info) == 0)
        status = make_path(&path, place, ++attempt, true, err);
    if (status == SB_OK) status = make_path(&path, place, attempt, false, err);
    if (status == SB_OK) status = sb_fs_make_dirs(env->fs, env->alloc, (const char *)path.p, err);
    if (status == SB_OK) status = make_path(&path, place, attempt, true, err);
    if (status == SB_OK) status = sb_fs_put(env->fs, env->alloc, (const char *)path.p, xspace, err);
    sb_buf_fini(&path);
    return status == SB_OK ? put_marker(env, place->logdir, err) : status;
}
