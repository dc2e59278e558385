/* fault_fs.c: counts, refuses or passes on each call. */
#include "support/fault_fs.h"

#include <errno.h>

#include "support/test.h"
#include "base/banned.h"

/* Counts the call; 0 lets it pass, a negative errno refuses it. */
static int enter(sb_fault_fs *f, sb_fault_call call, const char *path) {
    pthread_mutex_lock(&f->lock);
    sb_fault_hook_fn hook = f->hook;
    void *ud = f->hook_ud;
    pthread_mutex_unlock(&f->lock);
    if (hook) hook(ud, call, path);

    pthread_mutex_lock(&f->lock);
    f->calls[call]++;
    f->calls[SB_CALL_ANY]++;
    int answer = 0;
    if (f->fail_in && (f->fail_call == call || f->fail_call == SB_CALL_ANY)) {
        if (f->fail_in > 1) {
            f->fail_in--;
        } else {
            answer = -f->fail_errno;
            f->failures++;
            if (!f->fail_after) f->fail_in = 0;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return answer;
}

static void count_open(sb_fault_fs *f, int change) {
    pthread_mutex_lock(&f->lock);
    f->open_files += change;
    pthread_mutex_unlock(&f->lock);
}

static int fault_open(void *ctx, const char *path, sb_open_mode mode) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_OPEN, path);
    if (answer < 0) return answer;
    answer = f->under->open(f->under->ctx, path, mode);
    if (answer >= 0) count_open(f, 1);
    return answer;
}

static int fault_open_beneath(void *ctx, const char *dir, const char *path) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_OPEN, path);
    if (answer < 0) return answer;
    answer = f->under->open_beneath(f->under->ctx, dir, path);
    if (answer >= 0) count_open(f, 1);
    return answer;
}

static int64_t fault_read_at(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_READ, NULL);
    if (answer < 0) return answer;
    pthread_mutex_lock(&f->lock);
    if (f->max_read && n > f->max_read) n = f->max_read;
    pthread_mutex_unlock(&f->lock);
    return f->under->read_at(f->under->ctx, file, to, n, offset);
}

/* Takes up to n bytes of room from the disk; a negative errno when there is none. */
static int64_t take_room(sb_fault_fs *f, size_t n) {
    pthread_mutex_lock(&f->lock);
    if (f->max_write && n > f->max_write) n = f->max_write;
    int64_t answer = (int64_t)n;
    if (f->disk_bounded && n > 0) {
        if (n > f->disk_left) n = (size_t)f->disk_left;
        f->disk_left -= n;
        answer = (int64_t)n;
        if (n == 0) {
            answer = -f->disk_errno;
            f->failures++;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return answer;
}

static void give_room(sb_fault_fs *f, uint64_t n) {
    pthread_mutex_lock(&f->lock);
    if (f->disk_bounded) f->disk_left += n;
    pthread_mutex_unlock(&f->lock);
}

static int64_t fault_write(void *ctx, int file, const void *from, size_t n) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_WRITE, NULL);
    if (answer < 0) return answer;
    int64_t room = take_room(f, n);
    if (room < 0) return room;
    int64_t put = f->under->write(f->under->ctx, file, from, (size_t)room);
    if (put < room) give_room(f, (uint64_t)(room - (put < 0 ? 0 : put)));
    return put;
}

static int fault_cut(void *ctx, int file, uint64_t size) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_CUT, NULL);
    if (answer < 0) return answer;
    sb_file_info before = {0};
    int known = f->under->info(f->under->ctx, file, &before);
    answer = f->under->cut(f->under->ctx, file, size);
    if (answer == 0 && known == 0 && before.size > size) give_room(f, before.size - size);
    return answer;
}

static int fault_sync(void *ctx, int file) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_SYNC, NULL);
    return answer < 0 ? answer : f->under->sync(f->under->ctx, file);
}

static int fault_info(void *ctx, int file, sb_file_info *out) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_INFO, NULL);
    return answer < 0 ? answer : f->under->info(f->under->ctx, file, out);
}

static int fault_close(void *ctx, int file) {
    sb_fault_fs *f = ctx;
    int refused = enter(f, SB_CALL_CLOSE, NULL);
    int answer = f->under->close(f->under->ctx, file);
    count_open(f, -1);
    return refused < 0 ? refused : answer;
}

static int fault_stat(void *ctx, const char *path, sb_file_info *out) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_STAT, path);
    return answer < 0 ? answer : f->under->stat(f->under->ctx, path, out);
}

static bool fault_is_link(void *ctx, const char *path) {
    sb_fault_fs *f = ctx;
    return f->under->is_link && f->under->is_link(f->under->ctx, path);
}

