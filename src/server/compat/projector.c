/* projector.c: /data/plugin/projector: which runs have embeddings, and their files.
 *
 * Errors are plain text with 400, in TensorBoard's words. What crashes it (a table with ragged
 * rows, raw numbers of another size) is 400 here as well, and says what is wrong. */
#include "query/kinds/projector.h"

#include <stdlib.h>

#include "base/text/number.h"
#include "fsio/beneath.h"
#include "media/sniff.h"
#include "server/api/api.h"
#include "server/compat/compat.h"
#include "base/banned.h"

/* Of a tensor, a table of labels or a sprite. */
#define MAX_FILE ((size_t)1 << 30)
#define HEAD ((size_t)4 << 10) /* of a picture, to tell what it is */

/* ---- the question ---------------------------------------------------------------------------- */

typedef struct asked {
    sb_projector projector;
    sb_budget budget;
    sb_runs runs; /* references: the results below borrow from these runs */
    sb_projector_run *found;
    size_t n;
} asked;

/* TensorBoard joins the log directory and the run's name, "." too, and shows the result. */
static const char *run_path(const sb_run_info *info, sb_arena *arena) {
    if (!sb_slice_eq(info->name, SB_LIT("."))) return (const char *)info->path.p;
    uint8_t *path = sb_arena_get(arena, info->path.n + 3);
    if (!path) return NULL;
    memcpy(path, info->path.p, info->path.n);
    memcpy(path + info->path.n, "/.", 3);
    return (const char *)path;
}

/* Finds the embeddings of all runs. Release a->runs also after a failure. */
static sb_status prepare_ask(asked *a, sb_app *app, sb_http_request *q) {
    *a = (asked){.budget = sb_api_budget(q)};
    sb_status status = sb_store_runs(app->store, q->arena, &a->runs);
    if (status != SB_OK) {
        a->runs = (sb_runs){0};
        return status;
    }
    sb_projector_place *places = sb_arena_zeroed(q->arena, a->runs.n, sizeof *places);
    if (!places) return SB_NOMEM;
    for (size_t i = 0; i < a->runs.n; i++) {
        sb_run_info info;
        sb_run_get_info(a->runs.items[i], &info);
        places[i] = (sb_projector_place){info.name, run_path(&info, q->arena)};
        if (!places[i].path) return SB_NOMEM;
    }
    a->projector = (sb_projector){
        .fs = app->env->fs,
        .alloc = q->alloc,
        .arena = q->arena,
        .budget = &a->budget,
        .max_file = MAX_FILE,
        .places = places,
        .place_n = a->runs.n,
        .logdir = app->logdir.n ? (const char *)app->logdir.p : NULL,
    };
    return SB_OK;
}

static sb_status find_embedding(asked *a, sb_app *app, sb_http_request *q, sb_slice only,
                                bool first, sb_err *err) {
    sb_status status = prepare_ask(a, app, q);
    if (status == SB_OK)
        status = sb_projector_find(&a->projector, only, first, &a->found, &a->n, err);
    return status;
}

sb_status sb_compat_projector_active(sb_http_request *q, sb_app *app, bool *is_active) {
    asked a;
    sb_status status = find_embedding(&a, app, q, (sb_slice){NULL, 0}, true, NULL);
    sb_runs_release(&a.runs);
    *is_active = status == SB_OK && a.n > 0;
    return status == SB_NOMEM ? status : SB_OK;
}

/* ---- /runs, /info ---------------------------------------------------------------------------- */

SB_COMPAT_HANDLER(projector_runs) {
    asked a;
    sb_status status = find_embedding(&a, app, q, (sb_slice){NULL, 0}, false, sb_http_err(r));
    if (status == SB_OK) {
        sb_json j;
        sb_compat_json_begin(&j, r);
        sb_json_begin_array(&j);
        for (size_t i = 0; i < a.n; i++) sb_json_text(&j, a.found[i].name);
        sb_json_end_array(&j);
        status = sb_compat_json_end(&j, r);
    }
    sb_runs_release(&a.runs);
    return status;
}

