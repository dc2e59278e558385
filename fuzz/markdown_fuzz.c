/* markdown_fuzz.c: any bytes as a text summary. What comes out may only be what a page may hold;
 * with its formulas taken out too.
 *
 * Input: a byte of options, then the text.
 *   bits 0-1  0 Markdown, 1 HTML for the gate alone, 2 a tensor of strings, 3 one without Markdown
 *   bit 2     low limits
 * For a tensor a byte of rank comes next, then one byte a dimension; the text is cut at each
 * 0x1E. */
#include <stdlib.h>

#include "../tests/unit/markup/safe_html.h"
#include "base/vec.h"
#include "markup/html_allow.h"
#include "markup/markdown.h"
#include "markup/maths.h"
#include "base/banned.h"

enum { MAX_STRINGS = 64, MAX_RANK = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(sb_status status, const sb_buf *html) {
    if (status != SB_OK) {
        if (html->n != 0 || (status != SB_LIMIT && status != SB_INVALID)) abort();
        return;
    }
    if (safe_html_complaint(sb_buf_slice(html))) abort();
}

static sb_status render_tensor(sb_buf *html, sb_slice input, bool markdown,
                               const sb_markdown_limits *limits) {
    uint64_t dims[MAX_RANK];
    sb_slice strings[MAX_STRINGS];
    size_t rank = input.n ? input.p[0] % (MAX_RANK + 1) : 0, n = 0, at = 1;
    for (size_t i = 0; i < rank; i++, at++) dims[i] = at < input.n ? input.p[at] : 0;
    while (at < input.n && n < MAX_STRINGS) {
        const uint8_t *cut = memchr(input.p + at, 0x1E, input.n - at);
        size_t end = cut ? (size_t)(cut - input.p) : input.n;
        strings[n++] = sb_slice_of(input.p + at, end - at);
        at = end + 1;
    }
    return sb_text_render(html, strings, n, dims, rank, markdown, limits, NULL);
}

/* Formulas are parts of the text, and what is left has a mark of at most 10 bytes for each. */
static void take_formulas(sb_slice input, const sb_markdown_limits *limits) {
    sb_buf marked, html;
    sb_formulas found = {0};
    sb_buf_init(&marked, &sb_alloc_libc, (size_t)1 << 28);
    sb_buf_init(&html, &sb_alloc_libc, (size_t)1 << 28);
    if (sb_maths_take(&marked, input, &found, &sb_alloc_libc) != SB_OK) abort();
    size_t taken = 0;
    for (size_t i = 0; i < found.n; i++) {
        sb_slice tex = found.items[i].tex;
        if (tex.p < input.p || tex.n > (size_t)(input.p + input.n - tex.p)) abort();
        taken += tex.n;
    }
    if (marked.n + taken > input.n + 10 * found.n) abort();
    check(sb_markdown_render(&html, sb_buf_slice(&marked), limits, NULL), &html);
    SB_VEC_FREE(&found, &sb_alloc_libc);
    sb_buf_fini(&html);
    sb_buf_fini(&marked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    static const sb_markdown_limits low = {1 << 12, 1 << 12, 1 << 18, 4};
    static const sb_html_limits low_html = {1 << 16, 8};
    bool limited = data[0] & 4;
    const sb_markdown_limits *limits = limited ? &low : NULL;
    sb_slice input = sb_slice_of(data + 1, size - 1);
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, (size_t)1 << 28);
    sb_status status;
    switch (data[0] & 3) {
    case 0:
        take_formulas(input, limits);
        status = sb_markdown_render(&html, input, limits, NULL);
        break;
    case 1:
        status = sb_html_clean(&html, input, limited ? &low_html : NULL, NULL);
        break;
    default:
        status = render_tensor(&html, input, (data[0] & 3) == 2, limits);
    }
    check(status, &html);
    sb_buf_fini(&html);
    return 0;
}
