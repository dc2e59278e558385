/* sandbox.c: Landlock and seccomp through their system calls; no library. */
#include "cli/serve/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

/* ---- Landlock -------------------------------------------------------------------------------- */

/* The kernel's header may be older than the kernel: so the numbers are ours. They are the interface
 * of the kernel and never change. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define GET_VERSION 1u
#define RULE_PATH_BENEATH 1

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ (3ull << 2)       /* files and directories */
#define FS_CHANGE (0x1FFull << 4) /* remove and make, of all kinds */
#define FS_REFER (1ull << 13)     /* from version 2 on: names may move between directories */
#define FS_TRUNCATE (1ull << 14)  /* from version 3 on */
#define FS_IOCTL_DEV (1ull << 15) /* from version 5 on */
#define FS_FILES_ONLY (FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV | (1ull << 2))
#define NET_TCP 3ull /* from version 4 on: bind and connect */

typedef struct ruleset_attr {
    uint64_t fs;
    uint64_t net;
} ruleset_attr;

typedef struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed)) path_rule;

static uint64_t writing_of(int version) {
    uint64_t fs = FS_WRITE_FILE | FS_CHANGE;
    if (version >= 2) fs |= FS_REFER;
    if (version >= 3) fs |= FS_TRUNCATE;
    if (version >= 5) fs |= FS_IOCTL_DEV;
    return fs;
}

static sb_status add_path(int ruleset, const char *path, uint64_t allowed, sb_err *err) {
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return sb_fail_errno(err, errno == ENOENT ? SB_NOT_FOUND : SB_IO, errno,
                             "%s: the sandbox needs this to be there at the start", path);
    struct stat info;
    if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) allowed &= FS_FILES_ONLY;
    path_rule rule = {.allowed = allowed, .parent = fd};
    long added = syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
    int reason = errno;
    close(fd);
    if (added == 0) return SB_OK;
    return sb_fail_errno(err, SB_IO, reason, "%s: the kernel takes no rule for it", path);
}

static sb_status add_paths(int ruleset, const sb_sandbox *s, int version, sb_err *err) {
    static const char *const devices[] = {
        "/dev/null",
        "/dev/urandom",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        "/proc", /* a sanitizer looks for leaks there */
#endif
    };
    uint64_t writing = writing_of(version) | (s->bounds_reading ? FS_READ : 0);
    sb_status status = SB_OK;
    for (size_t i = 0; i < s->write_count && status == SB_OK; i++)
        if (s->write[i]) status = add_path(ruleset, s->write[i], writing, err);
    if (!s->bounds_reading) return status;
    for (size_t i = 0; i < s->read_count && status == SB_OK; i++)
        status = add_path(ruleset, s->read[i], FS_READ, err);
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        add_path(ruleset, devices[i], FS_READ, NULL); /* a failure does no harm */
    return status;
}

static sb_status enter_landlock(const sb_sandbox *s, int *version, sb_err *err) {
    long known = syscall(CREATE_RULESET, NULL, (size_t)0, GET_VERSION);
    *version = known > 0 ? (int)known : 0;
    if (*version == 0) return SB_OK;
    ruleset_attr attr = {.fs = FS_EXECUTE | writing_of(*version),
                         .net = *version >= 4 ? NET_TCP : 0};
    if (s->bounds_reading) attr.fs |= FS_READ;
    size_t size = *version >= 4 ? sizeof attr : sizeof attr.fs;
    long ruleset = syscall(CREATE_RULESET, &attr, size, 0u);
    if (ruleset < 0) {
        *version = 0;
        return SB_OK;
    }
    sb_status status = add_paths((int)ruleset, s, *version, err);
    if (status == SB_OK && syscall(RESTRICT_SELF, (int)ruleset, 0u) != 0) *version = 0;
    close((int)ruleset);
    return status;
}

/* ---- seccomp --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* What a server of logs never asks of the kernel: other programs, other processes, the network, the
 * machine itself, and interfaces that have been the way into kernels. Sanitizers look at this
 * process through ptrace when it ends. */
static const int refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_connect,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    SYS_ptrace,
#endif
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_personality,
    SYS_quotactl,
    425,
    426,
    427, /* io_uring: setup, enter, register; the same on every machine */
};
#define REFUSED (sizeof refused / sizeof refused[0])

static bool enter_seccomp(void) {
#ifdef ARCHITECTURE
    struct sock_filter filter[REFUSED + 8];
    unsigned short n = 0;
    const struct sock_filter load_arch =
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    const struct sock_filter load_call =
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    const struct sock_filter refuse =
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA));
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = load_arch;
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    filter[n++] = refuse; /* the calls of another machine, whose numbers mean something else */
    filter[n++] = load_call;
    /* The second set of numbers that x86-64 has (x32). */
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u,
                                               (uint8_t)(REFUSED + 1), 0);
    for (size_t i = 0; i < REFUSED; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i],
                                                   (uint8_t)(REFUSED - i), 0);
    filter[n++] = allow;
    filter[n++] = refuse;
    struct sock_fprog program = {.len = n, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
    return false;
#endif
}

/* ---- both ------------------------------------------------------------------------------------ */

sb_status sb_sandbox_enter(const sb_sandbox *s, sb_sandbox_state *out, sb_err *err) {
    *out = (sb_sandbox_state){0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return SB_OK;
    sb_status status = enter_landlock(s, &out->landlock, err);
    if (status == SB_OK) out->seccomp = enter_seccomp();
    return status;
}

void sb_sandbox_describe(const sb_sandbox *s, const sb_sandbox_state *state,
                         char out[SB_SANDBOX_TEXT]) {
    bool has_files = state->landlock > 0;
    if (!has_files && !state->seccomp)
        snprintf(out, SB_SANDBOX_TEXT, "off: this kernel offers neither Landlock nor seccomp");
    else
        snprintf(out, SB_SANDBOX_TEXT, "%s%sno programs, no connections (%s, %s)",
                 has_files && s->bounds_reading ? "reads the log directories only, " : "",
                 has_files ? "writes its own directories only, " : "",
                 has_files ? "Landlock" : "this kernel offers no Landlock",
                 state->seccomp ? "seccomp" : "no seccomp");
}