static void add_config_text(sb_json *j, const char *key, sb_slice text) {
    if (text.n == 0) return;
    sb_json_key_str(j, key);
    sb_json_text(j, text);
}

static void add_numbers(sb_json *j, const char *key, const uint32_t *numbers, size_t n) {
    if (n == 0) return;
    sb_json_key_str(j, key);
    sb_json_begin_array(j);
    for (size_t i = 0; i < n; i++) sb_json_uint(j, numbers[i]);
    sb_json_end_array(j);
}

static void add_embedding(sb_json *j, const sb_embedding_info *e) {
    sb_json_begin_object(j);
    add_config_text(j, "tensorName", e->name);
    add_config_text(j, "metadataPath", e->metadata_path);
    add_config_text(j, "bookmarksPath", e->bookmarks_path);
    add_numbers(j, "tensorShape", e->shape, e->shape_n);
    if (e->has_sprite) {
        sb_json_key_str(j, "sprite");
        sb_json_begin_object(j);
        add_config_text(j, "imagePath", e->image_path);
        add_numbers(j, "singleImageDim", e->image_dims, e->image_dim_n);
        sb_json_end_object(j);
    }
    add_config_text(j, "tensorPath", e->tensor_path);
    sb_json_end_object(j);
}

static sb_status add_config(sb_http_reply *r, const sb_projector_run *run) {
    sb_json j;
    sb_http_type(r, "application/json");
    sb_json_init(&j, sb_http_body(r), &(sb_json_opts){.spaced = true, .indent = 2});
    sb_json_begin_object(&j);
    add_config_text(&j, "modelCheckpointPath", run->checkpoint);
    sb_json_key_str(&j, "embeddings");
    sb_json_begin_array(&j);
    for (size_t i = 0; i < run->n; i++) add_embedding(&j, &run->embeddings[i]);
    sb_json_end_array(&j);
    add_config_text(&j, "modelCheckpointDir", run->model_dir);
    sb_json_end_object(&j);
    return sb_compat_json_end(&j, r);
}

/* A question about one run: its parameters, and what was found. */
typedef struct about {
    sb_slice run, name;
    uint64_t rows; /* 0: all */
    const sb_projector_run *found;
    const sb_embedding_info *embedding; /* NULL: none of that name */
} about;

typedef sb_status (*answer_fn)(const asked *a, const about *what, sb_http_reply *r);

/* Finds the run and calls answer with it. */
static sb_status with_run(sb_http_request *q, sb_http_reply *r, sb_app *app, about *what,
                          answer_fn answer) {
    asked a;
    sb_status status = find_embedding(&a, app, q, what->run, true, sb_http_err(r));
    if (status == SB_OK && a.n == 0) {
        status = sb_compat_plain(r, 400, "Unknown run: \"%.*s\"", (int)what->run.n,
                                 (const char *)what->run.p);
    } else if (status == SB_OK) {
        what->found = a.found;
        what->embedding = sb_projector_embedding(a.found, what->name);
        status = answer(&a, what, r);
    }
    sb_runs_release(&a.runs);
    return status;
}

static sb_status answer_info(const asked *a, const about *what, sb_http_reply *r) {
    (void)what;
    sb_status status = sb_projector_shapes(&a->projector, a->found, sb_http_err(r));
    return status == SB_OK ? add_config(r, a->found) : status;
}

