/* info_file.c: info files, written and read. */
#include "server/info_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/banned.h"

#define FOLDER ".tensorboard-info"
#define MOST_BYTES ((size_t)256 << 10)
#define MOST_FILES 1000

/* ---- writing --------------------------------------------------------------------------------- */

void sb_info_cache_key(sb_buf *out, const char *const *words, const char *directory) {
    sb_buf text;
    sb_buf_init(&text, out->alloc, MOST_BYTES);
    sb_json j;
    sb_json_init(&j, &text, NULL);
    sb_json_begin_object(&j);
    sb_json_key_str(&j, "arguments");
    sb_json_begin_array(&j);
    for (; *words; words++) sb_json_str(&j, *words);
    sb_json_end_array(&j);
    sb_json_key_str(&j, "configure_kwargs");
    sb_json_begin_object(&j);
    sb_json_end_object(&j);
    sb_json_put_str(&j, "working_directory", directory);
    sb_json_end_object(&j);
    sb_base64_add(out, sb_buf_slice(&text), SB_BASE64);
    if (text.failed != SB_OK && out->failed == SB_OK) out->failed = text.failed;
    sb_buf_fini(&text);
}

/* Keys in their order, as TensorBoard writes them. */
void sb_info_write(sb_buf *out, const sb_server_info *info) {
    sb_json j;
    sb_json_init(&j, out, &(sb_json_opts){.spaced = true, .indent = 4});
    sb_json_begin_object(&j);
    sb_json_put_text(&j, "cache_key", info->cache_key);
    sb_json_put_text(&j, "db", info->db);
    sb_json_put_text(&j, "logdir", info->logdir);
    sb_json_put_text(&j, "path_prefix", info->path_prefix);
    sb_json_put_int(&j, "pid", info->pid);
    sb_json_put_int(&j, "port", info->port);
    sb_json_put_text(&j, "program", info->program);
    sb_json_put_int(&j, "start_time", info->start_time);
    sb_json_put_bool(&j, "tls", info->is_tls);
    sb_json_put_text(&j, "version", info->version);
    sb_json_end_object(&j);
    sb_buf_add_byte(out, '\n');
}

static const char *join_path(sb_arena *arena, const char *temp, const char *name) {
    size_t room = strlen(temp) + sizeof FOLDER + strlen(name) + 3;
    char *path = sb_arena_get(arena, room);
    if (path) snprintf(path, room, "%s/" FOLDER "%s%s", temp, *name ? "/" : "", name);
    return path;
}

/* Any user may write into this directory, so a file with our name may belong to another user: it is
 * removed first, and the new file is created exclusively. */
static sb_status write_info_file(const char *path, sb_slice content, sb_err *err) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return sb_fail_errno(err, SB_IO, errno, "%s: can't make this file", path);
    sb_status status = SB_OK;
    while (content.n && status == SB_OK) {
        ssize_t done = write(fd, content.p, content.n);
        if (done < 0 && errno != EINTR)
            status = sb_fail_errno(err, SB_IO, errno, "%s: can't write this file", path);
        if (done > 0) content = sb_slice_of(content.p + done, content.n - (size_t)done);
    }
    close(fd);
    if (status != SB_OK) unlink(path);
    return status;
}

sb_status sb_info_publish(const char *temp, const sb_server_info *info, sb_arena *arena,
                          const char **path, sb_err *err) {
    char name[48];
    snprintf(name, sizeof name, "pid-%" PRId64 ".info", info->pid);
    const char *folder = join_path(arena, temp, "");
    *path = join_path(arena, temp, name);
    if (!folder || !*path) return sb_fail_nomem(err, "for the info file");
    if (mkdir(folder, 0777) == 0)
        chmod(folder, 0777); /* despite the umask: servers of other users write here, too */
    else if (errno != EEXIST)
        return sb_fail_errno(err, SB_IO, errno, "%s: can't make this directory", folder);
    sb_buf content;
    sb_buf_init(&content, arena->alloc, 2 * MOST_BYTES);
    sb_info_write(&content, info);
    sb_status status = sb_buf_check(&content, "the info file", err);
    if (status == SB_OK) status = write_info_file(*path, sb_buf_slice(&content), err);
    sb_buf_fini(&content);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_json_text(const json_t *object, const char *key, sb_arena *arena, sb_slice *out) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return false;
    *out = sb_arena_dup(arena, sb_slice_of(json_string_value(value), json_string_length(value)));
    return out->p != NULL;
}

