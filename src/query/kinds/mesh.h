/* mesh.h: meshes and point clouds.
 *
 * A mesh is logged as up to three series of one run (vertices, faces, colours), whose plugin
 * content says which part it is, what the user called the mesh, and its shape. People know the
 * user's name only, so everything here goes by that.
 *
 * In:  a run of a series list that was asked for plugin "mesh".  Threads: any. */
#ifndef SB_QUERY_KINDS_MESH_H
#define SB_QUERY_KINDS_MESH_H

#include "codec/plugin.h"
#include "query/records/blob.h"
#include "query/series_list.h"

typedef struct sb_mesh_name {
    sb_slice name;
    int32_t samples; /* meshes of a step: the first dimension that the metadata gives */
} sb_mesh_name;

/* The user's names, in the order of tags; in the arena. Parts of an unknown version, and parts
 * without a shape, are left out. */
sb_status sb_mesh_names(const sb_run_entry *run, sb_arena *arena, sb_mesh_name **out, size_t *n,
                        sb_err *err);

typedef struct sb_mesh_item {
    sb_ref_item item;
    sb_mesh_plugin part; /* content_type, components, json_config, shape */
} sb_mesh_item;

/* All points of the parts of a mesh by step, of equal steps in the order of tags. */
sb_status sb_mesh_list(const sb_run_entry *run, sb_slice name, const sb_sampling *sampling,
                       sb_arena *arena, sb_mesh_item **out, size_t *n, sb_err *err);

/* The numbers of one part at a step, of mesh `sample` of the batch: float32 for vertices, int32 for
 * faces, uint8 for colours, little-endian, in the arena. Several points at that step follow each
 * other; none give no bytes. SB_INVALID for another content_type or a sample that is not there. */
sb_status sb_mesh_data(sb_blob_cache *blobs, const sb_run_entry *run, sb_slice name,
                       int32_t content_type, uint32_t sample, double step, size_t max_bytes,
                       sb_arena *arena, sb_slice *out, sb_err *err);

#endif
