/* debugger_v2.c: /data/plugin/debugger-v2: what TensorBoard answers when there is nothing to
 * debug. */
#include "server/compat/compat.h"
#include "base/banned.h"

SB_COMPAT_HANDLER(debugger_runs) {
    (void)q, (void)app;
    sb_http_type(r, "application/json");
    sb_http_lend(r, SB_LIT("{}"), NULL, NULL);
    return SB_OK;
}

SB_COMPAT_HANDLER(debugger_no_data) {
    (void)app;
    sb_json j;
    bool has_run = sb_http_query(q, "run").p != NULL;
    sb_http_status(r, 400);
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    sb_json_put_str(&j, "error",
                    has_run ? "there is no debugger data in the log directory"
                            : "run parameter is not provided");
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}
