/* model_cache_test.c: models are kept, shared and let go, by many threads at once. */
#include "server/model_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "codec/proto/text_format.h"
#include "support/test.h"
#include "base/banned.h"

static sb_model_cache *cache_of(size_t bytes) {
    sb_model_cache *c;
    sb_err err;
    assert_ok(sb_model_cache_new(&c, &sb_alloc_libc, bytes, &err), &err);
    return c;
}

/* A model with one node of that name. */
static sb_model *model_of(const char *name) {
    char text[128];
    sb_buf graph;
    sb_model *m;
    sb_err err;
    sb_buf_init(&graph, &sb_alloc_libc, 1 << 20);
    snprintf(text, sizeof text, "node { name: '%s' op: 'Relu' }", name);
    assert_ok(sb_text_parse(&graph, SB_MSG_GRAPH, sb_slice_str(text), &err), &err);
    sb_model_ask ask = {.alloc = &sb_alloc_libc, .graph = sb_buf_slice(&graph)};
    assert_ok(sb_model_new(&m, &ask, &err), &err);
    sb_buf_fini(&graph);
    return m;
}

static const sb_kept_model *keep(sb_model_cache *c, const char *name) {
    return sb_model_cache_take(c, sb_slice_str(name), model_of(name), NULL, NULL);
}

static void a_model_is_found_until_there_is_no_room(void **state) {
    (void)state;
    sb_model *probe = model_of("probe");
    sb_model_cache *c = cache_of(3 * (probe->bytes + 1024));
    sb_model_free(probe);
    assert_null(sb_model_cache_find(c, SB_LIT("a")));
    const char *names[] = {"a", "b", "c", "d", "e", "f"};
    for (size_t i = 0; i < 6; i++) {
        sb_model_cache_release(c, keep(c, names[i]));
        /* "a" is used again and again, so it stays */
        const sb_kept_model *a = sb_model_cache_find(c, SB_LIT("a"));
        assert_non_null(a);
        assert_true(sb_model_find(a->model, SB_LIT("a")) != SB_BOX_NONE);
        sb_model_cache_release(c, a);
    }
    assert_null(sb_model_cache_find(c, SB_LIT("b")));
    sb_model_cache_free(c);
}

static void a_model_in_use_outlives_its_place(void **state) {
    (void)state;
    sb_model_cache *c = cache_of(1);
    const sb_kept_model *a = keep(c, "a");
    sb_model_cache_release(c, keep(c, "b"));
    assert_null(sb_model_cache_find(c, SB_LIT("a")));
    assert_true(sb_model_find(a->model, SB_LIT("a")) != SB_BOX_NONE);
    sb_model_cache_release(c, a);
    sb_model_cache_free(c);
}

static void the_first_of_two_equal_models_is_kept(void **state) {
    (void)state;
    sb_model_cache *c = cache_of(1 << 20);
    const sb_kept_model *first = keep(c, "a"), *second = keep(c, "a");
    assert_ptr_equal(first, second);
    sb_model_cache_release(c, first);
    sb_model_cache_release(c, second);
    sb_model_cache_free(c);
}

enum { THREADS = 4, ROUNDS = 60, KEYS = 5 };

static void *work(void *ud) {
    sb_model_cache *c = ud;
    for (int i = 0; i < ROUNDS; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", i % KEYS);
        const sb_kept_model *kept = sb_model_cache_find(c, sb_slice_str(name));
        if (!kept) kept = keep(c, name);
        if (!kept || sb_model_find(kept->model, sb_slice_str(name)) == SB_BOX_NONE) return c;
        sb_model_cache_release(c, kept);
    }
    return NULL;
}

static void threads_share_models_while_others_are_let_go(void **state) {
    (void)state;
    sb_model *probe = model_of("m0");
    sb_model_cache *c = cache_of(2 * (probe->bytes + 1024));
    sb_model_free(probe);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    sb_model_cache_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_found_until_there_is_no_room),
        cmocka_unit_test(a_model_in_use_outlives_its_place),
        cmocka_unit_test(the_first_of_two_equal_models_is_kept),
        cmocka_unit_test(threads_share_models_while_others_are_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
