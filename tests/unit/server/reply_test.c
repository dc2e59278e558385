/* reply_test.c: from what a handler leaves to what goes out: errors, not-modified, ranges, codings,
 * headers. Compressed bodies are read back with zlib and libzstd. */
#include "server/http/reply.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "base/slice.h"
#include "support/fault_alloc.h"
#include "support/test.h"
#include "base/banned.h"

typedef struct fixture {
    sb_reply_rules rules;
    sb_arena arena;
    sb_http_request q;
    sb_http_param headers[8];
    sb_http_reply r;
    sb_reply_wire wire;
    sb_compressors compressors;
} fixture;

static uint64_t fixed_wall(void *ctx) {
    (void)ctx;
    return 784111777ull * 1000000000ull; /* Sun, 06 Nov 1994 08:49:37 GMT */
}

static const sb_clock fixed_clock = {fixed_wall, fixed_wall, NULL};

static void begin_with(fixture *f, const sb_alloc *alloc) {
    sb_arena_init(&f->arena, alloc, 1024, 1u << 20);
    f->rules = (sb_reply_rules){.policy = "default-src 'self'",
                                .reply_memory = 1u << 20,
                                .compress_min = 1024,
                                .compress_min_loopback = 64u << 10};
    f->q = (sb_http_request){
        .method = SB_HTTP_GET, .arena = &f->arena, .alloc = alloc, .clock = &fixed_clock};
    f->q.headers = (sb_http_params){f->headers, 0};
    sb_reply_init(&f->r, &f->q, &f->rules);
    sb_compressors_init(&f->compressors, alloc);
}

static void begin(fixture *f) {
    begin_with(f, &sb_alloc_libc);
}

static void asks(fixture *f, const char *name, const char *value) {
    f->headers[f->q.headers.count++] = (sb_http_param){sb_slice_str(name), sb_slice_str(value)};
}

static void finish(fixture *f, sb_status status) {
    sb_reply_settle(&f->r, status);
    sb_reply_compress(&f->r, &f->compressors);
    assert_int_equal(sb_reply_to_wire(&f->r, &f->wire), SB_OK);
}

static void end(fixture *f) {
    sb_reply_fini(&f->r);
    sb_compressors_fini(&f->compressors);
    sb_arena_fini(&f->arena);
}

static const char *header(const fixture *f, const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < f->wire.header_count; i++) {
        if (!sb_slice_eq(f->wire.headers[i].key, sb_slice_str(name))) continue;
        assert_null(found); /* no header goes out twice */
        found = (const char *)f->wire.headers[i].value.p;
    }
    return found;
}

#define assert_header(f, name, value)                                                              \
    do {                                                                                           \
        assert_non_null(header(f, name));                                                          \
        assert_string_equal(header(f, name), value);                                               \
    } while (0)

/* ---- plain replies --------------------------------------------------------------------------- */

static void a_small_reply_goes_out_as_it_is(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Accept-Encoding", "gzip, zstd");
    sb_http_type(&f.r, "application/json");
    sb_buf_add_str(sb_http_body(&f.r), "{}");
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 200);
    assert_slice_is(f.wire.body, "{}");
    assert_header(&f, "Content-Type", "application/json");
    assert_header(&f, "X-Content-Type-Options", "nosniff");
    assert_header(&f, "Referrer-Policy", "same-origin");
    assert_header(&f, "Cross-Origin-Resource-Policy", "same-origin");
    assert_header(&f, "Cache-Control", "no-cache, must-revalidate");
    assert_header(&f, "Expires", "0");
    assert_null(header(&f, "Content-Encoding"));
    assert_null(header(&f, "Vary"));
    end(&f);
}

static void data_may_load_nothing_and_scripts_have_no_policy(void **state) {
    (void)state;
    static const char *const data[] = {"application/json", "text/csv; charset=utf-8", "text/plain",
                                       "application/x-seaboard-columns"};
    fixture f;
    for (size_t i = 0; i < SB_COUNT(data); i++) {
        begin(&f);
        sb_http_type(&f.r, data[i]);
        finish(&f, SB_OK);
        assert_header(&f, "Content-Security-Policy", "default-src 'none'");
        end(&f);
    }
    begin(&f);
    sb_http_type(&f.r, "text/javascript");
    finish(&f, SB_OK);
    assert_null(header(&f, "Content-Security-Policy"));
    end(&f);
}

