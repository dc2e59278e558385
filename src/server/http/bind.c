/* bind.c: finding an address and a port to listen on, and reporting precisely why none could be
 * used.
 *
 * The rules are TensorBoard's (default port and the 99 above it; a connect first, because a bind to
 * another address of the same port would succeed and leave two servers under one URL). */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/http.h"
#include "base/banned.h"

#define LAST_PORT 65535u
#define BACKLOG 1024
#define CONNECT_MILLISECONDS 200

typedef union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} address;

static socklen_t address_size(const address *a) {
    return a->any.sa_family == AF_INET6 ? sizeof a->six : sizeof a->four;
}

static void set_port(address *a, unsigned port) {
    if (a->any.sa_family == AF_INET6)
        a->six.sin6_port = htons((uint16_t)port);
    else
        a->four.sin_port = htons((uint16_t)port);
}

static unsigned port_of(const address *a) {
    return ntohs(a->any.sa_family == AF_INET6 ? a->six.sin6_port : a->four.sin_port);
}

/* ---- names ----------------------------------------------------------------------------------- */

static sb_status problem(sb_http_bound *out, sb_http_bind_problem what, sb_status status) {
    out->problem = what;
    return status;
}

/* Text, the usual name, or whatever the system makes of it; IPv4 is preferred, as TensorBoard
 * does. */
static sb_status find_address(address *a, const char *host, sb_http_bound *out, sb_err *err) {
    memset(a, 0, sizeof *a);
    if (strcmp(host, "localhost") == 0) host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &a->four.sin_addr) == 1) {
        a->any.sa_family = AF_INET;
        return SB_OK;
    }
    if (inet_pton(AF_INET6, host, &a->six.sin6_addr) == 1) {
        a->any.sa_family = AF_INET6;
        return SB_OK;
    }
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL, *best = NULL;
    int error = getaddrinfo(host, NULL, &hints, &found);
    if (error)
        return problem(out, SB_HTTP_BIND_UNKNOWN_HOST,
                       sb_fail(err, SB_INVALID, 0, "%s: %s", host, gai_strerror(error)));
    for (struct addrinfo *i = found; i; i = i->ai_next)
        if (i->ai_addrlen <= sizeof *a &&
            (!best || (best->ai_family != AF_INET && i->ai_family == AF_INET)))
            best = i;
    if (best) memcpy(a, best->ai_addr, best->ai_addrlen);
    freeaddrinfo(found);
    if (best) return SB_OK;
    return problem(out, SB_HTTP_BIND_UNKNOWN_HOST,
                   sb_fail(err, SB_INVALID, 0, "%s has no address to listen on", host));
}

static bool is_loopback(const address *a) {
    if (a->any.sa_family == AF_INET) return ntohl(a->four.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->six.sin6_addr);
}

static void describe_address(sb_http_bound *out, const address *a) {
    out->is_ipv6 = a->any.sa_family == AF_INET6;
    out->is_loopback = is_loopback(a);
    out->port = port_of(a);
    const void *bytes = out->is_ipv6 ? (const void *)&a->six.sin6_addr : &a->four.sin_addr;
    if (!inet_ntop(a->any.sa_family, bytes, out->address, sizeof out->address))
        out->address[0] = '\0';
}

/* ---- one port -------------------------------------------------------------------------------- */

/* Does a server accept connections on 127.0.0.1 at this port? One that neither accepts nor refuses
 * counts as one. */
static bool is_answered(unsigned port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool answered = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
    if (!answered && errno == EINPROGRESS) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        int error = 0;
        socklen_t n = sizeof error;
        if (poll(&wait, 1, CONNECT_MILLISECONDS) <= 0)
            answered = true;
        else
            answered = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0;
    }
    close(fd);
    return answered;
}

/* The listening socket, or a negative errno. */
static int listen_on(const address *a, const sb_http_bind_options *o) {
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int on = 1, off = 0, error = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* connections inherit it */
    if (o->reuse_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
        error = ENOPROTOOPT;
    if (a->any.sa_family == AF_INET6 && o->all)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!error && bind(fd, &a->any, address_size(a)) != 0) error = errno;
    if (!error && listen(fd, BACKLOG) != 0) error = errno;
    if (!error) return fd;
    close(fd);
    return -error;
}

