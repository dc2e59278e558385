/* form_test.c: forms as browsers send them, and as nobody should. */
#include "server/http/form.h"

#include <stdlib.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

#define TYPE "multipart/form-data; boundary=----WebKitFormBoundaryX3"
#define MARK "------WebKitFormBoundaryX3"

static const char whole[] = MARK "\r\n"
                                 "Content-Disposition: form-data; name=\"tag\"\r\n"
                                 "\r\n"
                                 "loss\r\n" MARK "\r\n"
                                 "Content-Disposition: form-data; name=\"runs\"; filename=\"x\"\r\n"
                                 "Content-Type: text/plain\r\n"
                                 "\r\n"
                                 "a\r\n--b\r\n\r\n" MARK "\r\n"
                                 "content-disposition:form-data;NAME=empty\r\n"
                                 "\r\n"
                                 "\r\n" MARK "--\r\n";

static sb_status parse(sb_arena *arena, const char *type, sb_slice body, sb_http_params *out) {
    sb_err err;
    return sb_form_parse(arena, sb_slice_str(type), body, 10, out, &err);
}

static void multipart_fields_come_out_whole(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    assert_int_equal(parse(&arena, TYPE, SB_LIT(whole), &form), SB_OK);
    assert_int_equal(form.count, 3);
    assert_slice_is(form.items[0].key, "tag");
    assert_slice_is(form.items[0].value, "loss");
    assert_slice_is(form.items[1].key, "runs");
    assert_slice_is(form.items[1].value, "a\r\n--b\r\n");
    assert_slice_is(form.items[2].key, "empty");
    assert_slice_is(form.items[2].value, "");
    sb_arena_fini(&arena);
}

static void an_urlencoded_form_reads_as_a_query(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    assert_int_equal(parse(&arena, "application/x-www-form-urlencoded; charset=UTF-8",
                           SB_LIT("requests=%5B%5D&a=b+c"), &form),
                     SB_OK);
    assert_int_equal(form.count, 2);
    assert_slice_is(form.items[0].value, "[]");
    assert_slice_is(form.items[1].value, "b c");
    sb_arena_fini(&arena);
}

static void other_types_have_no_fields(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    assert_int_equal(parse(&arena, "application/json", SB_LIT("a=b"), &form), SB_OK);
    assert_int_equal(form.count, 0);
    assert_int_equal(sb_form_parse(&arena, (sb_slice){NULL, 0}, SB_LIT("a=b"), 9, &form, NULL),
                     SB_OK);
    assert_int_equal(form.count, 0);
    sb_arena_fini(&arena);
}

static void a_preamble_and_blanks_behind_the_boundary_are_skipped(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    const char *body = "to be ignored\r\n--b  \r\nContent-Disposition: form-data; name=a\r\n\r\nx"
                       "\r\n--b--";
    assert_int_equal(
        parse(&arena, "Multipart/Form-Data; Boundary=\"b\"", sb_slice_str(body), &form), SB_OK);
    assert_int_equal(form.count, 1);
    assert_slice_is(form.items[0].value, "x");
    sb_arena_fini(&arena);
}

static void an_empty_field_may_share_its_line_end_with_the_delimiter(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    const char *body = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n--b\r\n"
                       "Content-Disposition: form-data; name=c\r\n\r\nx\r\n--b--\r\n";
    assert_int_equal(parse(&arena, "multipart/form-data; boundary=b", sb_slice_str(body), &form),
                     SB_OK);
    assert_int_equal(form.count, 2);
    assert_slice_is(form.items[0].key, "a");
    assert_slice_is(form.items[0].value, "");
    assert_slice_is(form.items[1].value, "x");
    sb_arena_fini(&arena);
}

static void a_body_cut_anywhere_is_invalid(void **state) {
    (void)state;
    size_t end = sizeof whole - 1 - 2; /* the line end behind the last mark does not matter */
    for (size_t cut = 0; cut < end; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, whole, cut);
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
        sb_http_params form;
        assert_int_equal(parse(&arena, TYPE, sb_slice_of(copy, cut), &form), SB_INVALID);
        sb_arena_fini(&arena);
        free(copy);
    }
}

