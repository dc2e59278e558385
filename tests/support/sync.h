/* sync.h: for tests of ingest and of what stands on it. */
#ifndef SB_TESTS_SUPPORT_SYNC_H
#define SB_TESTS_SUPPORT_SYNC_H

#include "ingest/ingest.h"

/* Walks and reads now, and returns when all that was there at the call is in the store. */
static inline void sb_test_sync(sb_ingest *in) {
    uint64_t ticket = sb_ingest_begin_sync(in);
    while (!sb_ingest_wait_sync(in, ticket, 1000)) continue;
}

#endif
