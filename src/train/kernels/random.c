/* random.c: random numbers by counting: Philox 4x32-10 (Salmon et al., 2011). A number depends on
 * the session's seed, the op, how often the op has run, and its own place: not on threads. */
#include <math.h>

#include "train/ops.h"
#include "train/session.h"
#include "base/banned.h"

#define TWO_PI 6.28318530717958647692f

typedef struct block {
    uint32_t word[4];
} block;

static block philox(block counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)counter.word[0] * 0xD2511F53u;
        uint64_t b = (uint64_t)counter.word[2] * 0xCD9E8D57u;
        counter = (block){{(uint32_t)(b >> 32) ^ counter.word[1] ^ key0, (uint32_t)b,
                           (uint32_t)(a >> 32) ^ counter.word[3] ^ key1, (uint32_t)a}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/* The stream of one run of one op. */
typedef struct stream {
    uint32_t key0, key1, run;
} stream;

static stream stream_of(const op_call *c) {
    uint64_t seed = c->session->seed * 0x9E3779B97F4A7C15u + c->op->id;
    uint32_t run = c->session->draws[c->op->id]++;
    return (stream){(uint32_t)seed, (uint32_t)(seed >> 32) ^ c->op->id, run};
}

static block block_at(const stream *s, size_t i, uint32_t attempt) {
    return philox((block){{(uint32_t)i, (uint32_t)(i >> 32), s->run, attempt}}, s->key0, s->key1);
}

/* In [0, 1). */
static float uniform(uint32_t word) {
    return (float)(word >> 8) * 0x1p-24f;
}

/* Two normal numbers from two words (Box and Muller). */
static void normals(uint32_t a, uint32_t b, float *out) {
    float u = uniform(a), angle = TWO_PI * uniform(b);
    float radius = sqrtf(-2 * logf(u < 0x1p-24f ? 0x1p-24f : u));
    out[0] = radius * sinf(angle);
    out[1] = radius * cosf(angle);
}

sb_status sb_run_random_uniform(const op_call *c, sb_err *err) {
    stream s = stream_of(c);
    float *out = c->out[0];
    size_t n = c->op->outs[0].count;
    (void)err;
    for (size_t i = 0; i < n; i += 4) {
        block b = block_at(&s, i / 4, 0);
        for (size_t k = 0; k < 4 && i + k < n; k++) out[i + k] = uniform(b.word[k]);
    }
    return SB_OK;
}

sb_status sb_run_random_normal(const op_call *c, sb_err *err) {
    stream s = stream_of(c);
    float *out = c->out[0], four[4];
    size_t n = c->op->outs[0].count;
    (void)err;
    for (size_t i = 0; i < n; i += 4) {
        block b = block_at(&s, i / 4, 0);
        normals(b.word[0], b.word[1], four);
        normals(b.word[2], b.word[3], four + 2);
        for (size_t k = 0; k < 4 && i + k < n; k++) out[i + k] = four[k];
    }
    return SB_OK;
}

/* Numbers of 2 and more are drawn again. */
static float truncated(const stream *s, size_t i) {
    for (uint32_t attempt = 0;; attempt++) {
        block b = block_at(s, i, attempt);
        float four[4];
        normals(b.word[0], b.word[1], four);
        normals(b.word[2], b.word[3], four + 2);
        for (int k = 0; k < 4; k++)
            if (fabsf(four[k]) < 2) return four[k];
    }
}

sb_status sb_run_truncated_normal(const op_call *c, sb_err *err) {
    stream s = stream_of(c);
    float *out = c->out[0];
    (void)err;
    for (size_t i = 0; i < c->op->outs[0].count; i++) out[i] = truncated(&s, i);
    return SB_OK;
}
