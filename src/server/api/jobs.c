/* jobs.c: background jobs over HTTP (jobs/jobs.h): submit, follow, cancel, fetch the result. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/number.h"
#include "server/api/api.h"
#include "server/jobs/kinds.h"
#include "base/banned.h"

#define MOST_KEY ((size_t)1 << 20)

static void add_job_info(sb_json *j, const sb_job_info *job) {
    sb_json_begin_object(j);
    sb_json_put_uint(j, "id", job->id);
    sb_json_put_str(j, "kind", job->kind);
    sb_json_put_str(j, "state", sb_job_state_name(job->state));
    sb_json_put_uint(j, "done", job->done);
    sb_json_put_uint(j, "total", job->total);
    sb_json_put_uint(j, "bytes", job->bytes);
    if (job->state == SB_JOB_FAILED) sb_json_put_str(j, "error", job->err.text);
    if (job->code) sb_json_put_str(j, "code", job->code);
    if (job->facts[0]) {
        sb_json_key_str(j, "fault");
        sb_json_raw(j, sb_slice_str(job->facts));
    }
    sb_json_end_object(j);
}

/* The job that the query names; false: the reply says that there is none. */
static bool read_job_id(sb_http_request *q, sb_http_reply *r, uint64_t *id) {
    sb_slice text = sb_http_query(q, "id");
    if (text.p && sb_parse_uint64(text, id)) return true;
    sb_api_fail(r, 400, "invalid", "id must be the number of a job");
    return false;
}

static sb_status fail_no_job(sb_http_reply *r) {
    return sb_api_fail(r, 404, "not_found", "there is no such job, or it was evicted");
}

static sb_status answer_job(sb_http_reply *r, sb_app *app, uint64_t id) {
    sb_job_info job;
    sb_json j;
    sb_api_begin(&j, r, app);
    if (sb_jobs_get(app->jobs, id, &job) != SB_OK) return fail_no_job(r);
    sb_json_key_str(&j, "job");
    add_job_info(&j, &job);
    return sb_api_end(&j, r);
}

sb_status sb_api_jobs(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_job_info *jobs;
    size_t n;
    sb_json j;
    sb_api_begin(&j, r, app);
    sb_json_put_str(&j, "instance", app->instance);
    if (sb_jobs_list(app->jobs, q->arena, &jobs, &n) != SB_OK) return SB_NOMEM;
    sb_json_key_str(&j, "jobs");
    sb_json_begin_array(&j);
    for (size_t i = 0; i < n; i++) add_job_info(&j, &jobs[i]);
    sb_json_end_array(&j);
    return sb_api_end(&j, r);
}

sb_status sb_api_job(sb_http_request *q, sb_http_reply *r, void *app) {
    uint64_t id;
    return read_job_id(q, r, &id) ? answer_job(r, app, id) : SB_OK;
}

/* Results depend on the arguments and on the data: the key is the arguments, printed in one way,
 * and which data. */
static sb_status submit_job(sb_http_reply *r, sb_app *app, const sb_job_kind *kind,
                            const char *args) {
    uint64_t id;
    sb_buf key;
    sb_slice text = sb_slice_str(args);
    sb_status status = kind->check(text, sb_http_err(r));
    if (status != SB_OK) return status;
    sb_buf_init(&key, app->env->alloc, text.n + MOST_KEY);
    if (kind->add_key)
        status = kind->add_key(text, app, &key, sb_http_err(r));
    else
        sb_buf_printf(&key, "%llu ", (unsigned long long)sb_store_version(app->store));
    sb_buf_add_slice(&key, text);
    if (status == SB_OK) status = sb_buf_check(&key, "a background job", sb_http_err(r));
    if (status == SB_OK)
        status = sb_jobs_submit(app->jobs, kind, text, sb_buf_slice(&key), &id, sb_http_err(r));
    sb_buf_fini(&key);
    return status == SB_OK ? answer_job(r, app, id) : status;
}

sb_status sb_api_submit_job(sb_http_request *q, sb_http_reply *r, void *app) {
    if (!sb_http_header(q, "X-Seaboard-Request").p)
        return sb_api_fail(r, 403, "forbidden", "a job needs the header X-Seaboard-Request");
    json_t *body = sb_api_body(q, r);
    if (!body) return SB_OK;
    const json_t *name = json_object_get(body, "kind"), *args = json_object_get(body, "args");
    const sb_job_kind *kind =
        json_is_string(name) ? sb_job_kind_find(sb_slice_str(json_string_value(name))) : NULL;
    sb_status status;
    if (!kind) {
        status = sb_api_fail(r, 400, "invalid",
                             "\"kind\" must name a kind of job: export, graph, profile, "
                             "profile_trace");
    } else if (!json_is_object(args)) {
        status = sb_api_fail(r, 400, "invalid", "\"args\" must be an object");
    } else {
        char *text = json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS);
        status = text ? submit_job(r, app, kind, text) : SB_NOMEM;
        free(text);
    }
    json_decref(body);
    return status;
}

sb_status sb_api_cancel_job(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    uint64_t id;
    sb_json j;
    if (!sb_http_header(q, "X-Seaboard-Request").p)
        return sb_api_fail(r, 403, "forbidden", "a change needs the header X-Seaboard-Request");
    if (!read_job_id(q, r, &id)) return SB_OK;
    sb_api_begin(&j, r, app);
    if (sb_jobs_cancel(app->jobs, id) != SB_OK) return fail_no_job(r);
    return sb_api_end(&j, r);
}

sb_status sb_api_job_result(sb_http_request *q, sb_http_reply *r, void *opaque) {
    sb_app *app = opaque;
    sb_job_result result;
    uint64_t id;
    if (!read_job_id(q, r, &id)) return SB_OK;
    sb_status status = sb_jobs_open_result(app->jobs, id, &result, sb_http_err(r));
    if (status == SB_NOT_FOUND) return fail_no_job(r);
    if (status == SB_MORE || status == SB_DROPPED)
        return sb_api_fail(r, 409, "conflict", "%s", sb_http_err(r)->text);
    if (status != SB_OK) return status;
    char disposition[128] = "attachment"; /* who saves a result without a name chooses one */
    if (result.file_name[0])
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", result.file_name);
    sb_api_version(r, app);
    sb_http_type(r, result.content_type);
    sb_http_set_header(r, "Content-Disposition", sb_slice_str(disposition));
    sb_http_allow_ranges(r);
    sb_http_take_file(r, result.fd, 0, result.bytes);
    return SB_OK;
}
