/* made.c: streamed bodies, which are made while they are sent.
 *
 * The client's reading sets the pace: when libmicrohttpd has sent a piece and asks for more, the
 * connection is suspended, a worker makes the next piece, and the connection resumes. So a client
 * that does not read holds one piece and no thread. */
#include <string.h>

#include "server/http/server.h"
#include "base/banned.h"

#define BLOCK ((size_t)64 << 10)

struct sb_made {
    sb_conn *conn; /* not in free_made: the request is over by then */
    sb_http_server *server;
    sb_packer *packer; /* NULL: pieces are sent as they are */
    sb_buf packed;
    size_t at;        /* how much of the piece was sent */
    sb_status status; /* SB_OK: more follows behind this piece; SB_END: it is the last */
};

static sb_slice piece_of(const sb_made *m) {
    return sb_buf_slice(m->packer ? &m->packed : &m->conn->reply.buffer);
}

static void pack_piece(sb_made *m) {
    m->at = 0;
    if (!m->packer || (m->status != SB_OK && m->status != SB_END)) return;
    sb_buf_clear(&m->packed);
    if (!sb_packer_add(m->packer, sb_buf_slice(&m->conn->reply.buffer), m->status == SB_END,
                       &m->packed))
        m->status = SB_NOMEM;
}

static void make_piece(void *arg) {
    sb_made *m = arg;
    sb_conn *c = m->conn;
    c->request.deadline = sb_server_now(m->server) + m->server->o.request_time;
    m->status = sb_reply_make_more(&c->reply);
    pack_piece(m);
    sb_conn_allow_send(c, piece_of(m).n);
    MHD_resume_connection(c->mhd);
}

static ssize_t read_made(void *cls, uint64_t pos, char *to, size_t room) {
    (void)pos;
    sb_made *m = cls;
    sb_slice piece = piece_of(m);
    bool is_good = m->status == SB_OK || m->status == SB_END;
    if (is_good && m->at < piece.n) {
        size_t n = piece.n - m->at < room ? piece.n - m->at : room;
        memcpy(to, piece.p + m->at, n);
        m->at += n;
        return (ssize_t)n;
    }
    if (m->status == SB_END) return MHD_CONTENT_READER_END_OF_STREAM;
    if (!is_good) return MHD_CONTENT_READER_END_WITH_ERROR;
    sb_conn_no_limit(m->conn);
    MHD_suspend_connection(m->conn->mhd);
    switch (sb_pool_submit(m->server->pool, make_piece, m)) {
    case SB_OK:
        break;
    case SB_DROPPED: /* the queue is full; a piece takes a few milliseconds, so the listener makes
                        it */
        make_piece(m);
        break;
    default:
        m->status = SB_CLOSED;
        MHD_resume_connection(m->conn->mhd);
    }
    return 0;
}

static void free_made(void *cls) {
    sb_made *m = cls;
    if (m->packer) sb_quota_give(&m->server->quota, SB_PACKER_BYTES);
    sb_packer_free(m->packer);
    sb_buf_fini(&m->packed);
    sb_alloc_put(m->server->alloc, m, sizeof *m);
}

sb_made *sb_made_new(sb_conn *c) {
    sb_http_server *s = c->server;
    sb_made *m = sb_alloc_zeroed(s->alloc, 1, sizeof *m);
    if (!m) return NULL;
    m->conn = c;
    m->server = s;
    sb_buf_init(&m->packed, &s->quota.alloc, s->o.reply_memory);
    if (c->reply.coding == SB_CODING_ZSTD && sb_quota_take(&s->quota, SB_PACKER_BYTES)) {
        m->packer = sb_packer_new();
        if (!m->packer) sb_quota_give(&s->quota, SB_PACKER_BYTES);
    }
    if (!m->packer) c->reply.coding = SB_CODING_IDENTITY;
    pack_piece(m);
    return m;
}

struct MHD_Response *sb_made_response(sb_made *m) {
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_made, m, free_made);
    if (!response) free_made(m);
    return response;
}

void sb_made_free(sb_made *m) {
    if (m) free_made(m);
}
