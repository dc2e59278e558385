/* markdown_emphasis.c: which * and _ are emphasis.
 *
 * In:  the data of one text: runs of SB_MD_STAR and SB_MD_LINE between other bytes. Out: HTML.
 * A run opens when no white space follows, closes when none stands in front; '_' besides only at
 * the border of a word. Unlike CommonMark, punctuation beside a run does not count, so that
 * emphasis in Chinese works. How runs of different lengths pair is the reference's rule
 * (Python-Markdown 3.11): a closing run takes openers from the top of its stack until it is used
 * up; what it takes less than an opener has stays open; an ambiguous run obeys the rule of three.
 *
 * Threads: as the document. Cost: linear for ordinary text; the steps are rationed, and what is
 * left when the ration is used up stays text. */
#include <stdlib.h>
#include <string.h>

#include "base/text/unicode_word.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

enum { RATION = 1 << 14, STEPS_PER_BYTE = 8 };

typedef enum run_kind { RUN_NOTHING, RUN_OPENS, RUN_CLOSES, RUN_BOTH } run_kind;

typedef struct run {
    size_t at, n;
    run_kind kind;
    int which; /* 0: stars, 1: lines */
} run;

/* A run that waits for its closing one; from..to is what is left of it. */
typedef struct opener {
    size_t from, to;
    bool both;
    size_t whole; /* its length at first */
    size_t left;
} opener;

/* Opening marks from..text, closing marks text_end..to. */
typedef struct region {
    size_t from, text, text_end, to;
    bool strong;
} region;

typedef struct emphasis {
    sb_md_inline *in;
    const uint8_t *p;
    size_t from, to;
    size_t floor; /* in front of this something is done already */
    size_t steps, ration;
} emphasis;

/* ---- runs ------------------------------------------------------------------------------------*/

static bool word(uint32_t c) {
    return c < 0x110000 ? sb_unicode_word(c) && c != '_' : c == 0x110000u + SB_MD_LINE;
}

static bool is_mark(uint8_t c) {
    return c == SB_MD_STAR || c == SB_MD_LINE;
}

/* The run that begins at `at`. */
static run run_at(const emphasis *e, size_t at) {
    run r = {.at = at, .which = e->p[at] == SB_MD_LINE};
    size_t end = at;
    while (end < e->to && e->p[end] == e->p[at]) end++;
    r.n = end - at;
    bool first = at == e->from, last = end == e->to, done_before = at == e->floor && !first;
    size_t n;
    uint32_t before = first || done_before ? 0 : sb_md_char_before(e->p + e->from, e->p + at);
    uint32_t after = last ? 0 : sb_md_char(e->p + end, e->p + e->to, &n);
    bool inside = !first && !done_before && e->p[at - 1] == e->p[at];
    bool closes = !first && !inside && (done_before || !sb_md_space(before));
    bool opens = !last && !sb_md_space(after);
    if (r.which == 1) {
        bool word_before = !first && !done_before && word(before);
        bool word_after = !last && word(after);
        closes = closes && !word_after;
        opens = opens && !word_before && !inside;
    }
    r.kind = opens && closes ? RUN_BOTH : opens ? RUN_OPENS : closes ? RUN_CLOSES : RUN_NOTHING;
    return r;
}

static size_t next_mark(const emphasis *e, size_t at) {
    while (at < e->to && !is_mark(e->p[at])) at++;
    return at;
}

/* ---- stacks ----------------------------------------------------------------------------------*/

static opener *stack_of(const emphasis *e, int which, size_t *count) {
    *count = e->in->opened[which].n / sizeof(opener);
    return (opener *)(void *)e->in->opened[which].p;
}

static void push_opener(emphasis *e, int which, opener o) {
    opener *place = sb_md_push(e->in->doc, &e->in->opened[which], sizeof *place);
    if (place) *place = o;
}

static bool top_opener(const emphasis *e, int which, opener *o) {
    size_t count;
    opener *stack = stack_of(e, which, &count);
    if (count) *o = stack[count - 1];
    return count > 0;
}

static bool pop_opener(emphasis *e, int which, opener *o) {
    bool any = top_opener(e, which, o);
    if (any) e->in->opened[which].n -= sizeof *o;
    return any;
}

