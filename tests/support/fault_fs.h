/* fault_fs.h: a file system between the code under test and a real one that fails on demand.
 *
 *     sb_fault_fs f;
 *     sb_fault_fs_init(&f, &sb_fs_local);
 *     sb_fault_fs_fail(&f, SB_CALL_WRITE, 3, EIO, false);   the third write from now on fails
 *     ... &f.fs goes to the code under test ...
 *     sb_fault_fs_fini(&f);                                  asserts that every file was closed
 *
 * A refused call does not reach the file system below, with one exception: a refused close still
 * closes, as it does on real systems. Threads: every function may be called from any thread, but
 * fini (which asserts) only from the test's own. */
#ifndef SB_TESTS_SUPPORT_FAULT_FS_H
#define SB_TESTS_SUPPORT_FAULT_FS_H

#include <pthread.h>

#include "fsio/fs.h"

typedef enum sb_fault_call {
    SB_CALL_OPEN,
    SB_CALL_READ,
    SB_CALL_WRITE,
    SB_CALL_CUT,
    SB_CALL_SYNC,
    SB_CALL_INFO,
    SB_CALL_CLOSE,
    SB_CALL_STAT,
    SB_CALL_MAKE_DIR,
    SB_CALL_RENAME,
    SB_CALL_REMOVE,
    SB_CALL_LIST,
    SB_CALL_LOCK,
    SB_CALL_MAP,
    SB_CALL_ANY, /* not a call: stands for all of them */
} sb_fault_call;

/* Called before each call, without the lock held, so that a test can hold a thread back here.
 * path is NULL for calls on an open file. */
typedef void (*sb_fault_hook_fn)(void *ud, sb_fault_call call, const char *path);

typedef struct sb_fault_fs {
    sb_fs fs; /* give &f.fs to the code under test */
    /* What follows is guarded by lock; read it through the functions below. */
    const sb_fs *under;
    pthread_mutex_t lock;
    uint64_t calls[SB_CALL_ANY + 1];
    sb_fault_call fail_call;
    uint64_t fail_in; /* this many more matching calls until one fails; 0: none will */
    int fail_errno;
    bool fail_after; /* once failed, all matching calls fail */
    uint64_t failures;
    size_t max_read; /* 0: no bound */
    size_t max_write;
    bool disk_bounded;
    uint64_t disk_left;
    int disk_errno;
    int64_t open_files;
    sb_fault_hook_fn hook;
    void *hook_ud;
} sb_fault_fs;

void sb_fault_fs_init(sb_fault_fs *f, const sb_fs *under);
/* Asserts that no file is open. */
void sb_fault_fs_fini(sb_fault_fs *f);

/* The n-th matching call from now on (1: the next) fails with that errno; with and_after the later
 * ones do too. n = 0 ends all failing. Replaces what was asked for before. */
void sb_fault_fs_fail(sb_fault_fs *f, sb_fault_call call, uint64_t n, int error_number,
                      bool and_after);

/* One read or write moves at most so many bytes; 0: no bound. */
void sb_fault_fs_short(sb_fault_fs *f, size_t max_read, size_t max_write);

/* A disk with so many bytes left: a write that does not fit is done in part, one with no room at
 * all fails with the errno (ENOSPC). Cutting a file short gives room back. */
void sb_fault_fs_disk(sb_fault_fs *f, uint64_t bytes_left, int error_number);
/* The disk has no end any more. */
void sb_fault_fs_disk_endless(sb_fault_fs *f);

void sb_fault_fs_hook(sb_fault_fs *f, sb_fault_hook_fn hook, void *ud);

/* How often a call was made since init (SB_CALL_ANY: all calls together). */
uint64_t sb_fault_fs_calls(sb_fault_fs *f, sb_fault_call call);
/* How many calls were refused since init, a full disk's included. */
uint64_t sb_fault_fs_failures(sb_fault_fs *f);
int64_t sb_fault_fs_open_files(sb_fault_fs *f);

#endif
