/* core.c: what TensorBoard's core plugin answers: the environment, the runs, the way to the page.
 */
#include "server/compat/compat.h"
#include "base/banned.h"

SB_COMPAT_HANDLER(environment) {
    (void)q;
    const sb_app *a = app;
    sb_http_type(r, "application/json");
    sb_http_lend(r, a->environment, NULL, NULL);
    return SB_OK;
}

/* {name: text} */
static sb_status one_text(sb_http_reply *r, const char *name, sb_slice text) {
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_key_str(&j, name);
    sb_json_text(&j, text);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

SB_COMPAT_HANDLER(logdir) {
    (void)q;
    const sb_app *a = app;
    return one_text(r, "logdir", a->data_location);
}

SB_COMPAT_HANDLER(window_properties) {
    (void)q;
    const sb_app *a = app;
    return one_text(r, "window_title", a->window_title);
}

SB_COMPAT_HANDLER(runs) {
    sb_app *a = app;
    sb_runs runs;
    sb_status status = sb_store_runs(a->store, q->arena, &runs);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_array(&j);
    for (size_t i = 0; i < runs.n; i++) {
        sb_run_info info;
        sb_run_get_info(runs.items[i], &info);
        sb_json_text(&j, info.name);
    }
    sb_json_end_array(&j);
    sb_runs_release(&runs);
    return sb_compat_json_end(&j, r);
}

SB_COMPAT_HANDLER(no_experiments) {
    (void)q, (void)app;
    sb_http_type(r, "application/json");
    sb_http_lend(r, SB_LIT("[]"), NULL, NULL);
    return SB_OK;
}

/* The location is relative, so that it is right behind any proxy. */
SB_COMPAT_HANDLER(notifications) {
    (void)q, (void)app;
    sb_http_status(r, 302);
    sb_http_type(r, "text/html; charset=utf-8");
    sb_buf_add_str(
        sb_http_body(r),
        "<!doctype html>\n<html lang=en>\n<title>Redirecting...</title>\n<h1>Redirecting...</h1>\n"
        "<p>It is here: <a href=\"../notifications_note.json\">../notifications_note.json</a>.\n");
    return sb_http_set_header(r, "Location", SB_LIT("../notifications_note.json"));
}

SB_COMPAT_HANDLER(no_notifications) {
    (void)q, (void)app;
    sb_http_type(r, "application/json");
    sb_http_lend(r, SB_LIT("{\"notifications\": []}"), NULL, NULL);
    return SB_OK;
}

/* Paths of very old versions of TensorBoard. */
SB_COMPAT_HANDLER(to_index) {
    (void)q;
    const sb_app *a = app;
    sb_buf path;
    sb_buf_init(&path, q->alloc, (size_t)64 << 10);
    sb_buf_add_slice(&path, a->path_prefix);
    sb_buf_add_byte(&path, '/');
    sb_status status = sb_buf_check(&path, "an address", sb_http_err(r));
    if (status == SB_OK)
        status = sb_http_redirect(r, 302, sb_buf_slice(&path), (sb_slice){NULL, 0});
    sb_buf_fini(&path);
    return status;
}

SB_COMPAT_HANDLER(not_here) {
    (void)q, (void)app;
    return sb_compat_plain(r, 404, "Not found");
}

SB_COMPAT_HANDLER(healthy) {
    (void)q, (void)app;
    sb_http_lend(r, SB_LIT("ok\n"), NULL, NULL);
    return SB_OK;
}