static void html_carries_the_policy(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    sb_http_type(&f.r, "text/html; charset=utf-8");
    finish(&f, SB_OK);
    assert_header(&f, "Content-Security-Policy", "default-src 'self'");
    end(&f);
    begin(&f);
    sb_http_type(&f.r, "text/html");
    sb_http_policy(&f.r, "default-src 'none'");
    finish(&f, SB_OK);
    assert_header(&f, "Content-Security-Policy", "default-src 'none'");
    end(&f);
}

/* CVE-2018-21030 and CVE-2024-24594: somebody's file must not run as our page. */
static void user_content_is_put_in_a_sandbox(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    sb_http_type(&f.r, "image/svg+xml");
    sb_http_user_content(&f.r, SB_LIT("a \"b\"/../\xc3\xa4\r\n.svg"));
    finish(&f, SB_OK);
    assert_header(&f, "Content-Security-Policy", "sandbox; default-src 'none'");
    assert_header(&f, "Content-Disposition",
                  "attachment; filename*=UTF-8''a%20%22b%22%2F..%2F%C3%A4%0D%0A.svg");
    end(&f);
    begin(&f);
    sb_http_type(&f.r, "text/html");
    sb_http_user_content(&f.r, (sb_slice){NULL, 0});
    finish(&f, SB_OK);
    assert_header(&f, "Content-Security-Policy", "sandbox; default-src 'none'");
    assert_null(header(&f, "Content-Disposition"));
    end(&f);
}

static void caches_are_told_how_long(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    sb_http_cache_for(&f.r, SB_HTTP_CACHE_DAY);
    finish(&f, SB_OK);
    assert_header(&f, "Cache-Control", "private, max-age=86400");
    assert_header(&f, "Expires", "Mon, 07 Nov 1994 08:49:37 GMT");
    end(&f);
    begin(&f);
    sb_http_cache_for(&f.r, SB_HTTP_CACHE_FOREVER);
    finish(&f, SB_OK);
    assert_header(&f, "Cache-Control", "private, max-age=31536000, immutable");
    assert_null(header(&f, "Expires"));
    end(&f);
    begin(&f);
    assert_int_equal(sb_http_set_header(&f.r, "Cache-Control", SB_LIT("max-age=5")), SB_OK);
    finish(&f, SB_OK);
    assert_header(&f, "Cache-Control", "max-age=5");
    end(&f);
}

