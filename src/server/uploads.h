/* uploads.h: files that people sent, until there is no room for them any more.
 *
 * The name of a file is a fingerprint of its bytes: the same file that is sent again has the same
 * name, also after a restart of the server, so a link to it works again. It is stored once. The
 * fingerprint is no cryptographic hash, and two different files can be made that share it; so bytes
 * are compared before a stored file is taken for the one that was sent, and the second of two such
 * files gets another name. What a person opens is always what they sent.
 * The bytes are in unlinked temporary files, so they take no memory and go with the process.
 *
 * Threads: all functions may be called from any. */
#ifndef SB_SERVER_UPLOADS_H
#define SB_SERVER_UPLOADS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fingerprint.h"
#include "base/status.h"

typedef struct sb_uploads sb_uploads;

#define SB_UPLOAD_NAME SB_FINGERPRINT_TEXT /* bytes of a name, with the NUL */

/* At most so many bytes on disk; the longest unused go first. folder NULL: /tmp. */
sb_status sb_uploads_new(sb_uploads **out, const sb_alloc *alloc, const char *folder,
                         uint64_t bytes, sb_err *err);
void sb_uploads_free(sb_uploads *u);

/* Keeps a copy, and says its name. */
sb_status sb_uploads_keep(sb_uploads *u, sb_slice bytes, char name[SB_UPLOAD_NAME], sb_err *err);
/* How many bytes it has; false: there is none of that name. */
bool sb_uploads_find(sb_uploads *u, sb_slice name, uint64_t *bytes);
/* All of it, in the arena. SB_REPLACED: there is none of that name any more. */
sb_status sb_uploads_read(sb_uploads *u, sb_slice name, sb_arena *arena, sb_slice *out,
                          sb_err *err);

#endif
