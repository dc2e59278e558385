/* analysis.c: runs the parts of the analysis in their order, and computes the statistics of
 * steps. */
#include "profile/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "base/banned.h"

#define ARENA_CAP ((size_t)8 << 30)

const char *sb_part_name(sb_step_part part) {
#define PART_NAME(id, name) name,
    static const char *const names[] = {SB_PARTS(PART_NAME)};
    return names[part];
}

const char *sb_step_rule_name(sb_step_rule rule) {
#define RULE_NAME(id, name) name,
    static const char *const names[] = {SB_STEP_RULES(RULE_NAME)};
    return names[rule];
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t part_or_length(const sb_step *s, int part) {
    return part < 0 ? s->dur : s->parts[part];
}

/* A quantile of the steps: of the time that one part takes in each step, or, if `part` is -1, of
 * the durations of the steps. */
static int64_t quantile(const sb_analysis *a, int64_t *scratch, int part, double share) {
    size_t n = a->step_count;
    for (size_t i = 0; i < n; i++) scratch[i] = part_or_length(&a->steps[i], part);
    qsort(scratch, n, sizeof *scratch, compare_times);
    double at = share * (double)(n - 1);
    size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
    double rest = at - (double)low;
    return (int64_t)((double)scratch[low] * (1 - rest) + (double)scratch[high] * rest);
}

static bool find_stats(sb_analysis *a) {
    sb_step_stats *s = &a->stats;
    size_t n = s->n = a->step_count;
    if (n == 0) return true;
    int64_t *scratch = sb_arena_get(&a->arena, n * sizeof *scratch);
    if (!scratch) return false;
    double sum = 0, squares = 0, parts = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a->steps[i].dur;
    s->mean = (int64_t)(sum / (double)n);
    for (size_t i = 0; i < n; i++) {
        double off = (double)a->steps[i].dur - sum / (double)n;
        squares += off * off;
        if (a->steps[i].dur > s->worst) s->worst = a->steps[i].dur;
    }
    s->deviation = (int64_t)sqrt(squares / (double)n);
    s->median = quantile(a, scratch, -1, 0.5);
    s->p95 = quantile(a, scratch, -1, 0.95);
    for (int p = 0; p < SB_PART_COUNT; p++) {
        s->parts[p] = quantile(a, scratch, p, 0.5);
        parts += (double)s->parts[p];
    }
    for (int p = 0; p < SB_PART_COUNT && parts > 0; p++)
        s->parts[p] = (int64_t)((double)s->parts[p] / parts * (double)s->median);
    return true;
}

static void find_busy(sb_analysis *a) {
    double device = 0, of_devices = 0, host = 0, of_hosts = 0;
    for (size_t i = 0; i < a->t->sources.n; i++) {
        const sb_source_parts *p = &a->sources[i];
        host += (double)p->host_busy;
        of_hosts += (double)(p->to - p->from);
        if (!p->has_device) continue;
        a->has_device = true;
        device += (double)p->device_busy;
        of_devices += (double)(p->to - p->from);
    }
    a->device_busy = a->has_device && of_devices > 0 ? device / of_devices : -1;
    a->host_busy = of_hosts > 0 ? host / of_hosts : -1;
}

sb_status sb_analysis_new(sb_analysis **out, const sb_trace *t, const sb_analysis_ask *ask,
                          sb_err *err) {
    sb_analysis *a = sb_alloc_zeroed(t->alloc, 1, sizeof *a);
    if (!a) return sb_fail_nomem(err, "for an analysis");
    a->t = t;
    sb_arena_init(&a->arena, t->alloc, 64 << 10, ARENA_CAP);
    sb_slice name = ask ? ask->step_name : (sb_slice){NULL, 0};
    if (sb_find_steps(a, name) && sb_find_parts(a) && find_stats(a) && sb_find_ops(a) &&
        sb_find_kernels(a)) {
        find_busy(a);
        *out = a;
        return SB_OK;
    }
    sb_analysis_free(a);
    return sb_fail_nomem(err, "for an analysis");
}

void sb_analysis_free(sb_analysis *a) {
    if (!a) return;
    const sb_alloc *alloc = a->t->alloc;
    sb_arena_fini(&a->arena);
    sb_alloc_put(alloc, a, sizeof *a);
}
