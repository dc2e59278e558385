/* watch.c: one inotify watch a directory. */
#include "ingest/watch.h"

#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/banned.h"

#define MASK                                                                                       \
    (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_ONLYDIR)
#define NAMES                                                                                      \
    (IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_Q_OVERFLOW |        \
     IN_IGNORED)

struct sb_watch {
    const sb_alloc *alloc;
    int file;
    void **by_descriptor; /* ud, by watch descriptor; these are small numbers */
    size_t room;
};

sb_watch *sb_watch_new(const sb_alloc *alloc) {
    sb_watch *w = sb_alloc_zeroed(alloc, 1, sizeof *w);
    if (!w) return NULL;
    w->alloc = alloc;
    w->file = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->file >= 0) return w;
    sb_alloc_put(alloc, w, sizeof *w);
    return NULL;
}

void sb_watch_free(sb_watch *w) {
    if (!w) return;
    close(w->file);
    sb_alloc_put(w->alloc, w->by_descriptor, w->room * sizeof *w->by_descriptor);
    sb_alloc_put(w->alloc, w, sizeof *w);
}

int sb_watch_file(const sb_watch *w) {
    return w ? w->file : -1;
}

void sb_watch_add(sb_watch *w, const char *path, void *ud) {
    if (!w) return;
    int descriptor = inotify_add_watch(w->file, path, MASK);
    if (descriptor < 0) return; /* out of watches: polling will do */
    size_t at = (size_t)descriptor;
    if (at >= w->room) {
        size_t room = w->room ? w->room : 64;
        while (room <= at) room *= 2;
        void **grown = w->alloc->resize(w->alloc->ctx, w->by_descriptor, w->room * sizeof *grown,
                                        room * sizeof *grown);
        if (!grown) {
            inotify_rm_watch(w->file, descriptor);
            return;
        }
        memset(grown + w->room, 0, (room - w->room) * sizeof *grown);
        w->by_descriptor = grown;
        w->room = room;
    }
    w->by_descriptor[at] = ud;
}

void sb_watch_forget(sb_watch *w, const void *ud) {
    if (!w) return;
    for (size_t i = 0; i < w->room; i++) {
        if (w->by_descriptor[i] != ud) continue;
        inotify_rm_watch(w->file, (int)i);
        w->by_descriptor[i] = NULL;
    }
}

void sb_watch_take(sb_watch *w, sb_watch_fn each, void *ctx, bool *entries_changed) {
    if (!w) return;
    _Alignas(struct inotify_event) char events[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    void *last = NULL;
    ssize_t n;
    while ((n = read(w->file, events, sizeof events)) > 0) {
        for (char *p = events; p < events + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)p;
            p += sizeof *event + event->len;
            if (event->mask & NAMES) *entries_changed = true;
            if (event->wd < 0 || (size_t)event->wd >= w->room) continue;
            void *ud = w->by_descriptor[event->wd];
            if (ud && ud != last) each(ctx, ud);
            last = ud;
        }
    }
}
