/* markdown_int.h: what the stages of the Markdown renderer share.
 *
 *   markdown_source.c   line ends, tabs, fenced code        text   -> text with places held
 *   markdown_raw.c      blocks of raw HTML                  text   -> text with places held
 *   markdown_block.c    paragraphs, headings, quotes, ...   text   -> tree
 *   markdown_list.c     lists, markdown_table.c tables
 *   markdown_translate.c     code and what the dialect wants     text   -> text for md4c
 *   markdown_tag.c      <http://...>, tags, comments
 *   markdown_inline.c   links, images                       text   -> HTML, by md4c
 *   markdown_emphasis.c * and _
 *   markdown_tree.c     nodes, and the tree as HTML
 * The HTML is not safe yet: the gate (html_allow.h) is behind all this.
 *
 * Held places: fenced code and raw HTML are taken out early and stand in the text as STX number
 * ETX; both characters are removed from the source first. Inside a text that is given to md4c,
 * bytes that UTF-8 never has stand for characters that md4c must not see as its own (the enum
 * below). */
#ifndef SB_MARKUP_MARKDOWN_INT_H
#define SB_MARKUP_MARKDOWN_INT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "markup/markdown.h"

enum { SB_MD_HOLD = 0x02, SB_MD_HOLD_END = 0x03, SB_MD_TAB = 4 };

/* Bytes that stand for something between the stages of one text. */
enum {
    SB_MD_BLANK = 0xF7,     /* ' ' that must stay as it is */
    SB_MD_STAR = 0xF8,      /* '*' that may be emphasis */
    SB_MD_LINE = 0xF9,      /* '_' that may be emphasis */
    SB_MD_BACKSLASH = 0xFA, /* '\' that escapes nothing */
    SB_MD_GUARD = 0xFB,     /* nothing: keeps a line from looking like a block */
    SB_MD_LESS = 0xFC,      /* '<' that begins no tag */
    SB_MD_ATOM = 0xFD,      /* with SB_MD_ATOM_BYTES behind it: something that is done */
    SB_MD_REFERENCE = 0xFE, /* the URL of a link by reference: its number follows */
    SB_MD_TICK = 0xFF,      /* '`' that begins no code */
    SB_MD_FIRST_STAND_IN = SB_MD_BLANK
};
enum { SB_MD_ATOM_BYTES = 5, SB_MD_SHORT_RUN = 64 };

/* Text that may be changed in place: blocks only ever shrink. */
typedef struct sb_md_span {
    uint8_t *p;
    size_t n;
} sb_md_span;

typedef enum sb_md_tag {
    SB_MD_ROOT,
    SB_MD_P,
    SB_MD_H1, /* to SB_MD_H1 + 5 */
    SB_MD_QUOTE = SB_MD_H1 + 6,
    SB_MD_UL,
    SB_MD_OL,
    SB_MD_LI,
    SB_MD_CODE, /* <pre><code> */
    SB_MD_RULE,
    SB_MD_TABLE,
    SB_MD_THEAD,
    SB_MD_TBODY,
    SB_MD_TR,
    SB_MD_TH,
    SB_MD_TD
} sb_md_tag;

typedef struct sb_md_piece {
    sb_slice text;
    struct sb_md_piece *next;
} sb_md_piece;

/* Text in pieces, so that adding to it never copies. */
typedef struct sb_md_text {
    sb_md_piece *first, *last;
} sb_md_text;

typedef struct sb_md_node {
    sb_md_tag tag;
    sb_md_text text; /* in front of the children */
    sb_md_text tail; /* behind the node, inside its parent */
    struct sb_md_node *first, *last, *next;
} sb_md_node;

/* What was taken out of the text; a placeholder ("held place") stands there instead. */
typedef struct sb_md_held {
    bool fence; /* code of a fence: at, n in the source; else raw HTML: in the store */
    size_t at, n;
} sb_md_held;

