/* http_client.h: plain sockets as clients of a server in the same process. For tests of
 * server/http. */
#ifndef SB_TESTS_HTTP_CLIENT_H
#define SB_TESTS_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection that comes from 127.0.0.`host`; -1: it was refused. */
static inline int open_client_from(unsigned port, uint32_t host) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & 0xffffff00u) | host);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = 60};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (bind(fd, (const struct sockaddr *)&from, sizeof from) == 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline int open_client(unsigned port) {
    return open_client_from(port, 1);
}

/* `more`: further header lines, each with its line end. */
static inline bool ask(int fd, const char *path, const char *more) {
    char text[256];
    int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, more);
    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Reads until the text is seen (answers true) or the connection ends. What comes behind the text is
 * left for the next call: a whole reply may have arrived at once. */
static inline bool read_until(int fd, const char *wanted) {
    static _Thread_local char seen[4096];
    size_t n = 0, size = strlen(wanted);
    for (;;) {
        ssize_t got = recv(fd, seen + n, sizeof seen - n, MSG_PEEK);
        if (got <= 0) return false;
        const char *found = memmem(seen, n + (size_t)got, wanted, size);
        size_t taken = found ? (size_t)(found - seen) + size - n : (size_t)got;
        if (recv(fd, seen + n, taken, 0) != (ssize_t)taken) return false;
        if (found) return true;
        n += taken;
        if (n > size) { /* only the end can be the beginning of it */
            memmove(seen, seen + n - size, size);
            n = size;
        }
    }
}

#endif
