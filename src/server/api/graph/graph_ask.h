/* graph_ask.h: what the questions about graphs share: the model that one is about, names in it, and
 * the way from an answer to a reply.
 *
 * An answer knows nothing of HTTP, so that a background job can give it too. */
#ifndef SB_SERVER_API_GRAPH_ASK_H
#define SB_SERVER_API_GRAPH_ASK_H

#include "server/api/api.h"
#include "server/graph_models.h"

typedef struct sb_graph_ask {
    const json_t *body;
    sb_app *app;
    sb_err *err;
    const sb_http_request *request; /* NULL: a background job asks, which may take its time */
    /* of a job, as that of sb_model_ask; may be NULL */
    bool (*progress)(void *ud, uint64_t done, uint64_t total);
    void *ud;
    sb_graph_file refused; /* why sb_graph_ask_begin refused a file: `trouble` and `fault` */
    const sb_kept_model *kept;
    const sb_model *m;
    sb_arena arena; /* of this question: drawings of large graphs need more than a request has */
} sb_graph_ask;

/* Finds or makes the model of the body's "source". The caller has set what stands before `kept`.
 * All with a reason: SB_INVALID (it is no source), SB_MORE (it is large, and a request asks), and
 * what sb_graph_model_take says. After SB_OK, sb_graph_ask_end. */
sb_status sb_graph_ask_begin(sb_graph_ask *a);
void sb_graph_ask_end(sb_graph_ask *a);

/* {"reason", "line", "column", "token"}: why a text is refused, for the page's sentence about
 * it. */
void sb_graph_put_fault(sb_json *j, const sb_text_fault *fault);

/* The box that a member of the body names. SB_NOT_FOUND and a reason. */
sb_status sb_graph_ask_box(const sb_graph_ask *a, const char *key, uint32_t *box);
/* Boxes that a list of the body names; unknown names are left out. In the arena; NULL: no
 * memory. */
uint32_t *sb_graph_ask_boxes(sb_graph_ask *a, const char *key, size_t *n);

/* Writes the members of the answer. With a reason: SB_NOT_FOUND, SB_INVALID (the question makes no
 * sense). */
typedef sb_status sb_graph_answer(sb_graph_ask *a, sb_json *j);

/* The whole answer as a JSON object. */
sb_status sb_graph_answer_text(sb_graph_ask *a, sb_graph_answer *answer, uint64_t version,
                               sb_buf *out);
/* A request with its answer. large: the answer in place of one about a graph that is too large to
 * be read by a request; it has no model. NULL: 409. */
sb_status sb_graph_reply(sb_http_request *q, sb_http_reply *r, sb_app *app, sb_graph_answer *answer,
                         sb_graph_answer *large);

/* graph_draw.c: a drawing. One that a request asks for and that takes longer than it may is
 * empty. */
sb_graph_answer sb_graph_draw;

#endif
