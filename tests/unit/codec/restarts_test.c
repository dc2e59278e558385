/* restarts_test.c: what a restart supersedes: the rules one by one, and that the answer for all
 * pieces at once is the answer for each alone. */
#include <math.h>

#include "codec/restarts.h"
#include "support/test.h"
#include "base/banned.h"

static sb_restart_piece piece(uint32_t rank, int64_t first_step, double first, double last) {
    return (sb_restart_piece){
        .rank = rank, .first_step = first_step, .file_first = first, .file_last = last};
}

static void a_later_file_cuts_from_its_first_step(void **state) {
    (void)state;
    sb_restart_piece two[] = {piece(0, 0, 10, 20), piece(1, 7, 21, 30)};
    sb_restarts r = {.pieces = two, .piece_n = 2, .ranks = 2};
    assert_int_equal(sb_restart_cut(&r, 0), 7);
    assert_int_equal(sb_restart_cut(&r, 1), SB_NO_CUT);
    two[1].file_first = 20; /* began before the other had ended: written at the same time */
    assert_int_equal(sb_restart_cut(&r, 0), SB_NO_CUT);
    two[1].file_first = (double)NAN;
    assert_int_equal(sb_restart_cut(&r, 0), SB_NO_CUT);
}

static void a_start_cuts_what_lies_before_it(void **state) {
    (void)state;
    sb_restart_piece two[] = {piece(0, 0, 10, 20), piece(0, 3, 10, 20)};
    two[1].segment = 1;
    sb_start start = {.rank = 0, .segment = 1, .step = 3, .wall = 15};
    sb_restarts r = {.pieces = two, .piece_n = 2, .starts = &start, .start_n = 1, .ranks = 2};
    assert_int_equal(sb_restart_cut(&r, 0), 3);
    assert_int_equal(sb_restart_cut(&r, 1), SB_NO_CUT);
    start.rank = 1; /* in another file it counts only when that began after this one's end */
    assert_int_equal(sb_restart_cut(&r, 0), SB_NO_CUT);
    start.wall = 25;
    assert_int_equal(sb_restart_cut(&r, 0), 3);
    assert_int_equal(sb_restart_cut(&r, 1), 3);
}

#define MOST_FILES 300u
#define MOST_PIECES (4 * MOST_FILES)

/* Pieces and STARTs in files whose times overlap here and there, and some of which have none. */
static sb_restarts random_run(sb_test_random *random, sb_restart_piece *pieces, sb_start *starts) {
    uint32_t files = 100 + (uint32_t)sb_test_below(random, MOST_FILES - 100);
    sb_restarts r = {.pieces = pieces, .starts = starts, .ranks = files};
    for (uint32_t rank = 0; rank < files; rank++) {
        double first = (double)sb_test_below(random, 3 * files);
        if (sb_test_below(random, 10) == 0) first = (double)NAN;
        double last = first + (double)sb_test_below(random, 3);
        uint64_t n = sb_test_below(random, 4);
        uint32_t segment = 0;
        for (uint64_t k = 0; k < n; k++) {
            int64_t step = (int64_t)sb_test_below(random, 1000);
            if (k && sb_test_below(random, 8) == 0)
                starts[r.start_n++] = (sb_start){rank, ++segment, step, first};
            else if (k)
                continue; /* goes on in the same piece */
            pieces[r.piece_n] = piece(rank, step, first, last);
            pieces[r.piece_n++].segment = segment;
        }
    }
    return r;
}

static void all_at_once_are_the_same_as_one_by_one(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(11);
    uint64_t cut = 0, whole = 0;
    for (int round = 0; round < 60; round++) {
        sb_restart_piece pieces[MOST_PIECES];
        sb_start starts[MOST_PIECES];
        int64_t cuts[MOST_PIECES];
        sb_restarts r = random_run(&random, pieces, starts);
        assert_true(r.piece_n > SB_FEW_PIECES);
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 1 << 16, SIZE_MAX / 2);
        assert_ok(sb_restart_cuts(&r, &arena, cuts), NULL);
        for (size_t i = 0; i < r.piece_n; i++) {
            assert_int_equal(cuts[i], sb_restart_cut(&r, i));
            cut += cuts[i] != SB_NO_CUT;
            whole += cuts[i] == SB_NO_CUT;
        }
        sb_arena_fini(&arena);
    }
    assert_true(cut > 100 && whole > 100);
}

static void no_memory_is_an_answer(void **state) {
    (void)state;
    sb_test_random random = sb_test_random_of(3);
    sb_restart_piece pieces[MOST_PIECES];
    sb_start starts[MOST_PIECES];
    int64_t cuts[MOST_PIECES];
    sb_restarts r = random_run(&random, pieces, starts);
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 64, 1024);
    assert_int_equal(sb_restart_cuts(&r, &arena, cuts), SB_NOMEM);
    sb_arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_file_cuts_from_its_first_step),
        cmocka_unit_test(a_start_cuts_what_lies_before_it),
        cmocka_unit_test(all_at_once_are_the_same_as_one_by_one),
        cmocka_unit_test(no_memory_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
