/* projector_test.c: embeddings found and read, and no path of a config or a state that leads to
 * anything outside of the run. What real TensorBoard answers is compared in
 * tests/conformance/test_projector.py. */
#include "query/kinds/projector.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "codec/proto/messages.h"
#include "support/fault_alloc.h"
#include "support/fault_fs.h"
#include "support/test.h"
#include "base/banned.h"

/* All pieces, one after the other. */
static sb_status read_all(sb_projector_source *source, sb_status status, sb_buf *out, sb_err *err) {
    while (status == SB_OK) {
        status = sb_projector_read(source, out, err);
        if (status == SB_END) break;
    }
    sb_projector_close(source);
    return status == SB_END ? SB_OK : status;
}

static sb_status read_tensor(const sb_projector *p, const sb_projector_run *run, sb_slice name,
                             uint64_t rows, sb_buf *out, sb_err *err) {
    sb_projector_source *source;
    sb_status status = sb_projector_open_tensor(p, run, name, rows, &source, err);
    return read_all(source, status, out, err);
}

static sb_status read_asset(const sb_projector *p, const sb_projector_run *run, sb_slice path,
                            uint64_t lines, sb_buf *out, sb_err *err) {
    sb_projector_source *source;
    sb_status status = sb_projector_open_asset(p, run, path, lines, &source, err);
    return read_all(source, status, out, err);
}

#define SECRET "31337"
#define FIXTURE SB_FIXTURES "/tf/projector"

typedef struct bed {
    sb_arena arena;
    sb_projector p;
    sb_projector_place place;
    sb_projector_run *runs;
    size_t n;
} bed;

static void bed_init(bed *b, const sb_alloc *alloc, const sb_fs *fs, const char *logdir,
                     const char *run, const char *path) {
    *b = (bed){.place = {sb_slice_str(run), path}};
    sb_arena_init(&b->arena, alloc, 4096, (size_t)64 << 20);
    b->p = (sb_projector){.fs = fs,
                          .alloc = alloc,
                          .arena = &b->arena,
                          .max_file = 1 << 20,
                          .places = &b->place,
                          .place_n = run != NULL,
                          .logdir = logdir};
}

static sb_status find_all(bed *b) {
    sb_err err;
    return sb_projector_find(&b->p, (sb_slice){NULL, 0}, false, &b->runs, &b->n, &err);
}

static sb_buf new_buf(void) {
    sb_buf out;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 20);
    return out;
}

static void put_config(sb_test_dir *d, const char *name, const char *text) {
    sb_test_dir_put(d, name, sb_slice_str(text));
}

static void a_checkpoints_matrix_is_found_and_read(void **state) {
    (void)state;
    bed b;
    sb_err err;
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, FIXTURE, NULL, NULL);
    assert_int_equal(find_all(&b), SB_OK);
    assert_int_equal(b.n, 1);
    assert_slice_is(b.runs[0].name, ".");
    assert_int_equal(b.runs[0].n, 1);
    const sb_embedding_info *e = &b.runs[0].embeddings[0];
    assert_true(e->shape_n == 2 && e->shape[0] == 50 && e->shape[1] == 8);
    assert_slice_is(e->image_path, "sprite.png");
    assert_slice_is(b.runs[0].checkpoint, FIXTURE "/embedding.ckpt-1");
    sb_buf out = new_buf();
    assert_ok(read_tensor(&b.p, b.runs, e->name, 0, &out, &err), &err);
    assert_int_equal(out.n, 50 * 8 * 4);
    sb_buf_clear(&out);
    assert_ok(read_tensor(&b.p, b.runs, e->name, 3, &out, &err), &err);
    assert_int_equal(out.n, 3 * 8 * 4);
    sb_buf_clear(&out);
    assert_ok(read_asset(&b.p, b.runs, e->metadata_path, 1, &out, &err), &err);
    size_t lines = 0;
    for (size_t i = 0; i < out.n; i++) lines += out.p[i] == '\n';
    assert_int_equal(lines, memchr(out.p, '\t', out.n) ? 2 : 1);
    assert_int_equal(read_tensor(&b.p, b.runs, SB_LIT("zz"), 0, &out, &err), SB_NOT_FOUND);
    sb_buf_fini(&out);
    sb_arena_fini(&b.arena);
}

