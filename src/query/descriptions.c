/* descriptions.c: one description per tag from those of many runs (series_list.h). */
#include <stdlib.h>

#include "base/buf.h"
#include "base/checked.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/slice.h"
#include "query/series_list.h"
#include "base/banned.h"

/* A description that a run has for a tag. */
typedef struct use {
    uint32_t tag; /* number of the tag; of no matter where runs are looked up */
    sb_slice text;
    sb_slice run;
} use;

typedef struct combining {
    sb_arena *arena;
    sb_intern tags;
    sb_tag_description *out;
    bool *differs;
    size_t uses_n;
    use *uses;    /* by tag and text */
    use *by_text; /* the same, by text and run */
} combining;

static int by_tag_and_text(const void *a, const void *b) {
    const use *x = a, *y = b;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return sb_slice_cmp(x->text, y->text);
}

static int by_text_and_run(const void *a, const void *b) {
    const use *x = a, *y = b;
    int order = sb_slice_cmp(x->text, y->text);
    return order ? order : sb_slice_cmp(x->run, y->run);
}

/* The first pass: tags, their first description, and whether another one comes. */
static sb_status see_tags(combining *c, const sb_series_list *list, bool *any) {
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->runs[i].n; k++) {
            const sb_series_entry *e = &list->runs[i].series[k];
            uint32_t id;
            bool is_new;
            if (e->description.n == 0) continue;
            c->uses_n++;
            sb_status status = sb_intern_add(&c->tags, e->tag, &id, &is_new);
            if (status != SB_OK) return status;
            if (is_new)
                c->out[id] = (sb_tag_description){e->tag, e->description};
            else if (!sb_slice_eq(c->out[id].markdown, e->description))
                c->differs[id] = *any = true;
        }
    return SB_OK;
}

static sb_status gather_uses(combining *c, const sb_series_list *list) {
    size_t bytes, n = 0;
    if (!sb_mul_size(&bytes, c->uses_n, sizeof(use))) return SB_NOMEM;
    c->uses = sb_arena_get(c->arena, bytes);
    c->by_text = sb_arena_get(c->arena, bytes);
    if (!c->uses || !c->by_text) return SB_NOMEM;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->runs[i].n; k++) {
            const sb_series_entry *e = &list->runs[i].series[k];
            if (e->description.n == 0) continue;
            uint32_t id = sb_intern_find(&c->tags, e->tag);
            c->uses[n++] = (use){id, e->description, list->runs[i].info.name};
        }
    for (size_t i = 0; i < n; i++) c->by_text[i] = c->uses[i];
    qsort(c->uses, n, sizeof(use), by_tag_and_text);
    qsort(c->by_text, n, sizeof(use), by_text_and_run);
    return SB_OK;
}

/* "## For runs: a, b" of all runs that use the text anywhere. */
static void add_runs(const combining *c, sb_slice text, sb_buf *to) {
    size_t first;
    SB_PARTITION_POINT(first, 0, c->uses_n, sb_slice_cmp(c->by_text[first].text, text) < 0);
    size_t end = first;
    while (end < c->uses_n && sb_slice_eq(c->by_text[end].text, text)) end++;
    bool several = !sb_slice_eq(c->by_text[first].run, c->by_text[end - 1].run);
    sb_buf_add_str(to, several ? "## For runs: " : "## For run: ");
    for (size_t i = first; i < end; i++) {
        if (i > first && sb_slice_eq(c->by_text[i].run, c->by_text[i - 1].run)) continue;
        if (i > first) sb_buf_add_str(to, ", ");
        sb_buf_add_slice(to, c->by_text[i].run);
    }
}

/* uses[from..to) are of one tag. */
static sb_status combine(combining *c, size_t from, size_t to) {
    sb_buf text;
    sb_buf_init(&text, c->arena->alloc, SIZE_MAX / 2);
    sb_buf_add_str(&text, "# Multiple descriptions");
    for (size_t i = from; i < to; i++) {
        if (i > from && sb_slice_eq(c->uses[i].text, c->uses[i - 1].text)) continue;
        sb_buf_add_byte(&text, '\n');
        add_runs(c, c->uses[i].text, &text);
        sb_buf_add_byte(&text, '\n');
        sb_buf_add_slice(&text, c->uses[i].text);
    }
    sb_slice copy = {NULL, 0};
    if (text.failed == SB_OK) copy = sb_arena_dup(c->arena, sb_buf_slice(&text));
    sb_buf_fini(&text);
    c->out[c->uses[from].tag].markdown = copy;
    return copy.p ? SB_OK : SB_NOMEM;
}

static sb_status combine_all(combining *c, const sb_series_list *list) {
    bool any = false;
    sb_status status = see_tags(c, list, &any);
    if (status != SB_OK || !any) return status;
    status = gather_uses(c, list);
    for (size_t i = 0, end; i < c->uses_n && status == SB_OK; i = end) {
        for (end = i + 1; end < c->uses_n && c->uses[end].tag == c->uses[i].tag;) end++;
        if (c->differs[c->uses[i].tag]) status = combine(c, i, end);
    }
    return status;
}

sb_status sb_tag_descriptions(const sb_series_list *list, sb_arena *arena, sb_tag_description **out,
                              size_t *n, sb_err *err) {
    size_t most = 0;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->runs[i].n; k++)
            most += list->runs[i].series[k].description.n > 0;
    combining c = {.arena = arena};
    c.out = sb_arena_zeroed(arena, most, sizeof *c.out);
    c.differs = sb_arena_zeroed(arena, most, sizeof *c.differs);
    if (!c.out || !c.differs) return sb_fail_nomem(err, "for descriptions");
    sb_intern_init(&c.tags, arena->alloc, 1, UINT32_MAX - 1);
    sb_status status = combine_all(&c, list);
    *n = c.tags.count;
    *out = c.out;
    sb_intern_fini(&c.tags);
    return status == SB_OK ? SB_OK : sb_fail_nomem(err, "for descriptions");
}
