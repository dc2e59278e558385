/* table_part.c: the columns of one tag: appending points and items, joining, removing what is
 * superseded. Which columns there are is the caller's choice (sb_reader_column). */
#include "base/slice.h"
#include "codec/tensor.h"
#include "logdir/table_int.h"
#include "base/banned.h"

#define FIRST_ROOM 16u

static bool has_values(const sb_table_part *p, const sb_table_ask *ask) {
    return p->kind == SB_READS_SCALAR && (ask->columns & SB_COLUMN_VALUES);
}

static bool has_items(const sb_table_part *p, const sb_table_ask *ask) {
    return p->kind != SB_READS_SCALAR && (ask->columns & SB_COLUMN_VALUES);
}

#define RESERVE(column, more)                                                                      \
    (p->column.n = p->n, SB_VEC_RESERVE(&p->column, &ask->memory, (more), SIZE_MAX))

static bool reserve(sb_table_part *p, const sb_table_ask *ask, size_t more) {
    bool ok = RESERVE(steps, more);
    if (ask->columns & SB_COLUMN_WALL_TIMES) ok = ok && RESERVE(wall_times, more);
    if (ask->columns & SB_COLUMN_POSITIONS) ok = ok && RESERVE(positions, more);
    if (has_values(p, ask)) ok = ok && RESERVE(values, more);
    if (has_items(p, ask)) ok = ok && RESERVE(ends, more);
    if (ok) p->room = p->n + more;
    return ok;
}

