/* writer_fuzz.c: any calls of the writer with any tags, types, shapes, strides and numbers.
 *
 * Input:  a byte for the style, then commands: which call, the tag, the step, and arrays. An array
 *         is a type, a rank, dimensions (some are 0 or negative), a byte of strides and its
 *         elements, which are any bits. Its memory is exactly as large as its shape says.
 * Held:   a call is taken or refused; it never reads outside its arguments. The file is a row of
 *         whole records, each of them an Event; sb_raw_event writes what it is given. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "codec/event.h"
#include "codec/record.h"
#include "codec/tensor.h"
#include "fsio/fs.h"
#include "seaboard/writer.h"
#include "writer/writer_int.h"
#include "base/banned.h"

#define MOST_ELEMENTS 2048
#define MOST_DIMS 6
#define MOST_ARRAYS 3
#define EVENT_FILE 7
#define OTHER_FILE 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

/* ---- files that are kept in memory ----------------------------------------------------------- */

typedef struct sink {
    sb_fs fs;
    sb_buf events;
} sink;

static int sink_open(void *ctx, const char *path, sb_open_mode mode) {
    (void)ctx, (void)mode;
    return strstr(path, "tfevents") ? EVENT_FILE : OTHER_FILE;
}

static int64_t sink_write(void *ctx, int file, const void *from, size_t n) {
    sink *s = ctx;
    if (file == EVENT_FILE) sb_buf_add(&s->events, from, n);
    return (int64_t)n;
}

static int64_t sink_read(void *ctx, int file, void *to, size_t n, uint64_t offset) {
    (void)ctx, (void)file, (void)to, (void)n, (void)offset;
    return 0;
}

static int sink_cut(void *ctx, int file, uint64_t size) {
    sink *s = ctx;
    if (file == EVENT_FILE) s->events.n = (size_t)size;
    return 0;
}

static int sink_file(void *ctx, int file) {
    (void)ctx, (void)file;
    return 0;
}

static int sink_info(void *ctx, int file, sb_file_info *out) {
    const sink *s = ctx;
    *out = (sb_file_info){.size = file == EVENT_FILE ? s->events.n : 0,
                          .inode = (uint64_t)file,
                          .links = 1,
                          .is_file = true};
    return 0;
}

static int sink_stat(void *ctx, const char *path, sb_file_info *out) {
    int file = sink_open(ctx, path, SB_OPEN_READ);
    sink_info(ctx, file, out);
    out->is_dir = file == OTHER_FILE;
    out->is_file = file == EVENT_FILE;
    return 0;
}

static int sink_path(void *ctx, const char *path) {
    (void)ctx, (void)path;
    return 0;
}

static int sink_rename(void *ctx, const char *from, const char *to) {
    (void)ctx, (void)from, (void)to;
    return 0;
}

static int sink_list(void *ctx, const char *path, sb_list_fn each, void *ud) {
    (void)ctx, (void)path, (void)each, (void)ud;
    return 0;
}

static void sink_init(sink *s) {
    *s = (sink){.fs = {.open = sink_open,
                       .read_at = sink_read,
                       .write = sink_write,
                       .cut = sink_cut,
                       .sync = sink_file,
                       .info = sink_info,
                       .close = sink_file,
                       .stat = sink_stat,
                       .make_dir = sink_path,
                       .rename = sink_rename,
                       .remove = sink_path,
                       .list = sink_list}};
    s->fs.ctx = s;
    sb_buf_init(&s->events, &sb_alloc_libc, (size_t)1 << 30);
}

static void check_file(sb_slice file, bool are_events) {
    while (file.n) {
        sb_record record;
        sb_event event;
        check(sb_record_read(&record, file) == SB_OK);
        check(!are_events || sb_event_read(&event, record.payload) == SB_OK);
        file = sb_slice_of(file.p + record.size, file.n - (size_t)record.size);
    }
}

/* ---- arguments from the input ---------------------------------------------------------------- */

typedef struct made_array {
    sb_array array;
    int64_t dims[MOST_DIMS], strides[MOST_DIMS];
    void *memory;
} made_array;

typedef struct program {
    sb_slice rest;
    char *tag;    /* a block of its own, so that reads behind its end are seen */
    char *text;   /* likewise */
    bool has_raw; /* events that are written as they are, whatever they are */
    made_array arrays[MOST_ARRAYS];
} program;

static unsigned take_byte(program *p) {
    if (p->rest.n == 0) return 0;
    unsigned byte = p->rest.p[0];
    p->rest = sb_slice_of(p->rest.p + 1, p->rest.n - 1);
    return byte;
}

static sb_slice take_slice(program *p, size_t n) {
    if (n > p->rest.n) n = p->rest.n;
    sb_slice taken = sb_slice_of(p->rest.p, n);
    p->rest = sb_slice_of(p->rest.p + n, p->rest.n - n);
    return taken;
}

