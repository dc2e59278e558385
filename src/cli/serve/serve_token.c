/* serve_token.c: making, keeping and reading the token. */
#include "cli/serve/serve_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "cli/serve/serve_flags.h"
#include "fsio/fs.h"
#include "base/banned.h"

#define TOKEN_BYTES 24 /* random bytes; printed as twice as many hex digits */
#define LEAST_TOKEN 16
#define MOST_TOKEN 200

/* Characters that need no escaping in a URL or a cookie. */
static bool is_token(sb_slice s) {
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = s.p[i];
        bool fine = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                    c == '-' || c == '_' || c == '.' || c == '~';
        if (!fine) return false;
    }
    return s.n >= LEAST_TOKEN && s.n <= MOST_TOKEN;
}

const char *sb_own_directory(sb_cli *cli, const char *what, const char *otherwise,
                             sb_arena *arena) {
    const char *base = cli->variable(what);
    if (!base || base[0] != '/') base = sb_expand_home(cli, otherwise, arena);
    if (!base || base[0] != '/') return NULL;
    size_t room = strlen(base) + sizeof "/seaboard";
    char *path = sb_arena_get(arena, room);
    if (!path) return NULL;
    memcpy(path, base, strlen(base) + 1);
    if (sb_fs_make_dirs(cli->env->fs, cli->env->alloc, path, NULL) != SB_OK) return NULL;
    snprintf(path, room, "%s/seaboard", base);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return NULL;
    return access(path, W_OK | X_OK) == 0 ? path : NULL;
}

static const char *make_token(sb_arena *arena) {
    uint8_t chance[TOKEN_BYTES];
    char *token = sb_arena_get(arena, 2 * TOKEN_BYTES + 1);
    if (!token || getrandom(chance, sizeof chance, 0) != sizeof chance) return NULL;
    for (size_t i = 0; i < TOKEN_BYTES; i++) snprintf(token + 2 * i, 3, "%02x", chance[i]);
    return token;
}

/* Only a file that belongs to this user and that nobody else can read is used. */
static const char *read_token(const char *path, sb_arena *arena) {
    char text[MOST_TOKEN + 2];
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return NULL;
    bool is_ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                   (info.st_mode & 077) == 0;
    ssize_t n = is_ours ? read(fd, text, sizeof text) : -1;
    close(fd);
    if (n <= 0) return NULL;
    sb_slice token = sb_slice_of(text, (size_t)n);
    while (token.n && token.p[token.n - 1] == '\n') token.n--;
    return is_token(token) ? (const char *)sb_arena_dup(arena, token).p : NULL;
}

static bool keep_token(const char *path, const char *token) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    size_t n = strlen(token);
    bool fine = write(fd, token, n) == (ssize_t)n && write(fd, "\n", 1) == 1;
    close(fd);
    return fine;
}

const char *sb_serve_token(sb_cli *cli, sb_arena *arena) {
    const char *given = cli->variable("SEABOARD_TOKEN");
    if (given && *given) {
        if (is_token(sb_slice_str(given))) return given;
        fprintf(cli->err,
                "Error: SEABOARD_TOKEN must have %d to %d letters, digits or any of - _ . ~\n",
                LEAST_TOKEN, MOST_TOKEN);
        return NULL;
    }
    const char *folder = sb_own_directory(cli, "XDG_STATE_HOME", "~/.local/state", arena);
    char *path = NULL;
    if (folder) {
        size_t room = strlen(folder) + sizeof "/token";
        path = sb_arena_get(arena, room);
        if (path) snprintf(path, room, "%s/token", folder);
    }
    const char *token = path ? read_token(path, arena) : NULL;
    if (token) return token;
    token = make_token(arena);
    if (!token) fprintf(cli->err, "Error: the system gives no random numbers for a token\n");
    if (token && (!path || !keep_token(path, token)))
        fprintf(cli->err, "Note: the token could not be kept; the next start makes another.\n");
    return token;
}
