/* gz.c: gzip over zlib's streaming inflate.
 *
 * Archive: 1f 8b 08 flags | mtime 4 | 2 more | optional names | deflate data | crc32 4 | length 4
 * zlib checks the header and the two numbers at the end. */
#include "fsio/gz.h"

#include <errno.h>
#include <stdalign.h>
#include <zlib.h>

#include "base/slice.h"
#include "base/banned.h"

#define PACKED_BLOCK ((size_t)64 << 10)
#define GZIP_ONLY (15 + 16) /* zlib's window bits, plus "a gzip header is required" */

struct sb_gz {
    const sb_alloc *alloc;
    const sb_fs *fs;
    int file;
    bool ready;   /* the stream is set up */
    bool between; /* after the end of an archive, where another one may begin */
    bool ended;   /* the end of the last archive was reached */
    bool cut;
    int failed; /* a negative errno; all later reads return it */
    z_stream stream;
    uint64_t packed_at; /* offset in the file of the first byte after those in `packed` */
    uint64_t at;        /* offset in the unpacked bytes */
    uint8_t packed[PACKED_BLOCK];
};

/* zlib frees memory without telling its size, so the size is stored in front of each block. */
#define PREFIX alignof(max_align_t)

static voidpf zlib_get(voidpf opaque, uInt count, uInt size) {
    const sb_alloc *alloc = opaque;
    size_t n = (size_t)count * size + PREFIX;
    uint8_t *p = sb_alloc_get(alloc, n);
    if (!p) return NULL;
    memcpy(p, &n, sizeof n);
    return p + PREFIX;
}

static void zlib_put(voidpf opaque, voidpf block) {
    if (!block) return;
    uint8_t *p = (uint8_t *)block - PREFIX;
    size_t n;
    memcpy(&n, p, sizeof n);
    sb_alloc_put(opaque, p, n);
}

sb_status sb_gz_new(sb_gz **out, const sb_alloc *alloc, const sb_fs *fs, int file, sb_err *err) {
    sb_gz *g = sb_alloc_zeroed(alloc, 1, sizeof *g);
    if (!g) return sb_fail_nomem(err, "for reading an archive");
    g->alloc = alloc;
    g->fs = fs;
    g->file = file;
    *out = g;
    return SB_OK;
}

static void stop_inflate(sb_gz *g) {
    if (g->ready) inflateEnd(&g->stream);
    g->ready = false;
}

void sb_gz_free(sb_gz *g) {
    if (!g) return;
    stop_inflate(g);
    sb_alloc_put(g->alloc, g, sizeof *g);
}

/* Restarts at the first byte. */
static int start_inflate(sb_gz *g) {
    stop_inflate(g);
    union {
        const sb_alloc *in;
        voidpf out;
    } opaque = {.in = g->alloc};
    g->stream = (z_stream){.zalloc = zlib_get, .zfree = zlib_put, .opaque = opaque.out};
    g->at = g->packed_at = 0;
    g->between = g->ended = g->cut = false;
    g->failed = 0;
    if (inflateInit2(&g->stream, GZIP_ONLY) != Z_OK) return -ENOMEM;
    g->ready = true;
    return 0;
}

/* Reads more compressed bytes. Returns how many, 0 at the end of the file, or a negative errno. */
static int64_t load_packed(sb_gz *g) {
    int64_t got = g->fs->read_at(g->fs->ctx, g->file, g->packed, sizeof g->packed, g->packed_at);
    if (got <= 0) return got;
    g->packed_at += (uint64_t)got;
    g->stream.next_in = g->packed;
    g->stream.avail_in = (uInt)got;
    return got;
}

/* An archive is complete: does another one follow? Trailing bytes that are not an archive are
 * ignored, as gunzip does. */
static int next_archive(sb_gz *g) {
    if (g->stream.avail_in == 0) {
        int64_t got = load_packed(g);
        if (got < 0) return (int)got;
    }
    if (g->stream.avail_in > 0 && g->stream.next_in[0] == 0x1f)
        inflateReset(&g->stream);
    else
        g->ended = true;
    g->between = false;
    return 0;
}

/* Decompresses up to n bytes; fewer only at the end of the archive or before damage. */
static int64_t inflate_some(sb_gz *g, uint8_t *to, size_t n) {
    size_t done = 0;
    int64_t got = 1;
    g->cut = false;
    while (done < n && !g->ended && got >= 0) {
        if (g->between) {
            got = next_archive(g);
            continue;
        }
        bool dry = false; /* zlib may still have output when all input is consumed */
        if (g->stream.avail_in == 0) {
            got = load_packed(g);
            dry = got == 0;
            if (got < 0) break;
        }
        size_t room = n - done < PACKED_BLOCK ? n - done : PACKED_BLOCK;
        g->stream.next_out = to + done;
        g->stream.avail_out = (uInt)room;
        int result = inflate(&g->stream, Z_NO_FLUSH);
        size_t made = room - g->stream.avail_out;
        done += made;
        g->at += made;
        g->between = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR) {
            stop_inflate(g); /* the next call restarts from the beginning */
            got = -ENOMEM;
        } else if (result != Z_STREAM_END && result != Z_OK && result != Z_BUF_ERROR) {
            got = g->failed = -EBADMSG;
        } else if (dry && made == 0 && !g->between) {
            g->cut = true;
            break;
        }
    }
    return got >= 0 || (done && got != -ENOMEM) ? (int64_t)done : got;
}

int64_t sb_gz_read_at(sb_gz *g, void *to, size_t n, uint64_t offset) {
    if (!g->ready || offset < g->at) {
        int result = start_inflate(g);
        if (result < 0) return result;
    }
    while (g->at < offset) {
        uint8_t scrap[4096];
        uint64_t gap = offset - g->at;
        if (g->failed) return g->failed;
        int64_t got = inflate_some(g, scrap, gap < sizeof scrap ? (size_t)gap : sizeof scrap);
        if (got <= 0) return got;
    }
    if (g->failed) return g->failed;
    return inflate_some(g, to, n);
}

bool sb_gz_is_cut(const sb_gz *g) {
    return g->cut;
}

uint64_t sb_gz_offset(const sb_gz *g) {
    return g->at;
}

uint64_t sb_gz_consumed(const sb_gz *g) {
    return g->packed_at - g->stream.avail_in;
}

bool sb_gz_begins(sb_slice head) {
    return sb_slice_starts(head, SB_LIT("\x1f\x8b\x08"));
}
