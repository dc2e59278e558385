/* buf.c: growth and text appending of sb_buf. Cost: amortised one copy per byte. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/banned.h"

void sb_buf_init(sb_buf *b, const sb_alloc *alloc, size_t cap) {
    *b = (sb_buf){.cap = cap, .alloc = alloc, .failed = SB_OK};
}

void sb_buf_fini(sb_buf *b) {
    if (b->p) sb_alloc_put(b->alloc, b->p, b->room);
    b->p = NULL;
    b->n = b->room = 0;
}

bool sb_buf_grow(sb_buf *b, size_t more) {
    if (b->failed != SB_OK) return false;
    size_t need;
    if (!sb_add_size(&need, b->n, more) || need > b->cap) {
        b->failed = SB_LIMIT;
        return false;
    }
    if (need <= b->room) return true;
    size_t room = b->room ? b->room : 256;
    while (room < need) room = room > b->cap / 2 ? b->cap : room * 2;
    if (room > b->cap) room = b->cap;
    uint8_t *p = b->alloc->resize(b->alloc->ctx, b->p, b->room, room);
    if (!p) {
        b->failed = SB_NOMEM;
        return false;
    }
    b->p = p;
    b->room = room;
    return true;
}

void sb_buf_add_str(sb_buf *b, const char *text) {
    sb_buf_add(b, text, strlen(text));
}

void sb_buf_printf(sb_buf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !sb_buf_reserve(b, (size_t)n + 1)) return;
    va_start(args, format);
    vsnprintf((char *)b->p + b->n, (size_t)n + 1, format, args);
    va_end(args);
    b->n += (size_t)n;
}

sb_status sb_buf_check(const sb_buf *b, const char *what, sb_err *err) {
    if (b->failed == SB_OK) return SB_OK;
    if (b->failed == SB_NOMEM) return sb_fail(err, SB_NOMEM, 0, "out of memory for %s", what);
    return sb_fail(err, SB_LIMIT, 0, "%s is larger than its limit of %zu bytes", what, b->cap);
}