static char *take_text(program *p) {
    sb_slice taken = take_slice(p, take_byte(p));
    char *text = malloc(taken.n + 1);
    check(text != NULL);
    if (taken.n) memcpy(text, taken.p, taken.n);
    text[taken.n] = '\0';
    return text;
}

static double take_double(program *p) {
    double x = 0;
    sb_slice taken = take_slice(p, sizeof x);
    if (taken.n) memcpy(&x, taken.p, taken.n);
    return x;
}

static int64_t take_dim(program *p) {
    unsigned byte = take_byte(p);
    return byte < 240 ? (int64_t)(byte % 12) : byte < 250 ? 0 : -(int64_t)(byte - 249);
}

/* The elements are the input's bytes again and again. */
static void fill(program *p, uint8_t *to, size_t n) {
    sb_slice pattern = take_slice(p, take_byte(p) % 64);
    for (size_t i = 0; i < n; i++) to[i] = pattern.n ? pattern.p[i % pattern.n] : (uint8_t)i;
}

static void fill_strings(program *p, sb_slice *to, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = take_slice(p, take_byte(p) % 32);
}

/* Each bit turns one dimension around, a second set of bits repeats its first element. */
static void set_strides(program *p, made_array *m, int64_t element) {
    unsigned reversed = take_byte(p), repeated = take_byte(p) & take_byte(p);
    uint8_t *first = m->memory;
    int64_t stride = element;
    for (uint32_t i = m->array.rank; i-- > 0;) {
        m->strides[i] = stride;
        stride *= m->dims[i] > 0 ? m->dims[i] : 1;
        if (repeated >> i & 1)
            m->strides[i] = 0;
        else if (reversed >> i & 1 && m->dims[i] > 0) {
            first += m->strides[i] * (m->dims[i] - 1);
            m->strides[i] = -m->strides[i];
        }
    }
    m->array.strides = m->strides;
    m->array.data = first;
}

static const sb_array *take_array(program *p, int which) {
    made_array *m = &p->arrays[which];
    free(m->memory);
    *m = (made_array){
        .array = {.dtype = (sb_dtype)(take_byte(p) % 28), .rank = take_byte(p) % (MOST_DIMS + 1)}};
    size_t n = 1;
    for (uint32_t i = 0; i < m->array.rank; i++) {
        m->dims[i] = take_dim(p);
        if (m->dims[i] > 0 && n * (size_t)m->dims[i] > MOST_ELEMENTS) m->dims[i] = 1;
        if (m->dims[i] >= 0) n *= (size_t)m->dims[i];
    }
    bool is_string = m->array.dtype == SB_STRING;
    size_t element = is_string ? sizeof(sb_slice) : sb_dtype_size(m->array.dtype);
    size_t bytes = n * element;
    m->memory = malloc(bytes > 0 ? bytes : 1);
    check(m->memory != NULL);
    if (is_string)
        fill_strings(p, m->memory, n);
    else
        fill(p, m->memory, bytes);
    m->array.data = m->memory;
    m->array.dims = m->dims;
    if (take_byte(p) & 1) set_strides(p, m, (int64_t)element);
    return &m->array;
}

/* An array that may also be left out. */
static const sb_array *take_some(program *p, int which) {
    return take_byte(p) & 1 ? take_array(p, which) : NULL;
}

