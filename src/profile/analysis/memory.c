/* memory.c: the memory of a device over time, its peak, and which operators hold memory at the
 * peak. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/intern.h"
#include "profile/analysis/views.h"
#include "base/banned.h"

typedef struct block {
    int64_t bytes;
    uint32_t op;
} block;

typedef struct counting {
    sb_memory_row *rows; /* indexed by the id of the operator's name + 1 */
    sb_intern addresses;
    SB_VEC(block) blocks;
} counting;

int64_t sb_memory_level(const sb_memory_event *e, int64_t before) {
    if (e->allocated >= 0) return e->allocated;
    sb_sum(&before, e->bytes);
    return before;
}

static bool count_event(const sb_trace *t, counting *c, const sb_memory_event *e) {
    uint32_t id;
    bool is_new;
    sb_memory_row *row = &c->rows[e->op];
    if (e->bytes > 0) {
        row->allocations++;
        sb_sum(&row->bytes, e->bytes);
    } else {
        sb_sum(&row->freed, -e->bytes);
    }
    if (sb_intern_add(&c->addresses, sb_slice_of(&e->address, 8), &id, &is_new) != SB_OK)
        return false;
    block *b = is_new ? SB_VEC_PUSH(&c->blocks, t->alloc, SIZE_MAX) : &c->blocks.items[id];
    if (!b) return false;
    *b = e->bytes > 0 ? (block){e->bytes, e->op} : (block){0, 0};
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const sb_memory_row *x = a, *y = b;
    if (x->peak != y->peak) return x->peak > y->peak ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Downsampling: of every run of neighbouring events it keeps the one with the most memory, and it
 * keeps the last event. */
static bool thin_out(const sb_trace *t, uint32_t device, size_t most, sb_memory_view *v,
                     sb_arena *arena) {
    const sb_memory_device *d = &t->memory_devices.items[device];
    size_t stretch = (size_t)(v->events / (most ? most : 1)) + 1, in_stretch = 0;
    int64_t level = 0;
    v->points = sb_arena_get(arena, (most + 2) * sizeof *v->points);
    if (!v->points) return false;
    for (size_t i = d->first; i < d->first + d->n; i++) {
        const sb_memory_event *e = &t->memory.items[i];
        level = sb_memory_level(e, level);
        sb_memory_point p = {e->time, level, e->reserved};
        if (in_stretch++ % stretch == 0)
            v->points[v->point_count++] = p;
        else if (p.allocated > v->points[v->point_count - 1].allocated)
            v->points[v->point_count - 1] = p;
    }
    return true;
}

bool sb_view_memory(const sb_trace *t, uint32_t device, size_t most, sb_memory_view *out,
                    sb_arena *arena) {
    const sb_memory_device *d = &t->memory_devices.items[device];
    counting c = {0};
    int64_t level = 0;
    size_t peak_at = 0; /* the event after which there is the most memory */
    *out = (sb_memory_view){0};
    for (size_t i = d->first; i < d->first + d->n; i++) {
        const sb_memory_event *e = &t->memory.items[i];
        level = sb_memory_level(e, level);
        if (out->events++ == 0 || level > out->peak) {
            out->peak = level;
            out->peak_time = e->time;
            peak_at = i;
        }
    }
    c.rows = sb_arena_zeroed(arena, (size_t)t->names.count + 2, sizeof *c.rows);
    bool is_done = c.rows && thin_out(t, device, most, out, arena);
    sb_intern_init(&c.addresses, t->alloc, 51, UINT32_MAX - 1);
    for (size_t i = d->first; is_done && i < d->first + d->n; i++) {
        const sb_memory_event *e = &t->memory.items[i];
        is_done = count_event(t, &c, e);
        for (size_t k = 0; i == peak_at && k < c.blocks.n; k++) {
            if (!c.blocks.items[k].bytes) continue;
            sb_sum(&c.rows[c.blocks.items[k].op].peak, c.blocks.items[k].bytes);
            c.rows[c.blocks.items[k].op].peak_count++;
        }
    }
    for (uint32_t i = 0; is_done && i <= t->names.count; i++) {
        if (!c.rows[i].allocations && !c.rows[i].freed) continue;
        c.rows[out->row_count] = c.rows[i];
        c.rows[out->row_count++].name = i;
    }
    out->rows = c.rows;
    if (is_done && out->row_count) qsort(c.rows, out->row_count, sizeof *c.rows, compare_rows);
    SB_VEC_FREE(&c.blocks, t->alloc);
    sb_intern_fini(&c.addresses);
    return is_done;
}