static void headers_cannot_be_split(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(sb_http_set_header(&f.r, "X-A", SB_LIT("a\r\nSet-Cookie: x")), SB_INVALID);
    assert_int_equal(sb_http_set_header(&f.r, "X-A", sb_slice_of("a\0b", 3)), SB_INVALID);
    assert_int_equal(sb_http_set_header(&f.r, "X-A", SB_LIT("\x7f")), SB_INVALID);
    assert_int_equal(sb_http_set_header(&f.r, "X A", SB_LIT("a")), SB_INVALID);
    assert_int_equal(sb_http_set_header(&f.r, "", SB_LIT("a")), SB_INVALID);
    assert_int_equal(f.r.header_count, 0);
    for (int i = 0; i < SB_REPLY_HEADERS; i++)
        assert_int_equal(sb_http_set_header(&f.r, "X-A", SB_LIT("a")), SB_OK);
    assert_int_equal(sb_http_set_header(&f.r, "X-A", SB_LIT("a")), SB_LIMIT);
    end(&f);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void every_status_has_a_code(void **state) {
    (void)state;
    static const struct {
        sb_status status;
        int code;
    } table[] = {
        {SB_INVALID, 400}, {SB_NOT_FOUND, 404}, {SB_LIMIT, 413},   {SB_NOMEM, 503},
        {SB_DROPPED, 503}, {SB_CLOSED, 503},    {SB_CORRUPT, 500}, {SB_IO, 500},
        {SB_GARBAGE, 500}, {SB_MORE, 503},
    };
    for (size_t i = 0; i < SB_COUNT(table); i++) {
        fixture f;
        begin(&f);
        sb_buf_add_str(sb_http_body(&f.r), "half an answer");
        sb_http_set_header(&f.r, "X-Half", SB_LIT("1"));
        finish(&f, table[i].status);
        assert_int_equal(f.wire.status, table[i].code);
        assert_null(memmem(f.wire.body.p, f.wire.body.n, "half", 4));
        assert_null(header(&f, "X-Half"));
        assert_true(f.wire.body.n > 3);
        if (table[i].code == 503) assert_header(&f, "Retry-After", "1");
        end(&f);
    }
}

static void the_handlers_own_words_are_used(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    sb_fail(sb_http_err(&f.r), SB_NOT_FOUND, 0, "no tag %s", "x");
    finish(&f, SB_NOT_FOUND);
    assert_slice_is(f.wire.body, "no tag x\n");
    end(&f);
    begin(&f);
    sb_fail(sb_http_err(&f.r), SB_IO, 0, "an older failure that was mended");
    finish(&f, SB_NOT_FOUND);
    assert_slice_is(f.wire.body, "there is no such thing\n");
    end(&f);
}

static void a_fail_drops_what_was_there(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    sb_http_type(&f.r, "image/png");
    sb_buf_add_str(sb_http_body(&f.r), "bytes");
    sb_http_etag(&f.r, SB_LIT("x"));
    sb_http_allow_ranges(&f.r);
    sb_http_user_content(&f.r, (sb_slice){NULL, 0});
    sb_http_cache_for(&f.r, SB_HTTP_CACHE_FOREVER);
    finish(&f, sb_http_fail(&f.r, 410, "gone: %d", 7));
    assert_int_equal(f.wire.status, 410);
    assert_slice_is(f.wire.body, "gone: 7\n");
    assert_header(&f, "Content-Type", "text/plain; charset=utf-8");
    assert_header(&f, "Cache-Control", "no-cache, must-revalidate");
    assert_null(header(&f, "ETag"));
    assert_null(header(&f, "Accept-Ranges"));
    end(&f);
}

static void write_page(sb_http_request *q, sb_http_reply *r, int status, const char *text,
                       void *app) {
    (void)q;
    sb_http_type(r, "text/html");
    sb_buf_printf(sb_http_body(r), "%d/%s/%s", status, text, (const char *)app);
}

static void the_error_page_hook_writes_the_body(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    static char name[] = "app";
    f.rules.hooks.error_page = write_page;
    f.rules.app = name;
    finish(&f, sb_http_fail(&f.r, 404, "nothing here"));
    assert_slice_is(f.wire.body, "404/nothing here/app");
    assert_header(&f, "Content-Type", "text/html");
    assert_header(&f, "Content-Security-Policy", "default-src 'self'");
    end(&f);
}

static void a_body_over_its_limit_becomes_an_error(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 3; i++) {
        static const uint8_t block[512u << 10];
        sb_buf_add(sb_http_body(&f.r), block, sizeof block);
    }
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 413);
    assert_true(f.wire.body.n > 0 && f.wire.body.n < 200);
    end(&f);
}

/* ---- not modified, ranges -------------------------------------------------------------------- */

static void what_the_client_has_is_not_sent_again(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "if-none-match", "\"y\", W/\"x1\"");
    sb_buf_add_str(sb_http_body(&f.r), "bytes");
    assert_int_equal(sb_http_etag(&f.r, SB_LIT("x1")), SB_OK);
    sb_http_cache_for(&f.r, SB_HTTP_CACHE_FOREVER);
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 304);
    assert_int_equal(f.wire.body.n, 0);
    assert_header(&f, "ETag", "\"x1\"");
    assert_header(&f, "Cache-Control", "private, max-age=31536000, immutable");
    assert_null(header(&f, "Content-Type"));
    end(&f);
    begin(&f);
    asks(&f, "If-None-Match", "\"x2\"");
    sb_buf_add_str(sb_http_body(&f.r), "bytes");
    sb_http_etag(&f.r, SB_LIT("x1"));
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 200);
    end(&f);
    begin(&f);
    f.q.method = SB_HTTP_POST;
    asks(&f, "If-None-Match", "\"x1\"");
    sb_http_etag(&f.r, SB_LIT("x1"));
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 200);
    end(&f);
}

static void entity_names_must_be_plain(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char longer[122];
    memset(longer, 'a', sizeof longer);
    assert_int_equal(sb_http_etag(&f.r, sb_slice_of(longer, 120)), SB_OK);
    assert_int_equal(sb_http_etag(&f.r, sb_slice_of(longer, 121)), SB_INVALID);
    assert_int_equal(sb_http_etag(&f.r, SB_LIT("")), SB_INVALID);
    assert_int_equal(sb_http_etag(&f.r, SB_LIT("a\"b")), SB_INVALID);
    assert_int_equal(sb_http_etag(&f.r, SB_LIT("a b")), SB_INVALID);
    assert_int_equal(sb_http_etag(&f.r, SB_LIT("a\nb")), SB_INVALID);
    end(&f);
}

