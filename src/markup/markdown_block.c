/* markdown_block.c: reads the text into blocks.
 *
 * In:  the text, which it changes in place: what a quote or a list item contains is moved together
 *      and read again as text of its own. Nothing is copied, and a block never grows.
 * Out: the tree.
 *
 * This is Python-Markdown's order of questions, asked of every block (lines up to a blank line):
 *   1 empty  2 indented below a list  3 indented code  4 table  5 # heading  6 underlined heading
 *   7 rule  8 list  9 quote  10 link definition  11 paragraph
 * A block that is only in part what was asked for gives back the rest. Lists do not interrupt a
 * paragraph, headings, rules and quotes do; four blanks nest, fewer do not.
 *
 * Threads: a document belongs to one. Cost: linear in the text for each level of nesting: where the
 * next heading, rule, quote or definition is found in a block is remembered for the rest of it. */
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

typedef struct sb_md_pending {
    sb_md_span block;
    struct sb_md_pending *next;
} sb_md_pending;

/* What is looked for on every line of a block. */
typedef enum sought { HEADING, RULE, QUOTE, DEFINITION, SOUGHT } sought;

typedef struct found {
    const uint8_t *from, *end, *at; /* the first in from..end is at `at`, NULL for none */
} found;

/* Blocks still to be parsed: first those given back, then the rest of the text. */
typedef struct blocks {
    sb_md_pending *front;
    sb_md_span rest;
    bool more;
    found known[SOUGHT];
} blocks;

static sb_slice slice(sb_md_span s) {
    return sb_slice_of(s.p, s.n);
}

static sb_md_span span(uint8_t *p, const uint8_t *end) {
    return (sb_md_span){p, (size_t)(end - p)};
}

static void give_back(sb_md_doc *d, blocks *b, sb_md_span block) {
    sb_md_pending *pending = d->spare;
    if (pending)
        d->spare = pending->next;
    else
        pending = sb_arena_get(&d->arena, sizeof *pending);
    if (!pending) {
        sb_md_fail(d, SB_NOMEM);
        return;
    }
    *pending = (sb_md_pending){block, b->front};
    b->front = pending;
}

static bool next_block(sb_md_doc *d, blocks *b, sb_md_span *block) {
    if (d->failed != SB_OK) return false;
    if (b->front) {
        sb_md_pending *pending = b->front;
        *block = pending->block;
        b->front = pending->next;
        pending->next = d->spare;
        d->spare = pending;
        return true;
    }
    if (!b->more) return false;
    uint8_t *p = b->rest.p, *cut = b->rest.n ? memmem(p, b->rest.n, "\n\n", 2) : NULL;
    *block = cut ? span(p, cut) : b->rest;
    b->more = cut != NULL;
    if (cut) b->rest = span(cut + 2, p + b->rest.n);
    return true;
}

/* ---- lines -----------------------------------------------------------------------------------*/

/* "# text #" at p: how many #, 0 when it is no heading. */
static size_t heading_level(const uint8_t *p, const uint8_t *line_end, sb_slice *text) {
    size_t level = 0;
    while (level < 6 && p + level < line_end && p[level] == '#') level++;
    if (level == 0) return 0;
    const uint8_t *q = p + level, *last = q;
    while (q < line_end) {
        if (*q == '\\') {
            if (q + 1 >= line_end) return 0;
            q += 2;
            last = q;
        } else if (*q++ != '#') {
            last = q;
        }
    }
    *text = sb_md_strip(sb_slice_of(p + level, (size_t)(last - p) - level));
    return level;
}

/* Three or more of - _ or *, at most two blanks between them. */
static bool is_rule(const uint8_t *p, const uint8_t *line_end) {
    size_t blanks = sb_md_spaces(p, line_end), count = 0;
    p += blanks;
    if (blanks > 3 || p >= line_end || (*p != '-' && *p != '_' && *p != '*')) return false;
    for (uint8_t c = *p; p < line_end;) {
        if (*p != c) return false;
        count++;
        blanks = sb_md_spaces(++p, line_end);
        p += blanks;
        if (blanks > 2 && p < line_end) return false;
    }
    return count >= 3;
}

