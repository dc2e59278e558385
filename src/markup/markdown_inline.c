/* markdown_inline.c: what is inside a paragraph, a heading, a cell: links, images, code, tags.
 *
 * In:  one text. Out: HTML, not safe yet.
 * md4c reads the text; to it every text is one paragraph, prepared by markdown_translate.c. What it
 * finds becomes text with atoms in it: links, images and tags that are done. Emphasis comes last,
 * over the whole and over the text of each link. A text without anything for md4c to find is not
 * given to it.
 *
 * md4c is not trusted: text that it hands over must lie in what it was given, else the text is
 * written plain; an end without a beginning is passed over; the gate is behind it all.
 *
 * Threads: as the document. Cost: linear. md4c takes its memory from malloc; its failure is
 * SB_NOMEM.
 */
#include <md4c.h>
#include <string.h>

#include "base/slice.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

enum { MAX_FRAMES = 32, LOST = 1 /* md4c is not to be trusted with this text */ };

/* A link or an image that is open. */
typedef struct frame {
    MD_SPANTYPE type;
    size_t data;       /* where its content begins */
    size_t url, url_n; /* in the store, escaped */
    size_t title, title_n;
} frame;

enum { BUFFERS = 11 };

static void list_buffers(sb_md_inline *x, sb_buf *list[BUFFERS]) {
    sb_buf *all[BUFFERS] = {&x->whole,   &x->ticks,     &x->translated, &x->data,
                            &x->store,   &x->atoms,     &x->frames,     &x->scratch,
                            &x->regions, &x->opened[0], &x->opened[1]};
    memcpy(list, all, sizeof all);
}

void sb_md_inline_init(sb_md_inline *x, sb_md_doc *d) {
    sb_buf *all[BUFFERS];
    *x = (sb_md_inline){.doc = d};
    list_buffers(x, all);
    for (int i = 0; i < BUFFERS; i++) sb_buf_init(all[i], d->alloc, d->limits->max_memory);
}

void sb_md_inline_fini(sb_md_inline *x) {
    sb_buf *all[BUFFERS];
    list_buffers(x, all);
    for (int i = 0; i < BUFFERS; i++) sb_buf_fini(all[i]);
}

/* ---- writing ---------------------------------------------------------------------------------*/