static bool has_no_opener(const emphasis *e, int which) {
    return e->in->opened[which].n == 0;
}

static bool rule_of_three(size_t opening, size_t closing) {
    return (opening + closing) % 3 == 0 && (opening % 3 != 0 || closing % 3 != 0);
}

/* Marks that pair; whatever waits between them waits no longer. */
static void add_region(emphasis *e, size_t text, size_t text_end, size_t size) {
    region *r = sb_md_push(e->in->doc, &e->in->regions, sizeof *r);
    if (!r) return;
    *r = (region){text - size, text, text_end, text_end + size, size == 2};
    size_t from = r->from, to = r->to;
    for (int which = 0; which < 2; which++) {
        opener o;
        while (top_opener(e, which, &o) && o.from >= from && o.from < to) pop_opener(e, which, &o);
    }
}

/* ---- pairing ---------------------------------------------------------------------------------*/

/* The run that is being looked at, and what is left of it. */
typedef struct closing {
    run r;
    size_t start, left;
    size_t last; /* what the top of the stack has left */
    bool opens, closes, both;
} closing;

static size_t at_most_two(size_t left) {
    return left == 3 ? 1 : left < 2 ? left : 2;
}

/* Openers are used up while the run lasts. */
static void close_many(emphasis *e, closing *c) {
    int which = c->r.which;
    size_t whole = c->left;
    opener o;
    c->opens = false;
    while (c->left && c->last <= c->left && pop_opener(e, which, &o)) {
        size_t size = at_most_two(o.left);
        if (size > c->left) size = c->left;
        add_region(e, o.to, c->start, size);
        c->start += size;
        c->left -= size;
        if (size < o.left)
            push_opener(e, which, (opener){o.from, o.to - size, o.both, o.whole, o.left - size});
        if (!top_opener(e, which, &o)) {
            if (has_no_opener(e, !which)) c->closes = false;
            break;
        }
        c->last = o.left;
    }
    if (whole >= 3 && c->left && c->both) {
        push_opener(e, which,
                    (opener){c->r.at + (whole - c->left), c->r.at + c->r.n, false, whole, c->left});
        c->closes = false;
    } else {
        c->closes = c->left && !has_no_opener(e, which) && c->last > c->left;
    }
}

/* The opener is longer than the run. False: nothing can be paired from here on. */
static bool close_part(emphasis *e, closing *c) {
    int which = c->r.which;
    opener o = {0};
    pop_opener(e, which, &o);
    while (!has_no_opener(e, which) && o.left != 3 && o.both) {
        pop_opener(e, which, &o);
        c->last = o.left;
    }
    if (o.both && o.left != 3) {
        e->in->opened[which].n = 0;
        return !has_no_opener(e, !which);
    }
    c->opens = false;
    while (c->left && c->left <= c->last) {
        size_t size = at_most_two(c->left);
        add_region(e, o.to, c->start, size);
        c->start += size;
        c->left -= size;
        c->last -= size;
        o.to -= size;
    }
    if (c->last) push_opener(e, which, (opener){o.from, o.to, false, o.whole, c->last});
    return true;
}

static void look_below(emphasis *e, closing *c) {
    size_t count;
    opener *stack = stack_of(e, c->r.which, &count);
    if (!count || !c->both || c->left == c->last || !rule_of_three(stack[count - 1].whole, c->left))
        return;
    for (size_t i = count - 1; i-- > 0 && e->steps++ < e->ration;) {
        if (stack[i].left != c->left || rule_of_three(stack[i].whole, c->left)) continue;
        c->last = c->left;
        return;
    }
}

