/* npz.c: the central directory of a zip archive, one member, and the header of a .npy.
 *
 *   end of directory  "PK\5\6", +10 entries u16, +16 offset u32
 *   directory entry   "PK\1\2", +10 method u16, +16 crc u32, +20 packed u32, +24 size u32,
 *                     +28 name length u16,
 *                     +30 extra u16, +32 comment u16, +42 offset u32, +46 name
 *   local header      "PK\3\4", +26 name length u16, +28 extra u16, +30 name, then the data
 *   npy               "\x93NUMPY", version, u16 (version 1) header length, a Python dictionary */
#include "npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct blob {
    uint8_t *p;
    size_t n;
} blob;

static uint32_t u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p) {
    return u16(p) | u16(p + 2) << 16;
}

static bool read_file(const char *path, blob *out) {
    FILE *f = fopen(path, "rb");
    long size = -1;
    *out = (blob){0};
    if (!f) return false;
    if (fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (size > 0 && fseek(f, 0, SEEK_SET) == 0) out->p = malloc((size_t)size);
    if (out->p) out->n = fread(out->p, 1, (size_t)size, f);
    fclose(f);
    return out->p && out->n == (size_t)size;
}

/* The entry of a member in the directory; NULL: there is none. */
static const uint8_t *find_member(const blob *zip, const char *name) {
    size_t end = zip->n < 22 ? 0 : zip->n - 22, length = strlen(name);
    while (end && memcmp(zip->p + end, "PK\5\6", 4) != 0) end--;
    if (end == 0) return NULL;
    size_t at = u32(zip->p + end + 16);
    for (uint32_t i = 0; i < u16(zip->p + end + 10); i++) {
        if (at > zip->n || zip->n - at < 46 || memcmp(zip->p + at, "PK\1\2", 4) != 0) return NULL;
        const uint8_t *entry = zip->p + at;
        size_t name_length = u16(entry + 28);
        if (zip->n - at - 46 < name_length) return NULL;
        if (name_length == length && memcmp(entry + 46, name, length) == 0) return entry;
        at += 46 + name_length + u16(entry + 30) + u16(entry + 32);
    }
    return NULL;
}

static bool inflate_into(const uint8_t *from, size_t packed, blob *to) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)packed};
    z.next_out = to->p;
    z.avail_out = (uInt)to->n;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false;
    int end = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return end == Z_STREAM_END && z.avail_out == 0;
}

static bool read_member(const blob *zip, const uint8_t *entry, blob *out) {
    size_t packed = u32(entry + 20), size = u32(entry + 24), at = u32(entry + 42);
    uint32_t method = u16(entry + 10);
    if (at > zip->n || zip->n - at < 30 || memcmp(zip->p + at, "PK\3\4", 4) != 0) return false;
    at += 30 + u16(zip->p + at + 26) + u16(zip->p + at + 28);
    /* deflate packs 1032 bytes into one at best: a larger size is a lie */
    if (at > zip->n || zip->n - at < packed || size / 1040 > packed) return false;
    if (method == 0 ? packed != size : method != 8) return false;
    *out = (blob){malloc(size ? size : 1), size};
    if (!out->p) return false;
    if (method == 0)
        memcpy(out->p, zip->p + at, size);
    else if (!inflate_into(zip->p + at, packed, out))
        return false;
    return crc32_z(0, out->p, size) == u32(entry + 16);
}

/* Where the numbers begin; 0 when it is no array of that form. */
static size_t check_array(const blob *a, size_t side, size_t *count) {
    char head[512], shape[64];
    if (a->n < 10 || memcmp(a->p, "\x93NUMPY\1", 7) != 0) return 0;
    size_t length = u16(a->p + 8), each = side ? side * side : 1;
    if (length >= sizeof head || a->n - 10 < length) return 0;
    memcpy(head, a->p + 10, length);
    head[length] = 0;
    if (!strstr(head, "'|u1'") || !strstr(head, "'fortran_order': False")) return 0;
    *count = (a->n - 10 - length) / each;
    if (side)
        snprintf(shape, sizeof shape, "'shape': (%zu, %zu, %zu)", *count, side, side);
    else
        snprintf(shape, sizeof shape, "'shape': (%zu,)", *count);
    return strstr(head, shape) && *count * each == a->n - 10 - length ? 10 + length : 0;
}

bool npz_read(const char *path, const char *name, size_t side, uint8_t **bytes, size_t *count,
              char *text, size_t n) {
    blob zip, member = {0};
    *bytes = NULL;
    if (!read_file(path, &zip)) {
        snprintf(text, n, "%s: cannot be read", path);
        free(zip.p);
        return false;
    }
    const uint8_t *entry = find_member(&zip, name);
    bool is_read = entry && read_member(&zip, entry, &member);
    size_t begin = is_read ? check_array(&member, side, count) : 0;
    if (!entry)
        snprintf(text, n, "%s: there is no %s in it, or it is no zip archive", path, name);
    else if (!is_read)
        snprintf(text, n, "%s: %s is damaged or packed in an unknown way", path, name);
    else if (!begin)
        snprintf(text, n, "%s: %s is no array of uint8 of the form [n%s]", path, name,
                 side ? ", 28, 28" : "");
    free(zip.p);
    if (begin) {
        memmove(member.p, member.p + begin, member.n - begin);
        *bytes = member.p;
    } else {
        free(member.p);
    }
    return begin != 0;
}
