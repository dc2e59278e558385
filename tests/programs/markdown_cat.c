/* markdown_cat.c: the text renderer as a filter, for tests that compare it with TensorBoard's.
 *
 * In:   requests   u8 kind | u32 length | payload         (numbers little-endian)
 *         'm' Markdown, 'h' HTML for the gate alone,
 *         't' a tensor: u8 markdown | u8 rank | u32 dims[rank] | (u32 length | bytes) a string
 * Out:  answers    u32 length | HTML, or u32 0xFFFFFFFF when the renderer refused
 * Ends with 0 at the end of the input, with 1 when that is cut off. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/slice.h"
#include "markup/html_allow.h"
#include "markup/markdown.h"

#include "base/banned.h"

enum { MAX_RANK = 8, MAX_STRINGS = 4096 };

static uint32_t take_u32(sb_slice *s) {
    if (s->n < 4) exit(1);
    uint32_t x = sb_load32(s->p);
    *s = sb_slice_of(s->p + 4, s->n - 4);
    return x;
}

static sb_status render_tensor(sb_buf *html, sb_slice request) {
    static sb_slice strings[MAX_STRINGS];
    uint64_t dims[MAX_RANK];
    if (request.n < 2 || request.p[1] > MAX_RANK) exit(1);
    bool markdown = request.p[0] != 0;
    size_t rank = request.p[1], count = 0;
    request = sb_slice_of(request.p + 2, request.n - 2);
    for (size_t i = 0; i < rank; i++) dims[i] = take_u32(&request);
    while (request.n && count < MAX_STRINGS) {
        uint32_t n = take_u32(&request);
        if (n > request.n) exit(1);
        strings[count++] = sb_slice_of(request.p, n);
        request = sb_slice_of(request.p + n, request.n - n);
    }
    return sb_text_render(html, strings, count, dims, rank, markdown, NULL, NULL);
}

int main(void) {
    uint8_t head[5];
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        uint32_t n = sb_load32(head + 1);
        uint8_t *bytes = malloc(n ? n : 1);
        if (!bytes || fread(bytes, 1, n, stdin) != n) return 1;
        sb_slice request = sb_slice_of(bytes, n);
        sb_buf html;
        sb_buf_init(&html, &sb_alloc_libc, (size_t)1 << 31);
        sb_status status = SB_INVALID;
        if (head[0] == 'm') status = sb_markdown_render(&html, request, NULL, NULL);
        if (head[0] == 'h') status = sb_html_clean(&html, request, NULL, NULL);
        if (head[0] == 't') status = render_tensor(&html, request);
        uint8_t length[4];
        sb_store32(length, status == SB_OK ? (uint32_t)html.n : UINT32_MAX);
        fwrite(length, 1, sizeof length, stdout);
        if (status == SB_OK && html.n) fwrite(html.p, 1, html.n, stdout);
        sb_buf_fini(&html);
        free(bytes);
    }
    return 0;
}
