/* profiles.c: the list of captures, and a cache of parsed ones. */
#include "server/profiles.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

#define LEAST_PAUSE 2.0
/* Seconds between walks for each second of processor time that one takes: a twentieth of the time
 * where somebody looks at the list, else nearly nothing. */
#define PAUSE_WHEN_ASKED 20.0
#define PAUSE_WHEN_IDLE 400.0
#define LIST_BYTES ((size_t)1 << 30)
#define MOST_KNOWN 4096u

/* A walk's result; counted. */
typedef struct capture_list {
    sb_arena arena;
    sb_captures captures;
    uint32_t refs;
} capture_list;

/* What is known of a capture that was opened at some time. */
typedef struct known {
    char id[SB_CAPTURE_ID + 1], epoch[SB_CAPTURE_ID + 1];
    uint64_t job, generation;
    sb_profile_summary summary;
    bool has_failed;
    sb_status why;
    char error[200];
} known;

typedef struct entry {
    sb_kept_trace kept; /* first: what callers hold */
    struct entry *next; /* the newest first */
    sb_trace *trace;
    sb_analysis *analysis;
    char id[SB_CAPTURE_ID + 1];
    uint32_t refs; /* of callers, and one of the list */
    size_t bytes;
} entry;

struct sb_profiles {
    sb_profiles_opts o;
    sb_arena texts;
    sb_capture_root *roots;
    sb_recognized *recognized; /* of the thread that walks */
    pthread_t thread;
    bool has_thread;
    _Atomic bool stop;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    capture_list *list;
    uint64_t version;
    bool is_scanning;
    bool is_asked; /* for the list, since the last walk */
    entry *newest;
    size_t held;
    SB_VEC(known) known;
    uint64_t generations;
};

/* ---- the list -------------------------------------------------------------------------------- */

/* With the mutex held. */
static void drop_list(sb_profiles *p, capture_list *list) {
    if (!list || --list->refs) return;
    sb_arena_fini(&list->arena);
    sb_alloc_put(p->o.env->alloc, list, sizeof *list);
}

static bool is_same_list(const sb_captures *a, const sb_captures *b) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].id, b->items[i].id) || strcmp(a->items[i].epoch, b->items[i].epoch))
            return false;
    return true;
}