static void text_and_raw_files_are_told_apart(void **state) {
    sb_test_dir *d = *state;
    uint8_t raw[24] = {0};
    for (uint32_t i = 0; i < 6; i++) sb_store32(raw + 4 * i, sb_float_bits((float)i / 3));
    sb_test_dir_put(d, "r/t.tsv", SB_LIT("1\t2.5\n\n nan \t-1e40\r\n"));
    sb_test_dir_put(d, "r/v.bytes", sb_slice_of(raw, sizeof raw));
    sb_test_dir_put(d, "r/zeros", sb_slice_of("\0\0\0\0\0\0\0\0", 8)); /* valid UTF-8, too */
    sb_test_dir_put(d, "r/ragged", SB_LIT("1\t2\n3\n"));
    put_config(d, "r/projector_config.pbtxt",
               "embeddings { tensor_path: 't.tsv' } "
               "embeddings { tensor_name: 'v' tensor_path: 'v.bytes' tensor_shape: [2, 3] } "
               "embeddings { tensor_name: 'zeros' tensor_path: 'zeros' tensor_shape: [1, 2] } "
               "embeddings { tensor_name: 'wrong' tensor_path: 'v.bytes' tensor_shape: [3, 3] } "
               "embeddings { tensor_name: 'flat' tensor_path: 'v.bytes' } "
               "embeddings { tensor_name: 'ragged' tensor_path: 'ragged' }");
    bed b;
    sb_err err;
    sb_buf out = new_buf();
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, NULL, "r", sb_test_dir_join(d, "r"));
    assert_int_equal(find_all(&b), SB_OK);
    assert_int_equal(b.n, 1);
    assert_ok(sb_projector_shapes(&b.p, b.runs, &err), &err);
    const sb_embedding_info *e = b.runs[0].embeddings;
    assert_slice_is(e[0].name, "t.tsv");
    assert_true(e[0].shape_n == 2 && e[0].shape[0] == 2 && e[0].shape[1] == 2);
    assert_int_equal(e[4].shape_n, 0);
    assert_ok(read_tensor(&b.p, b.runs, SB_LIT("t.tsv"), 0, &out, &err), &err);
    assert_int_equal(out.n, 16);
    assert_true(sb_bits_float(sb_load32(out.p + 4)) == 2.5f);
    assert_int_equal(sb_load32(out.p + 12), 0xFF800000); /* too small for a float */
    sb_buf_clear(&out);
    assert_ok(read_tensor(&b.p, b.runs, SB_LIT("v:0"), 1, &out, &err), &err);
    assert_slice_equal(sb_buf_slice(&out), sb_slice_of(raw, 12));
    sb_buf_clear(&out);
    assert_ok(read_tensor(&b.p, b.runs, SB_LIT("zeros"), 0, &out, &err), &err);
    assert_int_equal(out.n, 8);
    static const char *const bad[] = {"wrong", "flat", "ragged"};
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(read_tensor(&b.p, b.runs, sb_slice_str(bad[i]), 0, &out, &err),
                         SB_CORRUPT);
    b.p.max_file = 10;
    assert_int_equal(read_tensor(&b.p, b.runs, SB_LIT("v"), 0, &out, &err), SB_LIMIT);
    sb_buf_fini(&out);
    sb_arena_fini(&b.arena);
}

static void a_broken_config_costs_its_run_only(void **state) {
    sb_test_dir *d = *state;
    put_config(d, "projector_config.pbtxt", "embeddings { tensor_path: 't' }");
    sb_test_dir_put(d, "t", SB_LIT("1"));
    put_config(d, "r/projector_config.pbtxt", "embeddings { what: 1 }");
    bed b;
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, sb_test_dir_path(d), "r", sb_test_dir_join(d, "r"));
    assert_int_equal(find_all(&b), SB_OK);
    assert_int_equal(b.n, 1);
    assert_slice_is(b.runs[0].name, ".");
    sb_arena_fini(&b.arena);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The fields that hold paths, found in the schema, not listed by hand: a new one is tested by being
 * there. */
static bool is_path(const sb_field_info *f) {
    sb_slice name = sb_slice_str(f->name);
    return f->type == SB_TYPE_STRING &&
           (sb_slice_ends(name, SB_LIT("_path")) || sb_slice_ends(name, SB_LIT("_dir")) ||
            sb_slice_ends(name, SB_LIT("_file")));
}

