/* session.h: a graph that runs: the memory of its variables, plans, and the arena they share. */
#ifndef SB_TRAIN_SESSION_H
#define SB_TRAIN_SESSION_H

#include "train/graph.h"
#include "train/metadata.h"
#include "train/plan.h"
#include "train/recording.h"
#include "train/team.h"

struct sb_net_session {
    sb_net *g;
    team *team;
    uint64_t seed;
    uint32_t *draws; /* by op: how often a random op has run */
    size_t op_count; /* of the graph when the session began */
    /* variables: one block, each at a multiple of 64 bytes */
    uint8_t *variable_memory;
    size_t variable_bytes;
    void **variables; /* by number */
    bool *is_set;
    size_t variable_count;
    /* what runs compute; one block for all plans, since one runs at a time */
    uint8_t *memory;
    size_t memory_bytes;
    SB_VEC(plan *) plans;
    sb_arena run_arena; /* bytes of strings, converted feeds: until the next run */
    sb_saver *saver;    /* NULL: not used yet */
    sb_saver_opts saver_opts;
    bool has_saver_opts;
    step_time *times; /* of the steps of a traced run; NULL: the run is not traced */
    recording recording;
};

/* Bytes of an element in memory: strings are sb_slice. */
size_t sb_element_size(sb_dtype dtype);

#endif
