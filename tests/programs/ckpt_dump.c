/* ckpt_dump.c: prints a checkpoint as JSON, for tests that compare it with TensorFlow's reading.
 *
 *   ckpt_dump PREFIX           {name: {"dtype", "shape", "pieces", "hex" | "strings"}}
 *   ckpt_dump --names PREFIX   only dtype and shape, and how long that took (on stderr)
 *   ckpt_dump --rows FROM N NAME PREFIX   the bytes of some rows, in hex
 *   ckpt_dump --latest DIR     the newest checkpoint's prefix */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/slice.h"
#include "base/text/json.h"
#include "ckpt/bundle/bundle.h"
#include "ckpt/state.h"
#include "codec/tensor.h"
#include "base/banned.h"

static int fail(const sb_err *err) {
    fprintf(stderr, "%s: %s\n", sb_status_name(err->code), err->text);
    return 1;
}

static void add_hex(sb_buf *out, sb_slice s) {
    for (size_t i = 0; i < s.n; i++) sb_buf_printf(out, "%02x", s.p[i]);
}

static sb_status add_values(sb_json *j, sb_bundle *b, const sb_bundle_tensor *t, sb_err *err) {
    sb_buf bytes, hex;
    sb_arena arena;
    sb_slice *strings;
    sb_buf_init(&bytes, &sb_alloc_libc, SIZE_MAX);
    sb_buf_init(&hex, &sb_alloc_libc, SIZE_MAX);
    sb_arena_init(&arena, &sb_alloc_libc, 4096, SIZE_MAX);
    sb_status status;
    if (t->dtype == SB_STRING || t->dtype == SB_VARIANT) {
        status = sb_bundle_read_strings(b, t, &arena, &strings, err);
        sb_json_key_str(j, "strings");
        sb_json_begin_array(j);
        for (uint64_t i = 0; status == SB_OK && i < t->count; i++) {
            sb_buf_clear(&hex);
            add_hex(&hex, strings[i]);
            sb_json_text(j, sb_buf_slice(&hex));
        }
        sb_json_end_array(j);
    } else {
        status = sb_bundle_read_rows(b, t, 0, sb_bundle_rows(t), &bytes, err);
        add_hex(&hex, sb_buf_slice(&bytes));
        sb_json_key_str(j, "hex");
        sb_json_text(j, sb_buf_slice(&hex));
    }
    sb_buf_fini(&bytes);
    sb_buf_fini(&hex);
    sb_arena_fini(&arena);
    return status;
}

static sb_status dump(sb_bundle *b, bool names_only, sb_buf *out, sb_err *err) {
    sb_json j;
    sb_status status = SB_OK;
    sb_json_init(&j, out, NULL);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < sb_bundle_count(b) && status == SB_OK; i++) {
        const sb_bundle_tensor *t = sb_bundle_at(b, i);
        sb_json_key(&j, t->name);
        sb_json_begin_object(&j);
        sb_json_key_str(&j, "dtype");
        sb_json_str(&j, sb_dtype_name(t->dtype));
        sb_json_key_str(&j, "pieces");
        sb_json_uint(&j, t->slice_count);
        sb_json_key_str(&j, "shape");
        sb_json_begin_array(&j);
        for (uint32_t d = 0; d < t->rank; d++) sb_json_int(&j, t->dims[d]);
        sb_json_end_array(&j);
        if (!names_only) status = add_values(&j, b, t, err);
        sb_json_end_object(&j);
    }
    sb_json_end_object(&j);
    return status;
}

static sb_status rows(sb_bundle *b, char **argv, sb_buf *out, sb_err *err) {
    const sb_bundle_tensor *t = sb_bundle_find(b, sb_slice_str(argv[4]));
    sb_buf bytes;
    sb_buf_init(&bytes, &sb_alloc_libc, SIZE_MAX);
    err->code = SB_NOT_FOUND;
    sb_status status = t ? sb_bundle_read_rows(b, t, strtoull(argv[2], NULL, 10),
                                               strtoull(argv[3], NULL, 10), &bytes, err)
                         : SB_NOT_FOUND;
    add_hex(out, sb_buf_slice(&bytes));
    sb_buf_fini(&bytes);
    return status;
}

int main(int argc, char **argv) {
    bool names_only = argc == 3 && strcmp(argv[1], "--names") == 0;
    bool is_rows = argc == 6 && strcmp(argv[1], "--rows") == 0;
    sb_err err = {0};
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, SIZE_MAX);
    sb_status status;
    if (argc == 3 && strcmp(argv[1], "--latest") == 0) {
        status = sb_ckpt_latest(&out, NULL, &sb_fs_local, &sb_alloc_libc, argv[2], NULL,
                                SB_CKPT_ANYWHERE, &err);
    } else if (argc >= 2) {
        sb_bundle *b;
        uint64_t start = sb_clock_system.steady(sb_clock_system.ctx);
        status = sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL,
                                sb_slice_str(argv[argc - 1]), NULL, &err);
        if (names_only)
            fprintf(stderr, "%.3f ms\n",
                    (double)(sb_clock_system.steady(sb_clock_system.ctx) - start) / 1e6);
        if (status == SB_OK)
            status = is_rows ? rows(b, argv, &out, &err) : dump(b, names_only, &out, &err);
        sb_bundle_close(b);
    } else {
        return 2;
    }
    if (status == SB_OK) fwrite(out.p, 1, out.n, stdout);
    sb_buf_fini(&out);
    return status == SB_OK ? 0 : fail(&err);
}
