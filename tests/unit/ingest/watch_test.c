/* What inotify tells of a directory reaches its subscribers, whenever it comes. */
#include "ingest/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/test.h"

static void append_byte(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, "x", 1), 1);
    close(file);
}

typedef struct hearing {
    const char *path;
    int told;
} hearing;

/* Stands for a loader that is slow to come back: its file grows once more after it was looked at,
 * and before the events are read to their end. */
static void grow_once_more(void *ctx, void *owner) {
    hearing *h = ctx;
    (void)owner;
    if (++h->told == 1) append_byte(h->path);
}

static void growth_while_events_are_read_is_told_again(void **state) {
    sb_test_dir *d = *state;
    const char *path = sb_test_dir_join(d, "1.tfevents");
    append_byte(path);
    sb_watch *w = sb_watch_new(&sb_alloc_libc);
    if (!w) skip(); /* other programs hold every inotify instance of the user */
    sb_watched s = {0};
    sb_watch_subscribe(w, &s, sb_test_dir_path(d));
    append_byte(path);
    hearing h = {.path = path};
    bool names_changed = false;
    sb_watch_drain(w, grow_once_more, &h, &names_changed);
    assert_int_equal(h.told, 2);
    assert_false(names_changed);
    sb_watch_unsubscribe(w, &s);
    sb_watch_free(w);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, sb_test_dir_setup, sb_test_dir_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIR_TEST(growth_while_events_are_read_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