typedef struct sb_md_reference {
    sb_slice id; /* in small letters */
    sb_slice url, title;
    size_t order;
} sb_md_reference;

typedef struct sb_md_doc {
    const sb_markdown_limits *limits;
    const sb_alloc *alloc;
    sb_arena arena; /* nodes and pieces */
    sb_status failed;
    sb_buf source;     /* normalised; the code of fences stays in it */
    sb_buf text;       /* what the blocks are read from, changed in place */
    sb_buf store;      /* raw HTML that was taken out */
    sb_buf held;       /* sb_md_held[] */
    sb_buf references; /* sb_md_reference[], sorted before the inline stage */
    struct sb_md_pending *spare;
} sb_md_doc;

/* Bytes that grow by whole elements; NULL on failure, which the document remembers. */
void *sb_md_push(sb_md_doc *d, sb_buf *array, size_t size);
void sb_md_fail(sb_md_doc *d, sb_status status);

/* ---- characters ------------------------------------------------------------------------------*/

/* White space as Python's str.strip and \s have it. */
bool sb_md_space(uint32_t c);
/* The character at p, which has at least one byte before end, and its length. Bytes that are no
 * UTF-8 are characters of their own, over 0x10FFFF. */
uint32_t sb_md_char(const uint8_t *p, const uint8_t *end, size_t *n);
uint32_t sb_md_char_before(const uint8_t *begin, const uint8_t *p);
sb_slice sb_md_left_strip(sb_slice s);
sb_slice sb_md_right_strip(sb_slice s);
sb_slice sb_md_strip(sb_slice s);
size_t sb_md_spaces(const uint8_t *p, const uint8_t *end); /* how many blanks from p on */
const uint8_t *sb_md_line_end(const uint8_t *p, const uint8_t *end);

/* ---- stages ----------------------------------------------------------------------------------*/

void sb_md_normalise(sb_md_doc *d, sb_slice text);
void sb_md_hold_fences(sb_md_doc *d);
void sb_md_hold_raw(sb_md_doc *d);
void sb_md_parse_all(sb_md_doc *d, sb_md_node *root);
void sb_md_write(sb_md_doc *d, sb_buf *out, const sb_md_node *root);

/* Takes bytes out of the text and appends what holds their place. */
void sb_md_hold(sb_md_doc *d, sb_buf *text, sb_md_held held);
/* Reads the number at p, which is behind an SB_MD_HOLD; NULL when it is none. *end is then behind
 * it. */
const sb_md_held *sb_md_held_at(const sb_md_doc *d, const uint8_t *p, const uint8_t *text_end,
                                const uint8_t **end);
/* Writes what a place holds; raw HTML may itself hold places. */
void sb_md_write_held(sb_md_doc *d, sb_buf *out, const sb_md_held *held);
/* Does a held HTML begin with such an element (or a comment)? */
bool sb_md_held_is_block(const sb_md_doc *d, const sb_md_held *held);
bool sb_md_html_is_block(sb_slice html);

/* ---- tree ------------------------------------------------------------------------------------*/

sb_md_node *sb_md_add_node(sb_md_doc *d, sb_md_node *parent, sb_md_tag tag);
/* A node in front of all children. */
sb_md_node *sb_md_insert_first(sb_md_doc *d, sb_md_node *parent, sb_md_tag tag);
void sb_md_add_text(sb_md_doc *d, sb_md_text *text, sb_slice more);
void sb_md_move_text(sb_md_text *to, sb_md_text *from);
void sb_md_text_left_strip(sb_md_text *text);
static inline bool sb_md_has_text(const sb_md_text *text) {
    return text->first != NULL;
}

/* ---- blocks ----------------------------------------------------------------------------------*/

/* What the parser is inside of, as far as it matters to the next block. */
typedef enum sb_md_state {
    SB_MD_PLAIN,
    SB_MD_IN_LIST,
    SB_MD_IN_LOOSE_LIST,
    SB_MD_DETABBED,
    SB_MD_IN_QUOTE
} sb_md_state;