static void a_part_is_cut_out_of_bytes(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Range", "bytes=2-4");
    sb_http_type(&f.r, "audio/wav");
    sb_http_lend(&f.r, SB_LIT("0123456789"), NULL, NULL);
    sb_http_allow_ranges(&f.r);
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 206);
    assert_slice_is(f.wire.body, "234");
    assert_header(&f, "Content-Range", "bytes 2-4/10");
    assert_header(&f, "Accept-Ranges", "bytes");
    end(&f);
}

static void a_part_outside_is_416(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Range", "bytes=10-");
    sb_http_lend(&f.r, SB_LIT("0123456789"), NULL, NULL);
    sb_http_allow_ranges(&f.r);
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 416);
    assert_int_equal(f.wire.body.n, 0);
    assert_header(&f, "Content-Range", "bytes */10");
    end(&f);
}

static void ranges_are_ignored_where_they_do_not_apply(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        fixture f;
        begin(&f);
        asks(&f, "Range", "bytes=2-4");
        sb_http_lend(&f.r, SB_LIT("0123456789"), NULL, NULL);
        sb_http_etag(&f.r, SB_LIT("now"));
        if (i != 0) sb_http_allow_ranges(&f.r);
        if (i == 1) f.q.method = SB_HTTP_HEAD;
        if (i == 2) asks(&f, "If-Range", "\"before\"");
        if (i == 3) sb_http_status(&f.r, 202);
        finish(&f, SB_OK);
        assert_int_equal(f.wire.status, i == 3 ? 202 : 200);
        assert_slice_is(f.wire.body, "0123456789");
        end(&f);
    }
}

static void a_part_is_cut_out_of_a_file(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Range", "bytes=-3");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    sb_http_take_file(&f.r, fd, 100, 10);
    sb_http_allow_ranges(&f.r);
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 206);
    assert_int_equal(f.wire.fd, fd);
    assert_int_equal(f.wire.file_offset, 107);
    assert_int_equal(f.wire.file_size, 3);
    end(&f);
    assert_int_equal(close(fd), 0); /* it was handed over, not closed */
}

static void a_file_that_is_not_sent_is_closed(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sb_http_take_file(&f.r, fd, 0, 10);
    finish(&f, sb_http_fail(&f.r, 400, "no"));
    assert_int_equal(f.wire.fd, -1);
    end(&f);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void count(void *ud) {
    ++*(int *)ud;
}

static void lent_bytes_are_given_back_once(void **state) {
    (void)state;
    int released = 0;
    fixture f;
    begin(&f);
    sb_http_lend(&f.r, SB_LIT("x"), count, &released);
    sb_http_lend(&f.r, SB_LIT("y"), count, &released);
    assert_int_equal(released, 1);
    finish(&f, SB_OK);
    assert_int_equal(released, 1);
    end(&f);
    assert_int_equal(released, 2);
}

/* ---- coding ---------------------------------------------------------------------------------- */

static void fill_json(fixture *f, size_t n) {
    sb_http_type(&f->r, "application/json");
    sb_buf *body = sb_http_body(&f->r);
    for (size_t i = 0; body->n < n && body->failed == SB_OK; i++)
        sb_buf_printf(body, "[%zu, 0.5], ", i);
    if (body->n > n) body->n = n;
}

static void assert_inflates(sb_slice packed, sb_slice plain) {
    uint8_t *out = malloc(plain.n);
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)packed.p,
                  .avail_in = (uInt)packed.n,
                  .next_out = out,
                  .avail_out = (uInt)plain.n};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    assert_slice_equal(sb_slice_of(out, plain.n - z.avail_out), plain);
    free(out);
}

static void assert_unpacks(sb_slice packed, sb_slice plain) {
    uint8_t *out = malloc(plain.n);
    size_t n = ZSTD_decompress(out, plain.n, packed.p, packed.n);
    assert_false(ZSTD_isError(n));
    assert_slice_equal(sb_slice_of(out, n), plain);
    free(out);
}

