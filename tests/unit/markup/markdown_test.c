/* markdown_test.c: texts as HTML: what a reader sees, and what no text can do to the page.
 *
 * How close this is to TensorBoard is the matter of tests/conformance/test_markdown.py; here are
 * the promises of markdown.h and html_allow.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "markup/html_allow.h"
#include "markup/markdown.h"
#include "safe_html.h"
#include "support/fault_alloc.h"
#include "support/test.h"

#include "base/banned.h"

typedef struct sample {
    const char *source, *html;
} sample;

/* ---- helpers ---------------------------------------------------------------------------------*/

static void assert_html_is(sb_slice html, const char *source, const char *expected) {
    if (sb_slice_eq(html, sb_slice_str(expected))) return;
    print_error("source   %s\nexpected %s\nbut was  %.*s\n", source, expected, (int)html.n,
                (const char *)html.p);
    fail();
}

static void assert_safe(sb_slice html, sb_slice source) {
    const char *complaint = safe_html_complaint(html);
    if (!complaint) return;
    print_error("%s in\n%.*s\nfrom\n%.*s\n", complaint, (int)html.n, (const char *)html.p,
                (int)source.n, (const char *)source.p);
    fail();
}

/* The HTML of a text, in memory that the next call reuses. */
static sb_slice rendered(sb_buf *html, sb_slice source) {
    sb_err err;
    sb_buf_clear(html);
    assert_ok(sb_markdown_render(html, source, NULL, &err), &err);
    assert_safe(sb_buf_slice(html), source);
    return sb_buf_slice(html);
}

static sb_slice cleaned(sb_buf *html, sb_slice source) {
    sb_err err;
    sb_buf_clear(html);
    assert_ok(sb_html_clean(html, source, NULL, &err), &err);
    assert_safe(sb_buf_slice(html), source);
    return sb_buf_slice(html);
}

static void check_markdown(const sample *samples, size_t n) {
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < n; i++)
        assert_html_is(rendered(&html, sb_slice_str(samples[i].source)), samples[i].source,
                       samples[i].html);
    sb_buf_fini(&html);
}

static void check_html(const sample *samples, size_t n) {
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    for (size_t i = 0; i < n; i++)
        assert_html_is(cleaned(&html, sb_slice_str(samples[i].source)), samples[i].source,
                       samples[i].html);
    sb_buf_fini(&html);
}

/* n copies of a text. */
static sb_buf repeated(const char *text, size_t n) {
    sb_buf b;
    sb_buf_init(&b, &sb_alloc_libc, (size_t)1 << 30);
    while (n-- > 0) sb_buf_add_str(&b, text);
    return b;
}

/* ---- what a reader sees ----------------------------------------------------------------------*/

static void the_vectors_of_the_specification_hold(void **state) {
    (void)state;
    static const sample samples[] = {
        {"# _Hello_, **world!**\n\nCheck out [my website](http://example.com)!",
         "<h1><em>Hello</em>, <strong>world!</strong></h1>\n<p>Check out <a "
         "href=\"http://example.com\">my "
         "website</a>!</p>"},
        {"[a](javascript:alert(1))", "<p><a>a</a></p>"},
        {"[a](ftp://x)", "<p><a>a</a></p>"},
        {"[a](http://x \"t\")", "<p><a href=\"http://x\" title=\"t\">a</a></p>"},
        {"[a](//h/p)", "<p><a href=\"//h/p\">a</a></p>"},
        {"![i](data:image/png;base64,xx \"T\")", "<p><img alt=\"i\" title=\"T\"></p>"},
        {"<img src=x onerror=alert(1)>", "<p><img src=\"x\"></p>"},
        {"<a href=\"http://x\" target=_blank class=q>z</a>", "<p><a href=\"http://x\">z</a></p>"},
        {"<a href=\"&#106;avascript:x\">y</a>", "<p><a>y</a></p>"},
        {"<table style=\"x\"><tr><td colspan=2>1</td></tr></table>",
         "<table><tbody><tr><td>1</td></tr></tbody></table>"},
        {"```python\nx<y\n```", "<pre><code>x&lt;y\n</code></pre>"},
        {"a & b &amp; &lt; &copy; &bogus;", "<p>a &amp; b &amp; &lt; &copy; &amp;bogus;</p>"},
        {"<div>d</div>", "&lt;div&gt;d&lt;/div&gt;"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"* a\n* b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"},
        {"a  \nb", "<p>a<br>\nb</p>"},
        {"http://auto.link", "<p>http://auto.link</p>"},
        {"<http://auto.link>", "<p><a href=\"http://auto.link\">http://auto.link</a></p>"},
        {"<!-- c -->hello", "\n<p>hello</p>"},
        {"", ""},
    };
    check_markdown(samples, SB_COUNT(samples));
}