static sb_status say_problem(sb_http_bound *out, int error, const char *host, unsigned port,
                             unsigned tries, sb_err *err) {
    out->problem_port = port;
    switch (error) {
    case EADDRINUSE:
        if (port == 0)
            return problem(out, SB_HTTP_BIND_NO_PORT,
                           sb_fail(err, SB_IO, 0, "the system has no free port left"));
        if (tries > 1)
            return problem(out, SB_HTTP_BIND_ALL_IN_USE,
                           sb_fail(err, SB_IO, 0, "%u ports up to %u are all in use", tries, port));
        return problem(out, SB_HTTP_BIND_IN_USE,
                       sb_fail(err, SB_IO, 0, "port %u is already in use", port));
    case EACCES:
    case EPERM:
        return problem(out, SB_HTTP_BIND_DENIED,
                       sb_fail(err, SB_IO, 0, "port %u is not for ordinary users", port));
    case EADDRNOTAVAIL:
        return problem(out, SB_HTTP_BIND_NO_ADDRESS,
                       sb_fail(err, SB_IO, 0, "%s is not an address of this machine", host));
    case EAFNOSUPPORT:
        return problem(out, SB_HTTP_BIND_NO_FAMILY,
                       sb_fail(err, SB_IO, 0, "this system has no such addresses as %s", host));
    case ENOPROTOOPT:
        return problem(out, SB_HTTP_BIND_NO_REUSE_PORT,
                       sb_fail(err, SB_IO, 0, "this system cannot share a port"));
    default:
        return problem(out, SB_HTTP_BIND_OTHER,
                       sb_fail_errno(err, SB_IO, error, "cannot listen on %s port %u", host, port));
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int try_ports(address *a, const sb_http_bind_options *o, unsigned first, unsigned tries,
                     unsigned *last) {
    int fd = -EADDRINUSE;
    for (unsigned i = 0; i < tries && fd == -EADDRINUSE; i++) {
        *last = first + i;
        /* With reuse_port, servers that share the port may answer there already. */
        if (*last != 0 && !o->reuse_port && is_answered(*last)) continue;
        set_port(a, *last);
        fd = listen_on(a, o);
    }
    return fd;
}

sb_status sb_http_bind(sb_http_bound *out, const sb_http_bind_options *o, sb_err *err) {
    *out = (sb_http_bound){.listener = -1, .problem = SB_HTTP_BIND_FINE};
    const char *host = o->all ? "::" : o->host && *o->host ? o->host : "localhost";
    if (o->port > LAST_PORT) {
        out->problem_port = o->port;
        return problem(out, SB_HTTP_BIND_BAD_PORT,
                       sb_fail(err, SB_INVALID, 0, "port %u is above 65535", o->port));
    }
    unsigned tries = o->port == 0 || o->tries == 0 ? 1 : o->tries;
    if (tries > LAST_PORT) tries = LAST_PORT;
    unsigned first = o->port;
    if (first && first + tries - 1 > LAST_PORT) first = LAST_PORT - tries + 1;
    address a;
    sb_status status = find_address(&a, host, out, err);
    if (status != SB_OK) return status;
    unsigned last = first;
    int fd = try_ports(&a, o, first, tries, &last);
    if (o->all && (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)) { /* no IPv6 here */
        host = "0.0.0.0";
        status = find_address(&a, host, out, err);
        if (status != SB_OK) return status;
        fd = try_ports(&a, o, first, tries, &last);
    }
    if (fd < 0) return say_problem(out, -fd, host, last, tries, err);
    socklen_t n = sizeof a;
    if (getsockname(fd, &a.any, &n) != 0) {
        int error = errno;
        close(fd);
        return say_problem(out, error, host, last, tries, err);
    }
    describe_address(out, &a);
    out->listener = fd;
    return SB_OK;
}
