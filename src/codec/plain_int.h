/* plain_int.h: plain versions of the functions that every point passes through. They take no
 * shortcut and must answer the same as the fast ones; tests and fuzz targets compare the two.
 * Private to src/codec and its tests. */
#ifndef SB_CODEC_PLAIN_INT_H
#define SB_CODEC_PLAIN_INT_H

#include "codec/event.h"
#include "codec/summary.h"

sb_status sb_event_read_plain(sb_event *out, sb_slice payload);
sb_status sb_value_read_plain(sb_value *out, sb_slice value);
bool sb_tensor_scalar_plain(sb_slice tensor, double *out, sb_dtype *dtype);

#endif