static void blocks_follow_the_dialect(void **state) {
    (void)state;
    static const sample samples[] = {
        {"a\n- b\n- c", "<p>a\n- b\n- c</p>"},
        {"- a\n  - b\n    - c", "<ul>\n<li>a</li>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>"},
        {"- a\n\n- b\n- c",
         "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n<li>c</li>\n</ul>"},
        {"1. a\n- b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"},
        {"#a\n##b##\ntext", "<h1>a</h1>\n<h2>b</h2>\n<p>text</p>"},
        {"a\n===\nb\n---\nc", "<h1>a</h1>\n<h2>b</h2>\n<p>c</p>"},
        {"a\nb\n---", "<p>a\nb</p>\n<hr>"},
        {"> a\nb\n\n> c", "<blockquote>\n<p>a\nb</p>\n<p>c</p>\n</blockquote>"},
        {"    a\n\n    b\nc", "<pre><code>a\n\nb\n</code></pre>\n<p>c</p>"},
        {"```\nopen", "<p>```\nopen</p>"},
        {"a|b\n-|-\n1|2\n3",
         "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n"
         "<td>1</td>\n<td>2</td>\n</tr>\n<tr>\n<td>3</td>\n<td></td>\n</tr>\n</tbody>\n</table>"},
        {"| a |\n|---|\n| `x|y` |",
         "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n"
         "<td><code>x|y</code></td>\n</tr>\n</tbody>\n</table>"},
        {"<div>\n*a*\n\n</div>\n\n*b*", "&lt;div&gt;\n*a*\n\n&lt;/div&gt;\n\n<p><em>b</em></p>"},
        {"[x]\n\n[x]: http://y (z)", "<p><a href=\"http://y\" title=\"z\">x</a></p>"},
    };
    check_markdown(samples, SB_COUNT(samples));
}

static void texts_follow_the_dialect(void **state) {
    (void)state;
    static const sample samples[] = {
        {"**重点：**文字 a_b_c *x*y", "<p><strong>重点：</strong>文字 a_b_c <em>x</em>y</p>"},
        {"***a** b* 2*3*4 * x *", "<p><em><strong>a</strong> b</em> 2<em>3</em>4 * x *</p>"},
        {"a_b_ c", "<p>a_b_ c</p>"},
        {"`a<b` ``c`d``", "<p><code>a&lt;b</code> <code>c`d</code></p>"},
        {"\\* \\$ \\_ a\\\nb", "<p>* \\$ _ a\\\nb</p>"},
        {"[a](b c.png)", "<p><a href=\"b c.png\">a</a></p>"},
        {"[a b] [x]\n\n[x]: y", "<p><a href=\"y\">a b</a></p>"},
        {"![*a*](b)", "<p><img alt=\"*a*\" src=\"b\"></p>"},
        {"[![a](b)](c)", "<p><a href=\"c\"><img alt=\"a\" src=\"b\"></a></p>"},
        {"<a@b.c> <mailto:d@e.f>",
         "<p><a href=\"mailto:a@b.c\">a@b.c</a> <a href=\"mailto:d@e.f\">d@e.f</a></p>"},
        {"<s> hi </s> <pad>", "<p>&lt;s&gt; hi &lt;/s&gt; &lt;pad&gt;</p>"},
        {"a < b > c", "<p>a &lt; b &gt; c</p>"},
        {"x [i](a", "<p>x [i](a</p>"},
        {"~~a~~ - [ ] b", "<p>~~a~~ - [ ] b</p>"},
    };
    check_markdown(samples, SB_COUNT(samples));
}