/* False ends the pairing. */
static bool take_run(emphasis *e, run r) {
    closing c = {.r = r, .start = r.at, .left = r.n};
    c.opens = r.kind != RUN_CLOSES;
    c.closes = r.kind != RUN_OPENS;
    c.both = r.kind == RUN_BOTH;
    opener o;
    bool any = top_opener(e, r.which, &o);
    c.last = any ? o.left : 0;
    look_below(e, &c);
    bool longer = c.left > c.last && (!c.both || !rule_of_three(any ? o.whole : 0, c.left));
    if (any && c.closes && (longer || c.left == c.last || c.left >= 3)) close_many(e, &c);
    if (!has_no_opener(e, r.which) && c.closes && (c.last >= 3 || !c.both) && c.last > c.left) {
        bool reset = !close_part(e, &c);
        if (reset) return false;
        if (has_no_opener(e, r.which) && c.opens) return true;
    }
    if (c.opens) push_opener(e, r.which, (opener){c.start, r.at + r.n, c.both, c.left, c.left});
    return true;
}

/* Pairs runs from the one at `at` on until none waits. */
static void pair(emphasis *e, run first) {
    push_opener(e, first.which,
                (opener){first.at, first.at + first.n, first.kind == RUN_BOTH, first.n, first.n});
    size_t at = first.at + first.n;
    while ((!has_no_opener(e, 0) || !has_no_opener(e, 1)) && e->in->doc->failed == SB_OK) {
        at = next_mark(e, at);
        if (at >= e->to || e->steps++ >= e->ration) return;
        run r = run_at(e, at);
        at += r.n;
        if (r.kind == RUN_NOTHING || (r.kind == RUN_CLOSES && has_no_opener(e, r.which))) continue;
        if (!take_run(e, r)) return;
    }
}

/* ---- writing ---------------------------------------------------------------------------------*/

/* An opening or a closing tag, and the marks it stands for. */
typedef struct edge {
    size_t from, to;
    bool strong, close;
} edge;

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Writes from `at` to the end of the last region, and answers where that is. */
static size_t write_regions(emphasis *e, sb_buf *out, size_t at) {
    sb_buf edges;
    sb_buf_init(&edges, e->in->doc->alloc, e->in->doc->limits->max_memory);
    const region *regions = (const region *)(const void *)e->in->regions.p;
    size_t count = e->in->regions.n / sizeof *regions;
    for (size_t i = 0; i < count; i++) {
        edge *pair_of = sb_md_push(e->in->doc, &edges, 2 * sizeof *pair_of);
        if (!pair_of) break;
        const region *r = &regions[i];
        pair_of[0] = (edge){r->from, r->text, r->strong, false};
        pair_of[1] = (edge){r->text_end, r->to, r->strong, true};
    }
    const edge *list = (const edge *)(const void *)edges.p;
    count = edges.n / sizeof *list;
    if (count) qsort(edges.p, count, sizeof *list, compare_edges);
    for (size_t i = 0; i < count; i++) {
        if (list[i].from < at) continue;
        sb_md_data_write(e->in, out, at, list[i].from);
        sb_buf_add_str(out, list[i].close ? "</" : "<");
        sb_buf_add_str(out, list[i].strong ? "strong>" : "em>");
        at = list[i].to;
    }
    sb_buf_fini(&edges);
    return at;
}

/* Where to go on when nothing could be paired: behind the last run that waits; with the next mark
 * of the same run when none does. */
static size_t behind_waiting(const emphasis *e, size_t at) {
    if (has_no_opener(e, 0) && has_no_opener(e, 1)) return at + 1;
    for (int which = 0; which < 2; which++) {
        opener o;
        if (top_opener(e, which, &o) && o.to > at) at = o.to;
    }
    return at;
}

void sb_md_emphasis_write(sb_md_inline *x, sb_buf *out, size_t from, size_t to) {
    emphasis e = {.in = x, .p = x->data.p, .from = from, .to = to, .floor = from};
    e.ration = RATION + STEPS_PER_BYTE * (to - from);
    size_t written = from, at = from;
    while ((at = next_mark(&e, at)) < to && e.steps++ < e.ration && x->doc->failed == SB_OK) {
        run r = run_at(&e, at);
        if (r.kind != RUN_OPENS && r.kind != RUN_BOTH) {
            at += r.n;
            continue;
        }
        x->regions.n = x->opened[0].n = x->opened[1].n = 0;
        pair(&e, r);
        if (x->regions.n) {
            written = at = e.floor = write_regions(&e, out, written);
        } else {
            at = behind_waiting(&e, at);
        }
    }
    sb_md_data_write(x, out, written, to);
}
