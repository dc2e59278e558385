/* local.c: the local file system. Calls that were interrupted by a signal (EINTR) are repeated
 * here, nowhere else. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fsio/beneath.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define RETRY(result, call)                                                                        \
    do {                                                                                           \
        (result) = (call);                                                                         \
    } while ((result) < 0 && errno == EINTR)

/* The most bytes of one system call, so that its result fits every integer type in between. */
#define MAX_TRANSFER ((size_t)1 << 30)

static int local_open(void *ctx, const char *path, sb_open_mode mode) {
    (void)ctx;
    /* Non-blocking: opening a named pipe must not wait for its other end. */
    static const int flags[] = {
        [SB_OPEN_READ] = O_RDONLY | O_NONBLOCK | O_NOCTTY,
        [SB_OPEN_NEW] = O_WRONLY | O_CREAT | O_EXCL | O_APPEND,
        [SB_OPEN_REPLACE] = O_WRONLY | O_CREAT | O_TRUNC,
    };
    int file;
    RETRY(file, open(path, flags[mode] | O_CLOEXEC, 0666));
    return file < 0 ? -errno : file;
}

static int64_t local_read_at(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    (void)ctx;
    ssize_t got;
    RETRY(got, pread(file, to, n < MAX_TRANSFER ? n : MAX_TRANSFER, (off_t)offset));
    return got < 0 ? -errno : got;
}

static int64_t local_write(void *ctx, int file, const void *from, size_t n) {
    (void)ctx;
    ssize_t put;
    RETRY(put, write(file, from, n < MAX_TRANSFER ? n : MAX_TRANSFER));
    return put < 0 ? -errno : put;
}

static int local_cut(void *ctx, int file, uint64_t size) {
    (void)ctx;
    int result;
    RETRY(result, ftruncate(file, (off_t)size));
    return result < 0 ? -errno : 0;
}

static int local_sync(void *ctx, int file) {
    (void)ctx;
    int result;
    RETRY(result, fsync(file));
    return result < 0 ? -errno : 0;
}

static void fill_info(sb_file_info *out, const struct stat *s) {
    *out = (sb_file_info){
        .size = (uint64_t)s->st_size,
        .device = (uint64_t)s->st_dev,
        .inode = (uint64_t)s->st_ino,
        .links = (uint64_t)s->st_nlink,
        .mtime_ns = (int64_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec,
        .is_dir = S_ISDIR(s->st_mode),
        .is_file = S_ISREG(s->st_mode),
    };
}

static int local_info(void *ctx, int file, sb_file_info *out) {
    (void)ctx;
    struct stat s;
    if (fstat(file, &s) < 0) return -errno;
    fill_info(out, &s);
    return 0;
}

static int local_close(void *ctx, int file) {
    (void)ctx;
    /* On Linux the descriptor is closed even after EINTR; repeating the call could close another
     * thread's descriptor. */
    return close(file) < 0 && errno != EINTR ? -errno : 0;
}

static int local_stat(void *ctx, const char *path, sb_file_info *out) {
    (void)ctx;
    struct stat s;
    if (stat(path, &s) < 0) return -errno;
    fill_info(out, &s);
    return 0;
}

static bool local_is_link(void *ctx, const char *path) {
    (void)ctx;
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

static const struct {
    uint32_t magic;
    sb_fs_kind kind;
} file_systems[] = {
    {PROC_SUPER_MAGIC, SB_FS_VIRTUAL},     {SYSFS_MAGIC, SB_FS_VIRTUAL},
    {CGROUP_SUPER_MAGIC, SB_FS_VIRTUAL},   {CGROUP2_SUPER_MAGIC, SB_FS_VIRTUAL},
    {DEBUGFS_MAGIC, SB_FS_VIRTUAL},        {TRACEFS_MAGIC, SB_FS_VIRTUAL},
    {SECURITYFS_MAGIC, SB_FS_VIRTUAL},     {BPF_FS_MAGIC, SB_FS_VIRTUAL},
    {DEVPTS_SUPER_MAGIC, SB_FS_VIRTUAL},   {NFS_SUPER_MAGIC, SB_FS_REMOTE},
    {SMB_SUPER_MAGIC, SB_FS_REMOTE},       {CIFS_SUPER_MAGIC, SB_FS_REMOTE},
    {SMB2_SUPER_MAGIC, SB_FS_REMOTE},      {V9FS_MAGIC, SB_FS_REMOTE},
    {FUSE_SUPER_MAGIC, SB_FS_REMOTE},      {CEPH_SUPER_MAGIC, SB_FS_REMOTE},
    {AFS_SUPER_MAGIC, SB_FS_REMOTE},       {AFS_FS_MAGIC, SB_FS_REMOTE},
    {CODA_SUPER_MAGIC, SB_FS_REMOTE},      {0x0BD00BD0 /* Lustre */, SB_FS_REMOTE},
    {0x47504653 /* GPFS */, SB_FS_REMOTE},
};

static sb_fs_kind local_kind(void *ctx, const char *path) {
    (void)ctx;
    struct statfs s;
    int result;
    RETRY(result, statfs(path, &s));
    for (size_t i = 0; result == 0 && i < sizeof file_systems / sizeof *file_systems; i++)
        if ((uint32_t)s.f_type == file_systems[i].magic) return file_systems[i].kind;
    return SB_FS_LOCAL;
}

static int local_make_dir(void *ctx, const char *path) {
    (void)ctx;
    return mkdir(path, 0777) < 0 ? -errno : 0;
}

static int local_rename(void *ctx, const char *from, const char *to) {
    (void)ctx;
    return rename(from, to) < 0 ? -errno : 0;
}

static int local_remove(void *ctx, const char *path) {
    (void)ctx;
    return remove(path) < 0 ? -errno : 0;
}

static int local_list(void *ctx, const char *path, sb_list_fn each, void *ud) {
    (void)ctx;
    DIR *dir = opendir(path);
    if (!dir) return -errno;
    int answer = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry) {
            if (errno) answer = -errno;
            break;
        }
        const char *name = entry->d_name;
        if (name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0))) continue;
        answer = each(ud, name);
        if (answer) break;
    }
    closedir(dir);
    return answer;
}

static int local_open_beneath(void *ctx, const char *dir, const char *path) {
    (void)ctx;
    return sb_beneath_open(dir, path);
}

static int local_lock(void *ctx, int file) {
    (void)ctx;
    int result;
    RETRY(result, flock(file, LOCK_EX));
    return result < 0 ? -errno : 0;
}

static int local_map(void *ctx, int file, size_t size, const void **out) {
    (void)ctx;
    void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) return -errno;
    *out = p;
    return 0;
}

static void local_unmap(void *ctx, const void *p, size_t size) {
    (void)ctx;
    munmap((void *)(uintptr_t)p, size);
}

const sb_fs sb_fs_local = {
    .open = local_open,
    .read_at = local_read_at,
    .write = local_write,
    .cut = local_cut,
    .sync = local_sync,
    .info = local_info,
    .close = local_close,
    .stat = local_stat,
    .is_link = local_is_link,
    .kind = local_kind,
    .make_dir = local_make_dir,
    .rename = local_rename,
    .remove = local_remove,
    .list = local_list,
    .open_beneath = local_open_beneath,
    .lock = local_lock,
    .map = local_map,
    .unmap = local_unmap,
};
