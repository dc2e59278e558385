/* checkpoint.h: the tree of objects of one save or one restore, for the files that add methods to
 * it. Objects have numbers here, in the order of adding; 0 is the root. */
#ifndef SEABOARD_NATIVE_CHECKPOINT_H
#define SEABOARD_NATIVE_CHECKPOINT_H

#include "native.h"

/* One object; of a variable also the array whose memory it has. */
typedef struct native_node {
    sb_object *object;
    native_array *array; /* NULL: no variable */
} native_node;

typedef struct native_tree {
    PyObject_HEAD sb_checkpoint *c;
    native_node *nodes;
    size_t count, room;
    sb_restore *restore; /* of the last restore; NULL: none */
    bool is_busy;        /* a thread saves or restores without the global lock */
} native_tree;

extern PyTypeObject *native_tree_type;

/* False with an error when the tree is closed, or when another thread uses it. */
bool native_tree_is_free(native_tree *self);

/* A variable of the library over an array's memory; false with an error when it is not contiguous,
 * or when it can't be written to. The array must outlive what is made of it. */
bool native_variable_of(sb_variable *out, native_array *a, const char *full_name, bool is_written);

bool native_manager_init(PyObject *module);
bool native_saver_init(PyObject *module);
bool native_ckpt_init(PyObject *module);

#endif
