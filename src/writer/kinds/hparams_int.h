/* hparams_int.h: the parts of hparams.c that tests look at. */
#ifndef SB_WRITER_KINDS_HPARAMS_INT_H
#define SB_WRITER_KINDS_HPARAMS_INT_H

#include "base/buf.h"
#include "seaboard/writer.h"

/* The values as JSON, in the order given; names and texts are valid. */
void sb_hparams_json(sb_buf *out, const sb_hparam *const *sorted, size_t count);

/* A Summary with one value that holds the body; kind is a field number of HParamsPluginData. */
void sb_hparams_summary(sb_buf *out, sb_style style, sb_slice tag, int kind, sb_slice body);

#endif
