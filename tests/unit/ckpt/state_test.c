/* state_test.c: the state file and the newest checkpoint. */
#include "ckpt/state.h"

#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

static void a_managers_state_is_read(void **state) {
    (void)state;
    static const char text[] = "# kept by hand\n"
                               "model_checkpoint_path: \"ckpt-1100\"\n"
                               "all_model_checkpoint_paths: 'ckpt-' \"900\"\n"
                               "all_model_checkpoint_paths: [\"ckpt-1000\", \"ckpt-1100\"]\n"
                               "all_model_checkpoint_timestamps: 1561473588.4294684\n"
                               "all_model_checkpoint_timestamps: 1561473589.6881793;\n"
                               "last_preserved_timestamp: 1561473576.256906";
    sb_arena arena;
    sb_ckpt_state s;
    sb_err err;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1 << 20);
    assert_ok(sb_ckpt_state_parse(&s, sb_slice_str(text), &sb_alloc_libc, &arena, &err), &err);
    assert_slice_is(s.newest, "ckpt-1100");
    assert_int_equal(s.count, 3);
    assert_slice_is(s.all[0], "ckpt-900");
    assert_slice_is(s.all[2], "ckpt-1100");
    assert_int_equal(s.time_count, 2);
    assert_true(s.times[1] == 1561473589.6881793 && s.last_preserved == 1561473576.256906);
    assert_int_equal(sb_ckpt_state_parse(&s, SB_LIT("x: 1"), &sb_alloc_libc, &arena, &err),
                     SB_CORRUPT);
    sb_arena_fini(&arena);
}

static sb_status latest(sb_test_dir *d, const char *dir, sb_ckpt_where where, sb_buf *out,
                        sb_err *err) {
    sb_buf_clear(out);
    return sb_ckpt_latest(out, NULL, &sb_fs_local, &sb_alloc_libc, sb_test_dir_join(d, dir), NULL,
                          where, err);
}

static void put_state(sb_test_dir *d, const char *dir, const char *path) {
    sb_buf text, name;
    sb_buf_init(&text, &sb_alloc_libc, 1 << 16);
    sb_buf_init(&name, &sb_alloc_libc, 1 << 16);
    sb_buf_printf(&text, "model_checkpoint_path: \"%s\"", path);
    sb_buf_printf(&name, "%s/checkpoint", dir);
    sb_buf_add_byte(&name, 0);
    sb_test_dir_put(d, (const char *)name.p, sb_buf_slice(&text));
    sb_buf_fini(&text);
    sb_buf_fini(&name);
}

static void the_newest_is_what_the_state_says(void **state) {
    sb_test_dir *d = *state;
    sb_buf out;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_test_dir_put(d, "m/ckpt-10.index", SB_LIT("x"));
    sb_test_dir_put(d, "m/ckpt-9.index", SB_LIT("x"));
    sb_test_dir_put(d, "m/old", SB_LIT("x"));
    assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_NOT_FOUND);
    put_state(d, "m", "ckpt-9");
    assert_ok(latest(d, "m", SB_CKPT_BENEATH, &out, &err), &err);
    assert_slice_is(sb_buf_slice(&out), "ckpt-9");
    assert_ok(latest(d, "m", SB_CKPT_ANYWHERE, &out, &err), &err);
    assert_slice_is(sb_buf_slice(&out), sb_test_dir_join(d, "m/ckpt-9"));
    put_state(d, "m", "old"); /* one file called as the prefix: version 1 */
    assert_ok(latest(d, "m", SB_CKPT_BENEATH, &out, &err), &err);
    put_state(d, "m", sb_test_dir_join(d, "m/ckpt-10")); /* as TF1's Saver has it */
    assert_ok(latest(d, "m", SB_CKPT_BENEATH, &out, &err), &err);
    assert_slice_is(sb_buf_slice(&out), "ckpt-10");
    put_state(d, "m", "ckpt-11");
    assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_NOT_FOUND);
    put_state(d, "m", "");
    assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_INVALID);
    sb_test_dir_put(d, "m/checkpoint", SB_LIT("model_checkpoint_path: 7"));
    assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_CORRUPT);
    sb_buf_fini(&out);
}

static void a_state_cannot_lead_outside(void **state) {
    sb_test_dir *d = *state;
    sb_buf out;
    sb_err err;
    sb_buf_init(&out, &sb_alloc_libc, 1 << 16);
    sb_test_dir_put(d, "secret.index", SB_LIT("x"));
    sb_test_dir_put(d, "m-secret/s.index", SB_LIT("x"));
    static const char *const paths[] = {"../secret", "~/secret", "a/../../secret", "/etc/passwd"};
    for (size_t i = 0; i < SB_COUNT(paths); i++) {
        put_state(d, "m", paths[i]);
        assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_INVALID);
    }
    put_state(d, "m", sb_test_dir_join(d, "m-secret/s"));
    assert_int_equal(latest(d, "m", SB_CKPT_BENEATH, &out, &err), SB_INVALID);
    assert_ok(latest(d, "m", SB_CKPT_ANYWHERE, &out, &err), &err);
    sb_buf_fini(&out);
}

static sb_status latest_with(const sb_alloc *alloc, void *ud) {
    sb_buf out;
    sb_err err;
    sb_buf_init(&out, alloc, 1 << 16);
    sb_status status =
        sb_ckpt_latest(&out, NULL, &sb_fs_local, alloc, ud, NULL, SB_CKPT_BENEATH, &err);
    sb_buf_fini(&out);
    return status;
}

static void failing_memory_is_reported(void **state) {
    sb_test_dir *d = *state;
    sb_test_dir_put(d, "m/ckpt-10.index", SB_LIT("x"));
    put_state(d, "m", "ckpt-10");
    sb_fault_alloc_sweep(latest_with, (void *)(uintptr_t)sb_test_dir_join(d, "m"));
}

int main(void) {
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_managers_state_is_read),
        ON_DISK(the_newest_is_what_the_state_says),
        ON_DISK(a_state_cannot_lead_outside),
        ON_DISK(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
