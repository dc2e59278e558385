/* analysis_bed.h: analyses for tests, and events of the threads and streams of a step of torch. */
#ifndef SB_TEST_ANALYSIS_BED_H
#define SB_TEST_ANALYSIS_BED_H

#include "profile/analysis/analysis.h"
#include "unit/profile/trace_bed.h"

static inline sb_analysis *analysis_of(const sb_trace *t, const char *steps) {
    sb_analysis *a = NULL;
    sb_err err = {0};
    sb_analysis_ask ask = {.step_name = sb_slice_str(steps)};
    assert_ok(sb_analysis_new(&a, t, &ask, &err), &err);
    return a;
}

#define ON_THREAD(tid, cat, name, ts, dur)                                                         \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid              \
    ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define STEP_100 "[" ON_THREAD(2, "user_annotation", "ProfilerStep#1", 0, 100) ","
#define KERNEL(stream, name, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream            \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":" #stream "}}"

#endif
