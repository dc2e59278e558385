/* bench_write.c: what a summary costs the caller, and what it costs until the file is closed.
 *
 * In: image.raw (256 x 256 x 3 bytes) and values.raw (10 000 floats) in the folder, the same that
 * the peers get. Out: event files below the folder, which run.py removes.
 *
 * "call" is the distribution of single calls: "apart" with 2 µs of other work between two of them,
 * as in a training loop, and "in a row", which is as fast as the ring can be filled. "to disk" is
 * everything from open to close, divided by the number of calls. */
#include <stdio.h>

#include "harness.h"
#include "seaboard/writer.h"

#include "base/banned.h"

#define SCALARS 1000000
#define SCALARS_APART 200000
#define APART_NS 2000
#define IMAGES 200
#define HISTOGRAMS 1000
#define IMAGE_SIDE 256

typedef struct inputs {
    sb_array image;
    sb_array values;
    int64_t image_dims[3];
    int64_t value_count;
} inputs;

typedef sb_status (*call_fn)(sb_writer *w, const inputs *in, int64_t step);

static sb_status scalar(sb_writer *w, const inputs *in, int64_t step) {
    (void)in;
    return sb_scalar(w, "train/loss", 1.0 / (double)(step + 1), step);
}

static sb_status image(sb_writer *w, const inputs *in, int64_t step) {
    return sb_image(w, "train/picture", &in->image, step, NULL, NULL);
}

static sb_status histogram(sb_writer *w, const inputs *in, int64_t step) {
    return sb_histogram(w, "train/weights", &in->values, step, NULL, NULL);
}

static void wait_until(const sb_bench *b, uint64_t start, double ns) {
    while (sb_bench_ns(b, start, sb_bench_ticks()) < ns) {
    }
}

/* One writer, n calls, closed: the calls' times are sampled, the whole is reported when `to_disk`
 * is given. */
static void run(sb_bench *b, const inputs *in, const char *work, call_fn call, size_t n,
                double apart_ns, const char *to_disk) {
    char logdir[4096];
    snprintf(logdir, sizeof logdir, "%s/seaboard_%s", b->folder, work);
    sb_writer *w;
    sb_err err;
    uint64_t begin = sb_bench_ticks();
    if (sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = logdir), &err) != SB_OK) {
        sb_bench_fail(b, err.text);
        return;
    }
    sb_status status = SB_OK;
    for (size_t i = 0; i < n && status == SB_OK; i++) {
        uint64_t start = sb_bench_ticks();
        status = call(w, in, (int64_t)i);
        uint64_t end = sb_bench_ticks();
        sb_bench_sample(b, start, end);
        if (apart_ns > 0) wait_until(b, end, apart_ns);
    }
    if (status != SB_OK) sb_bench_fail(b, sb_status_name(status));
    if (sb_writer_close(w, &err) != SB_OK) sb_bench_fail(b, err.text);
    double all = sb_bench_ns(b, begin, sb_bench_ticks());
    if (to_disk) sb_bench_report(work, to_disk, "ns", all / (double)n);
}

int main(int argc, char **argv) {
    sb_bench b;
    if (!sb_bench_begin(&b, argc, argv)) return 2;
    size_t image_size = 0, values_size = 0;
    inputs in = {.image_dims = {IMAGE_SIDE, IMAGE_SIDE, 3}};
    in.image.data = sb_bench_read_file(&b, "image.raw", &image_size);
    in.values.data = sb_bench_read_file(&b, "values.raw", &values_size);
    if (!in.image.data || !in.values.data || image_size != (size_t)IMAGE_SIDE * IMAGE_SIDE * 3) {
        sb_bench_fail(&b, "the inputs are not there");
        return sb_bench_end(&b);
    }
    in.image = (sb_array){in.image.data, SB_UINT8, 3, in.image_dims, NULL};
    in.value_count = (int64_t)(values_size / sizeof(float));
    in.values = (sb_array){in.values.data, SB_FLOAT, 1, &in.value_count, NULL};

    run(&b, &in, "scalar", scalar, sb_bench_count(&b, SCALARS_APART), APART_NS, NULL);
    sb_bench_report_calls(&b, "scalar", "call");
    run(&b, &in, "scalar", scalar, sb_bench_count(&b, SCALARS), 0, "to disk");
    sb_bench_report_calls(&b, "scalar", "call, in a row");
    run(&b, &in, "image", image, sb_bench_count(&b, IMAGES), 0, "to disk");
    sb_bench_report_calls(&b, "image", "call");
    run(&b, &in, "histogram", histogram, sb_bench_count(&b, HISTOGRAMS), 0, "to disk");
    sb_bench_report_calls(&b, "histogram", "call");
    return sb_bench_end(&b);
}
