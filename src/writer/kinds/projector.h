/* projector.h: one entry more in a projector_config.pbtxt. */
#ifndef SB_WRITER_KINDS_PROJECTOR_H
#define SB_WRITER_KINDS_PROJECTOR_H

#include <stdbool.h>

#include "base/env.h"
#include "base/status.h"

typedef struct sb_projector_entry {
    sb_slice tensor_name;
    sb_slice folder; /* of its files, relative to the config */
    bool has_labels, has_sprite;
    uint32_t width, height; /* of one picture in the sprite */
} sb_projector_entry;

/* Reads the config, if there is one, puts the entry in the place of one with the same tensor name
 * or at the end, and writes it as a whole. A config that can't be read is left alone: SB_CORRUPT.
 * Two processes that do this at the very same moment may lose one of the entries. */
sb_status sb_projector_merge(const sb_env *env, const char *path, const sb_projector_entry *entry,
                             sb_err *err);

#endif
