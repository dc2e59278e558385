/* classify.h: what a span is, from its name and category; inside the layer only. These are guesses
 * from names, as every profiler makes them. */
#ifndef SB_PROFILE_CLASSIFY_H
#define SB_PROFILE_CLASSIFY_H

#include "profile/trace/trace.h"

/* the names of the steps of torch's profiler begin so; a number follows */
#define SB_TORCH_STEP "ProfilerStep#"

bool sb_text_has(sb_slice text, const char *part);      /* ignores the case of ASCII letters */
bool sb_text_holds(sb_slice text, sb_slice part);       /* ignores the case of ASCII letters */
bool sb_text_begins(sb_slice text, const char *prefix); /* does not ignore case */
sb_span_kind sb_classify_kineto(sb_slice category, sb_slice name);
/* The kind of an event on a host thread of an XSpace, or of a trace.json made from one. */
sb_span_kind sb_classify_host(sb_slice name);
sb_span_kind sb_classify_device(sb_slice name);
/* The kind of an operator of XLA on a host thread: there devices of the host run their programs. */
sb_span_kind sb_classify_hlo(sb_slice name);
bool sb_is_collective(sb_slice name);
/* Is it an operator of torch that starts a collective, or waits for one? */
bool sb_is_communication_call(sb_slice name);
/* Is it a span in which a program waits for the next batch? Other spans of an input pipeline are
 * its stages, which may run ahead on threads of their own. */
bool sb_is_input_wait(sb_slice name);
/* Does the kernel use tensor cores, as far as its name tells? */
bool sb_kernel_uses_tensor_cores(sb_slice name);
/* Could this operator use tensor cores? */
bool sb_op_may_use_tensor_cores(sb_slice name);
bool sb_is_framework_op(sb_slice name); /* is it "name:Type", an operator of TensorFlow or JAX? */

#endif