static bool read_json_number(const json_t *object, const char *key, int64_t *out) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return true;
}

sb_status sb_info_read(sb_server_info *out, sb_slice content, sb_arena *arena, sb_err *err) {
    *out = (sb_server_info){.program = SB_LIT("")};
    json_error_t error;
    json_t *object = json_loadb((const char *)content.p, content.n, 0, &error);
    bool fine = json_is_object(object) &&
                read_json_text(object, "cache_key", arena, &out->cache_key) &&
                read_json_text(object, "db", arena, &out->db) &&
                read_json_text(object, "logdir", arena, &out->logdir) &&
                read_json_text(object, "path_prefix", arena, &out->path_prefix) &&
                read_json_text(object, "version", arena, &out->version) &&
                read_json_number(object, "pid", &out->pid) &&
                read_json_number(object, "port", &out->port) &&
                read_json_number(object, "start_time", &out->start_time);
    if (fine) {
        read_json_text(object, "program", arena, &out->program);
        out->is_tls = json_is_true(json_object_get(object, "tls"));
    }
    json_decref(object);
    return fine ? SB_OK : sb_fail(err, SB_CORRUPT, 0, "that is no info file");
}

static sb_status read_info_file(const char *path, sb_arena *arena, sb_server_info *out,
                                sb_err *err) {
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (fd < 0) return sb_fail_errno(err, SB_IO, errno, "%s: can't open this", path);
    sb_status status = SB_CORRUPT;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size <= MOST_BYTES) {
        sb_arena_mark mark = sb_arena_here(arena);
        uint8_t *bytes = sb_arena_get(arena, (size_t)info.st_size);
        ssize_t n = bytes ? read(fd, bytes, (size_t)info.st_size) : -1;
        if (n >= 0) status = sb_info_read(out, sb_slice_of(bytes, (size_t)n), arena, err);
        out->owner = info.st_uid;
        if (status != SB_OK) sb_arena_reset(arena, mark);
    }
    close(fd);
    return status;
}

static int by_port(const void *a, const void *b) {
    const sb_server_info *x = a, *y = b;
    return x->port != y->port ? (x->port > y->port) - (x->port < y->port)
                              : (x->pid > y->pid) - (x->pid < y->pid);
}

sb_status sb_info_list(const char *temp, sb_arena *arena, sb_server_info **out, size_t *n,
                       sb_err *err) {
    *n = 0;
    *out = sb_arena_zeroed(arena, MOST_FILES, sizeof **out);
    const char *folder = join_path(arena, temp, "");
    if (!*out || !folder) return sb_fail_nomem(err, "for the list of servers");
    DIR *dir = opendir(folder);
    if (!dir) return SB_OK; /* no server ever ran on this machine */
    const struct dirent *entry;
    while (*n < MOST_FILES && (entry = readdir(dir)) != NULL) {
        sb_slice name = sb_slice_str(entry->d_name);
        if (!sb_slice_starts(name, SB_LIT("pid-")) || !sb_slice_ends(name, SB_LIT(".info")))
            continue;
        const char *path = join_path(arena, temp, entry->d_name);
        if (path && read_info_file(path, arena, &(*out)[*n], NULL) == SB_OK) ++*n;
    }
    closedir(dir);
    qsort(*out, *n, sizeof **out, by_port);
    return SB_OK;
}