static void tensors_become_tables(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    const sb_slice strings[] = {SB_LIT("*a*"), SB_LIT("b"), SB_LIT("<i>"), SB_LIT("d")};
    const uint64_t one[] = {2}, two[] = {2, 2}, three[] = {1, 1, 2}, none[] = {0};
    sb_err err;
    assert_ok(sb_text_render(&html, strings, 1, NULL, 0, true, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "<p><em>a</em></p>");
    sb_buf_clear(&html);
    assert_ok(sb_text_render(&html, strings, 2, one, 1, true, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "<table>\n<tbody>\n<tr>\n<td><p><em>a</em></p></td>\n</"
                                         "tr>\n<tr>\n<td><p>b</p></td>\n</tr>\n"
                                         "</tbody>\n</table>");
    sb_buf_clear(&html);
    assert_ok(sb_text_render(&html, strings, 4, two, 2, false, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html),
                    "<table>\n<tbody>\n<tr>\n<td>*a*</td>\n<td>b</td>\n</tr>\n<tr>\n"
                    "<td>&lt;i&gt;</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>");
    sb_buf_clear(&html);
    assert_ok(sb_text_render(&html, strings, 4, three, 3, false, NULL, &err), &err);
    assert_slice_is(
        sb_buf_slice(&html),
        "<p><strong>Warning:</strong> This text summary contained data of dimensionality 3, but "
        "only   2d "
        "tables are supported. Showing a 2d slice of the data instead.</p><table>\n<tbody>\n<tr>\n"
        "<td>*a*</td>\n<td>b</td>\n</tr>\n</tbody>\n</table>");
    sb_buf_clear(&html);
    assert_ok(sb_text_render(&html, strings, 0, none, 1, true, NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "<table>\n<tbody>\n</tbody>\n</table>");
    sb_buf_fini(&html);
}

static void shapes_that_ask_for_more_strings_than_there_are_are_invalid(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    sb_buf_add_str(&html, "before");
    const sb_slice strings[] = {SB_LIT("a"), SB_LIT("b")};
    const uint64_t many[] = {3}, huge[] = {UINT64_MAX, UINT64_MAX},
                   wide[] = {1, (uint64_t)1 << 63, 4};
    sb_err err;
    assert_int_equal(sb_text_render(&html, strings, 2, many, 1, true, NULL, &err), SB_INVALID);
    assert_int_equal(sb_text_render(&html, strings, 2, huge, 2, true, NULL, &err), SB_INVALID);
    assert_int_equal(sb_text_render(&html, strings, 2, wide, 3, true, NULL, &err), SB_INVALID);
    assert_int_equal(sb_text_render(&html, strings, 0, NULL, 0, true, NULL, NULL), SB_INVALID);
    assert_slice_is(sb_buf_slice(&html), "before");
    sb_buf_fini(&html);
}

/* ---- bytes that are no text ------------------------------------------------------------------*/

static void nul_characters_are_taken_out_and_counted(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    assert_slice_is(
        rendered(&html, SB_LIT("a\0b \0*c*")),
        "<!-- WARNING: discarded 2 null bytes in markdown string after UTF-8 decoding -->\n"
        "<p>ab <em>c</em></p>");
    assert_slice_is(cleaned(&html, SB_LIT("a\0b<a href=\"java\0script:x\">c")), "ab<a>c</a>");
    sb_buf_fini(&html);
}

static void bytes_that_are_no_utf8_become_replacement_characters(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    assert_slice_is(rendered(&html, SB_LIT("a\xff *b\xc3*")),
                    "<p>a\xEF\xBF\xBD <em>b\xEF\xBF\xBD</em></p>");
    /* the bytes that stand for characters between the stages mean nothing in a source */
    assert_slice_is(
        rendered(&html, SB_LIT("\xf8x\xf8 \xfd\x80\x80\x80\x80\x80 \x02"
                               "0\x03")),
        "<p>\xEF\xBF\xBDx\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
        "\xEF\xBF\xBD 0</p>");
    assert_slice_is(cleaned(&html, SB_LIT("<a title=\"\xff\">")), "<a title=\"\xEF\xBF\xBD\"></a>");
    sb_buf_fini(&html);
}

/* ---- what no text can do ---------------------------------------------------------------------*/

static void hostile_html_is_defused(void **state) {
    (void)state;
    static const sample samples[] = {
        {"<svg onload=alert(1)>", "&lt;svg onload=alert(1)&gt;"},
        {"<IMG SRC=javascript:x ONERROR=y>", "<img>"},
        {"<a href=\" java\nscript:x\">a</a>", "<a>a</a>"},
        {"<a href=\"\x01javascript:x\">a</a>", "<a>a</a>"},
        {"<a href=\"javascript&#58;x\">a</a>", "<a>a</a>"},
        {"<a href=\"javascript&colon;x\">a</a>", "<a href=\"javascript&amp;colon;x\">a</a>"},
        {"<a href='vbscript:x' title='\" onclick=\"x'>a</a>",
         "<a title=\"&quot; onclick=&quot;x\">a</a>"},
        {"<a href=data:text/html,x>a</a>", "<a>a</a>"},
        {"<p style=\"x\" class=y id=z>a</p>", "<p>a</p>"},
        {"<<script>x", "&lt;&lt;script&gt;x"},
        {"<scr<script>ipt>", "&lt;scr&lt;script&gt;ipt&gt;"},
        {"<noscript><p title=\"</noscript><img src=x onerror=y>\">", "&lt;noscript&gt;<p></p>"},
        {"<p title=\"</p><script>x</script>\">a", "<p>a</p>"},
        {"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 "
         "onerror=x&gt;\">",
         "&lt;math&gt;&lt;mtext&gt;&lt;mglyph&gt;&lt;style&gt;<table></table>"},
        {"a<!-- <script> -->b<!--", "ab"},
        {"<!--><p>a", "<p>a</p>"},
        {"<a b='", ""},
        {"x <b", "x &lt;b"},
        {"</ p>a</ b>", "a&lt;/ b&gt;"},
        {"\x1b[31m", "?[31m"},
    };
    check_html(samples, SB_COUNT(samples));
}

static void broken_html_is_mended_as_browsers_do(void **state) {
    (void)state;
    static const sample samples[] = {
        {"<ul><li>a<li>b", "<ul><li>a</li><li>b</li></ul>"},
        {"<p>a<p>b", "<p>a</p><p>b</p>"},
        {"<em>a<p>b</em>c</p>", "<em>a</em><p><em>b</em>c</p>"},
        {"<table>x<tr><td>y", "x<table><tbody><tr><td>y</td></tr></tbody></table>"},
        {"<table><tr><th>a<td>b<tr><td>c",
         "<table><tbody><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></tbody></table>"},
        {"a</p>b</br>c", "a<p></p>b<br>c"},
        {"<a href=x>1<a href=y>2", "<a href=\"x\">1</a><a href=\"y\">2</a>"},
        {"<h1>a<h2>b</h1>c", "<h1>a</h1><h2>b</h2>c"},
        {"<td>a</td>", "a"},
        {"<pre>\na\r\nb</pre>", "<pre>a\nb</pre>"},
    };
    check_html(samples, SB_COUNT(samples));
}

static void urls_keep_their_attribute_only_with_an_allowed_scheme(void **state) {
    (void)state;
    static const char *const allowed[] = {
        "http://x", "HTTPS://X", "mailto:a@b", "//h",           "/p", "#a",
        "?q",       "p.png",     "a/b:c",      "http://[::1]/", ""};
    static const char *const refused[] = {
        "javascript:x",   "JAVASCRIPT:x",  "data:x",      "ftp://x", "file:///x", "tel:1", "a:b",
        "java\tscript:x", "java`script:x", "http://[::1", "1a:b",    "x-y.z+1:w", "blob:x"};
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    char source[128], expected[128];
    for (size_t i = 0; i < SB_COUNT(allowed); i++) {
        snprintf(source, sizeof source, "<a href=\"%s\">y</a>", allowed[i]);
        assert_html_is(cleaned(&html, sb_slice_str(source)), source, source);
        snprintf(source, sizeof source, "<img src='%s'>", allowed[i]);
        snprintf(expected, sizeof expected, "<img src=\"%s\">", allowed[i]);
        assert_html_is(cleaned(&html, sb_slice_str(source)), source, expected);
    }
    for (size_t i = 0; i < SB_COUNT(refused); i++) {
        snprintf(source, sizeof source, "<a href=\"%s\">y</a>", refused[i]);
        assert_html_is(cleaned(&html, sb_slice_str(source)), source, "<a>y</a>");
        if (strchr(refused[i], '`')) continue; /* in Markdown that is code */
        snprintf(source, sizeof source, "[y](<%s>) ![z](<%s>)", refused[i], refused[i]);
        assert_html_is(rendered(&html, sb_slice_str(source)), source,
                       "<p><a>y</a> <img alt=\"z\"></p>");
    }
    sb_buf_fini(&html);
}

/* ---- limits ----------------------------------------------------------------------------------*/

static void deep_nesting_stays_text_from_the_limit_on(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 24);
    const sb_markdown_limits limits = {1 << 20, 1 << 20, 1 << 24, 2};
    sb_err err;
    assert_ok(sb_markdown_render(&html, SB_LIT(">>> a"), &limits, &err), &err);
    assert_slice_is(sb_buf_slice(&html),
                    "<blockquote>\n<blockquote>\n<p>&gt; a</p>\n</blockquote>\n</blockquote>");
    static const char *const deep[] = {
        ">",  "> ", "- ",   "1. ",     "- > ", "<blockquote>", "<ul><li>", "<table><tr><td>",
        "![", "[",  "<em>", "<em><p>", "<a>",  "**",           "*_"};
    for (size_t i = 0; i < SB_COUNT(deep); i++) {
        sb_buf source = repeated(deep[i], 5000);
        rendered(&html, sb_buf_slice(&source));
        cleaned(&html, sb_buf_slice(&source));
        sb_buf_fini(&source);
    }
    sb_buf lists;
    sb_buf_init(&lists, &sb_alloc_libc, 1 << 24);
    for (int i = 0; i < 400; i++) sb_buf_printf(&lists, "%*s- a\n", 4 * i, "");
    rendered(&html, sb_buf_slice(&lists));
    sb_buf_fini(&lists);
    sb_buf_fini(&html);
}

static void texts_and_html_over_their_limit_are_refused(void **state) {
    (void)state;
    sb_buf source = repeated("- *a* <b>\n\n", 1000), html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 24);
    sb_buf_add_str(&html, "before");
    const sb_markdown_limits input = {1000, 1 << 24, 1 << 24, 50},
                             output = {1 << 24, 1000, 1 << 24, 50},
                             memory = {1 << 24, 1 << 24, 70000, 50};
    const sb_markdown_limits *const all[] = {&input, &output, &memory};
    for (size_t i = 0; i < SB_COUNT(all); i++) {
        sb_err err = {.code = SB_OK};
        assert_int_equal(sb_markdown_render(&html, sb_buf_slice(&source), all[i], &err), SB_LIMIT);
        assert_int_equal(err.code, SB_LIMIT);
        assert_slice_is(sb_buf_slice(&html), "before");
        assert_int_equal(html.failed, SB_OK);
        assert_int_equal(html.cap, 1 << 24);
    }
    const sb_html_limits small = {64, 50};
    assert_int_equal(sb_html_clean(&html, sb_buf_slice(&source), &small, NULL), SB_LIMIT);
    assert_slice_is(sb_buf_slice(&html), "before");
    /* a table whose rows are all padded to the width of its header */
    sb_buf wide = repeated("|", 4000);
    sb_buf_add_byte(&wide, '\n');
    for (int i = 0; i < 4000; i++) sb_buf_add_byte(&wide, '|');
    for (int i = 0; i < 40000; i++) sb_buf_add_str(&wide, "\nx");
    assert_int_equal(sb_markdown_render(&html, sb_buf_slice(&wide),
                                        &(sb_markdown_limits){1 << 24, 1 << 24, 1 << 24, 9}, NULL),
                     SB_LIMIT);
    assert_slice_is(sb_buf_slice(&html), "before");
    sb_buf_fini(&wide);
    sb_buf_fini(&source);
    sb_buf_fini(&html);
}

static void html_is_appended_to_what_is_there(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    sb_buf_add_str(&html, "x");
    sb_err err;
    assert_ok(sb_markdown_render(&html, SB_LIT("a"), NULL, &err), &err);
    assert_ok(sb_html_clean(&html, SB_LIT("<p>b"), NULL, &err), &err);
    assert_slice_is(sb_buf_slice(&html), "x<p>a</p><p>b</p>");
    sb_buf_fini(&html);
}

static void links_of_one_text_are_not_known_in_the_next(void **state) {
    (void)state;
    static const sample samples[] = {
        {"[a]\n\n[a]: b", "<p><a href=\"b\">a</a></p>"},
        {"[a]", "<p>[a]</p>"},
    };
    check_markdown(samples, SB_COUNT(samples));
}

/* Each would take hours if its cost were not in proportion to its size. */
static void repetition_costs_what_its_size_costs(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "[a](",  "[a](b \"", "![",          "[]",          "`a``b",       "\\`",
        "\\``",  "*a_ ",     "*a **b _c ",  "**a*b***c",   "<a x ",       "<a x=\"",
        "<!-- ", "<?\n",     "<![CDATA[\n", "<div>",       "</p>",        "&#",
        "&",     "---\n",    "a\n#\n",      "x\n[a]: b\n", "```a\n",      "~~~ x\n```\n",
        "|a\n",  "- a\n",    "- a\n\n",     ">\n> a\n",    "    a\n\n",   "<em><p>",
        "<a>",   "<table>",  "<td>",        "<a@",         "<a><!-- -->", "[a]: b\n\n[a]\n\n"};
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, (size_t)1 << 28);
    for (size_t i = 0; i < SB_COUNT(patterns); i++) {
        sb_buf source = repeated(patterns[i], 100000 / strlen(patterns[i]));
        rendered(&html, sb_buf_slice(&source));
        cleaned(&html, sb_buf_slice(&source));
        sb_buf_fini(&source);
    }
    sb_buf_fini(&html);
}