static void text_is_compressed_as_the_client_likes(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f);
        asks(&f, "Accept-Encoding", i ? "gzip" : "gzip, zstd");
        fill_json(&f, 50000);
        sb_http_etag(&f.r, SB_LIT("e"));
        finish(&f, SB_OK);
        assert_header(&f, "Content-Encoding", i ? "gzip" : "zstd");
        assert_header(&f, "Vary", "Accept-Encoding");
        assert_header(&f, "ETag", "W/\"e\"");
        assert_true(f.wire.body.n < 25000);
        if (i)
            assert_inflates(f.wire.body, sb_buf_slice(&f.r.buffer));
        else
            assert_unpacks(f.wire.body, sb_buf_slice(&f.r.buffer));
        end(&f);
    }
}

static void sizes_and_types_that_do_not_pay_are_left_alone(void **state) {
    (void)state;
    static const struct {
        size_t n;
        const char *type;
        bool loopback, forwarded;
        sb_http_coding wish;
        bool compressed;
    } table[] = {
        {1023, "application/json", false, false, SB_HTTP_CODING_AUTO, false},
        {1024, "application/json", false, false, SB_HTTP_CODING_AUTO, true},
        {1023, "application/json", false, false, SB_HTTP_CODING_YES, false},
        {50000, "image/png", false, false, SB_HTTP_CODING_AUTO, false},
        {50000, "application/octet-stream", false, false, SB_HTTP_CODING_AUTO, false},
        {50000, "application/octet-stream", false, false, SB_HTTP_CODING_YES, true},
        {50000, "application/json", false, false, SB_HTTP_CODING_NO, false},
        {50000, "application/json", true, false, SB_HTTP_CODING_AUTO, false},
        {50000, "application/json", true, true, SB_HTTP_CODING_AUTO, true},
        {65536, "application/json", true, false, SB_HTTP_CODING_AUTO, true},
    };
    for (size_t i = 0; i < SB_COUNT(table); i++) {
        fixture f;
        begin(&f);
        f.q.peer_is_loopback = table[i].loopback;
        f.q.is_forwarded = table[i].forwarded;
        asks(&f, "Accept-Encoding", "gzip");
        fill_json(&f, table[i].n);
        sb_http_type(&f.r, table[i].type);
        sb_http_compress(&f.r, table[i].wish);
        finish(&f, SB_OK);
        if ((header(&f, "Content-Encoding") != NULL) != table[i].compressed) fail_msg("row %zu", i);
        if (!table[i].compressed) assert_int_equal(f.wire.body.n, table[i].n);
        end(&f);
    }
}

static void bytes_that_do_not_shrink_go_as_they_are(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Accept-Encoding", "zstd");
    sb_http_type(&f.r, "text/plain");
    sb_test_random random = sb_test_random_of(5);
    for (int i = 0; i < 4096; i++)
        sb_buf_add_byte(sb_http_body(&f.r), (uint8_t)sb_test_u64(&random));
    finish(&f, SB_OK);
    assert_null(header(&f, "Content-Encoding"));
    assert_header(&f, "Vary", "Accept-Encoding");
    assert_int_equal(f.wire.body.n, 4096);
    end(&f);
}

static void a_reply_may_go_without_the_compression_it_was_due(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    asks(&f, "Accept-Encoding", "zstd");
    fill_json(&f, 50000);
    sb_reply_settle(&f.r, SB_OK);
    assert_int_equal(sb_reply_compress_size(&f.r), 50000);
    assert_int_equal(sb_reply_to_wire(&f.r, &f.wire), SB_OK);
    assert_null(header(&f, "Content-Encoding"));
    assert_int_equal(f.wire.body.n, 50000);
    end(&f);
}

static void assets_come_in_the_best_form_there_is(void **state) {
    (void)state;
    static const sb_http_asset full = {.identity = {(const uint8_t *)"identity", 8},
                                       .gzip = {(const uint8_t *)"gz", 2},
                                       .br = {(const uint8_t *)"b", 1},
                                       .content_type = "text/css",
                                       .etag = "v"};
    static const sb_http_asset bare = {.identity = {(const uint8_t *)"identity", 8},
                                       .content_type = "image/png"};
    static const struct {
        const sb_http_asset *asset;
        const char *accepted, *body, *coding;
    } table[] = {
        {&full, "gzip, br", "b", "br"},        {&full, "gzip", "gz", "gzip"},
        {&full, "zstd", "identity", NULL},     {&full, "br;q=0.1, gzip", "gz", "gzip"},
        {&bare, "gzip, br", "identity", NULL}, {&full, "identity", "identity", NULL},
    };
    for (size_t i = 0; i < SB_COUNT(table); i++) {
        fixture f;
        begin(&f);
        asks(&f, "Accept-Encoding", table[i].accepted);
        sb_http_send_asset(&f.r, table[i].asset);
        finish(&f, SB_OK);
        assert_slice_is(f.wire.body, table[i].body);
        if (table[i].coding) assert_header(&f, "Content-Encoding", table[i].coding);
        if (!table[i].coding) assert_null(header(&f, "Content-Encoding"));
        assert_true((header(&f, "Vary") != NULL) == (table[i].asset == &full));
        end(&f);
    }
}

