/* graph_ask.h: what the routes of graphs share: the model that a request is about, and names in
 * it. */
#ifndef SB_SERVER_API_GRAPH_ASK_H
#define SB_SERVER_API_GRAPH_ASK_H

#include "server/api/api.h"
#include "server/graph_models.h"

typedef struct sb_graph_ask {
    json_t *body;
    const sb_kept_model *kept;
    const sb_model *m;
    sb_arena arena; /* of this question: drawings of large graphs need more than a request has */
} sb_graph_ask;

/* Reads the body and finds or makes the model of its "source". SB_END: the reply says why not.
 * After SB_OK, sb_graph_ask_end. */
sb_status sb_graph_ask_begin(sb_graph_ask *a, sb_http_request *q, sb_http_reply *r, sb_app *app);
void sb_graph_ask_end(sb_graph_ask *a, sb_app *app);

/* The box that a member of the body names. false: there is none, and the reply says so. */
bool sb_graph_ask_box(const sb_graph_ask *a, sb_http_reply *r, const char *key, uint32_t *box);
/* Boxes that a list of the body names; unknown names are left out. In the arena; NULL: no
 * memory. */
uint32_t *sb_graph_ask_boxes(sb_graph_ask *a, const char *key, size_t *n);

#endif