/* Everything that can be asked of what is found; the secret must not be in any answer. */
static void ask_everything(bed *b, const char *what) {
    sb_err err;
    assert_int_equal(find_all(b), SB_OK);
    for (size_t i = 0; i < b->n; i++) {
        sb_projector_run *run = &b->runs[i];
        assert_ok(sb_projector_shapes(&b->p, run, &err), &err);
        for (size_t k = 0; k < run->n; k++) {
            const sb_embedding_info *e = &run->embeddings[k];
            const sb_slice paths[] = {e->metadata_path, e->bookmarks_path, e->image_path,
                                      e->tensor_path};
            sb_buf out = new_buf();
            for (size_t j = 0; j < SB_COUNT(paths); j++)
                read_asset(&b->p, run, paths[j], j, &out, &err);
            read_tensor(&b->p, run, e->name, 0, &out, &err);
            float secret = 31337;
            if (out.n && (memmem(out.p, out.n, SECRET, 5) || memmem(out.p, out.n, &secret, 4)))
                fail_msg("%s: the secret is shown", what);
            sb_buf_fini(&out);
            if (e->shape_n && !sb_slice_eq(e->name, SB_LIT("mine")))
                fail_msg("%s: the shape of something outside is shown", what);
        }
    }
}

typedef struct probe {
    sb_test_dir *d;
    const char *path; /* the hostile one */
    size_t tried;
} probe;

/* A config in which just this one field, inside its parents, has the path. */
static void try_field(probe *p, const sb_field_info *f, const char *before, const char *behind) {
    sb_buf text = new_buf();
    sb_buf_printf(&text,
                  "embeddings { tensor_name: 'mine' tensor_path: 'mine.tsv' } %s %s: \"%s\" %s",
                  before, f->name, p->path, behind);
    sb_test_dir_put(p->d, "logs/r/projector_config.pbtxt", sb_buf_slice(&text));
    sb_buf_add_byte(&text, 0);
    bed b;
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, sb_test_dir_join(p->d, "logs"), "r",
             sb_test_dir_join(p->d, "logs/r"));
    ask_everything(&b, (const char *)text.p);
    sb_arena_fini(&b.arena);
    sb_buf_fini(&text);
    p->tried++;
}

static void try_message(probe *p, sb_message_id id, const char *before, const char *behind) {
    const sb_message_info *message = sb_message_get(id);
    for (size_t i = 0; i < message->count; i++) {
        const sb_field_info *f = &message->fields[i];
        if (is_path(f)) try_field(p, f, before, behind);
        if (f->type != SB_TYPE_MESSAGE) continue;
        sb_buf open = new_buf(), shut = new_buf();
        sb_buf_printf(&open, "%s %s {", before, f->name);
        if (id == SB_MSG_PROJECTOR) sb_buf_add_str(&open, " tensor_name: 'probe'");
        sb_buf_printf(&shut, "} %s", behind);
        sb_buf_add_byte(&open, 0);
        sb_buf_add_byte(&shut, 0);
        try_message(p, (sb_message_id)f->sub, (const char *)open.p, (const char *)shut.p);
        sb_buf_fini(&open);
        sb_buf_fini(&shut);
    }
}

/* Issue 7115 of TensorBoard and its sequel 7119, where one of five fields was forgotten. */
static void no_path_of_a_config_leads_outside(void **state) {
    sb_test_dir *d = *state;
    sb_test_dir_put(d, "secret.tsv", SB_LIT(SECRET "\t" SECRET "\n"));
    sb_test_dir_put(d, "logs-secret/s.tsv", SB_LIT(SECRET "\n"));
    sb_test_dir_put(d, "logs/other/s.tsv", SB_LIT(SECRET "\n"));
    sb_test_dir_put(d, "logs/r/mine.tsv", SB_LIT("1\t2\n"));
    /* a checkpoint outside: its matrix must not be offered, nor read */
    static const char *const parts[] = {"index", "data-00000-of-00001"};
    for (size_t i = 0; i < 2; i++) {
        char from[512], to[64];
        snprintf(from, sizeof from, FIXTURE "/embedding.ckpt-1.%s", parts[i]);
        snprintf(to, sizeof to, "outside/c.%s", parts[i]);
        sb_test_dir_put(d, to, sb_test_dir_get(d, from));
    }
    assert_int_equal(symlink("../../secret.tsv", sb_test_dir_join(d, "logs/r/link.tsv")), 0);
    assert_int_equal(symlink("../..", sb_test_dir_join(d, "logs/r/up")), 0);
    assert_int_equal(symlink("/", sb_test_dir_join(d, "logs/r/root")), 0);
    const char *const paths[] = {
        "../../secret.tsv",
        "../../logs-secret/s.tsv",
        "../other/s.tsv",
        "link.tsv",
        "up/secret.tsv",
        "up/outside/c",
        "~/secret.tsv",
        "./../../secret.tsv",
        "../../outside/c",
        "root/etc/passwd",
        "/etc/passwd",
        sb_test_dir_join(d, "secret.tsv"),
        sb_test_dir_join(d, "logs-secret/s.tsv"),
        sb_test_dir_join(d, "outside/c"),
    };
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        probe p = {.d = d, .path = paths[i]};
        try_message(&p, SB_MSG_PROJECTOR, "", "");
        assert_true(p.tried >= 6); /* as many as the schema has today */
    }
    /* and that of a state file */
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        sb_buf text = new_buf();
        sb_buf_printf(&text, "model_checkpoint_path: \"%s\"", paths[i]);
        sb_test_dir_put(d, "logs/r/checkpoint", sb_buf_slice(&text));
        put_config(d, "logs/r/projector_config.pbtxt", "");
        bed b;
        bed_init(&b, &sb_alloc_libc, &sb_fs_local, sb_test_dir_join(d, "logs"), "r",
                 sb_test_dir_join(d, "logs/r"));
        assert_int_equal(find_all(&b), SB_OK);
        assert_int_equal(b.n, 0);
        sb_arena_fini(&b.arena);
        sb_buf_fini(&text);
    }
}

