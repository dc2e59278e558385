/* restore_int.h: a restore that is under way, shared by matching (object_restore.c) and by what is
 * told of it afterwards (object_report.c). */
#ifndef SB_CKPT_OBJECT_RESTORE_INT_H
#define SB_CKPT_OBJECT_RESTORE_INT_H

#include "base/arena.h"
#include "base/vec.h"
#include "ckpt/bundle/bundle_int.h"
#include "ckpt/object/object_graph.h"
#include "ckpt/object/object_int.h"

typedef struct sb_matched_pair {
    uint32_t node;
    sb_object *object;
} sb_matched_pair;

/* A value whose tensor is read by itself: strings, and those that the checkpoint keeps. */
typedef struct sb_single_value {
    const sb_bundle_tensor *t;
    sb_object *object;
    size_t value; /* of the object's; SB_RESTORE_VARIABLE: its variable */
} sb_single_value;

#define SB_RESTORE_VARIABLE SIZE_MAX

/* An attribute that the file has for an object, of which the object has not asked for all. */
typedef struct sb_unused_value {
    uint32_t node, value;
    size_t left; /* tensors */
} sb_unused_value;

struct sb_restore {
    sb_checkpoint *c;
    uint64_t number; /* from 1 */
    sb_bundle *b;
    sb_arena arena;
    sb_slice path;
    bool by_name; /* the file has no objects */
    sb_graph_node *nodes;
    sb_object **objects; /* of each node; NULL: none yet */
    size_t count;
    size_t unmatched; /* nodes with values that have no object yet */
    bool has_slots;
    SB_VEC(sb_matched_pair) queue;
    SB_VEC(sb_bundle_request) requests;
    SB_VEC(sb_object *) assigned; /* the objects of the requests */
    SB_VEC(sb_single_value) singles;
    SB_VEC(sb_unused_value) unused;
    bool is_partial; /* sb_restore_expect_partial */
};

#endif
