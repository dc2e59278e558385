/* profile_ask.h: what the routes of profiles share: the open capture that a request is about,
 * ranges and lists of tracks in requests, references to slices in answers. */
#ifndef SB_SERVER_API_PROFILE_ASK_H
#define SB_SERVER_API_PROFILE_ASK_H

#include "server/api/api.h"

typedef struct sb_profile_ask {
    sb_http_request *q;
    sb_app *app;
    json_t *body; /* of POST; NULL */
    const sb_kept_trace *kept;
    const sb_trace *t;    /* `own_trace` */
    const sb_analysis *a; /* `own_analysis` or `made` */
    /* The kept ones as this request sees them: what is made for it counts as the request's
     * memory. */
    sb_trace own_trace;
    sb_analysis own_analysis;
    sb_analysis *made; /* for steps that the client chose */
    sb_arena arena;
} sb_profile_ask;

/* Finds the capture, from the body of a POST or the query of a GET, whose reply also gets an ETag,
 * and calls `answer` with it. Where there is none the reply says so. */
sb_status sb_profile_answer(sb_http_request *q, sb_http_reply *r, void *app,
                            sb_status (*answer)(sb_profile_ask *p, sb_http_reply *r));
/* Begins the JSON answer: version and epoch. */
void sb_profile_begin(sb_json *j, const sb_profile_ask *p, sb_http_reply *r);

/* A number of the body or of the query; `otherwise` where there is none. */
int64_t sb_profile_number(const sb_profile_ask *p, const char *key, int64_t otherwise);
sb_slice sb_profile_text(const sb_profile_ask *p, const char *key);
/* "tracks" of the body; absent: all but counters, derived tracks, steps and those that have only
 * marks of the profiler. In the arena; NULL: no memory. */
uint32_t *sb_profile_track_list(sb_profile_ask *p, size_t *n);

/* Appends {track, index, name, kind, startPs, durationPs, depth}. */
void sb_profile_add_ref(sb_json *j, const sb_trace *t, uint32_t track, uint32_t index);
bool sb_profile_is_expired(void *request);

/* Opens a capture by a background job, unless it is open or a job for it is under way.
 * (profile_list.c) */
sb_status sb_profile_submit(sb_app *app, const sb_capture *c, sb_err *err);
/* Appends {"capture": ...} members as the list has them. */
void sb_profile_add_capture(sb_json *j, sb_app *app, const sb_capture *c);
/* Step statistics in event files are captures too: calls `each` for every one; true ends the
 * walk. */
sb_status sb_profile_each_stats(sb_app *app, sb_arena *arena,
                                bool (*each)(void *ud, const sb_capture *c, const sb_series *s),
                                void *ud, sb_err *err);

#endif
