/* object_int.h: objects, their edges and slots, and what restoring left for later; shared by
 * object.c (the tree), object_values.c, object_save.c and object_restore.c. */
#ifndef SB_CKPT_OBJECT_OBJECT_INT_H
#define SB_CKPT_OBJECT_OBJECT_INT_H

#include "base/env.h"
#include "base/vec.h"
#include "ckpt/bundle/bundle_write.h"
#include "seaboard/checkpoint.h"

#define SB_ATTRIBUTE_VALUE "VARIABLE_VALUE"
#define SB_SAVE_COUNTER "save_counter"

typedef struct sb_object_edge {
    sb_slice name; /* a NUL follows */
    sb_object *child;
} sb_object_edge;

typedef struct sb_object_slot {
    sb_slice name;
    sb_object *variable; /* the one that it belongs to */
    sb_object *value;
} sb_object_slot;

/* A child that a file has and the program does not have yet; restore NULL: used up. */
typedef struct sb_object_deferred {
    sb_restore *restore;
    uint32_t node;
    sb_slice name;
} sb_object_deferred;

/* A value that the checkpoint keeps itself (object_values.c). */
typedef struct sb_kept_value {
    sb_slice name;  /* "py_state", "table-keys" */
    sb_array array; /* in the arena */
    sb_arena arena;
    uint64_t restored_by;
} sb_kept_value;

struct sb_object {
    sb_checkpoint *c;
    sb_slice name;                /* of the first edge that leads to it */
    SB_VEC(sb_object_edge) edges; /* in order of adding */
    SB_VEC(sb_object_slot) slots; /* of an optimizer */
    uint32_t *table;              /* the edges by name: open addressing, index + 1, 0 is free */
    size_t table_size;            /* a power of two; 0 while there are few edges */
    SB_VEC(sb_object_deferred) deferred;
    size_t deferred_begin; /* all before were used up */
    uint64_t restored_by;  /* the number of the newest restore that set it; 0: none */
    SB_VEC(sb_kept_value) values;
    /* A variable; else data is not looked at. */
    bool is_variable;
    sb_dtype dtype;
    uint32_t rank;
    int64_t *dims;
    uint64_t count;
    void *data;       /* of strings: sb_slice */
    sb_arena strings; /* the bytes of strings that were restored; no allocator: there are none */
    sb_slice full_name;
    /* For one save. */
    uint32_t id;
    sb_slice path; /* escaped edge names joined by '/' */
    bool is_seen, has_values;
    uint64_t bound_by; /* for one question: the restore that has a node for it */
};

struct sb_checkpoint {
    sb_env env;
    sb_arena arena; /* objects' names and dims */
    SB_VEC(sb_object *) objects;
    SB_VEC(sb_restore *) restores; /* oldest first */
    sb_object *root;
    sb_object *counter; /* NULL: not made yet */
    int64_t save_counter;
    sb_buf path;        /* what the last save wrote */
    sb_bundle_id saved; /* and which one it is */
};

/* The child of that name; NULL: none. */
sb_object *sb_object_child(const sb_object *o, sb_slice name);
/* Makes save_counter a child of the root, if it is not yet. */
sb_status sb_checkpoint_need_counter(sb_checkpoint *c, sb_err *err);
sb_status sb_checkpoint_new_env(sb_checkpoint **out, const sb_env *env, sb_err *err);

/* ---- values (object_values.c) ---------------------------------------------------------------- */

void sb_kept_init(sb_kept_value *v, const sb_alloc *alloc, sb_slice name);
/* NULL: there is none of that name. */
sb_kept_value *sb_object_find_value(const sb_object *o, sb_slice name);
/* Takes the tensor as the new value. */
sb_status sb_kept_read(sb_kept_value *v, sb_bundle *b, const sb_bundle_tensor *t,
                       uint64_t restored_by, sb_err *err);
/* The attribute that a value belongs to: "table" of "table-keys". */
sb_slice sb_value_attribute(sb_slice name);
bool sb_value_is_of(sb_slice name, sb_slice attribute);

/* ---- restoring ------------------------------------------------------------------------------- */

/* Values that restores left for a child, a slot or a value that was just added. */
sb_status sb_restore_deferred_child(sb_object *parent, const sb_object_edge *edge, sb_err *err);
sb_status sb_restore_deferred_slots(sb_checkpoint *c, sb_err *err);
sb_status sb_restore_deferred_value(sb_object *o, size_t value, sb_err *err);
void sb_restore_free(sb_restore *r);

/* Writes all objects that can be reached from the root. */
sb_status sb_objects_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                           sb_err *err);

#endif
