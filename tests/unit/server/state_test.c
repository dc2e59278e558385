/* People's notes: kept, changed only by those who saw the newest, bounded. */
#include "server/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

typedef struct world {
    sb_state *state;
    sb_arena arena;
} world;

static world open_at(const char *path, const char *set) {
    world w;
    sb_err err;
    assert_ok(sb_state_open(&w.state, &sb_alloc_libc, path, sb_slice_str(set), &err), &err);
    sb_arena_init(&w.arena, &sb_alloc_libc, 4096, 128 << 20);
    return w;
}

static void end(world *w) {
    sb_state_close(w->state);
    sb_arena_fini(&w->arena);
}

static sb_status change(world *w, const char *key, const char *value, uint64_t seen,
                        uint64_t *revision) {
    sb_state_item item = {sb_slice_str(key), sb_slice_str(value)};
    return sb_state_change(w->state, &item, 1, seen, revision, NULL);
}

static size_t read_all(world *w, sb_state_item **items, uint64_t *revision) {
    size_t n;
    sb_err err;
    assert_ok(sb_state_read(w->state, &w->arena, items, &n, revision, &err), &err);
    return n;
}

static void notes_survive_a_restart_each_directory_its_own(void **state) {
    sb_test_dir *d = *state;
    const char *path = sb_test_dir_join(d, "notes.sqlite");
    uint64_t revision;
    sb_state_item *items;
    world w = open_at(path, "/a");
    assert_true(sb_state_is_persistent(w.state));
    assert_string_equal(sb_state_hint(w.state), "");
    assert_int_equal(change(&w, "run/中文", "{\"note\":\"好\"}", 0, &revision), SB_OK);
    assert_int_equal(revision, 1);
    end(&w);
    w = open_at(path, "/b");
    assert_int_equal(read_all(&w, &items, &revision), 0);
    assert_int_equal(revision, 0);
    end(&w);
    w = open_at(path, "/a");
    assert_int_equal(read_all(&w, &items, &revision), 1);
    assert_int_equal(revision, 1);
    assert_slice_is(items[0].key, "run/中文");
    assert_slice_is(items[0].value, "{\"note\":\"好\"}");
    end(&w);
}

static void change_of_what_somebody_else_changed_is_refused(void **state) {
    (void)state;
    world w = open_at(NULL, "/a");
    uint64_t revision;
    assert_int_equal(change(&w, "x", "1", 0, &revision), SB_OK);
    assert_int_equal(change(&w, "y", "1", 0, &revision), SB_OK); /* another key */
    assert_int_equal(change(&w, "x", "2", 0, &revision), SB_REPLACED);
    assert_int_equal(change(&w, "x", "2", 2, &revision), SB_OK);
    assert_int_equal(revision, 3);
    assert_int_equal(change(&w, "x", NULL, 3, &revision), SB_OK);
    assert_int_equal(change(&w, "x", "3", 3, &revision),
                     SB_REPLACED); /* a removal is a change too */
    sb_state_item *items;
    assert_int_equal(read_all(&w, &items, &revision), 1);
    end(&w);
}

static void place_that_cannot_be_written_gives_memory_and_a_hint(void **state) {
    (void)state;
    world w = open_at("/nonexistent/dir/notes", "/a");
    assert_false(sb_state_is_persistent(w.state));
    assert_non_null(strstr(sb_state_hint(w.state), "/nonexistent/dir/notes"));
    uint64_t revision;
    assert_int_equal(change(&w, "x", "1", 0, &revision), SB_OK);
    end(&w);
}

static void damaged_file_gives_memory_and_stays_as_it_is(void **state) {
    sb_test_dir *d = *state;
    const char *path =
        sb_test_dir_put(d, "notes", SB_LIT("this is no database, and never was one at all"));
    world w = open_at(path, "/a");
    assert_false(sb_state_is_persistent(w.state));
    end(&w);
    assert_slice_is(sb_test_dir_get(d, path), "this is no database, and never was one at all");
}

/* Removes keys of a kilobyte each, as many as would fill the notes if each left a row. */
static void removals_never_fill_the_notes(void **state) {
    (void)state;
    enum { EACH = 1000 };
    static char keys[EACH][SB_STATE_MAX_KEY];
    static sb_state_item items[EACH];
    world w = open_at(NULL, "/a");
    uint64_t revision = 0;
    size_t rounds = SB_STATE_MAX_ALL / EACH / SB_STATE_MAX_KEY + 2;
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < EACH; i++) {
            memset(keys[i], 'k', sizeof keys[i]);
            snprintf(keys[i], 16, "%015zu", round * EACH + i);
            keys[i][15] = 'k';
            items[i] = (sb_state_item){.key = sb_slice_of(keys[i], sizeof keys[i])};
        }
        assert_int_equal(sb_state_change(w.state, items, EACH, revision, &revision, NULL), SB_OK);
    }
    assert_int_equal(change(&w, "note", "1", revision, &revision), SB_OK);
    end(&w);
}

static void a_removed_key_is_remembered_for_late_changes_and_forgotten_in_the_end(void **state) {
    (void)state;
    world w = open_at(NULL, "/a");
    uint64_t revision, late;
    assert_int_equal(change(&w, "x", "1", 0, &revision), SB_OK);
    assert_int_equal(change(&w, "x", NULL, revision, &revision), SB_OK);
    assert_int_equal(change(&w, "x", "2", 1, &late), SB_REPLACED);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(change(&w, "y", "1", revision, &revision), SB_OK);
    assert_int_equal(change(&w, "x", "2", 1, &late), SB_OK);
    end(&w);
}

static void removing_a_key_that_never_was_leaves_nothing_behind(void **state) {
    (void)state;
    world w = open_at(NULL, "/a");
    uint64_t revision;
    assert_int_equal(change(&w, "ghost", NULL, 0, &revision), SB_OK);
    /* a change by somebody who has not seen the removal: there is nothing that it could overtake */
    assert_int_equal(change(&w, "ghost", "1", 0, &revision), SB_OK);
    end(&w);
}

static void sizes_are_bounded(void **state) {
    (void)state;
    world w = open_at(NULL, "/a");
    uint64_t revision;
    char *long_text = malloc(SB_STATE_MAX_VALUE + 2);
    memset(long_text, '1', SB_STATE_MAX_VALUE + 1);
    long_text[SB_STATE_MAX_VALUE + 1] = 0;
    assert_int_equal(change(&w, "x", long_text, 0, &revision), SB_LIMIT);
    long_text[SB_STATE_MAX_KEY + 1] = 0;
    assert_int_equal(change(&w, long_text, "1", 0, &revision), SB_LIMIT);
    assert_int_equal(change(&w, "", "1", 0, &revision), SB_LIMIT);
    free(long_text);
    sb_state_item *items;
    assert_int_equal(read_all(&w, &items, &revision), 0);
    end(&w);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(notes_survive_a_restart_each_directory_its_own),
        cmocka_unit_test(change_of_what_somebody_else_changed_is_refused),
        cmocka_unit_test(place_that_cannot_be_written_gives_memory_and_a_hint),
        DIR_TEST(damaged_file_gives_memory_and_stays_as_it_is),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(removals_never_fill_the_notes),
        cmocka_unit_test(removing_a_key_that_never_was_leaves_nothing_behind),
        cmocka_unit_test(a_removed_key_is_remembered_for_late_changes_and_forgotten_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
