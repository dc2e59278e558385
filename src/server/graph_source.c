/* graph_source.c: which series are graphs, and their bytes. */
#include "server/graph_source.h"

#include "base/slice.h"
#include "graph/formats/graph.h"
#include "graph/formats/keras_graph.h"
#include "query/records/value.h"
#include "base/banned.h"

unsigned sb_graph_offers_meta(sb_slice tag, const sb_series_meta *meta) {
    static const struct {
        const char *plugin;
        unsigned bits;
        bool versioned; /* its content must be "1" */
    } plugins[] = {
        {"graph_run_metadata_graph", SB_GRAPH_OPS, true},
        {"graph_run_metadata", SB_GRAPH_OPS | SB_GRAPH_PROFILE, true},
        {"graph_keras_model", SB_GRAPH_CONCEPTUAL, true},
        {"graph_tagged_run_metadata", SB_GRAPH_PROFILE, false},
    };
    if (meta->kind != SB_SERIES_BLOBS) return 0;
    if (sb_slice_eq(meta->plugin_name, SB_LIT("graphs")))
        return sb_slice_eq(tag, SB_LIT(SB_RUN_GRAPH_TAG)) ? SB_GRAPH_OF_RUN : 0;
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
        if (!sb_slice_eq(meta->plugin_name, sb_slice_str(plugins[i].plugin))) continue;
        bool fits = !plugins[i].versioned || sb_slice_eq(meta->plugin_content, SB_LIT("1"));
        return fits ? plugins[i].bits : 0;
    }
    return 0;
}

unsigned sb_graph_offers(const sb_series_info *info) {
    return sb_graph_offers_meta(info->tag, info->meta);
}

sb_status sb_graph_blob(sb_app *app, const sb_series *series, sb_arena *arena, sb_ref_item *item,
                        sb_slice *out, sb_err *err) {
    sb_ref_item *items;
    size_t n;
    sb_slice payload;
    sb_ref_ask ask = {.by_step = true, .show_superseded = app->show_superseded};
    sb_status status = sb_refs_list(series, &ask, arena, &items, &n, NULL, err);
    if (status == SB_OK && n == 0) status = SB_NOT_FOUND;
    if (status != SB_OK) return status;
    *item = items[n - 1];
    if (!out) return SB_OK;
    status = sb_blob_read(app->blobs, series->run, item->file, &item->ref, SB_MOST_GRAPH_BYTES,
                          arena, &payload, err);
    return status == SB_OK ? sb_ref_blob(&item->ref, payload, 0, arena, out, err) : status;
}

sb_status sb_graph_of_series(sb_slice *graph, sb_buf *made, sb_slice *functions, sb_app *app,
                             const sb_series *series, sb_arena *arena, sb_err *err) {
    unsigned offers = sb_graph_offers_meta(series->tag, series->meta);
    sb_ref_item item;
    sb_slice blob;
    *functions = (sb_slice){NULL, 0};
    if (!(offers & (SB_GRAPH_OF_RUN | SB_GRAPH_OPS | SB_GRAPH_CONCEPTUAL))) return SB_NOT_FOUND;
    sb_status status = sb_graph_blob(app, series, arena, &item, &blob, err);
    if (status != SB_OK) return status;
    *graph = blob;
    if (offers & SB_GRAPH_OF_RUN) return SB_OK;
    if (offers & SB_GRAPH_CONCEPTUAL) {
        status = sb_keras_graph(made, blob, SB_KERAS_COUNTED, arena, err);
    } else {
        *functions = blob;
        status = sb_graph_of_run_metadata(made, blob, SB_FUNCTIONS_KEPT, arena, err);
    }
    *graph = sb_buf_slice(made);
    return status;
}
