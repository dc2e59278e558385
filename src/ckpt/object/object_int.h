/* object_int.h: objects, their edges and slots, and what restoring left for later; shared by
 * object.c (the tree), object_save.c and object_restore.c. */
#ifndef SB_CKPT_OBJECT_OBJECT_INT_H
#define SB_CKPT_OBJECT_OBJECT_INT_H

#include "base/env.h"
#include "base/vec.h"
#include "ckpt/bundle/bundle.h"
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

struct sb_object {
    sb_checkpoint *c;
    SB_VEC(sb_object_edge) edges; /* in order of adding */
    SB_VEC(sb_object_slot) slots; /* of an optimizer */
    uint32_t *table;              /* the edges by name: open addressing, index + 1, 0 is free */
    size_t table_size;            /* a power of two; 0 while there are few edges */
    SB_VEC(sb_object_deferred) deferred;
    size_t deferred_begin; /* all before were used up */
    uint64_t restored_by;  /* the number of the newest restore that set it; 0: none */
    /* A variable; else data is not looked at. */
    bool is_variable;
    sb_dtype dtype;
    uint32_t rank;
    int64_t *dims;
    uint64_t count;
    void *data;
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
    sb_buf path; /* what the last save wrote */
};

/* The child of that name; NULL: none. */
sb_object *sb_object_child(const sb_object *o, sb_slice name);
/* Makes save_counter a child of the root, if it is not yet. */
sb_status sb_checkpoint_need_counter(sb_checkpoint *c, sb_err *err);
sb_status sb_checkpoint_new_env(sb_checkpoint **out, const sb_env *env, sb_err *err);

/* Values that restores left for a child or a slot that was just added. */
sb_status sb_restore_deferred_child(sb_object *parent, const sb_object_edge *edge, sb_err *err);
sb_status sb_restore_deferred_slots(sb_checkpoint *c, sb_err *err);
void sb_restore_free(sb_restore *r);

/* Writes all objects that can be reached from the root. */
sb_status sb_objects_write(sb_checkpoint *c, const char *prefix, const sb_save_opts *opts,
                           sb_err *err);

#endif
