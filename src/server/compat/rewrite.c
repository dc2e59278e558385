/* rewrite.c: what TensorBoard does with every request before it looks for a route: the experiment
 * in the path, the feature flags in header and query. */
#include <jansson.h>

#include "server/compat/compat.h"
#include "base/banned.h"

#define EXPERIMENT "/experiment/"
#define FLAGS_HEADER "X-TensorBoard-Feature-Flags"
#define FLAGS_PARAM "tensorBoardFeatureFlags"

/* Moves "/experiment/ID" from the path to the root. */
static void take_experiment(sb_http_request *q) {
    sb_slice prefix = SB_LIT(EXPERIMENT);
    if (!sb_slice_starts(q->path, prefix)) return;
    size_t n = prefix.n;
    while (n < q->path.n && q->path.p[n] != '/') n++;
    /* root and path are adjacent parts of the decoded path */
    q->root = sb_slice_of(q->root.p, q->root.n + n);
    q->path = sb_slice_of(q->path.p + n, q->path.n - n);
}

sb_slice sb_compat_experiment(const sb_http_request *q, const sb_app *app) {
    size_t n = app->path_prefix.n + sizeof EXPERIMENT - 1;
    if (q->root.n < n) return SB_LIT("");
    return sb_slice_of(q->root.p + n, q->root.n - n);
}

/* The reason why the flags are invalid; NULL: they are fine. */
static const char *check_flags(sb_slice text) {
    if (text.n == 0 || sb_slice_eq(text, SB_LIT("{}"))) return NULL;
    json_error_t error;
    json_t *value = json_loadb((const char *)text.p, text.n, JSON_DECODE_ANY, &error);
    const char *wrong = !value                   ? "cannot be JSON decoded."
                        : !json_is_object(value) ? "cannot be decoded to a dict."
                                                 : NULL;
    json_decref(value);
    return wrong;
}

sb_status sb_compat_rewrite(sb_http_request *q, sb_http_reply *r, void *app) {
    (void)app;
    take_experiment(q);
    const char *wrong = check_flags(sb_http_header(q, FLAGS_HEADER));
    if (wrong) {
        sb_compat_invalid(r, FLAGS_HEADER " %s", wrong);
        return SB_END;
    }
    wrong = check_flags(sb_http_query(q, FLAGS_PARAM));
    if (wrong) {
        sb_compat_invalid(r, FLAGS_PARAM " %s", wrong);
        return SB_END;
    }
    return SB_OK;
}
