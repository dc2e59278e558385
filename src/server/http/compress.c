/* compress.c: the two codecs behind one call, and the list of idle ones. */
#include "server/http/compress.h"

#include <libdeflate.h>
#include <zstd.h>

#include "base/banned.h"

#define GZIP_LEVEL 1
#define ZSTD_LEVEL 1
#define PACKER_WINDOW 18 /* log2 of the window size of a packer */

struct sb_compressor {
    sb_compressor *next;
    struct libdeflate_compressor *gzip; /* created on first use, as zstd is */
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

/* ---- in pieces ------------------------------------------------------------------------------- */

/* An sb_packer is a zstd compression context; the type only hides that library. */
static ZSTD_CCtx *context_of(sb_packer *p) {
    return (ZSTD_CCtx *)(void *)p;
}

sb_packer *sb_packer_new(void) {
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (!zstd) return NULL;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, PACKER_WINDOW);
    return (sb_packer *)(void *)zstd;
}

void sb_packer_free(sb_packer *p) {
    if (p) ZSTD_freeCCtx(context_of(p));
}

bool sb_packer_add(sb_packer *p, sb_slice piece, bool is_last, sb_buf *out) {
    ZSTD_inBuffer in = {piece.p, piece.n, 0};
    size_t left;
    do {
        if (!sb_buf_reserve(out, ZSTD_CStreamOutSize())) return false;
        ZSTD_outBuffer to = {out->p + out->n, out->room - out->n, 0};
        left = ZSTD_compressStream2(context_of(p), &to, &in, is_last ? ZSTD_e_end : ZSTD_e_flush);
        out->n += to.pos;
        if (ZSTD_isError(left)) return false;
    } while (left);
    return true;
}
