/* bind_test.c: finding a port on loopback, and the reason when there is none. Ports are taken by
 * the test itself first, so nothing depends on what else runs here. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/http.h"
#include "support/test.h"
#include "base/banned.h"

static sb_http_bound bind_fine(const char *host, unsigned port, unsigned tries) {
    sb_http_bind_options o = {.host = host, .port = port, .tries = tries};
    sb_http_bound bound;
    sb_err err;
    assert_ok(sb_http_bind(&bound, &o, &err), &err);
    assert_int_equal(bound.problem, SB_HTTP_BIND_FINE);
    assert_true(bound.listener >= 0);
    assert_true(bound.port > 0);
    return bound;
}

static sb_http_bind_problem bind_fails(const sb_http_bind_options *o) {
    sb_http_bound bound;
    sb_err err = {.text = ""};
    assert_int_not_equal(sb_http_bind(&bound, o, &err), SB_OK);
    assert_int_equal(bound.listener, -1);
    assert_true(err.text[0] != '\0');
    return bound.problem;
}

static void the_default_is_loopback_on_a_free_port(void **state) {
    (void)state;
    sb_http_bound bound = bind_fine(NULL, 0, 1);
    assert_true(bound.is_loopback);
    assert_false(bound.is_ipv6);
    assert_string_equal(bound.address, "127.0.0.1");
    close(bound.listener);
    bound = bind_fine("localhost", 0, 1);
    assert_string_equal(bound.address, "127.0.0.1");
    close(bound.listener);
    bound = bind_fine("127.0.0.2", 0, 1);
    assert_true(bound.is_loopback);
    close(bound.listener);
}

static void ipv6_works_where_the_system_has_it(void **state) {
    (void)state;
    sb_http_bind_options o = {.host = "::1", .tries = 1};
    sb_http_bound bound;
    if (sb_http_bind(&bound, &o, NULL) != SB_OK) {
        assert_true(bound.problem == SB_HTTP_BIND_NO_ADDRESS ||
                    bound.problem == SB_HTTP_BIND_NO_FAMILY);
        return;
    }
    assert_true(bound.is_ipv6);
    assert_true(bound.is_loopback);
    close(bound.listener);
}

static int connect_to(unsigned port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int result = connect(fd, (const struct sockaddr *)&to, sizeof to);
    close(fd);
    return result;
}

static void all_means_ipv4_too(void **state) {
    (void)state;
    sb_http_bind_options o = {.all = true, .tries = 1};
    sb_http_bound bound;
    sb_err err;
    assert_ok(sb_http_bind(&bound, &o, &err), &err);
    assert_false(bound.is_loopback);
    assert_int_equal(connect_to(bound.port), 0);
    close(bound.listener);
}

static void a_taken_port_is_told(void **state) {
    (void)state;
    sb_http_bound first = bind_fine(NULL, 0, 1);
    sb_http_bind_options o = {.port = first.port, .tries = 1};
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_IN_USE);
    /* Binding to another address would work, but leave two servers under one name. */
    o.host = "127.0.0.3";
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_IN_USE);
    o.host = NULL;
    o.all = true;
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_IN_USE);
    close(first.listener);
}

static void a_taken_port_moves_to_the_next(void **state) {
    (void)state;
    sb_http_bound first = bind_fine(NULL, 0, 1);
    sb_http_bound second = bind_fine(NULL, first.port, 100);
    assert_int_not_equal(second.port, first.port);
    unsigned lowest = first.port > 65535 - 99 ? 65535 - 99 : first.port;
    assert_true(second.port >= lowest && second.port < lowest + 100);
    close(second.listener);
    close(first.listener);
}

static void when_all_are_taken_that_is_told(void **state) {
    (void)state;
    sb_http_bound first = bind_fine(NULL, 0, 1);
    sb_http_bind_options o = {.port = first.port, .tries = 2};
    sb_http_bound second;
    sb_http_bind_options next = {.port = first.port + 1, .tries = 1};
    sb_status status = first.port < 65535 ? sb_http_bind(&second, &next, NULL) : SB_INVALID;
    if (status == SB_OK || second.problem == SB_HTTP_BIND_IN_USE)
        assert_int_equal(bind_fails(&o), SB_HTTP_BIND_ALL_IN_USE);
    if (status == SB_OK) close(second.listener);
    close(first.listener);
}

static void the_scan_is_lowered_near_the_top(void **state) {
    (void)state;
    sb_http_bound bound = bind_fine(NULL, 65535, 100);
    assert_true(bound.port >= 65436 && bound.port <= 65535);
    close(bound.listener);
}

static void bad_ports_and_addresses_are_told_apart(void **state) {
    (void)state;
    sb_http_bind_options o = {.port = 65536, .tries = 1};
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_BAD_PORT);
    o = (sb_http_bind_options){.host = "192.0.2.1", .tries = 1};
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_NO_ADDRESS);
    o = (sb_http_bind_options){.host = "no such host", .tries = 1};
    assert_int_equal(bind_fails(&o), SB_HTTP_BIND_UNKNOWN_HOST);
}

static void a_shared_port_is_shared(void **state) {
    (void)state;
    sb_http_bind_options o = {.tries = 1, .reuse_port = true};
    sb_http_bound first, second;
    sb_err err;
    assert_ok(sb_http_bind(&first, &o, &err), &err);
    o.port = first.port;
    assert_ok(sb_http_bind(&second, &o, &err), &err);
    assert_int_equal(first.port, second.port);
    close(second.listener);
    close(first.listener);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_loopback_on_a_free_port),
        cmocka_unit_test(ipv6_works_where_the_system_has_it),
        cmocka_unit_test(all_means_ipv4_too),
        cmocka_unit_test(a_taken_port_is_told),
        cmocka_unit_test(a_taken_port_moves_to_the_next),
        cmocka_unit_test(when_all_are_taken_that_is_told),
        cmocka_unit_test(the_scan_is_lowered_near_the_top),
        cmocka_unit_test(bad_ports_and_addresses_are_told_apart),
        cmocka_unit_test(a_shared_port_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