static sb_fs_kind fault_kind(void *ctx, const char *path) {
    sb_fault_fs *f = ctx;
    return f->under->kind ? f->under->kind(f->under->ctx, path) : SB_FS_LOCAL;
}

static int fault_make_dir(void *ctx, const char *path) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_MAKE_DIR, path);
    return answer < 0 ? answer : f->under->make_dir(f->under->ctx, path);
}

static int fault_rename(void *ctx, const char *from, const char *to) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_RENAME, from);
    return answer < 0 ? answer : f->under->rename(f->under->ctx, from, to);
}

static int fault_remove(void *ctx, const char *path) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_REMOVE, path);
    return answer < 0 ? answer : f->under->remove(f->under->ctx, path);
}

static int fault_list(void *ctx, const char *path, sb_list_fn each, void *ud) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_LIST, path);
    return answer < 0 ? answer : f->under->list(f->under->ctx, path, each, ud);
}

static int fault_lock(void *ctx, int file) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_LOCK, NULL);
    return answer < 0 ? answer : f->under->lock(f->under->ctx, file);
}

static int fault_map(void *ctx, int file, size_t size, const void **out) {
    sb_fault_fs *f = ctx;
    int answer = enter(f, SB_CALL_MAP, NULL);
    return answer < 0 ? answer : f->under->map(f->under->ctx, file, size, out);
}

static void fault_unmap(void *ctx, const void *p, size_t size) {
    sb_fault_fs *f = ctx;
    f->under->unmap(f->under->ctx, p, size);
}

void sb_fault_fs_init(sb_fault_fs *f, const sb_fs *under) {
    *f = (sb_fault_fs){
        .under = under,
        .fs =
            {
                .ctx = f,
                .open = fault_open,
                .read_at = fault_read_at,
                .write = fault_write,
                .cut = fault_cut,
                .sync = fault_sync,
                .info = fault_info,
                .close = fault_close,
                .stat = fault_stat,
                .is_link = fault_is_link,
                .kind = fault_kind,
                .make_dir = fault_make_dir,
                .rename = fault_rename,
                .remove = fault_remove,
                .list = fault_list,
                .open_beneath = fault_open_beneath,
                .lock = fault_lock,
                .map = fault_map,
                .unmap = fault_unmap,
            },
    };
    pthread_mutex_init(&f->lock, NULL);
}

void sb_fault_fs_fini(sb_fault_fs *f) {
    pthread_mutex_destroy(&f->lock);
    if (f->open_files != 0)
        fail_msg("%lld files were left open (or closed twice)", (long long)f->open_files);
}

void sb_fault_fs_fail(sb_fault_fs *f, sb_fault_call call, uint64_t n, int error_number,
                      bool and_after) {
    pthread_mutex_lock(&f->lock);
    f->fail_call = call;
    f->fail_in = n;
    f->fail_errno = error_number;
    f->fail_after = and_after;
    pthread_mutex_unlock(&f->lock);
}

void sb_fault_fs_short(sb_fault_fs *f, size_t max_read, size_t max_write) {
    pthread_mutex_lock(&f->lock);
    f->max_read = max_read;
    f->max_write = max_write;
    pthread_mutex_unlock(&f->lock);
}

void sb_fault_fs_disk(sb_fault_fs *f, uint64_t bytes_left, int error_number) {
    pthread_mutex_lock(&f->lock);
    f->disk_bounded = true;
    f->disk_left = bytes_left;
    f->disk_errno = error_number;
    pthread_mutex_unlock(&f->lock);
}

void sb_fault_fs_disk_endless(sb_fault_fs *f) {
    pthread_mutex_lock(&f->lock);
    f->disk_bounded = false;
    pthread_mutex_unlock(&f->lock);
}

void sb_fault_fs_hook(sb_fault_fs *f, sb_fault_hook_fn hook, void *ud) {
    pthread_mutex_lock(&f->lock);
    f->hook = hook;
    f->hook_ud = ud;
    pthread_mutex_unlock(&f->lock);
}

uint64_t sb_fault_fs_calls(sb_fault_fs *f, sb_fault_call call) {
    pthread_mutex_lock(&f->lock);
    uint64_t count = f->calls[call];
    pthread_mutex_unlock(&f->lock);
    return count;
}

uint64_t sb_fault_fs_failures(sb_fault_fs *f) {
    pthread_mutex_lock(&f->lock);
    uint64_t count = f->failures;
    pthread_mutex_unlock(&f->lock);
    return count;
}

int64_t sb_fault_fs_open_files(sb_fault_fs *f) {
    pthread_mutex_lock(&f->lock);
    int64_t count = f->open_files;
    pthread_mutex_unlock(&f->lock);
    return count;
}