static void the_parent_of_the_log_directory_is_not_searched(void **state) {
    sb_test_dir *d = *state;
    static const char *const names[] = {"checkpoint", "embedding.ckpt-1.index"};
    for (size_t i = 0; i < 2; i++) {
        char from[512];
        snprintf(from, sizeof from, FIXTURE "/%s", names[i]);
        sb_test_dir_put(d, names[i], sb_test_dir_get(d, from));
    }
    sb_test_dir_put(d, "logs/r/x", SB_LIT(""));
    bed b;
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, sb_test_dir_join(d, "logs"), NULL, NULL);
    assert_int_equal(find_all(&b), SB_OK);
    assert_int_equal(b.n, 0);
    sb_arena_fini(&b.arena);
    /* but that of a run is */
    bed_init(&b, &sb_alloc_libc, &sb_fs_local, NULL, "logs", sb_test_dir_join(d, "logs"));
    assert_int_equal(find_all(&b), SB_OK);
    assert_int_equal(b.n, 1);
    sb_arena_fini(&b.arena);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static sb_status use_all(const sb_alloc *alloc, const sb_fs *fs, const char *dir) {
    bed b;
    sb_err err;
    sb_buf out;
    sb_buf_init(&out, alloc, 1 << 20);
    bed_init(&b, alloc, fs, NULL, "r", dir);
    sb_status status = find_all(&b);
    if (status == SB_OK && b.n) {
        const sb_embedding_info *e = b.runs[0].embeddings;
        status = sb_projector_shapes(&b.p, b.runs, &err);
        for (size_t i = 0; i < b.runs[0].n && status == SB_OK; i++)
            status = read_tensor(&b.p, b.runs, e[i].name, 0, &out, &err);
        if (status == SB_OK && e[0].metadata_path.n)
            status = read_asset(&b.p, b.runs, e[0].metadata_path, 2, &out, &err);
    }
    sb_arena_fini(&b.arena);
    sb_buf_fini(&out);
    return status;
}

static sb_status use_with(const sb_alloc *alloc, void *ud) {
    return use_all(alloc, &sb_fs_local, ud);
}

static void failing_memory_is_reported(void **state) {
    sb_test_dir *d = *state;
    sb_fault_alloc_sweep(use_with, (void *)(uintptr_t)FIXTURE);
    sb_test_dir_put(d, "r/t.tsv", SB_LIT("1\t2\n3\t4\n"));
    put_config(d, "r/projector_config.pbtxt",
               "embeddings { tensor_path: 't.tsv' metadata_path: 't.tsv' }");
    sb_fault_alloc_sweep(use_with, (void *)(uintptr_t)sb_test_dir_join(d, "r"));
}

static void failing_calls_leave_nothing_open(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 100; n++) {
        sb_fault_fs f;
        sb_fault_fs_init(&f, &sb_fs_local);
        sb_fault_fs_fail(&f, SB_CALL_ANY, n, EIO, false);
        sb_status status = use_all(&sb_alloc_libc, &f.fs, FIXTURE);
        bool failed = sb_fault_fs_failures(&f) > 0;
        sb_fault_fs_fini(&f);
        assert_true(status != SB_NOMEM);
        if (!failed) {
            assert_int_equal(status, SB_OK);
            return;
        }
    }
    fail_msg("never came to an end");
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoints_matrix_is_found_and_read),
        ON_DISK(text_and_raw_files_are_told_apart),
        ON_DISK(a_broken_config_costs_its_run_only),
        ON_DISK(no_path_of_a_config_leads_outside),
        ON_DISK(the_parent_of_the_log_directory_is_not_searched),
        ON_DISK(failing_memory_is_reported),
        cmocka_unit_test(failing_calls_leave_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