static bool is_quote(const uint8_t *p, const uint8_t *line_end) {
    size_t blanks = sb_md_spaces(p, line_end);
    return blanks <= 3 && p + blanks < line_end && p[blanks] == '>';
}

/* ---- link definitions ------------------------------------------------------------------------*/

typedef struct definition {
    sb_slice id, url, title;
    const uint8_t *end;
    bool many_lines;
} definition;

static const uint8_t *without_blanks(const uint8_t *p, const uint8_t *line_end) {
    while (line_end > p && line_end[-1] == ' ') line_end--;
    return line_end;
}

/* Is all from p to last a title in quotes or parentheses? */
static bool whole_title(const uint8_t *p, const uint8_t *last, sb_slice *title) {
    if (last - p < 2) return false;
    bool quoted = (*p == '"' || *p == '\'') && last[-1] == *p;
    if (!quoted && !(*p == '(' && last[-1] == ')')) return false;
    *title = sb_slice_of(p + 1, (size_t)(last - p) - 2);
    return true;
}

static sb_slice strip_angles(sb_slice url) {
    while (url.n && url.p[0] == '<') url = sb_slice_of(url.p + 1, url.n - 1);
    while (url.n && url.p[url.n - 1] == '>') url.n--;
    return url;
}

/* Behind the URL: nothing, a title, or a title alone on the next line. */
static bool definition_tail(const uint8_t *p, const uint8_t *end, definition *def) {
    const uint8_t *line_end = sb_md_line_end(p, end), *q = p + sb_md_spaces(p, line_end);
    if (q < line_end) {
        def->end = line_end;
        return whole_title(q, without_blanks(q, line_end), &def->title);
    }
    def->end = line_end;
    if (line_end < end) {
        const uint8_t *next = line_end + 1, *next_end = sb_md_line_end(next, end);
        next += sb_md_spaces(next, next_end);
        if (whole_title(next, without_blanks(next, next_end), &def->title)) {
            def->end = next_end;
            def->many_lines = true;
        }
    }
    return true;
}

/* "[id]: url "title"" at p, the start of a line. */
static bool read_definition(const uint8_t *p, const uint8_t *end, definition *def) {
    *def = (definition){.many_lines = false};
    size_t blanks = sb_md_spaces(p, end);
    p += blanks;
    if (blanks > 3 || p >= end || *p != '[') return false;
    const uint8_t *id = ++p;
    while (p < end && *p != '[' && *p != ']') p++;
    if (end - p < 2 || p[0] != ']' || p[1] != ':') return false;
    def->id = sb_md_strip(sb_slice_of(id, (size_t)(p - id)));
    def->many_lines = memchr(id, '\n', (size_t)(p - id)) != NULL;
    p += 2;
    p += sb_md_spaces(p, end);
    if (p < end && *p == '\n') {
        def->many_lines = true;
        p++;
        p += sb_md_spaces(p, end);
    }
    const uint8_t *url = p;
    for (size_t n; p < end && !sb_md_space(sb_md_char(p, end, &n));) p += n;
    if (p == url) return false;
    def->url = strip_angles(sb_slice_of(url, (size_t)(p - url)));
    if (definition_tail(p, end, def)) return true;
    /* url"title with blanks" */
    const uint8_t *last = without_blanks(p, sb_md_line_end(p, end));
    for (const uint8_t *q = p - 1; q > url; q--) {
        if (!whole_title(q, last, &def->title)) continue;
        def->url = strip_angles(sb_slice_of(url, (size_t)(q - url)));
        return true;
    }
    return false;
}

