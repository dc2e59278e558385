/* profile_trace.c: the job that writes an open capture, or a window of it, as a Chrome trace. */
#include <jansson.h>

#include "profile/chrome_write.h"
#include "server/app_int.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

static json_t *load(sb_slice text) {
    return json_loadb((const char *)text.p, text.n, JSON_ALLOW_NUL, NULL);
}

sb_status sb_profile_trace_job_check(sb_slice text, sb_err *err) {
    json_t *args = load(text);
    const json_t *from = json_object_get(args, "from"), *to = json_object_get(args, "to");
    bool has_capture = json_is_string(json_object_get(args, "capture"));
    bool has_range = (!from || json_is_number(from)) && (!to || json_is_number(to));
    json_decref(args);
    if (!has_capture) return sb_fail(err, SB_INVALID, 0, "\"capture\" must be the id of a capture");
    return has_range ? SB_OK : sb_fail(err, SB_INVALID, 0, "\"from\" and \"to\" must be numbers");
}

static sb_status keep(void *ud, sb_slice piece, uint64_t done, uint64_t total, sb_err *err) {
    sb_job *job = ud;
    sb_job_report(job, done, total);
    if (sb_job_is_cancelled(job)) return sb_fail(err, SB_CANCELLED, 0, "not wanted any more");
    return sb_job_write(job, piece, err);
}

static int64_t time_of(const json_t *number, int64_t otherwise) {
    double x = json_number_value(number);
    return json_is_number(number) && x > -9e18 && x < 9e18 ? (int64_t)x : otherwise;
}

sb_status sb_profile_trace_job_run(sb_job *job, void *opaque, sb_err *err) {
    sb_app *app = opaque;
    json_t *args = load(sb_job_args(job));
    const char *id = json_string_value(json_object_get(args, "capture"));
    const sb_kept_trace *kept = sb_profiles_find(app->profiles, sb_slice_str(id));
    sb_status status;
    if (kept) {
        int64_t from = time_of(json_object_get(args, "from"), INT64_MIN / 4);
        int64_t to = time_of(json_object_get(args, "to"), INT64_MAX / 4);
        /* the page names it after the capture */
        sb_job_describe_result(job, "application/json", "");
        status = sb_chrome_write(kept->trace, from, to, keep, job, err);
    } else {
        status = sb_fail(err, SB_NOT_FOUND, 0, "this capture is not open any more: open it again");
    }
    sb_profiles_release(app->profiles, kept);
    json_decref(args);
    return status;
}
