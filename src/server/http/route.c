/* route.c: the table of route.h. */
#include "server/http/route.h"

#include "base/slice.h"
#include "base/banned.h"

/* GET brings HEAD along. */
static unsigned methods_of(const sb_http_route *row) {
    return row->methods & SB_HTTP_GET ? row->methods | SB_HTTP_HEAD : row->methods;
}

static bool is_prefix(const sb_http_route *row) {
    sb_slice path = sb_slice_str(row->path);
    return sb_slice_ends(path, SB_LIT("/*"));
}

/* The path of a prefix row without its star. */
static sb_slice prefix_of(const sb_http_route *row) {
    sb_slice path = sb_slice_str(row->path);
    return sb_slice_of(path.p, path.n - 1);
}

static sb_status check_row(const sb_http_route *row, sb_err *err) {
    sb_slice path = sb_slice_str(row->path);
    if (path.n == 0 || path.p[0] != '/')
        return sb_fail(err, SB_INVALID, 0, "a route's path must begin with a slash");
    const uint8_t *star = memchr(path.p, '*', path.n);
    if (star && (star != path.p + path.n - 1 || !is_prefix(row)))
        return sb_fail(err, SB_INVALID, 0, "route %s: a star stands behind the last slash only",
                       row->path);
    if (row->methods == 0 || (row->methods & ~(unsigned)SB_HTTP_ALL))
        return sb_fail(err, SB_INVALID, 0, "route %s: no known method", row->path);
    if ((row->run == NULL) != (row->how == SB_HTTP_STREAM))
        return sb_fail(err, SB_INVALID, 0, "route %s: a stream has no handler, all others have one",
                       row->path);
    return SB_OK;
}

/* Puts row i behind the rows with the same path. */
static sb_status chain(sb_routes *r, uint32_t *from, uint32_t i, sb_err *err) {
    unsigned methods = methods_of(&r->rows[i]);
    while (*from != SB_INTERN_NONE) {
        if (methods_of(&r->rows[*from]) & methods)
            return sb_fail(err, SB_INVALID, 0, "route %s is there twice for one method",
                           r->rows[i].path);
        from = &r->next[*from];
    }
    *from = i;
    return SB_OK;
}

static sb_status add_route_row(sb_routes *r, uint32_t i, sb_err *err) {
    const sb_http_route *row = &r->rows[i];
    sb_status status = check_row(row, err);
    if (status != SB_OK) return status;
    r->next[i] = SB_INTERN_NONE;
    if (is_prefix(row)) {
        for (size_t k = 0; k < r->prefix_count; k++)
            if (sb_slice_eq(prefix_of(&r->rows[r->prefixes[k]]), prefix_of(row)))
                return chain(r, &r->prefixes[k], i, err);
        r->prefixes[r->prefix_count++] = i;
        return SB_OK;
    }
    uint32_t id;
    bool is_new;
    status = sb_intern_add(&r->paths, sb_slice_str(row->path), &id, &is_new);
    if (status != SB_OK) return sb_fail_nomem(err, "for the route table");
    if (is_new) r->first[id] = SB_INTERN_NONE;
    return chain(r, &r->first[id], i, err);
}

static void sort_prefixes(sb_routes *r) {
    for (size_t i = 1; i < r->prefix_count; i++) {
        uint32_t moving = r->prefixes[i];
        size_t k = i;
        while (k > 0 && prefix_of(&r->rows[r->prefixes[k - 1]]).n < prefix_of(&r->rows[moving]).n) {
            r->prefixes[k] = r->prefixes[k - 1];
            k--;
        }
        r->prefixes[k] = moving;
    }
}

sb_status sb_routes_init(sb_routes *r, const sb_alloc *alloc, const sb_http_route *rows,
                         size_t count, uint64_t seed, sb_err *err) {
    *r = (sb_routes){.alloc = alloc, .rows = rows, .count = count};
    if (count >= UINT32_MAX) return sb_fail(err, SB_INVALID, 0, "too many routes");
    sb_intern_init(&r->paths, alloc, seed, (uint32_t)count + 1);
    size_t room = count ? count : 1;
    r->first = sb_alloc_zeroed(alloc, room, sizeof *r->first);
    r->next = sb_alloc_zeroed(alloc, room, sizeof *r->next);
    r->prefixes = sb_alloc_zeroed(alloc, room, sizeof *r->prefixes);
    sb_status status = SB_OK;
    if (!r->first || !r->next || !r->prefixes) status = sb_fail_nomem(err, "for the route table");
    for (uint32_t i = 0; i < count && status == SB_OK; i++) status = add_route_row(r, i, err);
    if (status == SB_OK)
        sort_prefixes(r);
    else
        sb_routes_fini(r);
    return status;
}

void sb_routes_fini(sb_routes *r) {
    size_t room = r->count ? r->count : 1;
    sb_alloc_put(r->alloc, r->prefixes, room * sizeof *r->prefixes);
    sb_alloc_put(r->alloc, r->next, room * sizeof *r->next);
    sb_alloc_put(r->alloc, r->first, room * sizeof *r->first);
    sb_intern_fini(&r->paths);
    r->first = r->next = r->prefixes = NULL;
}

/* The row for the method among those that share a path. */
static sb_route_match pick_method(const sb_routes *r, uint32_t i, sb_http_method method) {
    sb_route_match match = {.row = NULL};
    for (; i != SB_INTERN_NONE; i = r->next[i]) {
        unsigned methods = methods_of(&r->rows[i]);
        match.methods |= methods;
        if (methods & method) match.row = &r->rows[i];
    }
    return match;
}

sb_route_match sb_routes_find(const sb_routes *r, sb_slice path, sb_http_method method) {
    sb_slice exact = path;
    if (exact.n > 1 && exact.p[exact.n - 1] == '/') exact.n--;
    uint32_t id = sb_intern_find(&r->paths, exact);
    if (id != SB_INTERN_NONE) return pick_method(r, r->first[id], method);
    for (size_t i = 0; i < r->prefix_count; i++) {
        sb_slice prefix = prefix_of(&r->rows[r->prefixes[i]]);
        if (!sb_slice_starts(path, prefix)) continue;
        sb_route_match match = pick_method(r, r->prefixes[i], method);
        match.rest = sb_slice_of(path.p + prefix.n, path.n - prefix.n);
        return match;
    }
    return (sb_route_match){.row = NULL};
}
