/* zip_read.c: the directory of a ZIP archive, and its members unpacked. */
#include "ckpt/export/zip_read.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "fsio/beneath.h"
#include "base/banned.h"

#define END_RECORD 22
#define LOCATOR 20
#define END_RECORD_64 56
#define LOCAL 30
#define CENTRAL 46
#define MAX_COMMENT UINT16_MAX
#define WINDOW ((size_t)64 << 10)

#define IS_ENCRYPTED 1
#define STORED 0
#define DEFLATED 8
#define EXTRA_ZIP64 1

static sb_status corrupt(const sb_zip *z, uint64_t offset, const char *what, sb_err *err) {
    return sb_fail(err, SB_CORRUPT, offset, "%s: %s; the file was cut short or changed", z->path,
                   what);
}

static sb_status read_at(const sb_zip *z, void *to, size_t n, uint64_t offset, sb_err *err) {
    if (offset > z->size || n > z->size - offset)
        return corrupt(z, offset, "a part of the archive lies beyond the end of the file", err);
    return sb_fs_read_exactly(z->fs, z->file, sb_slice_str(z->path), to, n, offset, err);
}

/* ---- the end of the file --------------------------------------------------------------------- */

typedef struct directory {
    uint64_t offset, size, count;
} directory;

/* Where the end record is in the last n bytes: the last place that fits. n: it is not there. */
static size_t find_end_record(const uint8_t *p, size_t n) {
    for (size_t at = n < END_RECORD ? 0 : n - END_RECORD + 1; at-- > 0;)
        if (sb_load32(p + at) == 0x06054b50 && sb_load16(p + at + 20) == n - at - END_RECORD)
            return at;
    return n;
}

static sb_status read_zip64(const sb_zip *z, uint64_t end, directory *out, sb_err *err) {
    uint8_t locator[LOCATOR], record[END_RECORD_64];
    if (end < LOCATOR) return SB_OK;
    sb_status status = read_at(z, locator, sizeof locator, end - LOCATOR, err);
    if (status != SB_OK || sb_load32(locator) != 0x07064b50) return status;
    status = read_at(z, record, sizeof record, sb_load64(locator + 8), err);
    if (status != SB_OK) return status;
    if (sb_load32(record) != 0x06064b50)
        return corrupt(z, sb_load64(locator + 8), "the end record of its directory is malformed",
                       err);
    *out = (directory){.count = sb_load64(record + 32),
                       .size = sb_load64(record + 40),
                       .offset = sb_load64(record + 48)};
    return SB_OK;
}

static sb_status find_directory(const sb_zip *z, directory *out, sb_err *err) {
    size_t n = z->size < END_RECORD + MAX_COMMENT ? (size_t)z->size : END_RECORD + MAX_COMMENT;
    uint8_t *tail = sb_alloc_get(z->alloc, n ? n : 1);
    if (!tail) return sb_fail_nomem(err, "for an archive");
    sb_status status = n ? read_at(z, tail, n, z->size - n, err) : SB_OK;
    size_t at = status == SB_OK ? find_end_record(tail, n) : n;
    if (status == SB_OK && at == n)
        status =
            sb_fail(err, SB_CORRUPT, 0,
                    "%s: is no ZIP archive, or its end is missing: it has no directory", z->path);
    if (status == SB_OK) {
        *out = (directory){.count = sb_load16(tail + at + 10),
                           .size = sb_load32(tail + at + 12),
                           .offset = sb_load32(tail + at + 16)};
        status = read_zip64(z, z->size - n + at, out, err);
    }
    sb_alloc_put(z->alloc, tail, n ? n : 1);
    return status;
}

/* ---- the directory --------------------------------------------------------------------------- */

/* Sizes and place of a member that do not fit into 32 bits, in the order of the extra field. */
static bool read_extra(sb_slice extra, uint64_t *const wide[3]) {
    while (extra.n >= 4) {
        size_t id = sb_load16(extra.p), n = sb_load16(extra.p + 2);
        if (n > extra.n - 4) return false;
        const uint8_t *p = extra.p + 4;
        for (size_t i = 0, left = n; id == EXTRA_ZIP64 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX) continue;
            if (left < 8) return false;
            *wide[i] = sb_load64(p);
            p += 8;
            left -= 8;
        }
        extra = sb_slice_of(extra.p + 4 + n, extra.n - 4 - n);
    }
    return true;
}

