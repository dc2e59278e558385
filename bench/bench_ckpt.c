/* bench_ckpt.c: saving, restoring and listing checkpoints; peers/checkpoint.py does the same work.
 *
 * 512 MiB in 8 tensors of float32, saved without fsync as TensorFlow does and, beside it, durably;
 * restored from the page cache into memory that the program has; 20 000 scalars; a list of their
 * names. Each number is the best of a few rounds. */
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "ckpt/bundle/bundle_write.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "harness.h"
#include "seaboard/checkpoint.h"
#include "base/banned.h"

#define TENSORS 8
#define ROUNDS 4
#define SCALARS 20000

static const sb_env world = {&sb_alloc_libc, &sb_fs_local, &sb_clock_system};

typedef struct model {
    sb_checkpoint *c;
    float *tensors[TENSORS];
    int64_t count; /* elements of each */
    char prefix[4096];
} model;

static bool build(model *m, sb_bench *b) {
    m->count = (int64_t)sb_bench_count(b, (size_t)16 << 20);
    if (sb_checkpoint_new(&m->c, NULL) != SB_OK) return false;
    for (int i = 0; i < TENSORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        m->tensors[i] = malloc((size_t)m->count * sizeof(float));
        if (!m->tensors[i]) return false;
        for (int64_t k = 0; k < m->count; k++) m->tensors[i][k] = (float)(k * 7 % 1013);
        sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .rank = 1, .dims = &m->count,
                                .data = m->tensors[i]);
        if (sb_object_add_variable(NULL, sb_checkpoint_root(m->c), name, &v, NULL) != SB_OK)
            return false;
    }
    return true;
}

/* The best time of saving, in nanoseconds; each round to a name that is not there. */
static double save(sb_bench *b, model *m, sb_durability durability, uint32_t shards) {
    double best = 0;
    sb_err err = {0};
    for (int round = 0; round < ROUNDS; round++) {
        sb_bundle_remove(&world, m->prefix, NULL, NULL);
        sb_save_opts opts = SB_INIT(sb_save_opts, .durability = durability, .shards = shards);
        uint64_t start = sb_bench_ticks();
        if (sb_checkpoint_write(m->c, m->prefix, &opts, &err) != SB_OK) sb_bench_fail(b, err.text);
        double ns = sb_bench_ns(b, start, sb_bench_ticks());
        if (round == 0 || ns < best) best = ns;
    }
    return best;
}

static double restore(sb_bench *b, model *m) {
    double best = 0;
    sb_err err = {0};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = sb_bench_ticks();
        if (sb_checkpoint_read(m->c, m->prefix, NULL, &err) != SB_OK) sb_bench_fail(b, err.text);
        double ns = sb_bench_ns(b, start, sb_bench_ticks());
        if (round == 0 || ns < best) best = ns;
    }
    return best;
}

static void measure_large(sb_bench *b) {
    static model m;
    snprintf(m.prefix, sizeof m.prefix, "%s/large", b->folder);
    if (!build(&m, b)) {
        sb_bench_fail(b, "no memory for the model");
        return;
    }
    double bytes = (double)m.count * sizeof(float) * TENSORS;
    sb_bench_report("checkpoint, 512 MiB", "save, durable", "GB/s",
                    bytes / save(b, &m, SB_DURABLE, 1));
    sb_bench_report("checkpoint, 512 MiB", "save, 2 shards without fsync", "GB/s",
                    bytes / save(b, &m, SB_BUFFERED, 2));
    sb_bench_report("checkpoint, 512 MiB", "save without fsync", "GB/s",
                    bytes / save(b, &m, SB_BUFFERED, 1));
    sb_bench_report("checkpoint, 512 MiB", "restore", "GB/s", bytes / restore(b, &m));
    sb_bundle_remove(&world, m.prefix, NULL, NULL);
    sb_checkpoint_free(m.c);
    for (int i = 0; i < TENSORS; i++) free(m.tensors[i]);
}

static void open_and_close(void *ud) {
    sb_bundle *b;
    if (sb_bundle_open(&b, &sb_fs_local, &sb_alloc_libc, NULL, sb_slice_str(ud), NULL, NULL) ==
        SB_OK)
        sb_bundle_close(b);
}

static void measure_many(sb_bench *b) {
    static float values[SCALARS];
    static model m;
    size_t count = sb_bench_count(b, SCALARS);
    snprintf(m.prefix, sizeof m.prefix, "%s/many", b->folder);
    if (sb_checkpoint_new(&m.c, NULL) != SB_OK) return;
    sb_object *list;
    sb_object_add(&list, sb_checkpoint_root(m.c), "v", NULL);
    for (size_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%zu", i);
        sb_variable v = SB_INIT(sb_variable, .dtype = SB_FLOAT, .data = &values[i]);
        sb_object_add_variable(NULL, list, name, &v, NULL);
    }
    sb_bench_report("checkpoint, 20 000 scalars", "save", "ns", save(b, &m, SB_BUFFERED, 1));
    sb_bench_report("checkpoint, 20 000 scalars", "list names", "ns",
                    sb_bench_best_ns(b, open_and_close, m.prefix));
    sb_checkpoint_free(m.c);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    measure_large(&b);
    measure_many(&b);
    return sb_bench_end(&b);
}
