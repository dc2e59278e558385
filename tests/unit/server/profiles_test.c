/* profiles_test.c: the list of captures and the cache of open ones, while other threads ask. */
#include "server/profiles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fsio/fs.h"
#include "unit/codec/hostile.h"
#include "base/banned.h"

static const sb_env env = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};

typedef struct bed {
    char dir[40];
    sb_profiles *p;
    pthread_mutex_t mutex;
    pthread_cond_t told;
    unsigned news;
} bed;

static void tell(void *ud) {
    bed *b = ud;
    pthread_mutex_lock(&b->mutex);
    b->news++;
    pthread_cond_broadcast(&b->told);
    pthread_mutex_unlock(&b->mutex);
}

static void write_trace(const bed *b, const char *name, unsigned spans) {
    char path[120];
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "[");
    for (unsigned i = 0; i < spans; i++)
        fprintf(f, "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":%u,\"dur\":1}",
                i ? "," : "", i * 2);
    fprintf(f, "]");
    fclose(f);
}

/* The walk has found what there is. */
static void begin(bed *b, size_t bytes) {
    sb_err err = {0};
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->told, NULL);
    sb_capture_root root = {.path = b->dir};
    sb_profiles_opts opts = {
        .env = &env, .roots = &root, .root_count = 1, .bytes = bytes, .changed = tell, .ud = b};
    assert_ok(sb_profiles_new(&b->p, &opts, &err), &err);
    pthread_mutex_lock(&b->mutex);
    while (!b->news) pthread_cond_wait(&b->told, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
}

static void end(bed *b) {
    char command[80];
    sb_profiles_free(b->p);
    pthread_cond_destroy(&b->told);
    pthread_mutex_destroy(&b->mutex);
    snprintf(command, sizeof command, "%s/a.trace.json", b->dir);
    unlink(command);
    snprintf(command, sizeof command, "%s/b.trace.json", b->dir);
    unlink(command);
    rmdir(b->dir);
}

static void id_of(bed *b, const char *name, char out[SB_CAPTURE_ID + 1]) {
    sb_profile_list list;
    void *held = sb_profiles_hold_list(b->p, &list);
    out[0] = 0;
    for (size_t i = 0; i < list.captures.n; i++)
        if (sb_slice_eq(list.captures.items[i].name, sb_slice_str(name)))
            memcpy(out, list.captures.items[i].id, SB_CAPTURE_ID + 1);
    sb_profiles_release_list(b->p, held);
    assert_true(out[0]);
}

static void open_one(bed *b, const char *id) {
    sb_err err = {0};
    assert_ok(sb_profiles_open(b->p, sb_slice_str(id), NULL, NULL, NULL, &err), &err);
}

static void the_longest_unused_capture_makes_room(void **state) {
    (void)state;
    bed b = {.dir = "/tmp/seaboard-profiles-XXXXXX"};
    char first[SB_CAPTURE_ID + 1], second[SB_CAPTURE_ID + 1];
    assert_non_null(mkdtemp(b.dir));
    write_trace(&b, "a.trace.json", 100);
    write_trace(&b, "b.trace.json", 100);
    begin(&b, 1); /* one may be larger than that: it is then the only one */
    id_of(&b, "a", first);
    id_of(&b, "b", second);
    assert_null(sb_profiles_find(b.p, sb_slice_str(first)));
    open_one(&b, first);
    const sb_kept_trace *held = sb_profiles_find(b.p, sb_slice_str(first));
    assert_non_null(held);
    open_one(&b, second);
    assert_null(sb_profiles_find(b.p, sb_slice_str(first)));
    assert_int_equal(held->trace->span_count, 100); /* who holds it still has it */
    sb_profiles_release(b.p, held);
    end(&b);
}

static void a_failure_is_kept_when_the_job_is_over_before_its_number_is_set(void **state) {
    (void)state;
    bed b = {.dir = "/tmp/seaboard-profiles-XXXXXX"};
    sb_profile_list list;
    sb_profile_info info;
    assert_non_null(mkdtemp(b.dir));
    write_trace(&b, "a.trace.json", 1);
    begin(&b, 1);
    void *held = sb_profiles_hold_list(b.p, &list);
    const sb_capture *c = &list.captures.items[0];
    sb_profiles_try_again(b.p, c);
    sb_profiles_failed(b.p, sb_slice_str(c->id), SB_INVALID, "no trace");
    sb_profiles_set_job(b.p, c, 7);
    sb_profiles_info(b.p, c, &info);
    assert_int_equal(info.state, SB_PROFILE_FAILED);
    assert_string_equal(info.error, "no trace");
    assert_int_equal(info.job, 7);
    sb_profiles_try_again(b.p, c);
    sb_profiles_info(b.p, c, &info);
    assert_int_equal(info.state, SB_PROFILE_CLOSED);
    sb_profiles_release_list(b.p, held);
    end(&b);
}

typedef struct asker {
    bed *b;
    const char *id;
    uint64_t seen;
} asker;

static void *ask_often(void *ud) {
    asker *a = ud;
    for (int i = 0; i < 200; i++) {
        const sb_kept_trace *kept = sb_profiles_find(a->b->p, sb_slice_str(a->id));
        if (kept) a->seen += kept->trace->span_count;
        sb_profiles_release(a->b->p, kept);
        sb_profiles_count(a->b->p);
    }
    return NULL;
}

static void captures_are_asked_about_while_others_are_opened(void **state) {
    (void)state;
    bed b = {.dir = "/tmp/seaboard-profiles-XXXXXX"};
    char first[SB_CAPTURE_ID + 1], second[SB_CAPTURE_ID + 1];
    pthread_t threads[3];
    assert_non_null(mkdtemp(b.dir));
    write_trace(&b, "a.trace.json", 50);
    write_trace(&b, "b.trace.json", 60);
    begin(&b, 1);
    id_of(&b, "a", first);
    id_of(&b, "b", second);
    asker askers[3] = {{&b, first, 0}, {&b, second, 0}, {&b, first, 0}};
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, ask_often, &askers[i]);
    for (int i = 0; i < 10; i++) open_one(&b, i % 2 ? second : first);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].seen % (i == 1 ? 60 : 50), 0);
    }
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_unused_capture_makes_room),
        cmocka_unit_test(a_failure_is_kept_when_the_job_is_over_before_its_number_is_set),
        cmocka_unit_test(captures_are_asked_about_while_others_are_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
