/* html_allow.c: reads the source into a tree and writes the tree.
 *
 * This file holds the only two functions that write a '<': write_open and write_close. Both take
 * the name from sb_html_traits, and no node can have a tag outside of it.
 * Threads: any. Cost: html_allow.h. */
#include "markup/html_allow.h"

#include "base/slice.h"
#include "base/text/utf8.h"
#include "markup/html_allow_int.h"
#include "base/banned.h"

const sb_html_limits sb_html_limits_default = {.max_memory = (size_t)512 << 20, .max_depth = 256};

enum { MAX_SOURCE = 0x7FFFFFFF };

/* ---- writing ---------------------------------------------------------------------------------*/

static void write_attribute(sb_buf *out, sb_slice source, const sb_html_attrs *attrs,
                            sb_html_attr attr, const char *name) {
    if (!attrs->has[attr]) return;
    sb_slice value = sb_slice_of(source.p + attrs->value[attr].at, attrs->value[attr].n);
    if ((attr == SB_HTML_HREF || attr == SB_HTML_SRC) && !sb_html_url_allowed(value)) return;
    sb_buf_add_byte(out, ' ');
    sb_buf_add_str(out, name);
    sb_buf_add(out, "=\"", 2);
    sb_html_write_value(out, value);
    sb_buf_add_byte(out, '"');
}

static void write_open(sb_buf *out, const sb_html_tree *t, const sb_html_node *node,
                       sb_slice source) {
    sb_buf_add_byte(out, '<');
    sb_buf_add(out, sb_html_traits[node->tag].name, sb_html_traits[node->tag].size);
    if (node->text.at) {
        const sb_html_attrs *attrs = &t->attrs[node->text.at - 1];
        if (node->tag == SB_HTML_A) write_attribute(out, source, attrs, SB_HTML_HREF, "href");
        if (node->tag == SB_HTML_IMG) {
            write_attribute(out, source, attrs, SB_HTML_ALT, "alt");
            write_attribute(out, source, attrs, SB_HTML_SRC, "src");
        }
        write_attribute(out, source, attrs, SB_HTML_TITLE, "title");
    }
    sb_buf_add_byte(out, '>');
}

static void write_close(sb_buf *out, const sb_html_node *node) {
    if (sb_html_traits[node->tag].flags & SB_HTML_VOID) return;
    sb_buf_add(out, "</", 2);
    sb_buf_add(out, sb_html_traits[node->tag].name, sb_html_traits[node->tag].size);
    sb_buf_add_byte(out, '>');
}

/* Depth first, by the links of the tree: no recursion, whatever the depth. */
static void write_tree(sb_buf *out, const sb_html_tree *t, sb_slice source) {
    sb_html_id id = t->nodes[SB_HTML_ROOT_NODE].first;
    while (id && out->failed == SB_OK) {
        const sb_html_node *node = &t->nodes[id];
        if (node->tag == SB_HTML_TEXT)
            sb_html_write_text(out, sb_slice_of(source.p + node->text.at, node->text.n));
        else
            write_open(out, t, node, source);
        if (node->first) {
            id = node->first;
            continue;
        }
        if (node->tag != SB_HTML_TEXT) write_close(out, node);
        while (!t->nodes[id].after) {
            id = t->nodes[id].parent;
            if (id == SB_HTML_ROOT_NODE) return;
            write_close(out, &t->nodes[id]);
        }
        id = t->nodes[id].after;
    }
}

/* ---- reading ---------------------------------------------------------------------------------*/

static void read_tree(sb_html_tree *t, sb_slice source) {
    size_t at = 0;
    sb_html_token token;
    for (;;) {
        sb_html_next_token(&token, source, &at);
        if (token.kind == SB_HTML_TOKEN_END || t->failed != SB_OK) break;
        sb_html_take_token(t, &token, source);
    }
    sb_html_take_end(t, source);
}

static bool has_byte(sb_slice s, uint8_t c) {
    return s.n && memchr(s.p, c, s.n) != NULL;
}

/* Valid UTF-8 with line feeds only, which is what the readers behind expect. */
static void normalise(sb_buf *to, sb_slice html) {
    sb_utf8_repair(to, html);
    if (!has_byte(sb_buf_slice(to), '\r')) return;
    size_t n = 0;
    for (size_t i = 0; i < to->n; i++) {
        if (to->p[i] != '\r')
            to->p[n++] = to->p[i];
        else if (i + 1 >= to->n || to->p[i + 1] != '\n')
            to->p[n++] = '\n';
    }
    to->n = n;
}

static sb_status clean_source(sb_buf *out, sb_slice source, const sb_html_limits *limits) {
    sb_html_tree tree;
    sb_status status = sb_html_tree_init(&tree, out->alloc, limits);
    if (status == SB_OK) {
        read_tree(&tree, source);
        status = tree.failed;
    }
    if (status == SB_OK) {
        write_tree(out, &tree, source);
        status = out->failed;
    }
    sb_html_tree_fini(&tree);
    return status;
}

sb_status sb_html_clean(sb_buf *out, sb_slice html, const sb_html_limits *limits, sb_err *err) {
    if (!limits) limits = &sb_html_limits_default;
    if (out->failed != SB_OK) return sb_buf_check(out, "HTML", err);
    if (html.n > MAX_SOURCE) return sb_fail(err, SB_LIMIT, 0, "%zu bytes of HTML", html.n);
    size_t length = out->n;
    sb_buf copy;
    sb_buf_init(&copy, out->alloc, MAX_SOURCE);
    sb_slice source = html;
    sb_status status = SB_OK;
    if (has_byte(html, '\r') || !sb_utf8_valid(html)) {
        normalise(&copy, html);
        source = sb_buf_slice(&copy);
        status = copy.failed;
    }
    if (status == SB_OK) status = clean_source(out, source, limits);
    sb_buf_fini(&copy);
    if (status == SB_OK) return SB_OK;
    out->n = length;
    out->failed = SB_OK;
    if (status == SB_NOMEM) return sb_fail_nomem(err, "for cleaning HTML");
    return sb_fail(err, status, 0, "the HTML of a text is larger than its limit");
}