static void flipped_bits_never_read_outside(void **state) {
    (void)state;
    size_t n = sizeof whole - 1;
    for (size_t bit = 0; bit < n * 8; bit++) {
        uint8_t *copy = malloc(n);
        memcpy(copy, whole, n);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
        sb_http_params form;
        sb_status status = parse(&arena, TYPE, sb_slice_of(copy, n), &form);
        assert_true(status == SB_OK || status == SB_INVALID);
        for (size_t i = 0; i < form.count; i++) assert_true(form.items[i].value.n <= n);
        sb_arena_fini(&arena);
        free(copy);
    }
}

static void strange_boundaries_are_invalid(void **state) {
    (void)state;
    static const char *const types[] = {
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"",
        "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary",
        "multipart/form-data; x=boundary=b",
        "multipart/form-data; boundary=01234567890123456789012345678901234567890123456789"
        "012345678901234567890",
    };
    for (size_t i = 0; i < SB_COUNT(types); i++) {
        sb_arena arena;
        sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
        sb_http_params form;
        assert_int_equal(parse(&arena, types[i], SB_LIT(whole), &form), SB_INVALID);
        sb_arena_fini(&arena);
    }
}

static void more_fields_than_allowed_is_a_limit(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_http_params form;
    assert_int_equal(sb_form_parse(&arena, SB_LIT(TYPE), SB_LIT(whole), 2, &form, NULL), SB_LIMIT);
    assert_int_equal(form.count, 0);
    sb_arena_fini(&arena);
}

static void header_params_are_unquoted(void **state) {
    (void)state;
    sb_arena arena;
    sb_arena_init(&arena, &sb_alloc_libc, 4096, 1u << 20);
    sb_slice header = SB_LIT("form-data; a=1; b=\"x;\\\"y\\\\z\\q\" ; flag; NAME= v ");
    assert_slice_is(sb_form_header_param(&arena, header, "a"), "1");
    assert_slice_is(sb_form_header_param(&arena, header, "b"), "x;\"y\\z\\q");
    assert_slice_is(sb_form_header_param(&arena, header, "name"), "v");
    assert_null(sb_form_header_param(&arena, header, "flag").p);
    assert_null(sb_form_header_param(&arena, header, "form-data").p);
    assert_null(sb_form_header_param(&arena, (sb_slice){NULL, 0}, "a").p);
    sb_arena_fini(&arena);
}

static sb_status parse_with(const sb_alloc *alloc, void *ud) {
    (void)ud;
    sb_arena arena;
    sb_arena_init(&arena, alloc, 32, 1u << 20);
    sb_http_params form;
    sb_status status = parse(&arena, TYPE, SB_LIT(whole), &form);
    sb_arena_fini(&arena);
    /* A name that finds no memory reads as a damaged form: refused either way. */
    return status == SB_INVALID ? SB_NOMEM : status;
}

static void memory_that_runs_out_refuses_the_form(void **state) {
    (void)state;
    sb_fault_alloc_sweep(parse_with, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multipart_fields_come_out_whole),
        cmocka_unit_test(an_urlencoded_form_reads_as_a_query),
        cmocka_unit_test(other_types_have_no_fields),
        cmocka_unit_test(a_preamble_and_blanks_behind_the_boundary_are_skipped),
        cmocka_unit_test(an_empty_field_may_share_its_line_end_with_the_delimiter),
        cmocka_unit_test(a_body_cut_anywhere_is_invalid),
        cmocka_unit_test(flipped_bits_never_read_outside),
        cmocka_unit_test(strange_boundaries_are_invalid),
        cmocka_unit_test(more_fields_than_allowed_is_a_limit),
        cmocka_unit_test(header_params_are_unquoted),
        cmocka_unit_test(memory_that_runs_out_refuses_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
