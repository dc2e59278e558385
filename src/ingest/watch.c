/* watch.c: one inotify watch per directory, with the list of its subscribers. */
#include "ingest/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/banned.h"

#define NAME_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF)

/* What is known of one watch descriptor. Watched while it has subscribers or is_for_names. */
typedef struct directory {
    sb_watched *subscribers;
    uint64_t named_by_walk; /* the last walk that asked for its names; 0: none */
    bool is_for_names;
} directory;

struct sb_watch {
    const sb_alloc *alloc;
    int file;
    directory *directories; /* by watch descriptor: the kernel counts them up from 1 */
    size_t room;
    uint64_t walk;
    uint32_t names; /* directories that this walk watches for their names */
    uint32_t most_names;
    bool is_complete; /* every directory that this walk asked for is watched */
};

/* How many directories may be watched for their names alone. */
static uint32_t names_allowed(void) {
    char text[32] = {0};
    int file = open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    unsigned long allowed = n > 0 ? strtoul(text, NULL, 10) / 4 : 0;
    if (allowed > UINT32_MAX) allowed = UINT32_MAX;
    return allowed > SB_WATCH_LEAST_NAMES ? (uint32_t)allowed : SB_WATCH_LEAST_NAMES;
}

sb_watch *sb_watch_new(const sb_alloc *alloc) {
    sb_watch *w = sb_alloc_zeroed(alloc, 1, sizeof *w);
    if (!w) return NULL;
    w->alloc = alloc;
    w->most_names = names_allowed();
    w->file = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->file >= 0) return w;
    sb_alloc_put(alloc, w, sizeof *w);
    return NULL;
}

void sb_watch_free(sb_watch *w) {
    if (!w) return;
    close(w->file);
    sb_alloc_put(w->alloc, w->directories, w->room * sizeof *w->directories);
    sb_alloc_put(w->alloc, w, sizeof *w);
}

int sb_watch_file(const sb_watch *w) {
    return w ? w->file : -1;
}

static bool make_room_for_watch(sb_watch *w, size_t descriptor) {
    if (descriptor < w->room) return true;
    size_t room = w->room ? w->room : 64;
    while (room <= descriptor) room *= 2;
    directory *grown = w->alloc->resize(w->alloc->ctx, w->directories, w->room * sizeof *grown,
                                        room * sizeof *grown);
    if (!grown) return false;
    memset(grown + w->room, 0, (room - w->room) * sizeof *grown);
    w->directories = grown;
    w->room = room;
    return true;
}

/* The watch descriptor of the directory at this path; 0: it can't be watched. Events are added to
 * those that it is watched for already. */
static int add_watch(sb_watch *w, const char *path, uint32_t events) {
    int descriptor = inotify_add_watch(w->file, path, events | IN_ONLYDIR | IN_MASK_ADD);
    if (descriptor > 0 && make_room_for_watch(w, (size_t)descriptor)) return descriptor;
    if (descriptor > 0) inotify_rm_watch(w->file, descriptor);
    w->is_complete = false;
    return 0;
}

static void remove_if_unused(sb_watch *w, int descriptor) {
    const directory *d = &w->directories[descriptor];
    if (!d->subscribers && !d->is_for_names) inotify_rm_watch(w->file, descriptor);
}

void sb_watch_unsubscribe(sb_watch *w, sb_watched *s) {
    if (!w || !s->descriptor) return;
    sb_watched **link = &w->directories[s->descriptor].subscribers;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    remove_if_unused(w, s->descriptor);
    s->descriptor = 0;
}

void sb_watch_subscribe(sb_watch *w, sb_watched *s, const char *path) {
    if (!w) return;
    int descriptor = add_watch(w, path, NAME_EVENTS | IN_MODIFY);
    if (descriptor == s->descriptor) return;
    sb_watch_unsubscribe(w, s);
    if (!descriptor) return;
    s->descriptor = descriptor;
    s->next = w->directories[descriptor].subscribers;
    w->directories[descriptor].subscribers = s;
}

void sb_watch_begin_walk(sb_watch *w) {
    if (!w) return;
    w->walk++;
    w->names = 0;
    w->is_complete = true;
}

bool sb_watch_is_complete(const sb_watch *w) {
    return w && w->is_complete;
}

bool sb_watch_names(sb_watch *w, const char *path) {
    if (!w) return false;
    if (w->names == w->most_names) {
        w->is_complete = false;
        return false;
    }
    int descriptor = add_watch(w, path, NAME_EVENTS);
    if (!descriptor) return false;
    directory *d = &w->directories[descriptor];
    bool is_new = !d->subscribers && !d->is_for_names;
    w->names++;
    d->is_for_names = true;
    d->named_by_walk = w->walk;
    return is_new;
}

void sb_watch_end_walk(sb_watch *w) {
    if (!w) return;
    for (size_t i = 1; i < w->room; i++) {
        directory *d = &w->directories[i];
        if (!d->is_for_names || d->named_by_walk == w->walk) continue;
        d->is_for_names = false;
        remove_if_unused(w, (int)i);
    }
}

/* The kernel has ended the watch, since the directory is gone. */
static void forget_directory(directory *d) {
    for (sb_watched *s = d->subscribers; s; s = s->next) s->descriptor = 0;
    *d = (directory){0};
}

void sb_watch_drain(sb_watch *w, sb_watch_fn each, void *ctx, bool *names_changed) {
    if (!w) return;
    _Alignas(struct inotify_event) char events[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    ssize_t n;
    while ((n = read(w->file, events, sizeof events)) > 0) {
        /* Subscribers are told once for events that came in one read: they look after it. Not once
         * for several reads: one may have looked before what the second read tells. */
        int last = 0;
        for (char *p = events; p < events + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)p;
            p += sizeof *event + event->len;
            if (event->mask & (NAME_EVENTS | IN_Q_OVERFLOW)) *names_changed = true;
            if (event->wd <= 0 || (size_t)event->wd >= w->room) continue;
            directory *d = &w->directories[event->wd];
            if (event->mask & IN_IGNORED)
                forget_directory(d);
            else if (event->wd != last)
                for (sb_watched *s = d->subscribers; s; s = s->next) each(ctx, s->owner);
            last = event->wd;
        }
    }
}
