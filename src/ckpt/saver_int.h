/* saver_int.h: a saver with a file system, memory and a clock of the test's own. */
#ifndef SB_CKPT_SAVER_INT_H
#define SB_CKPT_SAVER_INT_H

#include "base/env.h"
#include "seaboard/checkpoint.h"

sb_status sb_saver_new_env(sb_saver **out, const sb_env *env, const sb_saver_opts *opts,
                           sb_err *err);

#endif
