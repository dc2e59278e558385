/* glance.h: what the first bytes of a picture or a clip tell, for lists: kind, size, length.
 *
 * In:  a whole blob from a log, hostile ones too.  Out: numbers that its header claims and that
 * make sense; 0 for what is not known. Hints, no more: who decodes a blob checks it again.
 * Threads: no state.  Cost: no allocation; a few comparisons, the markers of a JPEG, the chunks of
 * a WAV file. */
#ifndef SB_MEDIA_GLANCE_H
#define SB_MEDIA_GLANCE_H

#include "media/sniff.h"

typedef struct sb_glance {
    sb_media media;
    uint16_t channels;         /* of a WAV file; of a picture 1 when its end is missing */
    uint32_t width_or_rate;    /* pixels; frames a second of a WAV file that can be read */
    uint32_t height_or_frames; /* pixels; frames that are really there; UINT32_MAX: or more */
    uint32_t bytes;            /* of the blob; UINT32_MAX: or more */
} sb_glance;

sb_glance sb_glance_picture(sb_slice blob);
sb_glance sb_glance_clip(sb_slice blob);

#endif