static double *take_doubles(program *p, size_t n) {
    double *numbers = malloc(n ? n * sizeof *numbers : 1);
    check(numbers != NULL);
    for (size_t i = 0; i < n; i++) numbers[i] = take_double(p);
    return numbers;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void write_numbers(program *p, sb_writer *w, unsigned which, int64_t step) {
    size_t n = take_byte(p) % 40;
    double *numbers = take_doubles(p, 6 * n);
    sb_histogram_data data =
        SB_INIT(sb_histogram_data, .min = take_double(p), .max = take_double(p), .num = (double)n,
                .limits = numbers, .counts = numbers + n, .n = n);
    if (which == 0) sb_histogram_raw(w, p->tag, &data, step, NULL);
    if (which == 1) sb_histogram_rows(w, p->tag, numbers, n, step, NULL);
    if (which == 2) sb_pr_curve_raw(w, p->tag, numbers, (uint32_t)n, step, NULL);
    free(numbers);
}

static void write_hparams(program *p, sb_writer *w, int64_t step) {
    sb_hparam hparams[3];
    size_t n = take_byte(p) % 4;
    for (size_t i = 0; i < n; i++)
        hparams[i] = (sb_hparam){.name = i ? p->tag : p->text,
                                 .value = {.type = (sb_hparam_type)(take_byte(p) % 6),
                                           .number = take_double(p),
                                           .string = p->text,
                                           .integer = step}};
    sb_hparams_start(w, hparams, n, p->text, take_double(p), step);
    sb_hparams_end(w, (sb_session_end)(take_byte(p) % 5), take_double(p), step);
}

static void write_media(program *p, sb_writer *w, unsigned which, int64_t step) {
    sb_image_opts image = SB_INIT(sb_image_opts, .layout = take_byte(p) & 1 ? p->text : NULL,
                                  .max_outputs = take_byte(p) % 5);
    sb_slice files[2] = {take_slice(p, take_byte(p)), take_slice(p, take_byte(p))};
    if (which == 0) sb_image(w, p->tag, take_array(p, 0), step, &image, NULL);
    if (which == 1) sb_image_encoded(w, p->tag, files, take_byte(p) % 3, 4, 4, step, NULL);
    if (which == 2) sb_video(w, p->tag, take_array(p, 0), take_double(p), step, image.layout, NULL);
    if (which == 3)
        sb_audio(w, p->tag, take_array(p, 0), take_double(p), take_byte(p) % 5, step, NULL);
}

static void write_arrays(program *p, sb_writer *w, unsigned which, int64_t step) {
    const sb_array *a = take_array(p, 0), *b = take_some(p, 1), *c = take_some(p, 2);
    sb_histogram_opts histogram =
        SB_INIT(sb_histogram_opts, .buckets = (int32_t)take_byte(p) - 4, .max_bins = take_byte(p));
    sb_embedding_opts embedding = SB_INIT(sb_embedding_opts, .images = b);
    sb_slice content = take_slice(p, take_byte(p) % 16);
    sb_err err;
    if (which == 0) sb_tensor(w, p->tag, a, step, p->text, content, NULL);
    if (which == 1) sb_histogram(w, p->tag, a, step, &histogram, NULL);
    if (which == 2) sb_text_array(w, p->tag, a, step, NULL);
    if (which == 3) sb_mesh(w, p->tag, a, b, c, take_byte(p) & 1 ? p->text : NULL, step, NULL);
    if (which == 4 && b) sb_pr_curve(w, p->tag, a, b, c, take_byte(p), step, NULL);
    if (which == 5) sb_embedding(w, p->tag, a, step, &embedding, &err);
}

static void write_bytes(program *p, sb_writer *w, unsigned which, int64_t step) {
    sb_slice bytes = take_slice(p, take_byte(p));
    sb_err err;
    p->has_raw = p->has_raw || which == 1;
    if (which == 0) sb_summary(w, bytes, step);
    if (which == 1) sb_raw_event(w, bytes);
    if (which == 2) sb_graph(w, bytes);
    if (which == 3) sb_meta_graph(w, bytes);
    if (which == 4) sb_run_metadata(w, p->tag, bytes, step);
    if (which == 5) sb_trace(w, p->tag, bytes, false, step);
    if (which == 6) sb_keras_model(w, p->tag, p->text, step);
    if (which == 7) sb_profile(w, p->text, bytes, &err);
}

static void write_plain(program *p, sb_writer *w, unsigned which, int64_t step) {
    sb_meta meta = SB_INIT(sb_meta, .display_name = p->text, .description = p->text,
                           .wall_time = take_double(p));
    if (which == 0) sb_scalar(w, p->tag, take_double(p), step);
    if (which == 1)
        sb_scalar_as(w, p->tag, take_double(p), step, (sb_scalar_form)(take_byte(p) % 5), &meta);
    if (which == 2) sb_text(w, p->tag, p->text, step);
    if (which == 3) sb_session(w, (sb_session_status)(take_byte(p) % 5), p->tag, p->text, step);
    if (which == 4) sb_purge_step(w, step);
}

static void make_call(program *p, sb_writer *w) {
    unsigned call = take_byte(p), which = take_byte(p);
    int64_t step = (int64_t)(int8_t)take_byte(p);
    if (step == -128) step = INT64_MIN;
    if (step == 127) step = INT64_MAX;
    free(p->tag);
    free(p->text);
    p->tag = take_text(p);
    p->text = take_text(p);
    switch (call % 6) {
    case 0:
        write_plain(p, w, which % 5, step);
        break;
    case 1:
        write_arrays(p, w, which % 6, step);
        break;
    case 2:
        write_media(p, w, which % 4, step);
        break;
    case 3:
        write_numbers(p, w, which % 3, step);
        break;
    case 4:
        write_bytes(p, w, which % 8, step);
        break;
    default:
        write_hparams(p, w, step);
    }
}

static void free_program(program *p) {
    free(p->tag);
    free(p->text);
    for (int i = 0; i < MOST_ARRAYS; i++) free(p->arrays[i].memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 14) return 0;
    program p = {.rest = sb_slice_of(data, size)};
    sink files;
    sink_init(&files);
    const sb_env env = {&sb_alloc_libc, &files.fs, &sb_clock_system};
    sb_writer_opts opts =
        SB_INIT(sb_writer_opts, .logdir = "/logs", .style = (sb_style)(take_byte(&p) % 4));
    sb_writer *w;
    sb_err err;
    check(sb_writer_open_env(&w, &opts, &env, &err) == SB_OK);
    for (int i = 0; i < 64 && p.rest.n; i++) make_call(&p, w);
    sb_writer_close(w, &err);
    check_file(sb_buf_slice(&files.events), !p.has_raw);
    sb_buf_fini(&files.events);
    free_program(&p);
    return 0;
}
