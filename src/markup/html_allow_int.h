/* html_allow_int.h: what the parts of the HTML gate share: the table of elements, tokens, the tree.
 *
 * Text and attribute values are never copied: they are places in the source. Nodes are numbers into
 * one array, so that a tree of millions of nodes stays small. */
#ifndef SB_MARKUP_HTML_ALLOW_INT_H
#define SB_MARKUP_HTML_ALLOW_INT_H

#include <stdbool.h>

#include "base/buf.h"
#include "markup/html_allow.h"

/* ---- the table of elements -------------------------------------------------------------------*/

/* name, flags. The order is that of the enum; names are what is written into a page. */
#define SB_HTML_TAG_MAP(X)                                                                         \
    X(A, "a", SB_HTML_FORMATTING)                                                                  \
    X(BLOCKQUOTE, "blockquote", SB_HTML_SPECIAL)                                                   \
    X(BR, "br", SB_HTML_SPECIAL | SB_HTML_VOID)                                                    \
    X(CODE, "code", SB_HTML_FORMATTING)                                                            \
    X(EM, "em", SB_HTML_FORMATTING)                                                                \
    X(H1, "h1", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(H2, "h2", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(H3, "h3", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(H4, "h4", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(H5, "h5", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(H6, "h6", SB_HTML_SPECIAL | SB_HTML_HEADING)                                                 \
    X(HR, "hr", SB_HTML_SPECIAL | SB_HTML_VOID)                                                    \
    X(IMG, "img", SB_HTML_SPECIAL | SB_HTML_VOID)                                                  \
    X(LI, "li", SB_HTML_SPECIAL | SB_HTML_IMPLIED_END)                                             \
    X(OL, "ol", SB_HTML_SPECIAL)                                                                   \
    X(P, "p", SB_HTML_SPECIAL | SB_HTML_IMPLIED_END)                                               \
    X(PRE, "pre", SB_HTML_SPECIAL)                                                                 \
    X(STRONG, "strong", SB_HTML_FORMATTING)                                                        \
    X(TABLE, "table", SB_HTML_SPECIAL | SB_HTML_SCOPE | SB_HTML_TABLE_PART)                        \
    X(TBODY, "tbody", SB_HTML_SPECIAL | SB_HTML_TABLE_PART)                                        \
    X(TD, "td", SB_HTML_SPECIAL | SB_HTML_SCOPE)                                                   \
    X(TH, "th", SB_HTML_SPECIAL | SB_HTML_SCOPE)                                                   \
    X(THEAD, "thead", SB_HTML_SPECIAL | SB_HTML_TABLE_PART)                                        \
    X(TR, "tr", SB_HTML_SPECIAL | SB_HTML_TABLE_PART)                                              \
    X(UL, "ul", SB_HTML_SPECIAL)

enum {
    SB_HTML_VOID = 1,         /* has no content and no end tag */
    SB_HTML_SPECIAL = 2,      /* an end tag of a formatting element does not reach through it */
    SB_HTML_SCOPE = 4,        /* the search for an open element stops here */
    SB_HTML_FORMATTING = 8,   /* is opened again when a block closed it too early */
    SB_HTML_HEADING = 16,     /* h1..h6: the end tag of one closes any */
    SB_HTML_IMPLIED_END = 32, /* closes by itself when its parent closes */
    SB_HTML_TABLE_PART = 64   /* text and foreign elements inside go in front of the table */
};

typedef enum sb_html_tag {
    SB_HTML_NONE, /* not in the list */
#define SB_HTML_TAG_ENUM(name, text, flags) SB_HTML_##name,
    SB_HTML_TAG_MAP(SB_HTML_TAG_ENUM)
#undef SB_HTML_TAG_ENUM
        SB_HTML_ROOT,
    SB_HTML_TEXT,
    SB_HTML_TAGS
} sb_html_tag;

typedef struct sb_html_trait {
    const char *name;
    uint8_t size;
    uint8_t flags;
} sb_html_trait;

extern const sb_html_trait sb_html_traits[SB_HTML_TAGS];

/* ---- tokens ----------------------------------------------------------------------------------*/

typedef enum sb_html_token_kind {
    SB_HTML_TOKEN_END,   /* of the source */
    SB_HTML_TOKEN_CHARS, /* text; a tag that is not in the table is text too */
    SB_HTML_TOKEN_SPACE, /* text of white space only */
    SB_HTML_TOKEN_OPEN,
    SB_HTML_TOKEN_CLOSE,
    SB_HTML_TOKEN_COMMENT /* also declarations and broken end tags: nothing of it is shown */
} sb_html_token_kind;

/* A place in the source. */
typedef struct sb_html_range {
    uint32_t at;
    uint32_t n;
} sb_html_range;

/* The attributes that any element may keep; the table in html_allow.c says which keeps which. */
typedef enum sb_html_attr {
    SB_HTML_HREF,
    SB_HTML_SRC,
    SB_HTML_TITLE,
    SB_HTML_ALT,
    SB_HTML_ATTRS
} sb_html_attr;

typedef struct sb_html_attrs {
    sb_html_range value[SB_HTML_ATTRS];
    bool has[SB_HTML_ATTRS];
} sb_html_attrs;

typedef struct sb_html_token {
    sb_html_token_kind kind;
    sb_html_tag tag;     /* of OPEN and CLOSE */
    sb_html_range text;  /* of CHARS and SPACE */
    sb_html_attrs attrs; /* of OPEN */
} sb_html_token;

/* The next token of source at *at, which moves behind it. */
void sb_html_next_token(sb_html_token *token, sb_slice source, size_t *at);

static inline bool sb_html_space(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r';
}

/* ---- the tree --------------------------------------------------------------------------------*/

typedef uint32_t sb_html_id; /* of a node */
enum { SB_HTML_NO_NODE = 0, SB_HTML_ROOT_NODE = 1 };

typedef struct sb_html_node {
    uint8_t tag;
    bool open; /* is on the stack of open elements */
    sb_html_id parent, first, last, before, after;
    sb_html_range
        text; /* of a text; for an element .at is 1 + its place among the attributes, or 0 */
} sb_html_node;

typedef enum sb_html_mode {
    SB_HTML_IN_BODY,
    SB_HTML_IN_TABLE,
    SB_HTML_IN_TABLE_BODY,
    SB_HTML_IN_ROW,
    SB_HTML_IN_CELL
} sb_html_mode;

typedef struct sb_html_tree {
    const sb_alloc *alloc;
    sb_html_limits limits;
    sb_status failed;
    sb_html_node *nodes;
    uint32_t count, room;
    sb_html_attrs *attrs;
    uint32_t attr_count, attr_room;
    sb_html_id *open; /* the stack of open elements; open[0] is the root */
    uint32_t open_count;
    sb_html_id *formatting; /* formatting elements to reopen; SB_HTML_NO_NODE marks a table cell */
    uint32_t formatting_count, formatting_room;
    sb_html_mode mode;
    bool from_table;          /* new nodes go in front of the table */
    bool after_pre;           /* a line feed directly behind <pre> is dropped */
    sb_html_range table_text; /* collected between two tags inside a table */
    bool has_table_text;
} sb_html_tree;

/* Which elements end the search of sb_html_in_scope besides table, td, th and the root. */
typedef enum sb_html_scope {
    SB_HTML_ANY_SCOPE,
    SB_HTML_LIST_SCOPE,
    SB_HTML_TABLE_SCOPE
} sb_html_scope;

sb_status sb_html_tree_init(sb_html_tree *t, const sb_alloc *alloc, const sb_html_limits *limits);
void sb_html_tree_fini(sb_html_tree *t);

sb_html_id sb_html_current(const sb_html_tree *t);
sb_html_tag sb_html_current_tag(const sb_html_tree *t);
bool sb_html_in_scope(const sb_html_tree *t, sb_html_tag tag, sb_html_scope scope);
/* The open element nearest to the top with this tag is closed, with all inside it. */
void sb_html_pop_until(sb_html_tree *t, sb_html_tag tag);
void sb_html_pop(sb_html_tree *t);
void sb_html_close_implied(sb_html_tree *t, sb_html_tag except);

/* Makes an element where the next one belongs, and opens it. False when it is too deep. */
bool sb_html_open_element(sb_html_tree *t, sb_html_tag tag, const sb_html_attrs *attrs);
void sb_html_add_text(sb_html_tree *t, sb_html_range text);
void sb_html_reopen_formatting(sb_html_tree *t);
void sb_html_push_formatting(sb_html_tree *t, sb_html_id node);
void sb_html_mark_formatting(sb_html_tree *t);
void sb_html_clear_formatting(sb_html_tree *t);
/* The last formatting element with this tag behind the last mark, or none. */
sb_html_id sb_html_find_formatting(const sb_html_tree *t, sb_html_tag tag);
void sb_html_drop_formatting(sb_html_tree *t, sb_html_id node);
void sb_html_drop_open(sb_html_tree *t, sb_html_id node);
/* The end tag of a formatting element, wherever it stands. */
void sb_html_close_formatting(sb_html_tree *t, sb_html_tag tag);
void sb_html_close_other(sb_html_tree *t, sb_html_tag tag);

/* html_allow_modes.c: what a token means where it stands. */
void sb_html_take_token(sb_html_tree *t, const sb_html_token *token, sb_slice source);
void sb_html_take_end(sb_html_tree *t, sb_slice source);

/* ---- writing ---------------------------------------------------------------------------------*/

/* Text with <, > and & escaped; what is a character reference stays one. */
void sb_html_write_text(sb_buf *out, sb_slice text);
/* The inside of a double-quoted attribute value. */
void sb_html_write_value(sb_buf *out, sb_slice value);
/* May a browser be given this URL? */
bool sb_html_url_allowed(sb_slice url);

/* How long a name of a character reference (behind '&', before ';') the table knows, or begins
 * with: what the reference's own parser takes for one. */
bool sb_html_entity_begins(const uint8_t *name, size_t n);
/* The character of one of the 106 names that HTML knew first, 0 for any other. */
uint32_t sb_html_entity_legacy(const uint8_t *name, size_t n);

#endif