/* ---- the four hostile suites -----------------------------------------------------------------*/

static const char *const documents[] = {
    "# T\n\n- a *b*\n    - c\n\n        code\n\n1. d\n\n> q\n> > r\n\n| x | y |\n|---|---|\n| "
    "`1|2` | [l](http://u \"t\") |\n\n"
    "```py\nx < y\n```\n\n<div title=\"z\">\n*raw*\n</div>\n\n[ref]: <http://v> 'w'\n\n![i][ref] "
    "&copy; <b@c.d> a  \nb **中：**文",
    "<table><tr><td>a<p>b<em>c</td></em><th><a href=\"java&#x73;cript:x\" title='q'>d</a><img "
    "src=e alt=f><pre>\n g</table><!-- "
    "h "
    "--><ul><li>i<ol><li>j</ul></p><blockquote><h1>k<h2>l</h1></br></"
    "blockquote>&amp;&bogus;&#65;<script>m</script>",
};

static void every_beginning_of_a_document_is_safe(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    for (size_t d = 0; d < SB_COUNT(documents); d++) {
        for (size_t cut = 0; cut <= strlen(documents[d]); cut++) {
            /* in a block of exactly its size, so that a look behind its end is seen */
            uint8_t *bytes = malloc(cut ? cut : 1);
            assert_non_null(bytes);
            memcpy(bytes, documents[d], cut);
            rendered(&html, sb_slice_of(bytes, cut));
            cleaned(&html, sb_slice_of(bytes, cut));
            free(bytes);
        }
    }
    sb_buf_fini(&html);
}