SB_COMPAT_HANDLER(projector_info) {
    about what = {.run = sb_http_query(q, "run")};
    if (!what.run.p) return sb_compat_plain(r, 400, "query parameter \"run\" is required");
    return with_run(q, r, app, &what, answer_info);
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* As Python's int(): spaces around it, a sign, any length. An empty text counts as none. */
static bool read_rows(sb_slice text, uint64_t *rows) {
    *rows = 0;
    if (text.n == 0) return true;
    while (text.n && text.p[0] == ' ') text = sb_slice_of(text.p + 1, text.n - 1);
    while (text.n && text.p[text.n - 1] == ' ') text.n--;
    int64_t x;
    if (sb_parse_int64(text, &x)) {
        *rows = x > 0 ? (uint64_t)x : 0;
        return x > 0;
    }
    if (text.n && text.p[0] == '+') text = sb_slice_of(text.p + 1, text.n - 1);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9') return false;
    *rows = INT64_MAX;
    return text.n > 0;
}

/* run, name and num_rows; false when the reply says what is missing. Two routes take an empty run
 * for none. */
static bool read_params(const sb_http_request *q, sb_http_reply *r, bool has_rows, about *what) {
    what->run = sb_http_query(q, "run");
    what->name = sb_http_query(q, "name");
    const char *missing = !what->run.p || (!has_rows && what->run.n == 0) ? "run"
                          : !what->name.p                                 ? "name"
                                                                          : NULL;
    if (missing) {
        sb_compat_plain(r, 400, "query parameter \"%s\" is required", missing);
        return false;
    }
    if (has_rows && !read_rows(sb_http_query(q, "num_rows"), &what->rows)) {
        sb_compat_plain(r, 400, "query parameter num_rows must be integer > 0");
        return false;
    }
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The full path of a file, as TensorBoard shows it. */
static void add_place(sb_buf *out, const sb_projector_run *run, sb_slice path) {
    sb_slice inner;
    char *real = realpath(run->dir, NULL);
    sb_buf_add_str(out, real ? real : run->dir);
    free(real);
    sb_buf_add_byte(out, '/');
    sb_buf_add_slice(out, sb_beneath_relative(run->dir, path, &inner) ? inner : path);
}

/* The reply when a file can't be read; `before` and `behind` are the text around its path. */
static sb_status refuse_projector(const asked *a, sb_http_reply *r, sb_slice path, sb_status why,
                                  const char *before, const char *behind) {
    if (why == SB_INVALID)
        return sb_compat_plain(r, 400, "Asset path \"%.*s\" resolves outside the config directory",
                               (int)path.n, (const char *)path.p);
    if (why == SB_CORRUPT) return sb_compat_plain(r, 400, "%s", sb_http_err(r)->text);
    if (why != SB_NOT_FOUND) return why;
    sb_status status = sb_compat_plain(r, 400, "%s", before);
    add_place(sb_http_body(r), a->found, path);
    sb_buf_add_str(sb_http_body(r), behind);
    return status;
}

static sb_status no_such_file(const about *what, sb_http_reply *r, const char *kind) {
    return sb_compat_plain(
        r, 400, "No %s file found for tensor \"%.*s\" in the config file \"%.*s\"", kind,
        (int)what->name.n, (const char *)what->name.p, (int)what->found->config_path.n,
        (const char *)what->found->config_path.p);
}

/* What is sent in pieces, in the request's arena. */
typedef struct sending {
    sb_projector_source *source;
    sb_err *err;
} sending;

static sb_status make_piece(void *ud, sb_buf *out) {
    const sending *s = ud;
    return sb_projector_read(s->source, out, s->err);
}

static void end_sending(void *ud) {
    sb_projector_close(((sending *)ud)->source);
}

static sb_status send_source(const asked *a, sb_http_reply *r, sb_projector_source *source) {
    sending *s = sb_arena_get(a->projector.arena, sizeof *s);
    if (!s) {
        sb_projector_close(source);
        return SB_NOMEM;
    }
    *s = (sending){source, sb_http_err(r)};
    return sb_http_make(r, make_piece, end_sending, s);
}

static sb_status answer_metadata(const asked *a, const about *what, sb_http_reply *r) {
    sb_slice path = what->embedding ? what->embedding->metadata_path : (sb_slice){NULL, 0};
    if (path.n == 0) return no_such_file(what, r, "metadata");
    sb_projector_source *source;
    sb_status status = sb_projector_open_asset(&a->projector, what->found, path, what->rows,
                                               &source, sb_http_err(r));
    if (status == SB_OK) return send_source(a, r, source);
    return refuse_projector(a, r, path, status, "\"", "\" not found, or is not a file");
}

SB_COMPAT_HANDLER(projector_metadata) {
    about what = {0};
    if (!read_params(q, r, true, &what)) return SB_OK;
    return with_run(q, r, app, &what, answer_metadata);
}

static sb_status answer_bookmarks(const asked *a, const about *what, sb_http_reply *r) {
    sb_slice path = what->embedding ? what->embedding->bookmarks_path : (sb_slice){NULL, 0};
    if (path.n == 0) return no_such_file(what, r, "bookmarks");
    sb_projector_source *source;
    sb_status status =
        sb_projector_open_asset(&a->projector, what->found, path, 0, &source, sb_http_err(r));
    if (status == SB_OK) {
        sb_http_type(r, "application/json");
        return send_source(a, r, source);
    }
    return refuse_projector(a, r, path, status, "\"", "\" not found, or is not a file");
}

SB_COMPAT_HANDLER(projector_bookmarks) {
    about what = {0};
    if (!read_params(q, r, false, &what)) return SB_OK;
    return with_run(q, r, app, &what, answer_bookmarks);
}

static sb_status answer_sprite(const asked *a, const about *what, sb_http_reply *r) {
    sb_slice path = what->embedding ? what->embedding->image_path : (sb_slice){NULL, 0};
    if (path.n == 0) return no_such_file(what, r, "sprite image");
    sb_projector_source *source;
    uint8_t head[HEAD];
    sb_status status =
        sb_projector_open_asset(&a->projector, what->found, path, 0, &source, sb_http_err(r));
    if (status != SB_OK)
        return refuse_projector(a, r, path, status, "\"", "\" does not exist or is directory");
    sb_media media =
        sb_media_sniff(sb_slice_of(head, sb_projector_head(source, head, sizeof head)));
    sb_http_type(r, sb_media_type_in_tensorboard(media));
    sb_http_user_content(r, (sb_slice){NULL, 0});
    return send_source(a, r, source);
}

SB_COMPAT_HANDLER(projector_sprite_image) {
    about what = {0};
    if (!read_params(q, r, false, &what)) return SB_OK;
    return with_run(q, r, app, &what, answer_sprite);
}

/* ---- /tensor --------------------------------------------------------------------------------- */

static sb_status answer_tensor(const asked *a, const about *what, sb_http_reply *r) {
    sb_projector_source *source;
    sb_status status = sb_projector_open_tensor(&a->projector, what->found, what->name, what->rows,
                                                &source, sb_http_err(r));
    if (status == SB_OK) {
        sb_http_type(r, "application/octet-stream");
        status = send_source(a, r, source);
        if (status == SB_OK) return SB_OK;
    }
    sb_slice path = what->embedding ? what->embedding->tensor_path : (sb_slice){NULL, 0};
    if (path.n || status != SB_NOT_FOUND)
        return refuse_projector(a, r, path, status, "Tensor file \"", "\" does not exist");
    sb_slice checkpoint = what->found->checkpoint;
    return sb_compat_plain(r, 400, "Tensor \"%.*s\" not found in checkpoint dir \"%.*s\"",
                           (int)what->name.n, (const char *)what->name.p, (int)checkpoint.n,
                           checkpoint.n ? (const char *)checkpoint.p : "");
}

SB_COMPAT_HANDLER(projector_tensor) {
    about what = {0};
    if (!read_params(q, r, true, &what)) return SB_OK;
    return with_run(q, r, app, &what, answer_tensor);
}