static void add_definition(sb_md_doc *d, const definition *def) {
    uint8_t *id = sb_arena_get(&d->arena, def->id.n);
    sb_md_reference *r = id ? sb_md_push(d, &d->references, sizeof *r) : NULL;
    if (!r) {
        sb_md_fail(d, SB_NOMEM);
        return;
    }
    for (size_t i = 0; i < def->id.n; i++) {
        uint8_t c = def->id.p[i];
        id[i] = c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
    }
    *r = (sb_md_reference){.id = sb_slice_of(id, def->id.n), .url = def->url, .title = def->title};
    r->order = d->references.n / sizeof *r;
}

/* ---- looking for lines -----------------------------------------------------------------------*/

static bool is_sought(sought what, const uint8_t *p, const uint8_t *end) {
    const uint8_t *line_end = sb_md_line_end(p, end);
    sb_slice text;
    definition def;
    switch (what) {
    case HEADING:
        return *p == '#' && heading_level(p, line_end, &text) > 0;
    case RULE:
        return is_rule(p, line_end);
    case QUOTE:
        return is_quote(p, line_end);
    default:
        return read_definition(p, end, &def);
    }
}

/* The start of the first line of a block that is what is sought, NULL for none. */
static uint8_t *seek(blocks *b, sought what, sb_md_span block) {
    uint8_t *end = block.p + block.n;
    found *f = &b->known[what];
    if (f->end == end && f->from <= block.p && (!f->at || f->at >= block.p))
        return f->at ? block.p + (f->at - block.p) : NULL;
    *f = (found){block.p, end, NULL};
    for (uint8_t *p = block.p; p < end;) {
        if (is_sought(what, p, end)) {
            f->at = p;
            return p;
        }
        p += sb_md_line_end(p, end) - p;
        if (p < end) p++;
    }
    return NULL;
}

/* ---- blocks of one kind ----------------------------------------------------------------------*/

/* Lines in front of a line that was found, without the line feed between. */
static sb_md_span before_line(sb_md_span block, const uint8_t *at) {
    return (sb_md_span){block.p, at > block.p ? (size_t)(at - block.p) - 1 : 0};
}

static sb_md_node *last_code(const sb_md_node *parent) {
    return parent->last && parent->last->tag == SB_MD_CODE ? parent->last : NULL;
}

static void take_empty(sb_md_doc *d, blocks *b, sb_md_node *parent, sb_md_span block) {
    sb_md_node *code = last_code(parent);
    if (code) sb_md_add_text(d, &code->text, block.n ? SB_LIT("\n") : SB_LIT("\n\n"));
    if (block.n > 1) give_back(d, b, (sb_md_span){block.p + 1, block.n - 1});
}

bool sb_md_starts_tab(sb_md_span block) {
    return block.n >= SB_MD_TAB && memcmp(block.p, "    ", SB_MD_TAB) == 0;
}

void sb_md_loose_detab(sb_md_span *block, size_t level) {
    uint8_t *end = block->p + block->n, *to = block->p;
    for (uint8_t *p = block->p; p < end;) {
        size_t n = (size_t)(sb_md_line_end(p, end) - p);
        size_t cut = sb_md_spaces(p, p + n) >= level * SB_MD_TAB ? level * SB_MD_TAB : 0;
        memmove(to, p + cut, n - cut);
        to += n - cut;
        p += n;
        if (p < end) *to++ = *p++;
    }
    block->n = (size_t)(to - block->p);
}

/* Indented lines, and blank ones between, are code; the first other line ends it. */
static void take_code(sb_md_doc *d, blocks *b, sb_md_node *parent, sb_md_span block) {
    sb_md_node *code = last_code(parent);
    if (code)
        sb_md_add_text(d, &code->text, SB_LIT("\n"));
    else
        code = sb_md_add_node(d, parent, SB_MD_CODE);
    uint8_t *end = block.p + block.n, *to = block.p, *p = block.p;
    while (p < end && code) {
        size_t n = (size_t)(sb_md_line_end(p, end) - p);
        bool indented = sb_md_starts_tab((sb_md_span){p, n});
        if (!indented && sb_md_strip(sb_slice_of(p, n)).n) break;
        size_t cut = indented ? SB_MD_TAB : n;
        memmove(to, p + cut, n - cut);
        to += n - cut;
        p += n;
        if (p < end) *to++ = *p++;
    }
    if (!code) return;
    sb_md_add_text(d, &code->text, sb_md_right_strip(sb_slice_of(block.p, (size_t)(to - block.p))));
    sb_md_add_text(d, &code->text, SB_LIT("\n"));
    if (p < end) give_back(d, b, span(p, end));
}