static bool alnum(uint8_t c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Does "name;" or "#1;" stand at p, behind an '&'? Any name will do: the gate knows the list. */
static bool reference_follows(const uint8_t *p, const uint8_t *end) {
    if (p < end && *p == '#') p++;
    const uint8_t *from = p;
    while (p < end && alnum(*p)) p++;
    return p > from && p < end && *p == ';';
}

static void write_amp(sb_buf *out, const uint8_t *p, const uint8_t *end) {
    if (reference_follows(p, end))
        sb_buf_add_byte(out, '&');
    else
        sb_buf_add_str(out, "&amp;");
}

/* The character that a stand-in byte stands for, 0 for none. */
static uint8_t stood_for(uint8_t c) {
    switch (c) {
    case SB_MD_STAR:
        return '*';
    case SB_MD_LINE:
        return '_';
    case SB_MD_BACKSLASH:
        return '\\';
    case SB_MD_LESS:
        return '<';
    case SB_MD_BLANK:
        return ' ';
    case SB_MD_TICK:
        return '`';
    default:
        return 0;
    }
}

void sb_md_write_code(sb_md_doc *d, sb_buf *out, sb_slice text) {
    if (text.n == 0) return;
    const uint8_t *p = text.p, *end = p + text.n, *from = p;
    while (p < end) {
        uint8_t c = *p;
        if (c != '&' && c != '<' && c != '>' && c != SB_MD_HOLD) {
            p++;
            continue;
        }
        sb_buf_add(out, from, (size_t)(p - from));
        const uint8_t *behind = ++p;
        if (c == SB_MD_HOLD) {
            const sb_md_held *held = sb_md_held_at(d, p, end, &behind);
            if (held) sb_md_write_held(d, out, held);
        } else {
            sb_buf_add_str(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
        }
        from = p = behind;
    }
    sb_buf_add(out, from, (size_t)(end - from));
}

/* The inside of an attribute value. */
static void write_value(sb_buf *out, sb_slice text) {
    if (text.n == 0) return;
    for (const uint8_t *p = text.p, *end = p + text.n; p < end; p++) {
        if (*p == '&')
            write_amp(out, p + 1, end);
        else if (*p == '<')
            sb_buf_add_str(out, "&lt;");
        else if (*p == '>')
            sb_buf_add_str(out, "&gt;");
        else if (*p == '"')
            sb_buf_add_str(out, "&quot;");
        else if (*p != SB_MD_HOLD && *p != SB_MD_HOLD_END)
            sb_buf_add_byte(out, *p);
    }
}

/* Copies bytes of the store; out may be the store itself. */
static void copy_stored(sb_md_inline *x, sb_buf *out, size_t at, size_t n) {
    if (n == 0 || !sb_buf_reserve(out, n)) return;
    memcpy(out->p + out->n, x->store.p + at, n);
    out->n += n;
}

static const sb_md_atom *atom_at(const sb_md_inline *x, const uint8_t *p) {
    size_t number = 0;
    for (int i = 1; i <= SB_MD_ATOM_BYTES; i++) number = number << 6 | (p[i] & 0x3Fu);
    return (const sb_md_atom *)(const void *)x->atoms.p + number;
}

/* The text of an atom, without tags; out may be the store. */
static void add_plain(const sb_md_inline *x, sb_buf *out, const sb_md_atom *atom) {
    bool inside = false;
    for (size_t i = 0; i < atom->n; i++) {
        uint8_t c = x->store.p[atom->at + i];
        if (c == '<' && !atom->tag)
            inside = true;
        else if (c == '>' && inside)
            inside = false;
        else if (!inside)
            sb_buf_add_byte(out, c);
    }
}

/* Bytes as the source had them. */
static void restore(const sb_md_inline *x, sb_buf *out, sb_slice text) {
    if (text.n == 0) return;
    for (const uint8_t *p = text.p, *end = p + text.n; p < end; p++) {
        if (*p < SB_MD_FIRST_STAND_IN) {
            sb_buf_add_byte(out, *p);
        } else if (*p == SB_MD_ATOM && end - p > SB_MD_ATOM_BYTES) {
            sb_md_atom atom = *atom_at(x, p);
            add_plain(x, out, &atom);
            p += SB_MD_ATOM_BYTES;
        } else if (stood_for(*p)) {
            sb_buf_add_byte(out, stood_for(*p));
        }
    }
}

/* Writes what the byte at p, which is not plain, stands for; answers what is behind it. */
static const uint8_t *write_special(sb_md_inline *x, sb_buf *out, const uint8_t *p,
                                    const uint8_t *end) {
    const uint8_t *behind = p + 1;
    if (*p == SB_MD_ATOM) {
        const sb_md_atom *atom = atom_at(x, p);
        copy_stored(x, out, atom->at, atom->n);
        return p + 1 + SB_MD_ATOM_BYTES;
    }
    if (*p == SB_MD_HOLD) {
        const sb_md_held *held = sb_md_held_at(x->doc, p + 1, end, &behind);
        if (held) sb_md_write_held(x->doc, out, held);
        return behind;
    }
    if (*p == '&')
        write_amp(out, p + 1, end);
    else if (*p == '<' || *p == SB_MD_LESS)
        sb_buf_add_str(out, "&lt;");
    else if (*p == '>')
        sb_buf_add_str(out, "&gt;");
    else if (stood_for(*p))
        sb_buf_add_byte(out, stood_for(*p));
    return behind;
}

void sb_md_data_write(sb_md_inline *x, sb_buf *out, size_t from, size_t to) {
    if (from >= to) return;
    const uint8_t *p = x->data.p + from, *end = x->data.p + to, *plain = p;
    while (p < end) {
        uint8_t c = *p;
        if (c != '&' && c != '<' && c != '>' && c != SB_MD_HOLD && c < SB_MD_FIRST_STAND_IN) {
            p++;
            continue;
        }
        sb_buf_add(out, plain, (size_t)(p - plain));
        plain = p = write_special(x, out, p, end);
    }
    sb_buf_add(out, plain, (size_t)(end - plain));
}

/* ---- what md4c finds -------------------------------------------------------------------------*/

/* Puts an atom into a text: the bytes of the store from `at` on. */
static int add_atom(sb_md_inline *x, sb_buf *to, size_t at, bool tag) {
    if (x->doc->failed != SB_OK) return -1;
    size_t number = x->atoms.n / sizeof(sb_md_atom);
    sb_md_atom *atom = sb_md_push(x->doc, &x->atoms, sizeof *atom);
    if (!atom) return -1;
    *atom = (sb_md_atom){.tag = tag, .at = at, .n = x->store.n - at};
    sb_buf_add_byte(to, SB_MD_ATOM);
    for (int i = SB_MD_ATOM_BYTES - 1; i >= 0; i--)
        sb_buf_add_byte(to, (uint8_t)(0x80 | (number >> (6 * i) & 0x3F)));
    return 0;
}

void sb_md_add_code_atom(sb_md_inline *x, sb_slice code) {
    size_t at = x->store.n;
    sb_buf_add_str(&x->store, "<code>");
    sb_md_write_code(x->doc, &x->store, code);
    sb_buf_add_str(&x->store, "</code>");
    add_atom(x, &x->translated, at, false);
}

void sb_md_add_raw_atom(sb_md_inline *x, sb_slice html) {
    size_t at = x->store.n;
    sb_buf_add_slice(&x->store, html);
    add_atom(x, &x->translated, at, true);
}

void sb_md_add_link_atom(sb_md_inline *x, const char *scheme, sb_slice url) {
    size_t at = x->store.n;
    sb_buf_add_str(&x->store, "<a href=\"");
    sb_buf_add_str(&x->store, scheme);
    write_value(&x->store, url);
    sb_buf_add_str(&x->store, "\">");
    sb_md_write_code(x->doc, &x->store, url);
    sb_buf_add_str(&x->store, "</a>");
    add_atom(x, &x->translated, at, false);
}

static sb_slice attribute(const MD_ATTRIBUTE *a) {
    return sb_slice_of(a->text, a->text ? a->size : 0);
}

/* Escapes a value into the store. */
static size_t store_value(sb_md_inline *x, sb_slice value, bool source) {
    size_t at = x->store.n;
    sb_buf_clear(&x->scratch);
    if (source)
        sb_buf_add_slice(&x->scratch, value);
    else
        restore(x, &x->scratch, value);
    sb_md_fail(x->doc, x->scratch.failed);
    write_value(&x->store, sb_md_strip(sb_buf_slice(&x->scratch)));
    return x->store.n - at;
}

static const sb_md_reference *numbered(const sb_md_inline *x, sb_slice url) {
    if (!url.n || url.p[0] != SB_MD_REFERENCE) return NULL;
    size_t number = 0, count = x->doc->references.n / sizeof(sb_md_reference);
    for (size_t i = 1; i < url.n && number < count; i++)
        number = number * 10 + (size_t)(url.p[i] - '0');
    return number < count ? (const sb_md_reference *)(const void *)x->doc->references.p + number
                          : NULL;
}

static void open_link(sb_md_inline *x, frame *f, const MD_ATTRIBUTE *to,
                      const MD_ATTRIBUTE *called) {
    sb_slice url = attribute(to), title = attribute(called);
    const sb_md_reference *r = numbered(x, url);
    if (r) {
        url = r->url;
        title = r->title;
    }
    f->url = x->store.n;
    f->url_n = store_value(x, url, r != NULL);
    f->title = x->store.n;
    f->title_n = title.n ? store_value(x, title, r != NULL) : 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *userdata) {
    sb_md_inline *x = userdata;
    if (type != MD_SPAN_A && type != MD_SPAN_IMG) return 0;
    if (x->frames.n / sizeof(frame) >= MAX_FRAMES) {
        x->too_deep++;
        return 0;
    }
    frame f = {.type = type, .data = x->data.n};
    if (type == MD_SPAN_A) {
        const MD_SPAN_A_DETAIL *a = detail;
        open_link(x, &f, &a->href, &a->title);
    } else if (type == MD_SPAN_IMG) {
        const MD_SPAN_IMG_DETAIL *img = detail;
        open_link(x, &f, &img->src, &img->title);
    }
    frame *place = sb_md_push(x->doc, &x->frames, sizeof f);
    if (!place) return -1;
    *place = f;
    return 0;
}

static void store_attribute(sb_md_inline *x, const char *name, size_t at, size_t n) {
    sb_buf_add_byte(&x->store, ' ');
    sb_buf_add_str(&x->store, name);
    sb_buf_add_str(&x->store, "=\"");
    copy_stored(x, &x->store, at, n);
    sb_buf_add_byte(&x->store, '"');
}

/* What an image shows when it cannot be shown: its text as the source has it. */
static void store_alt(sb_md_inline *x, const frame *f) {
    sb_buf_clear(&x->scratch);
    if (x->data.n > f->data)
        restore(x, &x->scratch, sb_slice_of(x->data.p + f->data, x->data.n - f->data));
    sb_md_fail(x->doc, x->scratch.failed);
    sb_buf_add_str(&x->store, " alt=\"");
    write_value(&x->store, sb_buf_slice(&x->scratch));
    sb_buf_add_byte(&x->store, '"');
}

static void close_image(sb_md_inline *x, const frame *f) {
    sb_buf_add_str(&x->store, "<img");
    store_alt(x, f);
    store_attribute(x, "src", f->url, f->url_n);
    if (f->title_n) store_attribute(x, "title", f->title, f->title_n);
    sb_buf_add_byte(&x->store, '>');
}

static void close_link(sb_md_inline *x, const frame *f) {
    sb_buf_add_str(&x->store, "<a");
    store_attribute(x, "href", f->url, f->url_n);
    if (f->title_n) store_attribute(x, "title", f->title, f->title_n);
    sb_buf_add_byte(&x->store, '>');
    sb_md_emphasis_write(x, &x->store, f->data, x->data.n);
    sb_buf_add_str(&x->store, "</a>");
}

static int leave_span(MD_SPANTYPE type, void *detail, void *userdata) {
    (void)detail;
    sb_md_inline *x = userdata;
    if (type != MD_SPAN_A && type != MD_SPAN_IMG) return 0;
    if (x->too_deep) {
        x->too_deep--;
        return 0;
    }
    frame f = {.type = type};
    if (x->frames.n) memcpy(&f, x->frames.p + x->frames.n - sizeof f, sizeof f);
    /* md4c 0.4.8 ends a link in "![a](b[c) d](e)" that it never began */
    if (!x->frames.n || f.type != type) return 0;
    x->frames.n -= sizeof f;
    size_t at = x->store.n;
    if (type == MD_SPAN_IMG)
        close_image(x, &f);
    else
        close_link(x, &f);
    x->data.n = f.data;
    return add_atom(x, &x->data, at, false);
}

/* Do these bytes lie in the text that md4c was given? If not, md4c is in a wrong state. */
static bool is_from_md4c_input(const sb_md_inline *x, const MD_CHAR *text, MD_SIZE size) {
    const uint8_t *p = (const uint8_t *)text;
    return p >= x->translated.p && p <= x->translated.p + x->translated.n &&
           size <= (size_t)(x->translated.p + x->translated.n - p);
}

static int take_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *userdata) {
    sb_md_inline *x = userdata;
    size_t at = x->store.n;
    if (type == MD_TEXT_BR) {
        sb_buf_add_str(&x->store, "<br>\n");
        return add_atom(x, &x->data, at, false);
    }
    if (type == MD_TEXT_SOFTBR) {
        sb_buf_add_byte(&x->data, '\n');
        return 0;
    }
    if (!is_from_md4c_input(x, text, size)) return LOST;
    for (MD_SIZE i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        if (c != SB_MD_GUARD) sb_buf_add_byte(&x->data, c == SB_MD_BLANK ? ' ' : c);
    }
    return 0;
}

static int ignore_block(MD_BLOCKTYPE type, void *detail, void *userdata) {
    (void)type, (void)detail, (void)userdata;
    return 0;
}

/* ---- a text ----------------------------------------------------------------------------------*/

/* 0, LOST, or -1 for a failure that the document knows. */
static int run_md4c(sb_md_inline *x, sb_slice text) {
    sb_md_translate(x, text);
    if (x->doc->failed != SB_OK) return -1;
    const MD_PARSER parser = {
        .flags = MD_FLAG_NOINDENTEDCODEBLOCKS | MD_FLAG_NOHTML,
        .enter_block = ignore_block,
        .leave_block = ignore_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = take_text,
    };
    x->too_deep = 0;
    int result = md_parse((const MD_CHAR *)x->translated.p, (MD_SIZE)x->translated.n, &parser, x);
    if (result < 0) sb_md_fail(x->doc, SB_NOMEM);
    return result;
}

static void read_text(sb_md_inline *x, sb_slice text) {
    sb_buf *all[] = {&x->data, &x->store, &x->atoms, &x->frames};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sb_buf_clear(all[i]);
    if (!sb_md_worth_reading(text) || run_md4c(x, text) == LOST) {
        sb_buf_clear(&x->data);
        for (size_t i = 0; i < text.n; i++) {
            uint8_t c = text.p[i];
            sb_buf_add_byte(&x->data, c == '*' ? SB_MD_STAR : c == '_' ? SB_MD_LINE : c);
        }
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sb_md_fail(x->doc, all[i]->failed);
}

static sb_slice joined(sb_md_inline *x, const sb_md_text *text) {
    if (!text->first) return SB_LIT("");
    if (!text->first->next) return text->first->text;
    sb_buf_clear(&x->whole);
    for (const sb_md_piece *piece = text->first; piece; piece = piece->next)
        sb_buf_add_slice(&x->whole, piece->text);
    sb_md_fail(x->doc, x->whole.failed);
    return sb_buf_slice(&x->whole);
}

/* Is the text one held place and nothing else? */
static const sb_md_held *only_held(const sb_md_inline *x, sb_slice text) {
    if (!text.n || text.p[0] != SB_MD_HOLD) return NULL;
    const uint8_t *end;
    const sb_md_held *held = sb_md_held_at(x->doc, text.p + 1, text.p + text.n, &end);
    return held && end == text.p + text.n ? held : NULL;
}

/* Is the text one tag of a block element and nothing else? */
static bool only_block_tag(const sb_md_inline *x, sb_slice text) {
    if (!text.n || text.p[text.n - 1] != '>') return false;
    if (x->data.n != 1 + SB_MD_ATOM_BYTES || x->data.p[0] != SB_MD_ATOM) return false;
    const sb_md_atom *atom = atom_at(x, x->data.p);
    return atom->tag && sb_md_html_is_block(sb_slice_of(x->store.p + atom->at, atom->n));
}

void sb_md_inline_write(sb_md_inline *x, sb_buf *out, const sb_md_text *text, bool paragraph) {
    sb_slice whole = joined(x, text);
    const sb_md_held *held = paragraph ? only_held(x, whole) : NULL;
    if (held && sb_md_held_is_block(x->doc, held)) {
        sb_md_write_held(x->doc, out, held);
        return;
    }
    read_text(x, whole);
    if (x->doc->failed != SB_OK) return;
    bool bare = !paragraph || only_block_tag(x, whole);
    if (!bare) sb_buf_add_str(out, "<p>");
    sb_md_emphasis_write(x, out, 0, x->data.n);
    if (!bare) sb_buf_add_str(out, "</p>");
    sb_md_fail(x->doc, x->store.failed);
}
