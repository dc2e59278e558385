/* profile.c: profiles are files beside the event file, not events.
 *
 *     LOGDIR/plugins/profile/SESSION/HOST.xplane.pb
 *     LOGDIR/events.out.tfevents.SECONDS.HOST.profile-empty    makes the directory a run
 *
 * Done on the caller's thread. A file is there completely or not at all. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/utf8.h"
#include "fsio/fs.h"
#include "writer/event_file.h"
#include "writer/kinds/kinds.h"

#include "base/banned.h"

#define MARKER ".profile-empty"
#define MAX_PATH_BYTES 65536
#define MAX_SESSION 200

/* What the callback of fs->list returns when it has found the marker. */
enum { FOUND = 1 };

static int is_marker(void *ud, const char *name) {
    (void)ud;
    return strstr(name, "tfevents") && sb_slice_ends(sb_slice_str(name), SB_LIT(MARKER)) ? FOUND
                                                                                         : 0;
}

static sb_status put_marker(const sb_env *env, const char *logdir, sb_err *err) {
    if (env->fs->list(env->fs->ctx, logdir, is_marker, NULL) == FOUND) return SB_OK;
    sb_event_file file;
    sb_event_file_init(&file, env, SB_STYLE_TF1, logdir, MARKER);
    sb_status status = sb_event_file_open(&file, err);
    sb_status closed = sb_event_file_close(&file, status == SB_OK ? err : NULL);
    return status == SB_OK ? closed : status;
}

static bool is_file_name(sb_slice name) {
    if (name.n == 0 || name.n > MAX_SESSION || !sb_utf8_valid(name)) return false;
    if (memchr(name.p, '/', name.n) || memchr(name.p, '\\', name.n)) return false;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] == 0x7f) return false;
    return !sb_slice_eq(name, SB_LIT(".")) && !sb_slice_eq(name, SB_LIT(".."));
}

/* The local time, as profilers name their sessions: 2023_11_14_22_13_20. */
static sb_slice session_now(const sb_env *env, char *to, size_t room) {
    time_t seconds = (time_t)(env->clock->wall(env->clock->ctx) / 1000000000u);
    struct tm local;
    if (!localtime_r(&seconds, &local)) memset(&local, 0, sizeof local);
    return sb_slice_of(to, strftime(to, room, "%Y_%m_%d_%H_%M_%S", &local));
}

static void add_host(sb_buf *path) {
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || !host[0]) memcpy(host, "localhost", 10);
    for (char *c = host; *c; c++)
        if (*c == ':' || *c == '/') *c = '_';
    sb_buf_add_str(path, host);
}

sb_status sb_profile(sb_writer *w, const char *session, sb_slice xplane, sb_err *err) {
    if (!w) return sb_fail(err, SB_INVALID, 0, "the writer is missing");
    if (xplane.n && !xplane.p) return sb_fail(err, SB_INVALID, 0, "profile: the bytes are missing");
    const sb_env *env = sb_writer_env(w);
    const char *logdir = sb_writer_logdir(w);
    char text[32];
    sb_slice name = session ? sb_slice_str(session) : session_now(env, text, sizeof text);
    if (!is_file_name(name))
        return sb_fail(err, SB_INVALID, 0,
                       "profile: '%.*s' can't be the name of a session's folder", SB_SHOWN(name));
    sb_buf path;
    sb_buf_init(&path, env->alloc, MAX_PATH_BYTES);
    sb_buf_printf(&path, "%s/plugins/profile/%.*s", logdir, (int)name.n, (const char *)name.p);
    size_t folder_n = path.n;
    sb_buf_add_byte(&path, 0);
    sb_status status = sb_buf_check(&path, "the path of a profile", err);
    if (status == SB_OK) status = sb_fs_make_dirs(env->fs, env->alloc, (const char *)path.p, err);
    if (status == SB_OK) {
        path.n = folder_n;
        sb_buf_add_byte(&path, '/');
        add_host(&path);
        sb_buf_add(&path, ".xplane.pb", sizeof ".xplane.pb");
        status = sb_buf_check(&path, "the path of a profile", err);
    }
    if (status == SB_OK) status = sb_fs_put(env->fs, env->alloc, (const char *)path.p, xplane, err);
    sb_buf_fini(&path);
    return status == SB_OK ? put_marker(env, logdir, err) : status;
}
