/* profile_which.c: which captures a request is about.
 *
 * The paths of a request are compared with those of captures that were found below the log
 * directory: nothing is opened because a request names it. */
#include "server/compat/profile/profile_which.h"

#include "fsio/beneath.h"
#include "base/banned.h"

/* The folder that a path lies in; "." where it names none. */
static sb_slice folder_of(sb_slice path) {
    size_t n = path.n;
    while (n && path.p[n - 1] != '/') n--;
    if (n == 0) return SB_LIT(".");
    return sb_slice_of(path.p, n > 1 ? n - 1 : 1);
}

static sb_slice without_slashes(sb_slice path) {
    while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
    return path;
}

/* Is this path what a request calls it? As the log directory was given, or whole. */
static bool is_path(sb_slice own, sb_slice asked, sb_arena *arena) {
    sb_slice folder = folder_of(own), name = own, inner;
    if (sb_slice_eq(own, asked)) return true;
    if (asked.n == 0 || asked.p[0] != '/') return false;
    char *dir = sb_arena_get(arena, folder.n + 1);
    if (!dir) return false;
    memcpy(dir, folder.p, folder.n);
    dir[folder.n] = 0;
    if (own.n > folder.n && own.p[folder.n] == '/')
        name = sb_slice_of(own.p + folder.n + 1, own.n - folder.n - 1);
    return sb_beneath_relative(dir, asked, &inner) && sb_slice_eq(inner, name);
}

static bool is_session(const sb_capture *c) {
    return c->format == SB_FORMAT_XSPACE && c->file_count > 0;
}

sb_slice sb_compat_profile_name(const sb_capture *c, sb_http_request *q) {
    sb_slice session = without_slashes(sb_http_query(q, "session_path"));
    sb_slice folder = without_slashes(sb_http_query(q, "run_path"));
    if (session.n || folder.n) {
        if (!is_session(c)) return SB_LIT("");
        sb_slice own = folder_of(c->files[0].path);
        bool is_asked =
            session.n ? is_path(own, session, q->arena) : is_path(folder_of(own), folder, q->arena);
        return is_asked ? c->name : SB_LIT("");
    }
    if (sb_slice_eq(c->run, SB_LIT("."))) return c->name;
    uint8_t *p = sb_arena_get(q->arena, c->run.n + c->name.n + 1);
    if (!p) return SB_LIT("");
    memcpy(p, c->run.p, c->run.n);
    p[c->run.n] = '/';
    if (c->name.n) memcpy(p + c->run.n + 1, c->name.p, c->name.n);
    return sb_slice_of(p, c->run.n + c->name.n + 1);
}

const sb_capture *sb_compat_profile_find(const sb_captures *captures, sb_http_request *q) {
    sb_slice run = sb_http_query(q, "run");
    for (size_t i = 0; run.n && i < captures->n; i++)
        if (sb_slice_eq(sb_compat_profile_name(&captures->items[i], q), run))
            return &captures->items[i];
    return NULL;
}
