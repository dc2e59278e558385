/* negotiate.c: q-values, entity tags, ranges, dates. */
#include "server/http/negotiate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/slice.h"
#include "server/http/text.h"
#include "base/banned.h"

/* ---- coding ---------------------------------------------------------------------------------- */

/* "0.25" to 250; -1 for what is no q-value. */
static int parse_quality(sb_slice s) {
    if (s.n == 0 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1')) return -1;
    int value = (s.p[0] - '0') * 1000;
    if (s.n > 1 && s.p[1] != '.') return -1;
    int place = 100;
    for (size_t i = 2; i < s.n; i++, place /= 10) {
        if (s.p[i] < '0' || s.p[i] > '9') return -1;
        value += (s.p[i] - '0') * place;
    }
    return value <= 1000 ? value : -1;
}

/* Splits "gzip ; q=0.5" into its name and quality; -1 when it makes no sense. */
static int parse_element(sb_slice element, sb_slice *name) {
    const uint8_t *semicolon = memchr(element.p, ';', element.n);
    size_t n = semicolon ? (size_t)(semicolon - element.p) : element.n;
    *name = sb_text_trim(sb_slice_of(element.p, n));
    if (!semicolon) return 1000;
    sb_slice rest = sb_text_trim(sb_slice_of(semicolon + 1, element.n - n - 1));
    if (rest.n < 2 || sb_text_lower(rest.p[0]) != 'q') return -1;
    rest = sb_text_trim(sb_slice_of(rest.p + 1, rest.n - 1));
    if (rest.n == 0 || rest.p[0] != '=') return -1;
    return parse_quality(sb_text_trim(sb_slice_of(rest.p + 1, rest.n - 1)));
}

/* In the order of our preference; identity is apart. */
static const struct {
    sb_coding coding;
    const char *name;
    const char *alias;
} codings[] = {
    {SB_CODING_BR, "br", "br"},
    {SB_CODING_ZSTD, "zstd", "zstd"},
    {SB_CODING_GZIP, "gzip", "x-gzip"},
};
#define CODINGS (sizeof codings / sizeof codings[0])

const char *sb_coding_name(sb_coding coding) {
    for (size_t i = 0; i < CODINGS; i++)
        if (codings[i].coding == coding) return codings[i].name;
    return NULL;
}

sb_coding sb_accept_coding(sb_slice accept_encoding, unsigned offered) {
    int quality[CODINGS] = {-1, -1, -1}; /* -1: not named */
    int star = -1, identity = -1;
    sb_slice element, name;
    while (sb_text_next(&accept_encoding, &element)) {
        int q = parse_element(element, &name);
        if (q < 0) continue;
        if (sb_text_same(name, "*") && star < 0) star = q;
        if (sb_text_same(name, "identity") && identity < 0) identity = q;
        for (size_t i = 0; i < CODINGS; i++)
            if (quality[i] < 0 &&
                (sb_text_same(name, codings[i].name) || sb_text_same(name, codings[i].alias)))
                quality[i] = q;
    }
    sb_coding best = SB_CODING_IDENTITY;
    int best_quality = 0;
    for (size_t i = 0; i < CODINGS; i++) {
        int q = quality[i] >= 0 ? quality[i] : star;
        if (!(offered & codings[i].coding) || q <= best_quality) continue;
        best = codings[i].coding;
        best_quality = q;
    }
    return identity > best_quality ? SB_CODING_IDENTITY : best;
}

static const char *const compressing[] = {
    "application/json", "application/javascript", "application/xml", "application/manifest+json",
    "application/wasm", "image/svg+xml",          "image/bmp",       "application/x-ndjson",
};

bool sb_type_is(const char *content_type, const char *type) {
    size_t n = strcspn(content_type, ";");
    return sb_text_same(sb_text_trim(sb_slice_of(content_type, n)), type);
}

bool sb_type_compresses(const char *content_type) {
    if (sb_type_is(content_type, "text/event-stream")) return false;
    if (sb_text_same(sb_slice_of(content_type, strnlen(content_type, 5)), "text/")) return true;
    for (size_t i = 0; i < sizeof compressing / sizeof compressing[0]; i++)
        if (sb_type_is(content_type, compressing[i])) return true;
    return false;
}

/* ---- entity tags ----------------------------------------------------------------------------- */

/* Takes W/ off the front of a tag. */
static bool take_weak(sb_slice *tag) {
    if (tag->n < 2 || tag->p[0] != 'W' || tag->p[1] != '/') return false;
    *tag = sb_slice_of(tag->p + 2, tag->n - 2);
    return true;
}

static bool tag_is(sb_slice tag, sb_slice name) {
    return tag.n == name.n + 2 && tag.p[0] == '"' && tag.p[tag.n - 1] == '"' &&
           sb_slice_eq(sb_slice_of(tag.p + 1, name.n), name);
}

bool sb_etag_matches(sb_slice if_none_match, sb_slice name) {
    sb_slice tag;
    while (sb_text_next(&if_none_match, &tag)) {
        if (sb_slice_eq(tag, SB_LIT("*"))) return true;
        take_weak(&tag);
        if (tag_is(tag, name)) return true;
    }
    return false;
}

bool sb_if_range_holds(sb_slice if_range, sb_slice name) {
    if (!if_range.p) return true;
    return name.n > 0 && tag_is(sb_text_trim(if_range), name);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

sb_range sb_range_parse(sb_slice header, uint64_t size, uint64_t *first, uint64_t *n) {
    header = sb_text_trim(header);
    if (header.n < 6 || !sb_text_same(sb_slice_of(header.p, 6), "bytes=")) return SB_RANGE_WHOLE;
    sb_slice spec = sb_text_trim(sb_slice_of(header.p + 6, header.n - 6));
    const uint8_t *dash = spec.n ? memchr(spec.p, '-', spec.n) : NULL;
    if (!dash) return SB_RANGE_WHOLE;
    size_t at = (size_t)(dash - spec.p);
    sb_slice from = sb_text_trim(sb_slice_of(spec.p, at));
    sb_slice to = sb_text_trim(sb_slice_of(dash + 1, spec.n - at - 1));
    uint64_t start = 0, last = UINT64_MAX;
    if (from.n == 0) { /* the last so many bytes */
        uint64_t count;
        if (!sb_text_number(to, &count)) return SB_RANGE_WHOLE;
        if (count == 0 || size == 0) return SB_RANGE_OUTSIDE;
        start = count < size ? size - count : 0;
    } else {
        if (!sb_text_number(from, &start) || (to.n && !sb_text_number(to, &last)))
            return SB_RANGE_WHOLE;
        if (last < start) return SB_RANGE_WHOLE;
        if (start >= size) return SB_RANGE_OUTSIDE;
    }
    if (last >= size) last = size - 1;
    *first = start;
    *n = last - start + 1;
    return SB_RANGE_PART;
}

/* ---- dates ----------------------------------------------------------------------------------- */

void sb_http_date(char out[SB_HTTP_DATE_SIZE], uint64_t seconds) {
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    /* The form has four digits for the year. */
    const uint64_t last = 253402300799u; /* 9999-12-31 23:59:59 */
    time_t moment = (time_t)(seconds < last ? seconds : last);
    struct tm t;
    gmtime_r(&moment, &t);
    snprintf(out, SB_HTTP_DATE_SIZE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
             days + t.tm_wday * 3, (unsigned)t.tm_mday % 100u, months + t.tm_mon * 3,
             (unsigned)(t.tm_year + 1900) % 10000u, (unsigned)t.tm_hour % 100u,
             (unsigned)t.tm_min % 100u, (unsigned)t.tm_sec % 100u);
}