void sb_table_part_fini(sb_table_part *p, const sb_table_ask *ask) {
    SB_VEC_FREE(&p->steps, &ask->memory);
    SB_VEC_FREE(&p->wall_times, &ask->memory);
    SB_VEC_FREE(&p->values, &ask->memory);
    SB_VEC_FREE(&p->positions, &ask->memory);
    SB_VEC_FREE(&p->ends, &ask->memory);
    SB_VEC_FREE(&p->items, &ask->memory);
    SB_VEC_FREE(&p->pieces, ask->env->alloc);
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool begin_piece(sb_table_part *p, const sb_table_ask *ask, const sb_table_point *at) {
    sb_table_piece *piece = SB_VEC_PUSH(&p->pieces, ask->env->alloc, SIZE_MAX);
    if (piece) *piece = (sb_table_piece){p->n, at->rank, at->segment};
    return piece != NULL;
}

sb_status sb_table_part_add(sb_table_part *p, const sb_table_ask *ask, const sb_table_point *at,
                            double value) {
    if (p->n == p->room && !reserve(p, ask, p->n < FIRST_ROOM ? FIRST_ROOM : p->n)) return SB_NOMEM;
    if ((p->n == 0 || p->pieces.items[p->pieces.n - 1].segment != at->segment) &&
        !begin_piece(p, ask, at))
        return SB_NOMEM;
    p->steps.items[p->n] = at->step;
    if (p->wall_times.items) p->wall_times.items[p->n] = at->wall_time;
    if (p->positions.items) p->positions.items[p->n] = at->position;
    if (p->values.items) p->values.items[p->n] = value;
    if (p->ends.items) p->ends.items[p->n] = p->items.n;
    p->n++;
    return SB_OK;
}

/* ---- items ----------------------------------------------------------------------------------- */

static sb_status add_item(sb_table_part *p, const sb_table_ask *ask, sb_slice bytes) {
    sb_slice *item = SB_VEC_PUSH(&p->items, &ask->memory, SIZE_MAX);
    if (!item) return SB_NOMEM;
    *item = bytes;
    return SB_OK;
}

/* The strings of a tensor from `first` on; of a table only its first column, if asked for. */
static sb_status add_strings(sb_table_part *p, const sb_table_ask *ask, sb_slice tensor,
                             size_t first, bool only_first_column) {
    sb_tensor_view view;
    sb_status status = sb_tensor_read(&view, tensor);
    if (status != SB_OK) return status;
    if (view.dtype != SB_STRING || view.deep || view.count < first) return SB_CORRUPT;
    size_t rows = view.rank >= 2 ? (size_t)view.dims[0] : view.count;
    size_t stride = only_first_column && rows ? view.count / rows : 1;
    sb_strings strings = sb_tensor_strings(&view);
    sb_slice text;
    for (size_t i = 0; i < view.count; i++) {
        if (!sb_strings_next(&strings, &text)) return SB_CORRUPT;
        if (i < first || (stride > 1 && i % stride)) continue;
        status = add_item(p, ask, text);
        if (status != SB_OK) return status;
    }
    return SB_OK;
}

static sb_status add_items(sb_table_part *p, const sb_table_ask *ask, const sb_value *value,
                           sb_slice encoded) {
    bool is_tensor = value->kind == SB_VALUE_KIND_TENSOR;
    switch (p->kind) {
    case SB_READS_TEXT:
        return is_tensor ? add_strings(p, ask, value->body, 0, false) : SB_CORRUPT;
    case SB_READS_IMAGES: {
        sb_summary_image image;
        if (is_tensor) return add_strings(p, ask, value->body, 2, false); /* after the size */
        sb_status status = sb_summary_image_read(&image, value->body);
        return status == SB_OK ? add_item(p, ask, image.encoded) : status;
    }
    case SB_READS_AUDIO: {
        sb_summary_audio audio;
        if (is_tensor) return add_strings(p, ask, value->body, 0, true); /* clips, not labels */
        sb_status status = sb_summary_audio_read(&audio, value->body);
        return status == SB_OK ? add_item(p, ask, audio.encoded) : status;
    }
    default:
        return add_item(p, ask, encoded);
    }
}

sb_status sb_table_part_add_items(sb_table_part *p, const sb_table_ask *ask,
                                  const sb_table_point *at, sb_slice encoded) {
    sb_value value;
    size_t before = p->items.n;
    sb_status status = sb_value_read(&value, encoded);
    if (status == SB_OK) status = add_items(p, ask, &value, encoded);
    if (status == SB_OK) status = sb_table_part_add(p, ask, at, 0);
    if (status != SB_OK) p->items.n = before;
    return status == SB_OK || status == SB_NOMEM ? status : SB_CORRUPT;
}

/* ---- joining --------------------------------------------------------------------------------- */

static bool append_pieces(sb_table_part *to, const sb_table_part *from, const sb_table_ask *ask) {
    if (!SB_VEC_RESERVE(&to->pieces, ask->env->alloc, from->pieces.n, SIZE_MAX)) return false;
    for (size_t i = 0; i < from->pieces.n; i++) {
        sb_table_piece piece = from->pieces.items[i];
        piece.first += to->n;
        to->pieces.items[to->pieces.n++] = piece;
    }
    return true;
}

#define APPEND(column)                                                                             \
    do {                                                                                           \
        if (to->column.items)                                                                      \
            memcpy(to->column.items + to->n, from->column.items,                                   \
                   from->n * sizeof *to->column.items);                                            \
    } while (0)

sb_status sb_table_part_append(sb_table_part *to, const sb_table_part *from,
                               const sb_table_ask *ask) {
    to->skipped += from->skipped;
    if (from->kind != to->kind) {
        to->skipped += from->n;
        return SB_OK;
    }
    if (from->n == 0) return SB_OK;
    if (to->room - to->n < from->n && !reserve(to, ask, from->n)) return SB_NOMEM;
    if (!SB_VEC_RESERVE(&to->items, &ask->memory, from->items.n, SIZE_MAX) ||
        !append_pieces(to, from, ask))
        return SB_NOMEM;
    APPEND(steps);
    APPEND(wall_times);
    APPEND(positions);
    APPEND(values);
    if (to->ends.items)
        for (size_t i = 0; i < from->n; i++)
            to->ends.items[to->n + i] = to->items.n + from->ends.items[i];
    for (size_t i = 0; i < from->items.n; i++)
        to->items.items[to->items.n++] = from->items.items[i];
    to->n += from->n;
    return SB_OK;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Moves point `from` to index `to` <= from; `begin` is the index of its first item. */
static void move_point(sb_table_part *p, size_t to, size_t from, size_t begin) {
    p->steps.items[to] = p->steps.items[from];
    if (p->wall_times.items) p->wall_times.items[to] = p->wall_times.items[from];
    if (p->positions.items) p->positions.items[to] = p->positions.items[from];
    if (p->values.items) p->values.items[to] = p->values.items[from];
    if (!p->ends.items) return;
    for (size_t i = begin, end = p->ends.items[from]; i < end; i++)
        p->items.items[p->items.n++] = p->items.items[i];
    p->ends.items[to] = p->items.n;
}

void sb_table_part_cut(sb_table_part *p, const int64_t *cuts) {
    size_t kept = 0, begin = 0, n = p->n;
    p->items.n = 0;
    for (size_t k = 0; k < p->pieces.n; k++) {
        size_t end = k + 1 < p->pieces.n ? p->pieces.items[k + 1].first : n;
        for (size_t i = p->pieces.items[k].first; i < end; i++) {
            size_t next = p->ends.items ? p->ends.items[i] : 0;
            if (cuts[k] == SB_NO_CUT || p->steps.items[i] < cuts[k])
                move_point(p, kept++, i, begin);
            begin = next;
        }
    }
    p->n = kept;
}
