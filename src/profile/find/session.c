/* session.c: sessions of TensorFlow's and JAX's profilers: directories
 * plugins/profile/<session>. */
#include "profile/find/walk_int.h"
#include "base/banned.h"

#define SESSIONS "plugins/profile/"

sb_slice sb_session_name(sb_slice dir) {
    size_t slash = dir.n;
    while (slash && dir.p[slash - 1] != '/') slash--;
    return sb_slice_of(dir.p + slash, dir.n - slash);
}

bool sb_is_session(sb_slice dir) {
    dir.n -= sb_session_name(dir).n;
    return sb_slice_ends(dir, SB_LIT(SESSIONS));
}

sb_slice sb_session_run(sb_slice dir) {
    size_t cut = sb_session_name(dir).n + sizeof "/" SESSIONS - 1;
    return sb_slice_of(dir.p, dir.n > cut ? dir.n - cut : 0);
}

static bool has_host(const sb_capture *c, sb_slice host) {
    for (size_t i = 0; i < c->file_count; i++)
        if (sb_slice_eq(c->files[i].name, host)) return true;
    return false;
}

bool sb_walk_session(sb_capture_walk *w, sb_slice dir, const char *const *names, size_t n) {
    static const sb_trace_format formats[] = {SB_FORMAT_XSPACE, SB_FORMAT_CHROME};
    sb_capture *c = NULL;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        for (size_t i = 0; i < n; i++) {
            sb_trace_file_name name;
            if (!sb_read_trace_name(names[i], &name) || name.format != formats[f] ||
                !name.is_session || (c && has_host(c, name.host)))
                continue;
            if (!c) c = sb_walk_add(w, sb_session_run(dir), sb_session_name(dir), formats[f]);
            if (!c) return false;
            if (!sb_walk_add_file(w, c, dir, names[i], name.host)) return true;
        }
    }
    if (c && c->file_count == 0) { /* what has such a name is no file, or was just deleted */
        sb_walk_drop(w);
        return false;
    }
    if (c) sb_walk_set_ids(w, c, dir);
    return c != NULL;
}