/* ---- redirects ------------------------------------------------------------------------------- */

/* CVE-2019-10255, CVE-2020-26215 and CVE-2023-39968. */
static void redirects_stay_on_this_server(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",  "//evil.example",   "/\\evil.example", "http://evil.example",
        "x", "\\\\evil.example", "/\tevil",         "/a\r\nSet-Cookie: x"};
    for (size_t i = 0; i < SB_COUNT(bad); i++) {
        fixture f;
        begin(&f);
        assert_int_equal(sb_http_redirect(&f.r, 302, sb_slice_str(bad[i]), (sb_slice){NULL, 0}),
                         SB_INVALID);
        end(&f);
    }
    fixture f;
    begin(&f);
    assert_int_equal(sb_http_redirect(&f.r, 302, SB_LIT("/a b/"), SB_LIT("?q=\"\n")), SB_OK);
    finish(&f, SB_OK);
    assert_int_equal(f.wire.status, 302);
    assert_header(&f, "Location", "/a%20b/?q=%22%0A");
    assert_null(header(&f, "Content-Type"));
    end(&f);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static sb_status make_reply(const sb_alloc *alloc, void *ud) {
    (void)ud;
    fixture f;
    begin_with(&f, alloc);
    asks(&f, "Accept-Encoding", "zstd");
    fill_json(&f, 4000);
    sb_http_etag(&f.r, SB_LIT("e"));
    sb_http_set_header(&f.r, "X-A", SB_LIT("a"));
    sb_http_cache_for(&f.r, SB_HTTP_CACHE_DAY);
    bool was_whole = f.r.buffer.failed == SB_OK && f.r.etag.n && f.r.header_count == 1;
    sb_reply_settle(&f.r, SB_OK);
    sb_reply_compress(&f.r, &f.compressors);
    sb_status status = sb_reply_to_wire(&f.r, &f.wire);
    if (status == SB_OK && (!was_whole || f.wire.status != 200 || !header(&f, "Content-Encoding")))
        status = SB_NOMEM; /* something was left out: an error, or an uncompressed body */
    end(&f);
    return status;
}

static void memory_that_runs_out_leaves_nothing_behind(void **state) {
    (void)state;
    sb_fault_alloc_sweep(make_reply, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_reply_goes_out_as_it_is),
        cmocka_unit_test(data_may_load_nothing_and_scripts_have_no_policy),
        cmocka_unit_test(html_carries_the_policy),
        cmocka_unit_test(user_content_is_put_in_a_sandbox),
        cmocka_unit_test(caches_are_told_how_long),
        cmocka_unit_test(headers_cannot_be_split),
        cmocka_unit_test(every_status_has_a_code),
        cmocka_unit_test(the_handlers_own_words_are_used),
        cmocka_unit_test(a_fail_drops_what_was_there),
        cmocka_unit_test(the_error_page_hook_writes_the_body),
        cmocka_unit_test(a_body_over_its_limit_becomes_an_error),
        cmocka_unit_test(what_the_client_has_is_not_sent_again),
        cmocka_unit_test(entity_names_must_be_plain),
        cmocka_unit_test(a_part_is_cut_out_of_bytes),
        cmocka_unit_test(a_part_outside_is_416),
        cmocka_unit_test(ranges_are_ignored_where_they_do_not_apply),
        cmocka_unit_test(a_part_is_cut_out_of_a_file),
        cmocka_unit_test(a_file_that_is_not_sent_is_closed),
        cmocka_unit_test(lent_bytes_are_given_back_once),
        cmocka_unit_test(text_is_compressed_as_the_client_likes),
        cmocka_unit_test(sizes_and_types_that_do_not_pay_are_left_alone),
        cmocka_unit_test(bytes_that_do_not_shrink_go_as_they_are),
        cmocka_unit_test(a_reply_may_go_without_the_compression_it_was_due),
        cmocka_unit_test(assets_come_in_the_best_form_there_is),
        cmocka_unit_test(redirects_stay_on_this_server),
        cmocka_unit_test(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
