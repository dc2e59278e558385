/* media_list.c: images and clips. */
#include "query/kinds/media_list.h"

#include "base/checked.h"
#include "base/slice.h"
#include "codec/plugin.h"
#include "query/records/value.h"
#include "base/banned.h"

static uint32_t samples_of(const sb_ref *ref, bool is_audio) {
    if (is_audio) return ref->count;
    return ref->count > 2 ? ref->count - 2 : 0;
}

sb_status sb_media_list(const sb_series *series, const sb_media_ask *ask, sb_arena *arena,
                        sb_media_item **out, size_t *n, sb_err *err) {
    if (series->meta->kind != SB_SERIES_BLOBS)
        return sb_fail(err, SB_INVALID, 0, "%.*s holds no blobs", SB_SHOWN(series->tag));
    sb_ref_ask refs = {
        .by_step = true, .show_superseded = ask->show_superseded, .sampling = ask->sampling};
    sb_ref_item *items;
    size_t count, bytes;
    sb_status status = sb_refs_list(series, &refs, arena, &items, &count, NULL, err);
    if (status != SB_OK) return status;
    *out = NULL;
    if (sb_mul_size(&bytes, count, sizeof **out)) *out = sb_arena_get(arena, bytes);
    if (!*out) return sb_fail_nomem(err, "for a list of blobs");
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t samples = samples_of(&items[i].ref, ask->is_audio);
        if (samples > ask->sample) (*out)[(*n)++] = (sb_media_item){items[i], samples};
    }
    return SB_OK;
}

const char *sb_audio_type(const sb_series_meta *meta) {
    sb_audio_plugin plugin;
    bool is_wav = sb_audio_plugin_read(&plugin, meta->plugin_content) == SB_OK &&
                  plugin.encoding == SB_AUDIO_ENCODING_WAV;
    return is_wav ? "audio/wav" : "application/octet-stream";
}