static void look_once(sb_profiles *p) {
    const sb_alloc *alloc = p->o.env->alloc;
    capture_list *list = sb_alloc_zeroed(alloc, 1, sizeof *list);
    if (!list) return;
    list->refs = 1;
    sb_arena_init(&list->arena, alloc, 64 << 10, LIST_BYTES);
    sb_status status = sb_captures_find(&list->captures, p->o.env, p->roots, p->o.root_count,
                                        p->recognized, &list->arena, &p->stop, NULL);
    pthread_mutex_lock(&p->mutex);
    bool is_news = p->is_scanning;
    p->is_scanning = false;
    if (status == SB_OK && !atomic_load(&p->stop) &&
        !is_same_list(&list->captures, &p->list->captures)) {
        drop_list(p, p->list);
        p->list = list;
        p->version++;
        list = NULL;
        is_news = true;
    }
    drop_list(p, list);
    pthread_mutex_unlock(&p->mutex);
    if (is_news && p->o.changed && !atomic_load(&p->stop)) p->o.changed(p->o.ud);
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waits for the time of the next walk, which comes sooner when somebody asks for the list. */
static void rest(sb_profiles *p, double took) {
    struct timespec ended;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    pthread_mutex_lock(&p->mutex);
    p->is_asked = false;
    while (!atomic_load(&p->stop)) {
        double pause = took * (p->is_asked ? PAUSE_WHEN_ASKED : PAUSE_WHEN_IDLE);
        if (pause < p->o.interval) pause = p->o.interval;
        if (pause < LEAST_PAUSE) pause = LEAST_PAUSE;
        struct timespec until = {ended.tv_sec + (time_t)pause, ended.tv_nsec};
        if (p->o.interval <= 0)
            pthread_cond_wait(&p->wake, &p->mutex);
        else if (pthread_cond_timedwait(&p->wake, &p->mutex, &until) != 0)
            break;
    }
    pthread_mutex_unlock(&p->mutex);
}

static void *look_around(void *opaque) {
    sb_profiles *p = opaque;
    while (!atomic_load(&p->stop)) {
        double began = cpu_seconds();
        look_once(p);
        rest(p, cpu_seconds() - began);
    }
    return NULL;
}

static sb_status copy_roots(sb_profiles *p, sb_err *err) {
    p->roots = sb_arena_zeroed(&p->texts, p->o.root_count + 1, sizeof *p->roots);
    for (size_t i = 0; p->roots && i < p->o.root_count; i++) {
        sb_slice path = sb_arena_dup(&p->texts, sb_slice_str(p->o.roots[i].path));
        sb_slice name = sb_arena_dup(&p->texts, sb_slice_str(p->o.roots[i].name));
        if (!path.p || !name.p) return sb_fail_nomem(err, "for the list of captures");
        p->roots[i] = (sb_capture_root){(const char *)path.p, name.n ? (const char *)name.p : NULL};
    }
    return p->roots ? SB_OK : sb_fail_nomem(err, "for the list of captures");
}

sb_status sb_profiles_new(sb_profiles **out, const sb_profiles_opts *opts, sb_err *err) {
    const sb_alloc *alloc = opts->env->alloc;
    sb_profiles *p = sb_alloc_zeroed(alloc, 1, sizeof *p);
    capture_list *list = sb_alloc_zeroed(alloc, 1, sizeof *list);
    if (!p || !list) {
        sb_alloc_put(alloc, p, sizeof *p);
        sb_alloc_put(alloc, list, sizeof *list);
        return sb_fail_nomem(err, "for the list of captures");
    }
    p->o = *opts;
    p->list = list;
    p->is_scanning = true;
    list->refs = 1;
    sb_arena_init(&list->arena, alloc, 4096, LIST_BYTES);
    sb_arena_init(&p->texts, alloc, 4096, 1 << 20);
    p->recognized = sb_recognized_new(alloc); /* NULL: every walk looks anew */
    pthread_mutex_init(&p->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sb_status status = copy_roots(p, err);
    if (opts->spool_dir) {
        sb_slice dir = sb_arena_dup(&p->texts, sb_slice_str(opts->spool_dir));
        p->o.spool_dir = (const char *)dir.p;
    }
    if (status == SB_OK) {
        p->has_thread = pthread_create(&p->thread, NULL, look_around, p) == 0;
        if (!p->has_thread) status = sb_fail(err, SB_NOMEM, 0, "no thread to look for captures");
    }
    if (status == SB_OK)
        *out = p;
    else
        sb_profiles_free(p);
    return status;
}

void *sb_profiles_hold_list(sb_profiles *p, sb_profile_list *out) {
    pthread_mutex_lock(&p->mutex);
    capture_list *list = p->list;
    list->refs++;
    *out = (sb_profile_list){list->captures, p->is_scanning, p->version};
    if (!p->is_asked) pthread_cond_broadcast(&p->wake);
    p->is_asked = true;
    pthread_mutex_unlock(&p->mutex);
    return list;
}

void sb_profiles_release_list(sb_profiles *p, void *held) {
    pthread_mutex_lock(&p->mutex);
    drop_list(p, held);
    pthread_mutex_unlock(&p->mutex);
}

size_t sb_profiles_count(sb_profiles *p) {
    pthread_mutex_lock(&p->mutex);
    size_t n = p->list->captures.n;
    pthread_mutex_unlock(&p->mutex);
    return n;
}

/* ---- what is known --------------------------------------------------------------------------- */

/* With the mutex held; NULL: there is none. */
static known *find_known(sb_profiles *p, const char *id, const char *epoch) {
    for (size_t i = p->known.n; i-- > 0;)
        if (strcmp(p->known.items[i].id, id) == 0 && strcmp(p->known.items[i].epoch, epoch) == 0)
            return &p->known.items[i];
    return NULL;
}

static known *make_known(sb_profiles *p, const char *id, const char *epoch) {
    known *k = find_known(p, id, epoch);
    if (k) return k;
    if (p->known.n == MOST_KNOWN) SB_VEC_REMOVE(&p->known, 0);
    k = SB_VEC_PUSH(&p->known, p->o.env->alloc, MOST_KNOWN);
    if (!k) return NULL;
    *k = (known){.generation = ++p->generations};
    memcpy(k->id, id, sizeof k->id);
    memcpy(k->epoch, epoch, sizeof k->epoch);
    return k;
}

static entry *find_entry(sb_profiles *p, const char *id, const char *epoch) {
    for (entry *e = p->newest; e; e = e->next)
        if (strcmp(e->id, id) == 0 && (!epoch || strcmp(e->kept.epoch, epoch) == 0)) return e;
    return NULL;
}

void sb_profiles_info(sb_profiles *p, const sb_capture *c, sb_profile_info *out) {
    *out = (sb_profile_info){.summary = {.busy = -1}};
    pthread_mutex_lock(&p->mutex);
    const known *k = find_known(p, c->id, c->epoch);
    if (k) {
        out->job = k->job;
        out->summary = k->summary;
        memcpy(out->error, k->error, sizeof out->error);
        if (k->has_failed) {
            out->state = SB_PROFILE_FAILED;
            out->why = k->why;
        }
    }
    if (find_entry(p, c->id, c->epoch)) out->state = SB_PROFILE_OPEN;
    pthread_mutex_unlock(&p->mutex);
}

uint64_t sb_profiles_generation(sb_profiles *p, const sb_capture *c) {
    pthread_mutex_lock(&p->mutex);
    known *k = make_known(p, c->id, c->epoch);
    uint64_t generation = k ? k->generation : 0;
    pthread_mutex_unlock(&p->mutex);
    return generation;
}

void sb_profiles_try_again(sb_profiles *p, const sb_capture *c) {
    pthread_mutex_lock(&p->mutex);
    known *k = make_known(p, c->id, c->epoch);
    if (k) {
        k->has_failed = false;
        k->error[0] = 0;
    }
    pthread_mutex_unlock(&p->mutex);
}

void sb_profiles_set_job(sb_profiles *p, const sb_capture *c, uint64_t job) {
    pthread_mutex_lock(&p->mutex);
    known *k = make_known(p, c->id, c->epoch);
    if (k) k->job = job;
    pthread_mutex_unlock(&p->mutex);
}

void sb_profiles_failed(sb_profiles *p, sb_slice id, sb_status why, const char *text) {
    pthread_mutex_lock(&p->mutex);
    for (size_t i = p->known.n; i-- > 0;) {
        known *k = &p->known.items[i];
        if (!sb_slice_eq(sb_slice_str(k->id), id)) continue;
        k->has_failed = true;
        k->generation = ++p->generations;
        k->why = why;
        snprintf(k->error, sizeof k->error, "%s", text);
        break;
    }
    pthread_mutex_unlock(&p->mutex);
}

/* ---- open captures --------------------------------------------------------------------------- */

/* With the mutex held. */
static void drop_entry(sb_profiles *p, entry *e) {
    if (--e->refs) return;
    sb_analysis_free(e->analysis);
    sb_trace_free(e->trace);
    sb_alloc_put(p->o.env->alloc, e, sizeof *e);
}

static void unlist(sb_profiles *p, entry *e) {
    entry **link = &p->newest;
    while (*link != e) link = &(*link)->next;
    *link = e->next;
    p->held -= e->bytes;
    known *k = find_known(p, e->id, e->kept.epoch);
    if (k) k->generation = ++p->generations; /* it has to be parsed again */
    drop_entry(p, e);
}

static entry *oldest_of(sb_profiles *p) {
    entry *e = p->newest;
    while (e && e->next) e = e->next;
    return e;
}

void sb_profiles_stop(sb_profiles *p) {
    if (!p || !p->has_thread) return;
    pthread_mutex_lock(&p->mutex);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    p->has_thread = false;
}

void sb_profiles_free(sb_profiles *p) {
    if (!p) return;
    const sb_alloc *alloc = p->o.env->alloc;
    sb_profiles_stop(p);
    while (p->newest) unlist(p, p->newest);
    drop_list(p, p->list);
    SB_VEC_FREE(&p->known, alloc);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mutex);
    sb_recognized_free(p->recognized);
    sb_arena_fini(&p->texts);
    sb_alloc_put(alloc, p, sizeof *p);
}

/* With the mutex held: the epoch that the capture has now; NULL: it is gone. */
static const char *epoch_now(sb_profiles *p, const char *id) {
    for (size_t i = 0; i < p->list->captures.n; i++)
        if (strcmp(p->list->captures.items[i].id, id) == 0) return p->list->captures.items[i].epoch;
    return NULL;
}

const sb_kept_trace *sb_profiles_find(sb_profiles *p, sb_slice id) {
    char text[SB_CAPTURE_ID + 1] = "";
    if (id.n != SB_CAPTURE_ID) return NULL;
    memcpy(text, id.p, id.n);
    pthread_mutex_lock(&p->mutex);
    const char *epoch = epoch_now(p, text);
    entry *e = find_entry(p, text, epoch);
    if (e) {
        e->refs++;
        entry **link = &p->newest;
        while (*link != e) link = &(*link)->next;
        *link = e->next;
        e->next = p->newest;
        p->newest = e;
    }
    pthread_mutex_unlock(&p->mutex);
    return e ? &e->kept : NULL;
}

void sb_profiles_release(sb_profiles *p, const sb_kept_trace *kept) {
    if (!kept) return;
    pthread_mutex_lock(&p->mutex);
    union {
        const sb_kept_trace *in;
        entry *out;
    } same = {.in = kept}; /* its first member */
    drop_entry(p, same.out);
    pthread_mutex_unlock(&p->mutex);
}

static void keep_entry(sb_profiles *p, entry *e) {
    pthread_mutex_lock(&p->mutex);
    entry *other = find_entry(p, e->id, NULL);
    if (other) unlist(p, other);
    while (p->newest && p->held + e->bytes > p->o.bytes) unlist(p, oldest_of(p));
    e->refs = 1;
    e->next = p->newest;
    p->newest = e;
    p->held += e->bytes;
    known *k = make_known(p, e->id, e->kept.epoch);
    if (k) {
        const sb_trace *t = e->trace;
        uint64_t size = 0, read = 0;
        k->has_failed = false;
        k->summary = (sb_profile_summary){.is_known = true,
                                          .step_ps = e->analysis->stats.median,
                                          .busy = e->analysis->device_busy,
                                          .read = 1};
        for (size_t i = 0; i < SB_TRACE_ODD_COUNT; i++) k->summary.odd += t->odds[i].n > 0;
        for (size_t i = 0; i < t->sources.n; i++) {
            size += t->sources.items[i].size;
            read += t->sources.items[i].read;
        }
        if (t->odds[SB_TRACE_ODD_CUT_FILE].n && size && read && read < size)
            k->summary.read = (double)read / (double)size;
    }
    pthread_mutex_unlock(&p->mutex);
}

sb_status sb_profiles_open(sb_profiles *p, sb_slice id, const sb_trace_file *stats,
                           bool (*progress)(void *ud, uint64_t done, uint64_t total), void *ud,
                           sb_err *err) {
    const sb_env *env = p->o.env;
    sb_profile_list list;
    void *held = sb_profiles_hold_list(p, &list);
    sb_capture made = {0};
    const sb_capture *c = NULL;
    for (size_t i = 0; i < list.captures.n; i++)
        if (sb_slice_eq(sb_slice_str(list.captures.items[i].id), id)) c = &list.captures.items[i];
    if (!c && stats && id.n == SB_CAPTURE_ID) {
        memcpy(made.id, id.p, id.n);
        memcpy(made.epoch, id.p, id.n);
        c = &made;
    }
    entry *e = sb_alloc_zeroed(env->alloc, 1, sizeof *e);
    sb_status status = SB_OK;
    if (!e) status = sb_fail_nomem(err, "for a capture");
    if (!c && status == SB_OK)
        status = sb_fail(err, SB_NOT_FOUND, 0, "there is no such capture any more");
    sb_trace_opts opts = {.spool_dir = p->o.spool_dir, .progress = progress, .ud = ud};
    if (status == SB_OK)
        status = stats ? sb_trace_open(&e->trace, env->alloc, env->fs, stats, 1, &opts, err)
                       : sb_capture_read(c, env, &opts, &e->trace, err);
    if (status == SB_OK) status = sb_analysis_new(&e->analysis, e->trace, NULL, err);
    if (status == SB_OK) status = sb_trace_add_idle(e->trace, e->analysis, err);
    if (status == SB_OK) {
        memcpy(e->id, c->id, sizeof e->id);
        memcpy(e->kept.epoch, c->epoch, sizeof e->kept.epoch);
        e->kept.trace = e->trace;
        e->kept.analysis = e->analysis;
        e->bytes = sizeof *e + sb_trace_bytes_held(e->trace) + sizeof *e->analysis +
                   e->analysis->arena.held;
        keep_entry(p, e);
    } else if (e) {
        sb_analysis_free(e->analysis);
        sb_trace_free(e->trace);
        sb_alloc_put(env->alloc, e, sizeof *e);
    }
    sb_profiles_release_list(p, held);
    return status;
}
