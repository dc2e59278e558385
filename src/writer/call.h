/* call.h: one summary call on its way from the caller to the writer's thread.
 *
 * The caller's side checks the arguments and puts the call into the ring: fixed fields, then the
 * bytes of tag, names, parameters and data one after the other. The thread gets it back as an
 * sb_call, whose slices point into the ring (or into the call's own block when it is large), and
 * hands it to the kind's encoder. Parameters and data are aligned to 16 bytes from the start of the
 * call. */
#ifndef SB_WRITER_CALL_H
#define SB_WRITER_CALL_H

#include "base/buf.h"
#include "base/env.h"
#include "base/intern.h"
#include "seaboard/writer.h"

/* Every kind of call: its name and the function that turns it into one serialized Event. */
#define SB_CALL_MAP(X)                                                                             \
    X(SCALAR, scalar)                                                                              \
    X(IMAGE, image)                                                                                \
    X(IMAGE_ENCODED, image_encoded)                                                                \
    X(VIDEO, video)                                                                                \
    X(AUDIO, audio)                                                                                \
    X(TEXT, text)                                                                                  \
    X(HISTOGRAM, histogram)                                                                        \
    X(HISTOGRAM_RAW, histogram_raw)                                                                \
    X(TENSOR, tensor)                                                                              \
    X(SUMMARY, summary)                                                                            \
    X(EVENT, event)                                                                                \
    X(BODY, body)                                                                                  \
    X(PR_CURVE, pr_curve)                                                                          \
    X(MESH, mesh)

#define SB_CALL_ENUM(name, function) SB_CALL_##name,
typedef enum sb_call_kind { SB_CALL_MAP(SB_CALL_ENUM) SB_CALL_KINDS } sb_call_kind;
#undef SB_CALL_ENUM

typedef struct sb_call {
    sb_call_kind kind;
    double wall_time; /* seconds since 1970, when the call was made */
    int64_t step;
    double number; /* the scalar's value; other kinds may use it as they like */
    sb_slice tag;
    sb_slice display_name;
    sb_slice description;
    sb_slice
        params; /* the kind's own parameter struct, copied byte by byte: it holds no pointers */
    sb_slice data;
} sb_call;

/* The bytes of a scalar's value that never change, and the offset of the number in them. */
typedef struct sb_scalar_tail {
    uint8_t bytes[48];
    uint8_t n; /* 0: not built yet */
    uint8_t number_at;
    uint8_t number_n;
} sb_scalar_tail;

/* What the encoders share; owned by the writer's thread. */
typedef struct sb_encoder {
    const sb_env *env;
    sb_style style;
    size_t max_event;           /* longer events are refused: no reader accepts them */
    sb_arena scratch;           /* reset after every call */
    sb_intern seen_tags;        /* TF1: tags whose metadata was written */
    struct sb_png_encoder *png; /* created by the first call that needs it */
    sb_scalar_tail scalar_tails[SB_SCALAR_DOUBLE + 1]; /* by form */
} sb_encoder;

void sb_encoder_init(sb_encoder *e, const sb_env *env, sb_style style, size_t scratch_cap,
                     uint32_t max_tags);
void sb_encoder_fini(sb_encoder *e);

/* Appends one serialized Event for the call. On failure the caller removes what was appended. */
typedef sb_status (*sb_encode_fn)(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err);

/* Hands the call to its kind's encoder. */
sb_status sb_encode_call(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err);

#define SB_CALL_DECLARE(name, function)                                                            \
    sb_status sb_encode_##function(sb_encoder *e, const sb_call *call, sb_buf *event, sb_err *err);
SB_CALL_MAP(SB_CALL_DECLARE)
#undef SB_CALL_DECLARE

/* ---- the caller's side ----------------------------------------------------------------------- */

/* Starts a call: checks w, tag (not NULL, valid UTF-8, at most SB_TAG_MAX bytes) and the texts of
 * meta, and reads the clock. tag may be NULL when needs_tag is false. sb_writer_error returns the
 * reason of a refusal. */
sb_status sb_call_begin(sb_writer *w, sb_call *call, sb_call_kind kind, const char *tag,
                        bool needs_tag, int64_t step, const sb_meta *meta);

/* One part of a call's data: n bytes at p, or, when the elements are not contiguous, the first n
 * bytes of `gather` in row-major order. Borrowed until sb_call_put returns. */
typedef struct sb_piece {
    const void *p;
    size_t n;
    const sb_array *gather; /* NULL: copy from p */
} sb_piece;

static inline sb_piece sb_piece_of(sb_slice bytes) {
    return (sb_piece){.p = bytes.p, .n = bytes.n};
}

/* Copies the call into the ring. Its data is the pieces, one after the other; call->data is
 * ignored. */
sb_status sb_call_put(sb_writer *w, const sb_call *call, const sb_piece *pieces, size_t count);

/* Refuses a call: keeps the text for sb_writer_error and returns code. */
sb_status sb_call_refuse(sb_writer *w, sb_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads element i of an array of structs that carry their size (base/sized.h), or refuses it. A
 * single struct is element 0. */
sb_status sb_call_read_sized(sb_writer *w, void *to, size_t size, const void *first, size_t i,
                             const char *type);
#define SB_READ_SIZED(w, to, type, first, i)                                                       \
    sb_call_read_sized((w), (to), sizeof(type), (first), (i), #type)

sb_style sb_writer_style(const sb_writer *w);
const sb_env *sb_writer_env(const sb_writer *w);
/* The log directory as the caller gave it. */
const char *sb_writer_logdir(const sb_writer *w);

/* ---- the encoders' side ---------------------------------------------------------------------- */

/* The frame of an event with one summary value: begin writes wall_time, step, the summary and the
 * value's tag (the given one); the encoder appends the rest of the value in ascending field order;
 * end closes all. */
typedef struct sb_value_frame {
    size_t summary, value;
} sb_value_frame;
void sb_event_head(sb_buf *event, const sb_call *call);
sb_value_frame sb_value_begin(sb_buf *event, const sb_call *call, sb_slice tag, size_t expected);
void sb_value_end(sb_buf *event, sb_value_frame frame);

/* SummaryMetadata as field 9 of a value: plugin, content, and the call's display name and
 * description. Writes nothing when all are empty and force is false. */
void sb_value_metadata(sb_buf *event, const sb_call *call, sb_slice plugin_name,
                       sb_slice plugin_content, bool force);

#endif
