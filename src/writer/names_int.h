/* names_int.h: the table of names with its allocator passed in, for tests. */
#ifndef SB_WRITER_NAMES_INT_H
#define SB_WRITER_NAMES_INT_H

#include "base/alloc.h"
#include "seaboard/writer.h"

sb_status sb_names_new_in(sb_names **out, const sb_alloc *alloc, sb_err *err);

#endif
