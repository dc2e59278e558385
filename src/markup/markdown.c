/* markdown.c: the way of a text from a log to the page: decode, render, pass the gate.
 *
 * In:  bytes. Out: safe HTML, or nothing. Limits are checked here and, as caps of buffers and of
 * the arena, at every growth behind.
 * Threads: any. Cost: markdown.h. */
#include "markup/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/slice.h"
#include "base/text/utf8.h"
#include "markup/html_allow.h"
#include "markup/markdown_int.h"
#include "base/banned.h"

const sb_markdown_limits sb_markdown_limits_default = {
    .max_input = (size_t)32 << 20,
    .max_output = (size_t)128 << 20,
    .max_memory = (size_t)512 << 20,
    .max_depth = 100,
};

enum { ARENA_BLOCK = 64 << 10, HARD_MAX_DEPTH = 200 };

/* ---- one text --------------------------------------------------------------------------------*/

static int compare_references(const void *a, const void *b) {
    const sb_md_reference *x = a, *y = b;
    int order = sb_slice_cmp(x->id, y->id);
    return order ? order : (x->order < y->order) - (x->order > y->order);
}

/* Sorted by id; of several with one id the last that was written counts. */
static void sort_references(sb_md_doc *d) {
    sb_md_reference *list = (sb_md_reference *)(void *)d->references.p;
    size_t count = d->references.n / sizeof *list, kept = 0;
    if (count == 0) return;
    qsort(list, count, sizeof *list, compare_references);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !sb_slice_eq(list[kept - 1].id, list[i].id)) list[kept++] = list[i];
    }
    d->references.n = kept * sizeof *list;
}

static bool all_space(sb_slice text) {
    return sb_md_strip(text).n == 0;
}

/* Appends the HTML of valid UTF-8, not safe yet. */
static sb_status render(sb_buf *out, sb_slice text, const sb_markdown_limits *limits) {
    if (all_space(text)) return SB_OK;
    sb_md_doc d = {.limits = limits, .alloc = out->alloc, .failed = SB_OK};
    sb_arena_init(&d.arena, d.alloc, ARENA_BLOCK, limits->max_memory);
    sb_buf *all[] = {&d.source, &d.text, &d.store, &d.held, &d.references};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sb_buf_init(all[i], d.alloc, limits->max_memory);
    sb_md_node root = {.tag = SB_MD_ROOT};
    sb_md_normalise(&d, text);
    if (d.failed == SB_OK) sb_md_hold_fences(&d);
    if (d.failed == SB_OK) sb_md_hold_raw(&d);
    if (d.failed == SB_OK) sb_md_parse_all(&d, &root);
    if (d.failed == SB_OK) sort_references(&d);
    if (d.failed == SB_OK) sb_md_write(&d, out, &root);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sb_buf_fini(all[i]);
    sb_arena_fini(&d.arena);
    return d.failed;
}

/* ---- texts -----------------------------------------------------------------------------------*/

typedef struct job {
    sb_markdown_limits limits;
    bool markdown;
    sb_buf unsafe; /* HTML on its way to the gate */
    sb_buf decoded;
    size_t given; /* bytes of text so far */
    size_t nuls;
} job;

static void job_init(job *j, const sb_alloc *alloc, const sb_markdown_limits *limits,
                     bool markdown) {
    *j = (job){.limits = limits ? *limits : sb_markdown_limits_default, .markdown = markdown};
    if (j->limits.max_depth > HARD_MAX_DEPTH) j->limits.max_depth = HARD_MAX_DEPTH;
    sb_buf_init(&j->unsafe, alloc, j->limits.max_memory);
    sb_buf_init(&j->decoded, alloc, j->limits.max_memory);
}

static void job_fini(job *j) {
    sb_buf_fini(&j->unsafe);
    sb_buf_fini(&j->decoded);
}

static size_t count_nuls(sb_slice text) {
    size_t count = 0;
    if (text.n == 0) return 0;
    const uint8_t *p = text.p, *end = p + text.n;
    while ((p = memchr(p, 0, (size_t)(end - p))) != NULL) {
        count++;
        p++;
    }
    return count;
}

static sb_status add_string(job *j, sb_slice text) {
    if (!sb_add_size(&j->given, j->given, text.n) || j->given > j->limits.max_input)
        return SB_LIMIT;
    if (!sb_utf8_valid(text)) {
        sb_buf_clear(&j->decoded);
        sb_utf8_repair(&j->decoded, text);
        if (j->decoded.failed != SB_OK) return j->decoded.failed;
        text = sb_buf_slice(&j->decoded);
    }
    if (!j->markdown) {
        sb_buf_add_slice(&j->unsafe, text);
        return j->unsafe.failed;
    }
    j->nuls += count_nuls(text);
    return render(&j->unsafe, text, &j->limits);
}

