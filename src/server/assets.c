/* assets.c: finds the web app's files in the table and sends them in the coding that fits. */
#include "server/assets.h"

#include "base/slice.h"
#include "server/assets_int.h"
#include "server/http/text.h"
#include "base/banned.h"

/* Styles of an element are set through the object model, which this allows; what comes from logs as
 * HTML is cleaned and may bring pictures of this server and of data: only. */
#define APP_POLICY                                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "        \
    "media-src 'self' blob:; connect-src 'self'; worker-src 'self'; frame-src 'self'; "            \
    "font-src 'self'; base-uri 'none'; form-action 'self'"

#define FOLDER "assets/"

static const sb_asset *find_asset(sb_slice folder, sb_slice name) {
    for (size_t i = 0; i < sb_asset_count; i++) {
        sb_slice path = sb_slice_str(sb_asset_table[i].path);
        if (path.n != folder.n + name.n) continue;
        if (sb_slice_eq(sb_slice_of(path.p, folder.n), folder) &&
            sb_slice_eq(sb_slice_of(path.p + folder.n, name.n), name))
            return &sb_asset_table[i];
    }
    return NULL;
}

/* Does this list of languages name Chinese before English? Browsers list the preferred one
 * first. */
static bool prefers_chinese(sb_slice list) {
    sb_slice tag;
    while (sb_text_next(&list, &tag)) {
        if (tag.n < 2 || (tag.n > 2 && tag.p[2] != '-' && tag.p[2] != ';')) continue;
        tag.n = 2;
        if (sb_text_same(tag, "zh")) return true;
        if (sb_text_same(tag, "en")) return false;
    }
    return false;
}

bool sb_assets_page(const sb_http_request *q, sb_http_reply *r) {
    const sb_asset *page = find_asset(SB_LIT(""), SB_LIT("index.html"));
    if (!page) return false;
    if (prefers_chinese(sb_http_header(q, "Accept-Language"))) {
        const sb_asset *chinese = find_asset(SB_LIT(""), SB_LIT("index.zh.html"));
        if (chinese) page = chinese;
    }
    sb_http_set_header(r, "Vary", SB_LIT("Accept-Language"));
    sb_http_send_asset(r, &page->body);
    sb_http_policy(r, APP_POLICY);
    return true;
}

sb_status sb_assets_file(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)app;
    const sb_asset *file = find_asset(SB_LIT(FOLDER), q->rest);
    if (!file) return sb_http_fail(r, 404, "there is no such file in this version");
    sb_http_send_asset(r, &file->body);
    sb_http_cache_for(r, SB_HTTP_CACHE_FOREVER);
    return SB_OK;
}
