/* media_list.h: images and clips of a series: which steps have sample k.
 *
 * Steps ascend; of several points at one step the first counts, as in TensorBoard. An image's blobs
 * are width, height, then the pictures: sample k is blob k + 2. A clip's sample k is blob k.
 *
 * Threads: any.  Cost: listing reads nothing but memory; a blob costs one reading of its record. */
#ifndef SB_QUERY_KINDS_MEDIA_LIST_H
#define SB_QUERY_KINDS_MEDIA_LIST_H

#include "query/records/blob.h"

typedef struct sb_media_item {
    sb_ref_item item;
    uint32_t samples; /* pictures or clips at this step */
} sb_media_item;

typedef struct sb_media_ask {
    bool is_audio;
    uint32_t sample; /* only steps that have this one; 0: any */
    const sb_sampling *sampling;
    bool show_superseded;
} sb_media_ask;

/* SB_INVALID when the series is none of blobs. */
sb_status sb_media_list(const sb_series *series, const sb_media_ask *ask, sb_arena *arena,
                        sb_media_item **out, size_t *n, sb_err *err);

/* "audio/wav" or "application/octet-stream", by the encoding that the series' metadata names. */
const char *sb_audio_type(const sb_series_meta *meta);

#endif
