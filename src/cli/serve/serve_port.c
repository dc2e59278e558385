/* serve_port.c: looking around on this machine: /proc/net/tcp, /proc/PID, the interfaces. */
#include "cli/serve/serve_port.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/banned.h"

#define LISTENING 0x0Au
#define MOST_COMMAND 200
#define MOST_SOCKETS 8

/* ---- processes ------------------------------------------------------------------------------- */

sb_slice sb_command_of(int64_t pid, sb_arena *arena) {
    char path[64], text[MOST_COMMAND + 1];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0) close(fd);
    if (n <= 0) return SB_LIT("");
    size_t length = (size_t)n;
    while (length && text[length - 1] == 0) length--;
    bool is_cut = length > MOST_COMMAND;
    if (is_cut) length = MOST_COMMAND;
    for (size_t i = 0; i < length; i++)
        if (text[i] == 0) text[i] = ' ';
    sb_slice copy = sb_arena_dup(arena, sb_slice_of(text, length));
    return copy.p ? copy : SB_LIT("");
}

bool sb_is_our_server(const sb_server_info *info) {
    char path[64], name[32];
    struct stat process;
    if (!sb_slice_eq(info->program, SB_LIT("seaboard")) || info->pid <= 1) return false;
    snprintf(path, sizeof path, "/proc/%" PRId64, info->pid);
    if (stat(path, &process) != 0 || process.st_uid != info->owner) return false;
    if (info->owner != geteuid() && geteuid() != 0) return false;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", info->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof name);
    if (fd >= 0) close(fd);
    return n == 9 && memcmp(name, "seaboard\n", 9) == 0;
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* The inodes of the sockets that listen on a port: lines of /proc/net/tcp are
 *   sl local_address remote_address st tx:rx tr:when retrnsmt uid timeout inode ... */
static size_t listening_inodes(const char *table, unsigned port, uint64_t *inodes, size_t n) {
    FILE *file = fopen(table, "re");
    char line[512];
    while (file && n < MOST_SOCKETS && fgets(line, sizeof line, file)) {
        char local[80];
        unsigned state;
        uint64_t inode;
        if (sscanf(line, " %*u: %79s %*s %x %*s %*s %*s %*s %*s %" SCNu64, local, &state, &inode) !=
            3)
            continue;
        const char *colon = strrchr(local, ':');
        if (state == LISTENING && colon && strtoul(colon + 1, NULL, 16) == port)
            inodes[n++] = inode;
    }
    if (file) fclose(file);
    return n;
}

/* Does one of the files that a process has open have one of these inodes as its socket? */
static bool has_socket(const char *pid, const uint64_t *inodes, size_t n) {
    char folder[64], target[64];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    while (dir && !found && (entry = readdir(dir)) != NULL) {
        ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        for (size_t i = 0; i < n && !found; i++) {
            char wanted[48];
            snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inodes[i]);
            found = strcmp(wanted, target) == 0;
        }
    }
    if (dir) closedir(dir);
    return found;
}

static int64_t process_on(unsigned port) {
    uint64_t inodes[MOST_SOCKETS];
    size_t n = listening_inodes("/proc/net/tcp", port, inodes, 0);
    n = listening_inodes("/proc/net/tcp6", port, inodes, n);
    DIR *dir = n ? opendir("/proc") : NULL;
    const struct dirent *entry;
    int64_t pid = 0;
    while (dir && !pid && (entry = readdir(dir)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) && has_socket(entry->d_name, inodes, n))
            pid = strtoll(entry->d_name, NULL, 10);
    if (dir) closedir(dir);
    return pid;
}

sb_holder sb_port_holder(sb_cli *cli, unsigned port, sb_arena *arena) {
    sb_holder holder = {.pid = process_on(port), .command = SB_LIT(""), .logdir = SB_LIT("")};
    if (holder.pid) holder.command = sb_command_of(holder.pid, arena);
    sb_server_info *infos;
    size_t n;
    if (sb_info_list(sb_temp_dir(cli), arena, &infos, &n, NULL) != SB_OK) return holder;
    for (size_t i = 0; i < n; i++) {
        /* an outdated info file names a process that has ended, or another program that now has its
         * number */
        bool is_it = holder.pid ? infos[i].pid == holder.pid
                                : infos[i].port == (int64_t)port && sb_is_our_server(&infos[i]);
        if (is_it) holder.logdir = infos[i].logdir;
    }
    return holder;
}

bool sb_add_holder(sb_buf *out, const sb_holder *holder) {
    if (!holder->pid && !holder->logdir.n) return false;
    if (holder->pid) sb_buf_printf(out, "pid %" PRId64, holder->pid);
    if (holder->command.n) {
        sb_buf_add_str(out, " (");
        sb_cli_add_shown(out, holder->command, MOST_COMMAND);
        sb_buf_add_str(out, ")");
    }
    if (holder->logdir.n) {
        sb_buf_add_str(out, holder->pid ? ", which serves " : "a server of ");
        sb_cli_add_shown(out, holder->logdir, MOST_COMMAND);
    }
    return true;
}

/* ---- directories ----------------------------------------------------------------------------- */

const char *sb_temp_dir(sb_cli *cli) {
    const char *places[] = {cli->variable("TMPDIR"),
                            cli->variable("TEMP"),
                            cli->variable("TMP"),
                            "/tmp",
                            "/var/tmp",
                            "/usr/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i] && *places[i] && access(places[i], W_OK | X_OK) == 0) return places[i];
    return ".";
}

/* ---- addresses ------------------------------------------------------------------------------- */

size_t sb_lan_addresses(sb_arena *arena, const char **out, size_t room) {
    struct ifaddrs *all = NULL;
    size_t n = 0;
    if (getifaddrs(&all) != 0) return 0;
    for (const struct ifaddrs *i = all; i && n < room; i = i->ifa_next) {
        char text[INET_ADDRSTRLEN];
        bool is_up = (i->ifa_flags & IFF_UP) && !(i->ifa_flags & IFF_LOOPBACK);
        if (!is_up || !i->ifa_addr || i->ifa_addr->sa_family != AF_INET) continue;
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)i->ifa_addr;
        if (!inet_ntop(AF_INET, &four->sin_addr, text, sizeof text)) continue;
        sb_slice copy = sb_arena_dup(arena, sb_slice_str(text));
        if (copy.p) out[n++] = (const char *)copy.p;
    }
    freeifaddrs(all);
    return n;
}

static bool answers_on_port(const struct addrinfo *at, unsigned port) {
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } to;
    bool fine = at->ai_addrlen <= sizeof to;
    if (fine) memcpy(&to, at->ai_addr, at->ai_addrlen);
    if (fine && at->ai_family == AF_INET) to.four.sin_port = htons((uint16_t)port);
    if (fine && at->ai_family == AF_INET6) to.six.sin6_port = htons((uint16_t)port);
    if (fine && connect(fd, &to.any, at->ai_addrlen) != 0) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        int error = 1;
        socklen_t n = sizeof error;
        fine = poll(&wait, 1, 1000) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 &&
               error == 0;
    }
    close(fd);
    return fine;
}

const char *sb_reachable_name(sb_arena *arena, unsigned port) {
    char host[256];
    if (gethostname(host, sizeof host) != 0) return "localhost";
    host[sizeof host - 1] = 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) return "localhost";
    const char *name = found->ai_canonname ? found->ai_canonname : host;
    sb_slice copy = sb_arena_dup(arena, sb_slice_str(name));
    bool is_there = answers_on_port(found, port);
    freeaddrinfo(found);
    return is_there && copy.p ? (const char *)copy.p : "localhost";
}
