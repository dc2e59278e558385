/* demo_graph.c: a small vision transformer as TensorFlow 1 would log it: blocks that repeat,
 * residual ways around them, weights with their shapes, and step statistics that follow from the
 * sizes. The messages are written by hand, as protocol buffers are: a key, a length, the bytes. */
#include "demo_graph.h"

#include <stdio.h>
#include <string.h>

#define BLOCKS 12
#define WIDTH 192
#define TOKENS 65
#define BATCH 64
#define CLASSES 10
#define GPU "/job:localhost/replica:0/task:0/device:GPU:0"
#define CPU "/job:localhost/replica:0/task:0/device:CPU:0"
#define ROOM (256 << 10)
#define NAME 96

/* ---- protocol buffers ------------------------------------------------------------------------ */

typedef struct bytes {
    uint8_t *p;
    size_t n;
} bytes;

static void put_varint(bytes *b, uint64_t x) {
    for (; x >= 0x80; x >>= 7) b->p[b->n++] = (uint8_t)(x | 0x80);
    b->p[b->n++] = (uint8_t)x;
}

static void put_number(bytes *b, unsigned field, uint64_t x) {
    put_varint(b, field << 3);
    put_varint(b, x);
}

static void put_bytes(bytes *b, unsigned field, const void *p, size_t n) {
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_text(bytes *b, unsigned field, const char *text) {
    put_bytes(b, field, text, strlen(text));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef struct shape {
    int rank, dims[4];
} shape;

typedef struct network {
    bytes graph, gpu, cpu; /* GraphDef; DeviceStepStats of each device */
    double when;           /* microseconds since the step began */
    int slower;            /* percent, of the second step */
} network;

static double elements(shape s) {
    double n = 1;
    for (int i = 0; i < s.rank; i++) n *= s.dims[i];
    return n;
}

/* TensorShapeProto {dim 2 {size 1}} */
static void put_shape(bytes *b, unsigned field, shape s) {
    uint8_t room[64] = {0};
    bytes body = {room, 0};
    for (int i = 0; i < s.rank; i++) {
        uint8_t dim[12] = {0};
        bytes one = {dim, 0};
        put_number(&one, 1, (uint64_t)s.dims[i]);
        put_bytes(&body, 2, one.p, one.n);
    }
    put_bytes(b, field, body.p, body.n);
}

/* An entry of NodeDef.attr: {key 1, value 2}. */
static void put_attr(bytes *node, const char *key, bytes value) {
    uint8_t room[256] = {0};
    bytes entry = {room, 0};
    put_text(&entry, 1, key);
    put_bytes(&entry, 2, value.p, value.n);
    put_bytes(node, 5, entry.p, entry.n);
}

static void put_shapes(bytes *node, const char *key, shape s, bool is_list) {
    uint8_t list_room[96] = {0}, value_room[128] = {0};
    bytes list = {list_room, 0}, value = {value_room, 0};
    put_shape(is_list ? &list : &value, 7, s); /* in AttrValue and in its ListValue */
    if (is_list) put_bytes(&value, 1, list.p, list.n);
    put_attr(node, key, value);
}

/* NodeExecStats {node_name 1, all_start_micros 2, all_end_rel_micros 5, memory 6 {name 1, bytes
 * 2}} */
static void put_stats(network *w, const char *name, bool on_cpu, double micros, double size) {
    uint8_t room[256] = {0}, memory_room[64] = {0};
    bytes stats = {room, 0}, memory = {memory_room, 0};
    micros *= 1 + w->slower / 100.0;
    put_text(&stats, 1, name);
    put_number(&stats, 2, 1700000000000000u + (uint64_t)w->when);
    put_number(&stats, 5, (uint64_t)micros);
    put_text(&memory, 1, on_cpu ? "cpu" : "GPU_0_bfc");
    put_number(&memory, 2, (uint64_t)size);
    put_bytes(&stats, 6, memory.p, memory.n);
    put_bytes(on_cpu ? &w->cpu : &w->gpu, 2, stats.p, stats.n);
    w->when += micros;
}

/* A node and what it took; `inputs` may end early with NULL. */
static void add(network *w, const char *name, const char *op, const char *const inputs[3], shape s,
                double work) {
    uint8_t room[1024] = {0};
    bytes node = {room, 0}, type = {(uint8_t[4]){0}, 0};
    bool is_variable = strcmp(op, "VariableV2") == 0, on_cpu = strncmp(name, "input", 5) == 0;
    put_text(&node, 1, name);
    put_text(&node, 2, op);
    for (int i = 0; inputs && i < 3 && inputs[i]; i++) put_text(&node, 3, inputs[i]);
    put_text(&node, 4, on_cpu ? CPU : GPU);
    put_shapes(&node, "_output_shapes", s, true);
    if (is_variable) {
        put_shapes(&node, "shape", s, false);
        put_number(&type, 6, 1); /* DT_FLOAT */
        put_attr(&node, "dtype", type);
    }
    put_bytes(&w->graph, 1, node.p, node.n);
    if (!is_variable) put_stats(w, name, on_cpu, 4 + work / 4e6, 4 * elements(s));
}

#define INPUTS(...) ((const char *const[3]){__VA_ARGS__})

/* "scope/name"; `out` may be the scope. Names of this network are short. */
static void join(char out[NAME], const char *scope, const char *name) {
    size_t n = strlen(scope), more = strlen(name);
    if (n + more + 2 > NAME) return;
    memmove(out, scope, n);
    out[n] = '/';
    memcpy(out + n + 1, name, more + 1);
}

/* The same in one of a few rooms: as many names live at once. */
static const char *in(const char *scope, const char *name) {
    static char rooms[16][NAME];
    static unsigned at;
    char *room = rooms[at++ % 16];
    join(room, scope, name);
    return room;
}

/* input × kernel + bias; the name of what comes out, in `out`. */
static void dense(network *w, const char *scope, const char *input, shape s, int from, int to,
                  char out[NAME]) {
    s.dims[s.rank - 1] = to;
    add(w, in(scope, "kernel"), "VariableV2", NULL, (shape){2, {from, to}}, 0);
    add(w, in(scope, "bias"), "VariableV2", NULL, (shape){1, {to}}, 0);
    add(w, in(scope, "MatMul"), "MatMul", INPUTS(input, in(scope, "kernel")), s,
        2 * elements(s) * from);
    add(w, in(scope, "BiasAdd"), "BiasAdd", INPUTS(in(scope, "MatMul"), in(scope, "bias")), s,
        elements(s));
    join(out, scope, "BiasAdd");
}

static void norm(network *w, const char *scope, const char *input, shape s, char out[NAME]) {
    add(w, in(scope, "gamma"), "VariableV2", NULL, (shape){1, {WIDTH}}, 0);
    add(w, in(scope, "beta"), "VariableV2", NULL, (shape){1, {WIDTH}}, 0);
    add(w, in(scope, "moments"), "Mean", INPUTS(input), (shape){2, {BATCH, TOKENS}}, elements(s));
    add(w, in(scope, "scale"), "Mul", INPUTS(input, in(scope, "moments"), in(scope, "gamma")), s,
        elements(s));
    add(w, in(scope, "shift"), "AddV2", INPUTS(in(scope, "scale"), in(scope, "beta")), s,
        elements(s));
    join(out, scope, "shift");
}

static void attention(network *w, const char *scope, const char *input, shape s, char out[NAME]) {
    const shape scores = {4, {BATCH, 3, TOKENS, TOKENS}};
    char qkv[NAME], inner[NAME];
    join(inner, scope, "qkv");
    dense(w, inner, input, s, WIDTH, 3 * WIDTH, qkv);
    static const char *const parts[] = {"q", "k", "v"};
    for (int i = 0; i < 3; i++) add(w, in(scope, parts[i]), "Slice", INPUTS(qkv), s, elements(s));
    add(w, in(scope, "scores"), "BatchMatMulV2", INPUTS(in(scope, "q"), in(scope, "k")), scores,
        2 * elements(scores) * WIDTH / 3);
    add(w, in(scope, "softmax"), "Softmax", INPUTS(in(scope, "scores")), scores, elements(scores));
    add(w, in(scope, "mixed"), "BatchMatMulV2", INPUTS(in(scope, "softmax"), in(scope, "v")), s,
        2 * elements(scores) * WIDTH / 3);
    join(inner, scope, "proj");
    dense(w, inner, in(scope, "mixed"), s, WIDTH, WIDTH, out);
}

static void block(network *w, int number, char x[NAME]) {
    const shape s = {3, {BATCH, TOKENS, WIDTH}}, wide = {3, {BATCH, TOKENS, 4 * WIDTH}};
    char scope[48], inner[NAME], way[NAME], first[NAME];
    snprintf(scope, sizeof scope, "vit/blocks/block_%d", number);
    join(inner, scope, "norm1");
    norm(w, inner, x, s, way);
    join(inner, scope, "attn");
    attention(w, inner, way, s, way);
    join(first, scope, "add");
    add(w, first, "AddV2", INPUTS(x, way), s, elements(s));
    join(inner, scope, "norm2");
    norm(w, inner, first, s, way);
    join(inner, scope, "mlp/fc1");
    dense(w, inner, way, s, WIDTH, 4 * WIDTH, way);
    add(w, in(scope, "mlp/gelu"), "Gelu", INPUTS(way), wide, 8 * elements(wide));
    join(inner, scope, "mlp/fc2");
    dense(w, inner, in(scope, "mlp/gelu"), wide, 4 * WIDTH, WIDTH, way);
    join(x, scope, "add_1");
    add(w, x, "AddV2", INPUTS(first, way), s, elements(s));
}

static void build(network *w) {
    const shape image = {4, {BATCH, 32, 32, 3}}, s = {3, {BATCH, TOKENS, WIDTH}};
    const shape label = {1, {BATCH}}, scalar = {0, {0}};
    char x[NAME];
    add(w, "input/images", "Placeholder", NULL, image, elements(image));
    add(w, "input/labels", "Placeholder", NULL, label, elements(label));
    add(w, "input/normalize", "Mul", INPUTS("input/images"), image, 40 * elements(image));
    dense(w, "vit/patch_embed", "input/normalize", s, 48, WIDTH, x);
    add(w, "vit/position", "VariableV2", NULL, (shape){2, {TOKENS, WIDTH}}, 0);
    add(w, "vit/embedded", "AddV2", INPUTS(x, "vit/position"), s, elements(s));
    join(x, "vit", "embedded");
    for (int i = 0; i < BLOCKS; i++) block(w, i, x);
    norm(w, "vit/norm", x, s, x);
    add(w, "vit/pool", "Mean", INPUTS(x), (shape){2, {BATCH, WIDTH}}, elements(s));
    dense(w, "vit/head", "vit/pool", (shape){2, {BATCH, WIDTH}}, WIDTH, CLASSES, x);
    add(w, "loss/xentropy", "SparseSoftmaxCrossEntropyWithLogits", INPUTS(x, "input/labels"), label,
        elements(label) * CLASSES);
    add(w, "loss/mean", "Mean", INPUTS("loss/xentropy"), scalar, elements(label));
}

/* RunMetadata {step_stats 1 {dev_stats 1 {device 1, node_stats 2}}} */
static void log_step(sb_writer *w, const network *n, bytes room, const char *tag, int64_t step) {
    static uint8_t device_room[ROOM], stats_room[2 * ROOM];
    bytes stats = {stats_room, 0};
    for (int i = 0; i < 2; i++) {
        const bytes *nodes = i ? &n->cpu : &n->gpu;
        bytes device = {device_room, 0};
        put_text(&device, 1, i ? CPU : GPU);
        memcpy(device.p + device.n, nodes->p, nodes->n);
        device.n += nodes->n;
        put_bytes(&stats, 1, device.p, device.n);
    }
    room.n = 0;
    put_bytes(&room, 1, stats.p, stats.n);
    sb_run_metadata(w, tag, (sb_slice){room.p, room.n}, step);
}

void demo_log_graph(sb_writer *w) {
    static uint8_t graph[ROOM], gpu[ROOM], cpu[ROOM], room[2 * ROOM];
    for (int step = 0; step < 2; step++) {
        network n = {{graph, 0}, {gpu, 0}, {cpu, 0}, 0, step ? 0 : 60};
        build(&n);
        put_bytes(&n.graph, 4, "\x08\x1b", 2); /* versions {producer 27} */
        if (step == 0) sb_graph(w, (sb_slice){n.graph.p, n.graph.n});
        log_step(w, &n, (bytes){room, 0}, step ? "step 1000" : "step 0, with warm-up",
                 step ? 1000 : 0);
    }
}