static sb_status check_method(const sb_zip *z, sb_slice name, unsigned flags, unsigned method,
                              sb_err *err) {
    if (flags & IS_ENCRYPTED)
        return sb_fail(err, SB_INVALID, 0, "%s: '%.*s' is encrypted, which is not read", z->path,
                       SB_SHOWN(name));
    if (method != STORED && method != DEFLATED)
        return sb_fail(err, SB_INVALID, 0,
                       "%s: '%.*s' is packed by method %u; only stored and deflated members are "
                       "read",
                       z->path, SB_SHOWN(name), method);
    return SB_OK;
}

/* From the place of the local header to that of the bytes behind it. */
static sb_status skip_local_header(const sb_zip *z, sb_zip_member *m, sb_err *err) {
    uint8_t local[LOCAL];
    sb_status status = read_at(z, local, sizeof local, m->offset, err);
    if (status != SB_OK) return status;
    if (sb_load32(local) != 0x04034b50)
        return corrupt(z, m->offset, "the header of a member is not where its directory says", err);
    m->offset += LOCAL + (uint64_t)sb_load16(local + 26) + sb_load16(local + 28);
    if (m->offset > z->size || m->packed > z->size - m->offset)
        return corrupt(z, m->offset, "a member lies beyond the end of the file", err);
    return SB_OK;
}

/* The entry at the start of bytes; *used: how long it is. */
static sb_status read_entry(sb_zip *z, sb_slice bytes, size_t *used, sb_err *err) {
    if (bytes.n < CENTRAL || sb_load32(bytes.p) != 0x02014b50)
        return corrupt(z, 0, "its directory is malformed", err);
    const uint8_t *p = bytes.p;
    size_t name = sb_load16(p + 28), extra = sb_load16(p + 30);
    *used = CENTRAL + name + extra + sb_load16(p + 32);
    if (*used > bytes.n) return corrupt(z, 0, "its directory is malformed", err);
    sb_zip_member m = {.name = sb_arena_dup(&z->arena, sb_slice_of(p + CENTRAL, name)),
                       .is_deflated = sb_load16(p + 10) == DEFLATED,
                       .crc = sb_load32(p + 16),
                       .packed = sb_load32(p + 20),
                       .size = sb_load32(p + 24),
                       .offset = sb_load32(p + 42)};
    if (!m.name.p) return sb_fail_nomem(err, "for an archive");
    sb_status status = check_method(z, m.name, sb_load16(p + 8), sb_load16(p + 10), err);
    if (status != SB_OK) return status;
    if (!read_extra(sb_slice_of(p + CENTRAL + name, extra),
                    (uint64_t *const[]){&m.size, &m.packed, &m.offset}) ||
        (!m.is_deflated && m.size != m.packed))
        return corrupt(z, 0, "its directory is malformed", err);
    status = skip_local_header(z, &m, err);
    if (status != SB_OK) return status;
    sb_zip_member *slot = SB_VEC_PUSH(&z->members, z->alloc, SIZE_MAX);
    if (!slot) return sb_fail_nomem(err, "for an archive");
    *slot = m;
    return SB_OK;
}

static int by_offset(const void *x, const void *y) {
    const sb_zip_member *a = x, *b = y;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    return (a->packed > b->packed) - (a->packed < b->packed);
}

static sb_status check_overlaps(sb_zip *z, sb_err *err) {
    if (z->members.n) qsort(z->members.items, z->members.n, sizeof *z->members.items, by_offset);
    for (size_t i = 1; i < z->members.n; i++) {
        const sb_zip_member *m = &z->members.items[i - 1];
        if (m->offset + m->packed > z->members.items[i].offset)
            return sb_fail(err, SB_CORRUPT, m->offset, "%s: '%.*s' and '%.*s' share bytes", z->path,
                           SB_SHOWN(m->name), SB_SHOWN(z->members.items[i].name));
    }
    return SB_OK;
}

static sb_status read_directory(sb_zip *z, size_t max_directory, sb_err *err) {
    directory d = {0};
    sb_status status = find_directory(z, &d, err);
    if (status != SB_OK) return status;
    if (d.offset > z->size || d.size > z->size - d.offset)
        return corrupt(z, d.offset, "its directory lies beyond the end of the file", err);
    if (d.size > max_directory)
        return sb_fail(err, SB_LIMIT, 0, "%s: its directory has %llu bytes, over the limit of %zu",
                       z->path, (unsigned long long)d.size, max_directory);
    size_t n = (size_t)d.size, at = 0, used = 0;
    uint8_t *bytes = sb_alloc_get(z->alloc, n ? n : 1);
    if (!bytes) return sb_fail_nomem(err, "for an archive");
    if (n) status = read_at(z, bytes, n, d.offset, err);
    for (uint64_t i = 0; i < d.count && status == SB_OK; i++, at += used)
        status = read_entry(z, sb_slice_of(bytes + at, n - at), &used, err);
    if (status == SB_OK && at != n) status = corrupt(z, 0, "its directory is malformed", err);
    sb_alloc_put(z->alloc, bytes, n ? n : 1);
    return status == SB_OK ? check_overlaps(z, err) : status;
}