/* Gives the collected HTML to the gate, with the remark on NULs in front. */
static sb_status pass_gate(job *j, sb_buf *html, sb_err *err) {
    if (j->nuls)
        sb_buf_printf(html,
                      "<!-- WARNING: discarded %zu null bytes in markdown string after UTF-8 "
                      "decoding -->\n",
                      j->nuls);
    if (html->failed != SB_OK) return html->failed;
    sb_html_limits limits = {.max_memory = j->limits.max_memory,
                             .max_depth = 4 * j->limits.max_depth + 16};
    return sb_html_clean(html, sb_buf_slice(&j->unsafe), &limits, err);
}

/* On failure html becomes as long as it was, and err says why. */
static sb_status finish(sb_buf *html, size_t length, size_t cap, sb_status status, sb_err *err) {
    html->cap = cap;
    if (status == SB_OK) return SB_OK;
    html->n = length;
    html->failed = SB_OK;
    if (status == SB_NOMEM) return sb_fail_nomem(err, "for rendering a text");
    if (status == SB_INVALID)
        return sb_fail(err, status, 0, "a text has fewer strings than its shape asks for");
    return sb_fail(err, status, 0, "a text or its HTML is over the limit for rendering");
}

/* The cap that holds while we write: max_output from here on, at most what html has. */
static size_t lower_cap(sb_buf *html, size_t max_output) {
    size_t cap = html->cap, end;
    if (sb_add_size(&end, html->n, max_output) && end < cap) html->cap = end;
    return cap;
}

sb_status sb_markdown_render(sb_buf *html, sb_slice text, const sb_markdown_limits *limits,
                             sb_err *err) {
    return sb_text_render(html, &text, 1, NULL, 0, true, limits, err);
}

/* ---- tensors of strings ----------------------------------------------------------------------*/

static const char warning[] =
    "<p><strong>Warning:</strong> This text summary contained data of dimensionality %zu, but only "
    "  2d tables are supported. Showing a 2d slice of the data instead.</p>";

/* How many rows and columns of the strings are shown; false when they are more than n. */
static bool table_size(const uint64_t *dims, size_t rank, size_t n, size_t *rows, size_t *columns) {
    uint64_t height = rank > 1 ? dims[rank - 2] : dims[0];
    uint64_t width = rank > 1 ? dims[rank - 1] : 1;
    for (size_t i = 0; i + 2 < rank; i++) {
        if (dims[i] == 0) height = 0; /* there is no slice to show */
    }
    size_t cells;
    if (height > SIZE_MAX || width > SIZE_MAX) return false;
    if (!sb_mul_size(&cells, (size_t)height, (size_t)width) || cells > n) return false;
    *rows = (size_t)height;
    *columns = (size_t)width;
    return true;
}

static sb_status add_table(job *j, const sb_slice *strings, size_t rows, size_t columns) {
    sb_buf *out = &j->unsafe;
    sb_status status = SB_OK;
    sb_buf_add_str(out, "<table>\n<tbody>\n");
    for (size_t row = 0; row < rows && status == SB_OK; row++) {
        sb_buf_add_str(out, "<tr>\n");
        for (size_t column = 0; column < columns && status == SB_OK; column++) {
            sb_buf_add_str(out, "<td>");
            status = add_string(j, strings[row * columns + column]);
            sb_buf_add_str(out, "</td>\n");
        }
        sb_buf_add_str(out, "</tr>\n");
        if (status == SB_OK) status = out->failed;
    }
    sb_buf_add_str(out, "</tbody>\n</table>");
    return status == SB_OK ? out->failed : status;
}

static sb_status add_tensor(job *j, sb_buf *html, const sb_slice *strings, size_t n,
                            const uint64_t *dims, size_t rank) {
    if (rank == 0) return n ? add_string(j, strings[0]) : SB_INVALID;
    size_t rows, columns;
    if (!table_size(dims, rank, n, &rows, &columns)) return SB_INVALID;
    if (rank > 2) sb_buf_printf(html, warning, rank);
    return add_table(j, strings, rows, columns);
}

sb_status sb_text_render(sb_buf *html, const sb_slice *strings, size_t n, const uint64_t *dims,
                         size_t rank, bool markdown, const sb_markdown_limits *limits,
                         sb_err *err) {
    if (html->failed != SB_OK) return sb_buf_check(html, "HTML", err);
    job j;
    job_init(&j, html->alloc, limits, markdown);
    size_t length = html->n, cap = lower_cap(html, j.limits.max_output);
    sb_status status = add_tensor(&j, html, strings, n, dims, rank);
    if (status == SB_OK) status = pass_gate(&j, html, NULL);
    job_fini(&j);
    return finish(html, length, cap, status, err);
}