static void flipped_bits_leave_it_safe(void **state) {
    (void)state;
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 20);
    for (size_t d = 0; d < SB_COUNT(documents); d++) {
        size_t n = strlen(documents[d]);
        uint8_t *bytes = malloc(n);
        assert_non_null(bytes);
        memcpy(bytes, documents[d], n);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
            rendered(&html, sb_slice_of(bytes, n));
            cleaned(&html, sb_slice_of(bytes, n));
            bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
        }
        free(bytes);
    }
    sb_buf_fini(&html);
}

static sb_status render_with(const sb_alloc *alloc, void *ud) {
    const sb_slice *strings = ud;
    const uint64_t dims[] = {1, 1, 2};
    sb_buf html;
    sb_buf_init(&html, alloc, 1 << 20);
    sb_status status = sb_text_render(&html, strings, 2, dims, 3, true, NULL, NULL);
    if (status != SB_OK) assert_int_equal(html.n, 0);
    sb_buf_fini(&html);
    return status;
}

static sb_status clean_with(const sb_alloc *alloc, void *ud) {
    const sb_slice *strings = ud;
    sb_buf html;
    sb_buf_init(&html, alloc, 1 << 20);
    sb_status status = sb_html_clean(&html, strings[1], NULL, NULL);
    if (status != SB_OK) assert_int_equal(html.n, 0);
    sb_buf_fini(&html);
    return status;
}