sb_status sb_zip_open(sb_zip *z, const sb_fs *fs, const sb_alloc *alloc, const char *path, int file,
                      uint64_t size, size_t max_directory, sb_err *err) {
    *z = (sb_zip){.fs = fs, .alloc = alloc, .path = path, .file = file, .size = size};
    sb_arena_init(&z->arena, alloc, 4096, SIZE_MAX / 2);
    sb_status status = read_directory(z, max_directory, err);
    if (status != SB_OK) sb_zip_close(z);
    return status;
}

void sb_zip_close(sb_zip *z) {
    SB_VEC_FREE(&z->members, z->alloc);
    sb_arena_fini(&z->arena);
}

/* ---- a member -------------------------------------------------------------------------------- */

sb_status sb_zip_reader_init(sb_zip_reader *r, const sb_zip *z, const sb_zip_member *m,
                             sb_err *err) {
    *r = (sb_zip_reader){.z = z, .m = m};
    if (!m->is_deflated) return SB_OK;
    r->window = sb_alloc_get(z->alloc, WINDOW);
    if (!r->window) return sb_fail_nomem(err, "for an archive");
    if (inflateInit2(&r->inflate, -MAX_WBITS) == Z_OK) return SB_OK;
    sb_zip_reader_fini(r);
    return sb_fail_nomem(err, "for an archive");
}

void sb_zip_reader_fini(sb_zip_reader *r) {
    if (!r->window) return;
    inflateEnd(&r->inflate);
    sb_alloc_put(r->z->alloc, r->window, WINDOW);
    r->window = NULL;
}

static sb_status read_stored(sb_zip_reader *r, void *to, size_t n, sb_err *err) {
    sb_status status = read_at(r->z, to, n, r->m->offset + r->taken, err);
    r->taken += n;
    return status;
}

static sb_status refill(sb_zip_reader *r, sb_err *err) {
    uint64_t left = r->m->packed - r->taken;
    size_t n = left < WINDOW ? (size_t)left : WINDOW;
    if (n == 0)
        return corrupt(r->z, r->m->offset, "the packed bytes of a member end too early", err);
    sb_status status = read_at(r->z, r->window, n, r->m->offset + r->taken, err);
    r->taken += n;
    r->inflate.next_in = r->window;
    r->inflate.avail_in = (uInt)n;
    return status;
}

static sb_status read_deflated(sb_zip_reader *r, uint8_t *to, size_t n, sb_err *err) {
    while (n) {
        uInt room = n < ((uInt)1 << 30) ? (uInt)n : (uInt)1 << 30;
        sb_status status = r->inflate.avail_in ? SB_OK : refill(r, err);
        if (status != SB_OK) return status;
        r->inflate.next_out = to;
        r->inflate.avail_out = room;
        int result = inflate(&r->inflate, Z_NO_FLUSH);
        size_t made = room - r->inflate.avail_out;
        to += made;
        n -= made;
        bool is_over = result == Z_STREAM_END && n;
        if ((result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) || is_over)
            return corrupt(r->z, r->m->offset, "the packed bytes of a member are malformed", err);
    }
    return SB_OK;
}

sb_status sb_zip_read(sb_zip_reader *r, void *to, size_t n, sb_err *err) {
    if (n > r->m->size - r->given)
        return sb_fail(err, SB_CORRUPT, r->m->offset, "%s: '%.*s' is too short", r->z->path,
                       SB_SHOWN(r->m->name));
    if (n == 0) return SB_OK;
    sb_status status =
        r->m->is_deflated ? read_deflated(r, to, n, err) : read_stored(r, to, n, err);
    if (status != SB_OK) return status;
    r->crc = (uint32_t)crc32_z(r->crc, to, n);
    r->given += n;
    if (r->given == r->m->size && r->crc != r->m->crc)
        return sb_fail(err, SB_CORRUPT, r->m->offset,
                       "%s: the checksum of '%.*s' does not match its data", r->z->path,
                       SB_SHOWN(r->m->name));
    return SB_OK;
}
