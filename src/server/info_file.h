/* info_file.h: the files by which notebooks find running servers, and servers each other.
 *
 * One JSON file per server, <temp>/.tensorboard-info/pid-<PID>.info, with the fields that
 * TensorBoard's own manager wants (it refuses a file that lacks one) and one more, "program", by
 * which ours are told from its.
 *
 * All users of the machine may write into the directory, so the content of other users' files must
 * not be trusted.
 * Threads: any. */
#ifndef SB_SERVER_INFO_FILE_H
#define SB_SERVER_INFO_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"

typedef struct sb_server_info {
    sb_slice cache_key;
    sb_slice db;
    sb_slice logdir;
    sb_slice path_prefix;
    sb_slice version;
    sb_slice program; /* "seaboard", or empty: TensorBoard's */
    int64_t pid;
    int64_t port;
    int64_t start_time; /* seconds since the epoch */
    bool is_tls;
    uid_t owner; /* of the file; only when read */
} sb_server_info;

/* The key under which a notebook looks for a server it started: the words of the command line but
 * the first (NULL at the end) and the working directory, in base64. */
void sb_info_cache_key(sb_buf *out, const char *const *words, const char *directory);

/* Appends the file's content. */
void sb_info_write(sb_buf *out, const sb_server_info *info);
/* Reads it; the slices are in the arena. SB_CORRUPT when a field is missing or has the wrong type.
 */
sb_status sb_info_read(sb_server_info *out, sb_slice content, sb_arena *arena, sb_err *err);

/* Writes the file of this process below temp, which must exist; path (in the arena) is where it is.
 */
sb_status sb_info_publish(const char *temp, const sb_server_info *info, sb_arena *arena,
                          const char **path, sb_err *err);
/* All files that can be read, in order of their ports. */
sb_status sb_info_list(const char *temp, sb_arena *arena, sb_server_info **out, size_t *n,
                       sb_err *err);

#endif