typedef struct sb_md_place {
    sb_md_node *parent;
    sb_md_state state;
    uint32_t depth;
} sb_md_place;

/* Parses text as blocks that blank lines part. */
void sb_md_parse_chunk(sb_md_doc *d, sb_md_place place, sb_md_span text);
/* Parses text as one block, blank lines or not. */
void sb_md_parse_block(sb_md_doc *d, sb_md_place place, sb_md_span block);

/* Takes level tabs from the front of each line that has them. */
void sb_md_loose_detab(sb_md_span *block, size_t level);
bool sb_md_starts_tab(sb_md_span block);

bool sb_md_is_list(sb_md_span block, bool *ordered);
void sb_md_take_list(sb_md_doc *d, sb_md_place place, sb_md_span block, bool ordered);
bool sb_md_is_list_child(sb_md_place place, sb_md_span block);
void sb_md_take_list_child(sb_md_doc *d, sb_md_place place, sb_md_span block);

bool sb_md_take_table(sb_md_doc *d, sb_md_node *parent, sb_md_span block);

/* ---- inside a text ---------------------------------------------------------------------------*/

/* Where the inside of a text is put together; one for a whole document. */
typedef struct sb_md_inline {
    sb_md_doc *doc;
    sb_buf whole;      /* a text whose pieces had to be joined */
    sb_buf ticks;      /* its runs of backquotes */
    sb_buf translated; /* what md4c reads */
    sb_buf data;       /* what came of it: text, SB_MD_STAR, SB_MD_LINE, atoms */
    sb_buf store;      /* the bytes of atoms */
    sb_buf atoms;      /* sb_md_atom[] */
    sb_buf frames;     /* links, images and code that are open */
    sb_buf scratch;    /* one value */
    size_t too_deep;
    size_t no_run[SB_MD_SHORT_RUN]; /* from which run on none has so many backquotes */
    bool no_end[3]; /* no comment, instruction, CDATA section ends in the rest of the text */
    sb_buf regions, opened[2]; /* of the emphasis stage */
} sb_md_inline;

/* A finished part of a text: n bytes of the store, from `at` on, which are HTML. The bytes of a tag
 * are copied from the source without a change. */
typedef struct sb_md_atom {
    bool tag;
    size_t at, n;
} sb_md_atom;

void sb_md_inline_init(sb_md_inline *x, sb_md_doc *d);
void sb_md_inline_fini(sb_md_inline *x);
/* Writes a text as HTML. As a paragraph it is put into <p>, but for a lone block element. */
void sb_md_inline_write(sb_md_inline *x, sb_buf *out, const sb_md_text *text, bool paragraph);

/* Is there anything in a text that md4c would find? */
bool sb_md_worth_reading(sb_slice text);
/* Fills x->translated. */
void sb_md_translate(sb_md_inline *x, sb_slice text);
/* Each appends an atom to x->translated: code, a tag, a link whose text is its URL. */
void sb_md_add_code_atom(sb_md_inline *x, sb_slice code);
void sb_md_add_raw_atom(sb_md_inline *x, sb_slice html);
void sb_md_add_link_atom(sb_md_inline *x, const char *scheme, sb_slice url);
/* Gives what the '<' at p begins, and answers what is behind it; NULL when it begins nothing. */
const uint8_t *sb_md_translate_tag(sb_md_inline *x, const uint8_t *p, const uint8_t *end);

/* Writes data[from..to) with its emphasis; out may be the store. */
void sb_md_emphasis_write(sb_md_inline *x, sb_buf *out, size_t from, size_t to);
/* The same without. */
void sb_md_data_write(sb_md_inline *x, sb_buf *out, size_t from, size_t to);

/* Escapes everything but held places. */
void sb_md_write_code(sb_md_doc *d, sb_buf *out, sb_slice text);

#endif