static void take_heading(sb_md_doc *d, blocks *b, sb_md_place place, sb_md_span block,
                         uint8_t *at) {
    uint8_t *end = block.p + block.n, *line_end = at + (sb_md_line_end(at, end) - at);
    sb_slice text;
    size_t level = heading_level(at, line_end, &text);
    sb_md_span before = before_line(block, at);
    if (before.n) sb_md_parse_block(d, place, before);
    sb_md_node *node = sb_md_add_node(d, place.parent, (sb_md_tag)(SB_MD_H1 + (int)level - 1));
    if (node) sb_md_add_text(d, &node->text, text);
    if (end - line_end < 2) return;
    sb_md_span after = span(line_end + 1, end);
    if (place.state == SB_MD_IN_LOOSE_LIST) sb_md_loose_detab(&after, 1);
    give_back(d, b, after);
}

/* A line and under it a line of = or -. */
static bool take_underlined(sb_md_doc *d, blocks *b, sb_md_node *parent, sb_md_span block) {
    uint8_t *end = block.p + block.n, *first = block.p + (sb_md_line_end(block.p, end) - block.p);
    if (end - first < 2) return false;
    uint8_t *p = first + 1, c = *p;
    if (c != '=' && c != '-') return false;
    while (p < end && *p == c) p++;
    p += sb_md_spaces(p, end);
    if (p < end && *p != '\n') return false;
    sb_md_node *node = sb_md_add_node(d, parent, c == '=' ? SB_MD_H1 : SB_MD_H1 + 1);
    if (node) sb_md_add_text(d, &node->text, sb_md_strip(slice(span(block.p, first))));
    if (end - p > 1) give_back(d, b, span(p + 1, end));
    return true;
}

static void take_rule(sb_md_doc *d, blocks *b, sb_md_place place, sb_md_span block, uint8_t *at) {
    sb_md_span before = before_line(block, at);
    while (before.n && before.p[before.n - 1] == '\n') before.n--;
    if (before.n) sb_md_parse_block(d, place, before);
    sb_md_add_node(d, place.parent, SB_MD_RULE);
    uint8_t *end = block.p + block.n, *p = at + (sb_md_line_end(at, end) - at);
    while (p < end && *p == '\n') p++;
    if (p < end) give_back(d, b, span(p, end));
}

/* What a line of a quote says without its mark. */
static sb_slice unquoted(const uint8_t *p, const uint8_t *line_end) {
    sb_slice line = sb_slice_of(p, (size_t)(line_end - p));
    if (sb_slice_eq(sb_md_strip(line), SB_LIT(">"))) return sb_slice_of(p, 0);
    if (!is_quote(p, line_end)) return line;
    p += sb_md_spaces(p, line_end) + 1;
    if (p < line_end && *p == ' ') p++;
    return sb_slice_of(p, (size_t)(line_end - p));
}

static void take_quote(sb_md_doc *d, sb_md_place place, sb_md_span block, uint8_t *at) {
    uint8_t *end = block.p + block.n, *to = at;
    sb_md_span before = before_line(block, at);
    if (before.n) sb_md_parse_block(d, place, before);
    for (uint8_t *p = at; p < end;) {
        uint8_t *line_end = p + (sb_md_line_end(p, end) - p);
        sb_slice line = unquoted(p, line_end);
        memmove(to, line.p, line.n);
        to += line.n;
        p = line_end;
        if (p < end) *to++ = *p++;
    }
    sb_md_node *quote = place.parent->last;
    if (!quote || quote->tag != SB_MD_QUOTE) quote = sb_md_add_node(d, place.parent, SB_MD_QUOTE);
    if (quote)
        sb_md_parse_chunk(d, (sb_md_place){quote, SB_MD_IN_QUOTE, place.depth + 1}, span(at, to));
}

