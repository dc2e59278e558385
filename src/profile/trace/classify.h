/* classify.h: what a span is, from its name and category; inside the layer only. These are guesses
 * from names, as every profiler makes them. */
#ifndef SB_PROFILE_CLASSIFY_H
#define SB_PROFILE_CLASSIFY_H

#include "profile/trace/trace.h"

bool sb_text_has(sb_slice text, const char *part);      /* any case of ASCII */
bool sb_text_holds(sb_slice text, sb_slice part);       /* the same */
bool sb_text_begins(sb_slice text, const char *prefix); /* exactly */
sb_span_kind sb_classify_kineto(sb_slice category, sb_slice name);
/* An event of a host thread of XSpace, or of a trace.json made from one. */
sb_span_kind sb_classify_host(sb_slice name);
sb_span_kind sb_classify_device(sb_slice name);
bool sb_is_collective(sb_slice name);
/* Does the name of a kernel say that it uses tensor cores? */
bool sb_kernel_uses_tensor_cores(sb_slice name);
/* Could this operator use them? */
bool sb_op_may_use_tensor_cores(sb_slice name);
bool sb_is_framework_op(sb_slice name); /* "name:Type" of TensorFlow or JAX */

#endif
