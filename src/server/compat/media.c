/* media.c: /data/plugin/images and /data/plugin/audio: which steps have a sample, and the bytes of
 * one. */
#include "query/kinds/media_list.h"

#include "base/text/number.h"
#include "media/sniff.h"
#include "server/compat/blob_key.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define HTTP_LIMIT 10

/* ---- /tags ----------------------------------------------------------------------------------- */

SB_COMPAT_HANDLER(images_tags) {
    return sb_compat_tag_index(q, r, app, "images", SB_SERIES_BLOBS);
}

SB_COMPAT_HANDLER(audio_tags) {
    return sb_compat_tag_index(q, r, app, "audio", SB_SERIES_BLOBS);
}

/* ---- the steps of one series ----------------------------------------------------------------- */

typedef struct listing {
    const char *plugin, *what;
    bool is_audio;
    sb_slice run, tag;
    int64_t sample;
    const char *content_type; /* of clips */
} listing;

static void add_media_step(sb_json *j, const listing *l, const sb_ref_item *item,
                           sb_slice experiment) {
    sb_buf query;
    sb_buf_init(&query, j->out->alloc, (size_t)4 << 20);
    sb_buf_add_str(&query, "blob_key=");
    sb_blob_key_add(&query, &(sb_blob_key){.experiment = experiment,
                                           .plugin = sb_slice_str(l->plugin),
                                           .run = l->run,
                                           .tag = l->tag,
                                           .step = item->step,
                                           .index = l->sample + (l->is_audio ? 0 : 2)});
    if (l->is_audio)
        sb_buf_add_str(&query, strcmp(l->content_type, "audio/wav") == 0
                                   ? "&content_type=audio%2Fwav"
                                   : "&content_type=application%2Foctet-stream");
    sb_json_begin_object(j);
    sb_json_put_double(j, "wall_time", item->wall);
    if (l->is_audio) {
        sb_json_put_str(j, "label", "");
    }
    sb_json_put_int(j, "step", item->step);
    if (l->is_audio) {
        sb_json_put_str(j, "contentType", l->content_type);
    }
    sb_json_put_text(j, "query", sb_buf_slice(&query));
    sb_json_end_object(j);
    if (query.failed != SB_OK && j->out->failed == SB_OK) j->out->failed = query.failed;
    sb_buf_fini(&query);
}

static sb_status answer_steps(sb_http_request *q, sb_http_reply *r, sb_app *app, listing *l) {
    sb_slice sample = sb_http_query(q, "sample");
    if (!sb_compat_run_tag(q, r, &l->run, &l->tag)) return SB_OK;
    if (sample.p && !sb_parse_int64(sample, &l->sample))
        return sb_compat_invalid(r, "sample must be an integer");
    sb_found_series found;
    sb_status status =
        sb_compat_find(&found, app, q->arena, l->run, l->tag, l->plugin, SB_SERIES_BLOBS);
    if (status == SB_NOT_FOUND) return sb_compat_no_data(r, l->what, l->run, l->tag);
    if (status != SB_OK) return status;
    sb_media_item *items;
    size_t n;
    sb_sampling sampling = sb_compat_sampling(app, l->plugin, HTTP_LIMIT);
    sb_media_ask ask = {
        .is_audio = l->is_audio, .sampling = &sampling, .show_superseded = app->show_superseded};
    l->content_type = sb_audio_type(found.series.meta);
    status = sb_media_list(&found.series, &ask, q->arena, &items, &n, sb_http_err(r));
    if (status == SB_OK) {
        sb_json j;
        sb_compat_json_begin(&j, r);
        sb_json_begin_array(&j);
        for (size_t i = 0; i < n; i++)
            if (l->sample >= 0 && l->sample < (int64_t)items[i].samples)
                add_media_step(&j, l, &items[i].item, sb_compat_experiment(q, app));
        sb_json_end_array(&j);
        status = sb_compat_json_end(&j, r);
    }
    sb_compat_release(&found);
    return status;
}

SB_COMPAT_HANDLER(images) {
    listing l = {.plugin = "images", .what = "image"};
    return answer_steps(q, r, app, &l);
}

SB_COMPAT_HANDLER(audio) {
    listing l = {.plugin = "audio", .what = "audio", .is_audio = true};
    return answer_steps(q, r, app, &l);
}

/* ---- one of them ----------------------------------------------------------------------------- */

SB_COMPAT_HANDLER(individual_image) {
    sb_slice key = sb_http_query(q, "blob_key");
    if (!key.p) return sb_compat_plain(r, 400, "Invalid run, tag, index, or sample");
    sb_status status = sb_blob_key_send(q, r, app, key, "images", NULL);
    if (status == SB_INVALID) return sb_compat_plain(r, 400, "Invalid run, tag, index, or sample");
    if (status == SB_NOT_FOUND) return sb_compat_plain(r, 404, "Not found");
    return status;
}

/* The client chooses the content type, except types that a browser would run. */
SB_COMPAT_HANDLER(individual_audio) {
    static const char *const allowed[] = {"audio/wav", "application/octet-stream"};
    sb_slice type = sb_http_query(q, "content_type"), key = sb_http_query(q, "blob_key");
    const char *wanted = NULL;
    if (!type.p) return sb_compat_page(r, 400, (sb_slice){NULL, 0});
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if (sb_slice_eq(type, sb_slice_str(allowed[i]))) wanted = allowed[i];
    if (!wanted) {
        sb_compat_invalid(r, "Illegal mime type ");
        sb_compat_add_repr(sb_http_body(r), type);
        return SB_OK;
    }
    if (!key.p) return sb_compat_page(r, 400, (sb_slice){NULL, 0});
    sb_status status = sb_blob_key_send(q, r, app, key, "audio", wanted);
    if (status == SB_INVALID) return sb_compat_invalid(r, "that is no blob key");
    if (status == SB_NOT_FOUND) return sb_compat_plain(r, 404, "Not found");
    if (status == SB_OK) sb_http_allow_ranges(r); /* players seek */
    return status;
}
