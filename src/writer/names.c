/* names.c: tags as TF1 graphs make them: cleaned, under scope and family, unique.
 *
 * A graph keeps, for every name in lower case, how often it was asked for. The first asker gets the
 * name, later ones name_1, name_2, ..., leaving out what is taken already; the number is tried from
 * how often the name was asked for. Entering a scope takes the scope's own name.
 *
 * Threads: an sb_names belongs to one thread. Cost: a hash look-up or two a call. */
#include "writer/names_int.h"

#include "base/buf.h"
#include "base/intern.h"
#include "base/slice.h"
#include "base/text/unicode_word.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "writer/tag_clean.h"

#include "base/banned.h"

#define MAX_NAMES 100000000u
#define MAX_NAME_BYTES ((size_t)16 << 20)
#define HASH_SEED 0x9e3779b97f4a7c15u

static void lower_case(uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z') p[i] = (uint8_t)(p[i] + 'a' - 'A');
}

/* ---- cleaning -------------------------------------------------------------------------------- */

/* The code of the valid UTF-8 character of n bytes at p. */
static uint32_t decode_utf8(const uint8_t *p, size_t n) {
    if (n == 1) return p[0];
    uint32_t code = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) code = code << 6 | (p[i] & 0x3fu);
    return code;
}

static bool is_kept(const uint8_t *p, size_t n) {
    if (n == 0) return false;
    uint32_t code = decode_utf8(p, n);
    return code == '-' || code == '/' || code == '.' || sb_unicode_word(code);
}

size_t sb_tag_clean_into(sb_slice tag, uint8_t *out, size_t room, size_t *stored) {
    size_t whole = 0;
    *stored = 0;
    for (size_t at = 0, n; at < tag.n; at += n) {
        const uint8_t *p = tag.p + at;
        n = sb_utf8_char(sb_slice_of(p, tag.n - at));
        bool kept = is_kept(p, n);
        if (n == 0) n = 1;
        if (whole == 0 && *p == '/') continue;
        size_t more = kept ? n : 1;
        if (whole + more <= room) {
            if (kept)
                memcpy(out + whole, p, n);
            else
                out[whole] = '_';
            *stored = whole + more;
        }
        whole += more;
    }
    return whole;
}

size_t sb_tag_clean(const char *tag, char *out, size_t n) {
    size_t stored;
    size_t whole = sb_tag_clean_into(sb_slice_str(tag), (uint8_t *)out, n ? n - 1 : 0, &stored);
    if (n) out[stored] = 0;
    return whole;
}

/* ---- unique names ---------------------------------------------------------------------------- */

struct sb_names {
    const sb_alloc *alloc;
    sb_intern keys;         /* names in lower case */
    SB_VEC(uint32_t) asked; /* by id: how often the name was requested; never 0 */
    sb_buf base, key;       /* the name that is being made unique: as given, and in lower case */
    sb_buf tag;             /* the result of sb_names_tag */
};

sb_status sb_names_new_in(sb_names **out, const sb_alloc *alloc, sb_err *err) {
    *out = NULL;
    sb_names *names = sb_alloc_zeroed(alloc, 1, sizeof *names);
    if (!names) return sb_fail_nomem(err, "for a table of names");
    names->alloc = alloc;
    sb_intern_init(&names->keys, alloc, HASH_SEED, MAX_NAMES);
    sb_buf_init(&names->base, alloc, MAX_NAME_BYTES);
    sb_buf_init(&names->key, alloc, MAX_NAME_BYTES);
    sb_buf_init(&names->tag, alloc, MAX_NAME_BYTES);
    *out = names;
    return SB_OK;
}

sb_status sb_names_new(sb_names **out, sb_err *err) {
    return sb_names_new_in(out, &sb_alloc_libc, err);
}

void sb_names_free(sb_names *names) {
    if (!names) return;
    sb_intern_fini(&names->keys);
    SB_VEC_FREE(&names->asked, names->alloc);
    sb_buf_fini(&names->base);
    sb_buf_fini(&names->key);
    sb_buf_fini(&names->tag);
    sb_alloc_put(names->alloc, names, sizeof *names);
}