static void refused_memory_is_reported_and_nothing_leaks(void **state) {
    (void)state;
    sb_slice strings[] = {sb_slice_str(documents[0]), sb_slice_str(documents[1])};
    sb_fault_alloc_sweep(render_with, strings);
    sb_fault_alloc_sweep(clean_with, strings);
    sb_slice odd[] = {SB_LIT("a\xff\r\nb"), SB_LIT("<p>\r\n\xff")};
    sb_fault_alloc_sweep(render_with, odd);
    sb_fault_alloc_sweep(clean_with, odd);
}

static void saved_fuzz_inputs_are_safe(void **state) {
    (void)state;
    DIR *folder = opendir(SB_CORPUS "/markdown");
    assert_non_null(folder);
    sb_buf html;
    sb_buf_init(&html, &sb_alloc_libc, 1 << 26);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        uint8_t bytes[1 << 16];
        snprintf(path, sizeof path, SB_CORPUS "/markdown/%s", entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t n = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        rendered(&html, sb_slice_of(bytes, n));
        cleaned(&html, sb_slice_of(bytes, n));
        count++;
    }
    closedir(folder);
    assert_true(count > 100);
    sb_buf_fini(&html);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_specification_hold),
        cmocka_unit_test(blocks_follow_the_dialect),
        cmocka_unit_test(texts_follow_the_dialect),
        cmocka_unit_test(tensors_become_tables),
        cmocka_unit_test(shapes_that_ask_for_more_strings_than_there_are_are_invalid),
        cmocka_unit_test(nul_characters_are_taken_out_and_counted),
        cmocka_unit_test(bytes_that_are_no_utf8_become_replacement_characters),
        cmocka_unit_test(hostile_html_is_defused),
        cmocka_unit_test(broken_html_is_mended_as_browsers_do),
        cmocka_unit_test(urls_keep_their_attribute_only_with_an_allowed_scheme),
        cmocka_unit_test(deep_nesting_stays_text_from_the_limit_on),
        cmocka_unit_test(texts_and_html_over_their_limit_are_refused),
        cmocka_unit_test(html_is_appended_to_what_is_there),
        cmocka_unit_test(links_of_one_text_are_not_known_in_the_next),
        cmocka_unit_test(repetition_costs_what_its_size_costs),
        cmocka_unit_test(every_beginning_of_a_document_is_safe),
        cmocka_unit_test(flipped_bits_leave_it_safe),
        cmocka_unit_test(refused_memory_is_reported_and_nothing_leaks),
        cmocka_unit_test(saved_fuzz_inputs_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
