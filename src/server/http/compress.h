/* compress.h: compression of reply bodies: gzip by libdeflate, zstd by libzstd, both at level
 * 1.
 *
 * A compressor is a few hundred KiB to a megabyte of state, so idle ones are kept for the next
 * body; there are at most as many as were in use at the same time.
 * Threads: any number. Cost: one lock to take one and one to return it. */
#ifndef SB_SERVER_HTTP_COMPRESS_H
#define SB_SERVER_HTTP_COMPRESS_H

#include <pthread.h>

#include "base/buf.h"
#include "server/http/negotiate.h"

typedef struct sb_compressor sb_compressor;

typedef struct sb_compressors {
    const sb_alloc *alloc;
    pthread_mutex_t lock;
    sb_compressor *idle;
} sb_compressors;

void sb_compressors_init(sb_compressors *c, const sb_alloc *alloc);
void sb_compressors_fini(sb_compressors *c);

/* Appends body, compressed, to out when that is smaller than body; else, and when memory is short,
 * leaves out as it was and answers false: the body is then sent as it is. coding is gzip or
 * zstd. */
bool sb_compress(sb_compressors *c, sb_coding coding, sb_slice body, sb_buf *out);

/* Compresses a body in pieces, by zstd. Its state takes about SB_PACKER_BYTES. NULL: no memory. */
typedef struct sb_packer sb_packer;
#define SB_PACKER_BYTES ((size_t)1 << 20)
sb_packer *sb_packer_new(void);
void sb_packer_free(sb_packer *p);
/* Appends the compressed piece to out and flushes it: the client can decompress all of it. */
bool sb_packer_add(sb_packer *p, sb_slice piece, bool is_last, sb_buf *out);

#endif
