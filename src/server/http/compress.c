/* compress.c: the two codecs behind one call, and the list of idle ones. */
#include "server/http/compress.h"

#include <libdeflate.h>
#include <zstd.h>

#include "base/banned.h"

#define GZIP_LEVEL 1
#define ZSTD_LEVEL 1

struct sb_compressor {
    sb_compressor *next;
    struct libdeflate_compressor *gzip; /* made when first needed, as zstd is */
    ZSTD_CCtx *zstd;
};

void sb_compressors_init(sb_compressors *c, const sb_alloc *alloc) {
    *c = (sb_compressors){.alloc = alloc};
    pthread_mutex_init(&c->lock, NULL);
}

void sb_compressors_fini(sb_compressors *c) {
    while (c->idle) {
        sb_compressor *one = c->idle;
        c->idle = one->next;
        if (one->gzip) libdeflate_free_compressor(one->gzip);
        ZSTD_freeCCtx(one->zstd);
        sb_alloc_put(c->alloc, one, sizeof *one);
    }
    pthread_mutex_destroy(&c->lock);
}

static sb_compressor *take_compressor(sb_compressors *c) {
    pthread_mutex_lock(&c->lock);
    sb_compressor *one = c->idle;
    if (one) c->idle = one->next;
    pthread_mutex_unlock(&c->lock);
    return one ? one : sb_alloc_zeroed(c->alloc, 1, sizeof *one);
}

static void return_compressor(sb_compressors *c, sb_compressor *one) {
    pthread_mutex_lock(&c->lock);
    one->next = c->idle;
    c->idle = one;
    pthread_mutex_unlock(&c->lock);
}

/* The size of the result in room bytes at to; 0 when it does not fit or memory is short. */
static size_t run_compressor(sb_compressor *one, sb_coding coding, sb_slice body, uint8_t *to,
                             size_t room) {
    if (coding == SB_CODING_GZIP) {
        if (!one->gzip) one->gzip = libdeflate_alloc_compressor(GZIP_LEVEL);
        return one->gzip ? libdeflate_gzip_compress(one->gzip, body.p, body.n, to, room) : 0;
    }
    if (!one->zstd) one->zstd = ZSTD_createCCtx();
    if (!one->zstd) return 0;
    size_t n = ZSTD_compressCCtx(one->zstd, to, room, body.p, body.n, ZSTD_LEVEL);
    return ZSTD_isError(n) ? 0 : n;
}

bool sb_compress(sb_compressors *c, sb_coding coding, sb_slice body, sb_buf *out) {
    if (body.n < 2 || (coding != SB_CODING_GZIP && coding != SB_CODING_ZSTD)) return false;
    size_t room = body.n - 1; /* a result that is not smaller than the body is not used */
    if (!sb_buf_reserve(out, room)) {
        out->failed = SB_OK;
        return false;
    }
    sb_compressor *one = take_compressor(c);
    if (!one) return false;
    size_t n = run_compressor(one, coding, body, out->p + out->n, room);
    return_compressor(c, one);
    out->n += n;
    return n > 0;
}