/* The counter of a key; a new key starts at 0. NULL when out of memory. */
static uint32_t *counter_of(sb_names *names, sb_slice key) {
    if (!SB_VEC_RESERVE(&names->asked, names->alloc, 1, UINT32_MAX)) return NULL;
    uint32_t id;
    bool is_new;
    if (sb_intern_add(&names->keys, key, &id, &is_new) != SB_OK) return NULL;
    if (is_new) names->asked.items[names->asked.n++] = 0;
    return &names->asked.items[id];
}

/* Scopes are entered from the outermost: "a/b" marks "a" and then "a/b" as used. */
static bool enter_scope(sb_names *names, sb_slice scope) {
    for (size_t n = 1; n <= scope.n; n++) {
        if (n < scope.n && scope.p[n] != '/') continue;
        sb_buf_clear(&names->key);
        sb_buf_add(&names->key, scope.p, n);
        lower_case(names->key.p, names->key.n);
        if (names->key.failed) return false;
        uint32_t *asked = counter_of(names, sb_buf_slice(&names->key));
        if (!asked) return false;
        if (*asked == 0) *asked = 1;
    }
    return true;
}

/* Makes names->base unique by appending a number, unless it is unique already. */
static bool make_unique(sb_names *names) {
    sb_buf *key = &names->key;
    sb_buf_clear(key);
    sb_buf_add_slice(key, sb_buf_slice(&names->base));
    lower_case(key->p, key->n);
    if (key->failed) return false;
    size_t base_n = key->n;
    uint32_t *asked = counter_of(names, sb_buf_slice(key));
    if (!asked) return false;
    uint32_t i = (*asked)++;
    if (i == 0) return true;
    do {
        key->n = base_n;
        sb_buf_printf(key, "_%u", i++);
    } while (!key->failed && sb_intern_find(&names->keys, sb_buf_slice(key)) != SB_INTERN_NONE);
    if (key->failed || !(asked = counter_of(names, sb_buf_slice(key)))) return false;
    *asked = 1;
    sb_buf_printf(&names->base, "_%u", i - 1);
    return true;
}

static void add_cleaned(sb_buf *out, const char *text) {
    sb_slice raw = sb_slice_str(text);
    if (!raw.n || !sb_buf_reserve(out, raw.n)) return;
    size_t stored;
    sb_tag_clean_into(raw, out->p + out->n, raw.n, &stored);
    out->n += stored;
}

static sb_slice without_slashes(sb_slice s) {
    while (s.n && s.p[s.n - 1] == '/') s.n--;
    return s;
}

const char *sb_names_tag(sb_names *names, const char *scope, const char *family, const char *name) {
    if (!names || !name) return NULL;
    sb_slice outer = without_slashes(sb_slice_str(scope));
    sb_buf *base = &names->base, *tag = &names->tag;
    sb_buf_clear(base);
    sb_buf_clear(tag);
    if (!enter_scope(names, outer)) return NULL;
    if (family && family[0]) {
        add_cleaned(tag, family);
        sb_buf_add_byte(tag, '/');
        sb_buf_add_slice(base, sb_buf_slice(tag));
    }
    add_cleaned(base, name);
    /* A name that ends in a slash re-enters a scope: it is used unchanged, whatever the current
     * scope is. */
    bool again = base->n == 0 || base->p[base->n - 1] == '/';
    if (!again && outer.n) {
        sb_buf_clear(base);
        sb_buf_add_slice(base, outer);
        sb_buf_add_byte(base, '/');
        sb_buf_add_slice(base, sb_buf_slice(tag));
        add_cleaned(base, name);
    }
    if (!base->failed && !again && !make_unique(names)) return NULL;
    sb_buf_add_slice(tag, without_slashes(sb_buf_slice(base)));
    sb_buf_add_byte(tag, 0);
    return base->failed || tag->failed ? NULL : (const char *)tag->p;
}
