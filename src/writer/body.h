/* body.h: events whose content is not a summary: graphs, sessions, run metadata. */
#ifndef SB_WRITER_BODY_H
#define SB_WRITER_BODY_H

#include "writer/call.h"

/* Puts an event whose field `field` (SB_EVENT_...) holds these bytes. */
sb_status sb_put_body(sb_writer *w, uint32_t field, sb_slice body, int64_t step);

/* For the writer's thread: registers the tag of a TaggedRunMetadata. Each tag may be used only
 * once: SB_INVALID when it was registered before. */
sb_status sb_run_tag_take(sb_encoder *e, sb_slice tagged_run_metadata, sb_err *err);

#endif