static void take_definitions(sb_md_doc *d, blocks *b, sb_md_place place, sb_md_span block,
                             uint8_t *at) {
    sb_md_span before = before_line(block, at);
    if (sb_md_strip(slice(before)).n) sb_md_parse_block(d, place, before);
    uint8_t *end = block.p + block.n, *p = at;
    definition def;
    while (p < end && read_definition(p, end, &def) && (p == at || !def.many_lines)) {
        add_definition(d, &def);
        p += def.end - p;
        while (p < end && *p == '\n') p++;
    }
    if (sb_md_strip(slice(span(p, end))).n) give_back(d, b, span(p, end));
}

static void take_paragraph(sb_md_doc *d, sb_md_place place, sb_md_span block) {
    sb_slice text = slice(block);
    if (!sb_md_strip(text).n) return;
    sb_md_node *parent = place.parent;
    if (place.state != SB_MD_IN_LIST) {
        sb_md_node *p = sb_md_add_node(d, parent, SB_MD_P);
        if (p) sb_md_add_text(d, &p->text, sb_md_left_strip(text));
        return;
    }
    sb_md_text *to = parent->last ? &parent->last->tail : &parent->text;
    if (parent->last || sb_md_has_text(to))
        sb_md_add_text(d, to, SB_LIT("\n"));
    else
        text = sb_md_left_strip(text);
    sb_md_add_text(d, to, text);
}

/* ---- the order of questions ------------------------------------------------------------------*/

static void take_block(sb_md_doc *d, blocks *b, sb_md_place place, sb_md_span block) {
    bool deep = place.depth >= d->limits->max_depth, ordered;
    uint8_t *at;
    if (block.n == 0 || block.p[0] == '\n')
        take_empty(d, b, place.parent, block);
    else if (!deep && sb_md_is_list_child(place, block))
        sb_md_take_list_child(d, place, block);
    else if (sb_md_starts_tab(block))
        take_code(d, b, place.parent, block);
    else if (sb_md_take_table(d, place.parent, block))
        return;
    else if ((at = seek(b, HEADING, block)) != NULL)
        take_heading(d, b, place, block, at);
    else if (take_underlined(d, b, place.parent, block))
        return;
    else if ((at = seek(b, RULE, block)) != NULL)
        take_rule(d, b, place, block, at);
    else if (!deep && sb_md_is_list(block, &ordered))
        sb_md_take_list(d, place, block, ordered);
    else if (!deep && (at = seek(b, QUOTE, block)) != NULL)
        take_quote(d, place, block, at);
    else if ((at = seek(b, DEFINITION, block)) != NULL)
        take_definitions(d, b, place, block, at);
    else
        take_paragraph(d, place, block);
}

static void parse(sb_md_doc *d, sb_md_place place, blocks *b) {
    sb_md_span block;
    while (next_block(d, b, &block)) take_block(d, b, place, block);
}

void sb_md_parse_chunk(sb_md_doc *d, sb_md_place place, sb_md_span text) {
    blocks b = {.rest = text, .more = true};
    parse(d, place, &b);
}

void sb_md_parse_block(sb_md_doc *d, sb_md_place place, sb_md_span block) {
    blocks b = {.more = false};
    give_back(d, &b, block);
    parse(d, place, &b);
}

void sb_md_parse_all(sb_md_doc *d, sb_md_node *root) {
    sb_md_parse_chunk(d, (sb_md_place){root, SB_MD_PLAIN, 0}, (sb_md_span){d->text.p, d->text.n});
}
