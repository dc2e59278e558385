/* mesh.c: /data/plugin/mesh. */
#include "query/kinds/mesh.h"

#include "base/text/number.h"
#include "server/compat/series.h"
#include "base/banned.h"

#define PLUGIN "mesh"
#define HTTP_LIMIT 100
#define MOST_RECORD ((size_t)1 << 30)

SB_COMPAT_HANDLER(mesh_tags) {
    sb_series_list list;
    sb_status status = sb_compat_list(&list, q, r, app, PLUGIN, SB_SERIES_TENSOR);
    if (status != SB_OK) return status;
    sb_json j;
    sb_compat_json_begin(&j, r);
    sb_json_begin_object(&j);
    for (size_t i = 0; i < list.n && status == SB_OK; i++) {
        sb_mesh_name *names;
        size_t n;
        status = sb_mesh_names(&list.runs[i], q->arena, &names, &n, sb_http_err(r));
        if (status != SB_OK) break;
        sb_json_key(&j, list.runs[i].info.name);
        sb_json_begin_object(&j);
        for (size_t k = 0; k < n; k++) {
            sb_json_key(&j, names[k].name);
            sb_json_begin_object(&j);
            sb_json_put_int(&j, "samples", names[k].samples);
            sb_json_end_object(&j);
        }
        sb_json_end_object(&j);
    }
    sb_series_list_release(&list);
    if (status != SB_OK) return status;
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* The meshes of one run; list->n is 0 when it has none. Release it after SB_OK. */
static sb_status find_run(sb_series_list *list, sb_http_request *q, sb_http_reply *r, sb_app *app,
                          sb_slice run) {
    sb_list_ask ask = {.plugin = SB_LIT(PLUGIN), .kind = SB_SERIES_TENSOR, .run = run};
    sb_budget budget = sb_compat_budget(q);
    return sb_series_list_read(app->store, &ask, &budget, q->arena, list, sb_http_err(r));
}

static void add_mesh(sb_json *j, const sb_mesh_item *mesh) {
    sb_json_begin_object(j);
    sb_json_put_double(j, "wall_time", mesh->item.wall);
    sb_json_put_int(j, "step", mesh->item.step);
    sb_json_put_int(j, "content_type", mesh->part.content_type);
    sb_json_put_uint(j, "components", mesh->part.components);
    sb_json_put_text(j, "config", mesh->part.json_config);
    sb_json_key_str(j, "data_shape");
    sb_json_begin_array(j);
    for (size_t i = 0; i < mesh->part.rank && i < SB_MAX_RANK; i++)
        sb_json_int(j, mesh->part.shape[i]);
    sb_json_end_array(j);
    sb_json_end_object(j);
}

SB_COMPAT_HANDLER(meshes) {
    sb_app *a = app;
    sb_slice run, tag;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    sb_series_list list;
    sb_status status = find_run(&list, q, r, a, run);
    if (status != SB_OK) return status;
    sb_mesh_item *items = NULL;
    size_t n = 0;
    sb_sampling sampling = sb_compat_sampling(a, PLUGIN, HTTP_LIMIT);
    if (list.n)
        status = sb_mesh_list(&list.runs[0], tag, &sampling, q->arena, &items, &n, sb_http_err(r));
    if (status == SB_OK) {
        sb_json j;
        sb_compat_json_begin(&j, r);
        sb_json_begin_array(&j);
        for (size_t i = 0; i < n; i++) add_mesh(&j, &items[i]);
        sb_json_end_array(&j);
        status = sb_compat_json_end(&j, r);
    }
    sb_series_list_release(&list);
    return status;
}

SB_COMPAT_HANDLER(mesh_data) {
    static const struct {
        const char *name;
        int32_t type;
    } types[] = {{"VERTEX", SB_MESH_CONTENT_VERTEX},
                 {"FACE", SB_MESH_CONTENT_FACE},
                 {"COLOR", SB_MESH_CONTENT_COLOR}};
    sb_app *a = app;
    sb_slice run, tag, bytes = SB_LIT("");
    sb_slice type = sb_http_query(q, "content_type");
    sb_slice sample_text = sb_http_query(q, "sample"), step_text = sb_http_query(q, "step");
    int64_t sample = 0;
    double step = 0;
    if (!sb_compat_run_tag(q, r, &run, &tag)) return SB_OK;
    if (step_text.p && !sb_parse_double(step_text, &step))
        return sb_compat_invalid(r, "step must be a number");
    size_t i = 0;
    while (i < 3 && !sb_slice_eq(type, sb_slice_str(types[i].name))) i++;
    if (i == 3) return sb_compat_plain(r, 400, "Bad content_type");
    if (sample_text.p &&
        (!sb_parse_int64(sample_text, &sample) || sample < 0 || sample > UINT32_MAX))
        return sb_compat_invalid(r, "sample must be an integer");
    sb_series_list list;
    sb_status status = find_run(&list, q, r, a, run);
    if (status != SB_OK) return status;
    if (list.n)
        status = sb_mesh_data(a->blobs, &list.runs[0], tag, types[i].type, (uint32_t)sample, step,
                              MOST_RECORD, q->arena, &bytes, sb_http_err(r));
    sb_series_list_release(&list);
    if (status == SB_INVALID) return sb_compat_invalid(r, "there is no such sample");
    if (status != SB_OK) return status;
    sb_http_type(r, "arraybuffer");
    sb_http_lend(r, bytes, NULL, NULL);
    return SB_OK;
}
