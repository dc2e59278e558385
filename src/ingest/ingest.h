/* ingest.h: keeps the store in step with a log directory.
 *
 * One thread walks the tree every reload_interval seconds, looks at the sizes of lately grown files
 * every 200 ms, and listens to the kernel (inotify) in between, which is only a hint; a pool of
 * threads reads. The directory need not exist yet. With reload_interval 0 everything is read
 * once. */
#ifndef SB_INGEST_INGEST_H
#define SB_INGEST_INGEST_H

#include "base/env.h"
#include "store/store.h"

typedef struct sb_ingest sb_ingest;

/* A directory to read; its runs are called NAME/RUN when it has a name. */
typedef struct sb_ingest_root {
    const char *name; /* NULL: none */
    const char *path;
} sb_ingest_root;

typedef struct sb_ingest_opts {
    const sb_ingest_root *roots;
    size_t root_count;
    double reload_interval; /* seconds */
    uint32_t threads;       /* 0: as many as there are processors */
    bool no_inotify;
} sb_ingest_opts;

/* How often a file was found to have grown, by what led to the look. */
typedef struct sb_ingest_noticed {
    uint64_t by_inotify; /* an event of the kernel */
    uint64_t by_polling; /* the look at lately grown files */
    uint64_t by_walk;    /* a walk of the whole tree */
} sb_ingest_noticed;

typedef struct sb_ingest_progress {
    uint64_t runs, files;
    uint64_t bytes, bytes_done;
    uint64_t points;
    bool is_loading;   /* the first reading is not over */
    uint64_t problems; /* directories that could not be read */
    char problem[240]; /* one of them */
    sb_ingest_noticed noticed;
} sb_ingest_progress;

/* How long to wait after a walk until the next one, in nanoseconds. walk_ns: what it took of a
 * processor's time. is_told: the kernel tells of every change in the tree. */
uint64_t sb_walk_pause(double interval, uint64_t walk_ns, bool is_told);

/* env and store must outlive it. Returns at once; reading goes on in the background. */
sb_status sb_ingest_start(sb_ingest **out, const sb_env *env, sb_store *store,
                          const sb_ingest_opts *opts, sb_err *err);
/* Ends all threads and releases all runs. NULL is legal. */
void sb_ingest_stop(sb_ingest *in);

void sb_ingest_get_progress(sb_ingest *in, sb_ingest_progress *out);
/* Walks and reads now: begin returns at once; wait returns when all that was there at that moment
 * is in the store, or after so many milliseconds, and says whether it is. */
uint64_t sb_ingest_begin_sync(sb_ingest *in);
bool sb_ingest_wait_sync(sb_ingest *in, uint64_t ticket, unsigned milliseconds);

#endif
