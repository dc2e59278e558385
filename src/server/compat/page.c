/* page.c: the page at "/": the web app, or, in a program built without it, which runs there are and
 * what is in them, in plain HTML.
 *
 * The plain page needs no script, asks for nothing else and says so in its policy. Long lists are
 * cut, with a line that says how much more there is. */
#include <inttypes.h>

#include "server/assets.h"
#include "server/compat/compat.h"
#include "base/banned.h"

#define MOST_RUNS 500
#define MOST_TAGS 200 /* of one run */

#define PAGE_POLICY                                                                                \
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/* TensorBoard's front end takes its base address from the first element. */
static void add_page_head(sb_buf *out, const sb_app *app, sb_slice root) {
    sb_slice below = sb_slice_of(root.p + app->path_prefix.n, root.n - app->path_prefix.n);
    sb_buf_add_str(out, "<!doctype html><meta name=\"tb-relative-root\" content=\"");
    if (app->path_prefix.n == 0 || below.n == 0) sb_buf_add_byte(out, '.');
    /* one "../" for each part of the path that was removed behind the prefix */
    bool is_first = true;
    for (size_t i = 0; app->path_prefix.n && i < below.n; i++) {
        if (below.p[i] != '/') continue;
        sb_buf_add_str(out, is_first ? ".." : "/..");
        is_first = false;
    }
    sb_buf_add_str(out, "/\">\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    if (app->window_title.n)
        sb_compat_add_html(out, app->window_title);
    else
        sb_buf_add_str(out, "Seaboard");
    sb_buf_add_str(out, "</title>\n<style>\n"
                        ":root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }\n"
                        "body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }\n"
                        "h1 { font-size: 1.4rem } summary { cursor: pointer; padding: .2rem 0 }\n"
                        "code { overflow-wrap: anywhere } .dim { opacity: .65 }\n"
                        "ul { margin: .2rem 0 .8rem; columns: 18rem } \n"
                        "</style>\n<h1>Seaboard</h1>\n<p>Log directory: <code>");
    sb_compat_add_html(out, app->data_location);
    sb_buf_add_str(out, "</code></p>\n");
}

static void add_progress(sb_buf *out, sb_app *app) {
    sb_ingest_progress p;
    sb_app_progress(app, &p);
    sb_buf_printf(out, "<p class=\"dim\">%" PRIu64 " runs, %" PRIu64 " points", p.runs, p.points);
    if (p.is_loading)
        sb_buf_printf(out, "; still reading: %" PRIu64 " of %" PRIu64 " MB", p.bytes_done / 1000000,
                      p.bytes / 1000000);
    sb_buf_add_str(out, ".</p>\n");
    if (!p.problems) return;
    sb_buf_printf(out, "<p>%" PRIu64 " directories could not be read, one of them: ", p.problems);
    sb_compat_add_html(out, sb_slice_str(p.problem));
    sb_buf_add_str(out, "</p>\n");
}

static sb_status add_page_run(sb_buf *out, sb_run *run, sb_arena *arena, bool is_open) {
    sb_run_info info;
    sb_series_info *series;
    size_t n;
    sb_run_get_info(run, &info);
    sb_status status = sb_run_list(run, arena, &series, &n);
    if (status != SB_OK) return status;
    sb_buf_printf(out, "<details%s><summary><code>", is_open ? " open" : "");
    sb_compat_add_html(out, info.name);
    sb_buf_printf(
        out, "</code> <span class=\"dim\">%zu tags, %" PRIu64 " points</span></summary>\n<ul>\n", n,
        info.points);
    for (size_t i = 0; i < n && i < MOST_TAGS; i++) {
        sb_buf_add_str(out, "<li><code>");
        sb_compat_add_html(out, series[i].tag);
        sb_buf_add_str(out, "</code> <span class=\"dim\">");
        sb_compat_add_html(out, series[i].meta->plugin_name);
        sb_buf_printf(out, ", %" PRIu64 "</span>\n", series[i].points);
    }
    sb_buf_add_str(out, "</ul>\n");
    if (n > MOST_TAGS)
        sb_buf_printf(out, "<p class=\"dim\">and %zu more tags</p>\n", n - MOST_TAGS);
    sb_buf_add_str(out, "</details>\n");
    return SB_OK;
}

SB_COMPAT_HANDLER(index) {
    if (sb_assets_page(q, r)) return SB_OK;
    sb_app *a = app;
    sb_runs runs;
    sb_status status = sb_store_runs(a->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_http_type(r, "text/html; charset=utf-8");
    sb_http_policy(r, PAGE_POLICY);
    sb_buf *out = sb_http_body(r);
    add_page_head(out, a, q->root);
    add_progress(out, a);
    for (size_t i = 0; i < runs.n && i < MOST_RUNS && status == SB_OK; i++)
        status = add_page_run(out, runs.items[i], q->arena, runs.n <= 3);
    if (runs.n == 0)
        sb_buf_add_str(out, "<p>There is no event file in it yet. This page shows them when it is "
                            "loaded again.</p>\n");
    if (runs.n > MOST_RUNS)
        sb_buf_printf(out, "<p class=\"dim\">and %zu more runs</p>\n", runs.n - MOST_RUNS);
    sb_runs_release(&runs);
    return status;
}
