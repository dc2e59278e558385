/* torch_params.c: infers the sizes of torch's parameters.
 *
 * A graph that torch writes contains the operations that fetch parameters (prim::GetAttr), but not
 * the shapes of the parameters. They are inferred from the operations that use them: the weight of
 * a linear layer from its input and output sizes, the weight of a convolution from its channels,
 * groups and the sizes of its input and output images. Sometimes this is not possible: a kernel
 * with a stride may have two sizes that both fit, and an embedding does not show how many rows it
 * has. The size is unknown then, and the page says "at least". */
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "graph/model/params_int.h"
#include "base/banned.h"

#define UNKNOWN SB_ELEMENTS_UNKNOWN

static int64_t times(int64_t a, int64_t b) {
    int64_t n;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &n) ? UNKNOWN : n;
}

/* ---- inputs and constants -------------------------------------------------------------------- */

/* Returns the operation that feeds the k-th input; SB_BOX_NONE: nothing does. */
static uint32_t input_of(const sb_model *m, uint32_t op, uint32_t k) {
    const sb_box *b = &m->boxes[op];
    for (uint32_t i = 0; i < b->in_count; i++)
        if (m->edges[b->first_in + i].input == k) return m->edges[b->first_in + i].from;
    return SB_BOX_NONE;
}

/* Reads the value of a prim::Constant, whose attributes are stored as the text "{ value : 3}". */
static bool constant_of(const sb_model *m, uint32_t op, int64_t *out) {
    sb_attr_value attr;
    char text[32];
    if (op == SB_BOX_NONE || !sb_box_is(m, op, "prim::Constant") ||
        !sb_box_attr(&m->boxes[op], "attr", &attr) || attr.kind != SB_ATTR_STRING)
        return false;
    const uint8_t *colon = attr.body.n ? memchr(attr.body.p, ':', attr.body.n) : NULL;
    size_t n = colon ? (size_t)(attr.body.p + attr.body.n - colon) - 1 : 0;
    if (n == 0 || n >= sizeof text) return false;
    memcpy(text, colon + 1, n);
    text[n] = '\0';
    char *end;
    *out = strtoll(text, &end, 10);
    return end != text && (*end == '}' || *end == ' ');
}

static int64_t constant_input(const sb_model *m, uint32_t op, uint32_t k) {
    int64_t value;
    return constant_of(m, input_of(m, op, k), &value) ? value : UNKNOWN;
}

/* Returns the i-th number of the list that is the k-th input. A list of one number is used for all
 * axes. */
static int64_t listed(const sb_model *m, uint32_t op, uint32_t k, uint32_t i) {
    uint32_t list = input_of(m, op, k);
    if (list == SB_BOX_NONE || !sb_box_is(m, list, "prim::ListConstruct")) return UNKNOWN;
    return constant_input(m, list, m->boxes[list].in_count == 1 ? 0 : i);
}

static int64_t input_dim(const sb_model *m, uint32_t op, uint32_t k, int which) {
    uint32_t from = input_of(m, op, k);
    return from == SB_BOX_NONE ? UNKNOWN : sb_box_dim(m, from, which);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

/* The input indices of a convolution: _convolution has two more inputs than conv1d, conv2d and
 * conv3d. */
typedef struct conv {
    uint32_t op, stride, padding, dilation, groups;
    bool is_transposed;
    uint32_t output_padding;
} conv;

/* Returns the kernel size along an axis, if exactly one size fits the input and output sizes. */
static int64_t kernel_size(const sb_model *m, const conv *c, uint32_t axis) {
    int64_t in = input_dim(m, c->op, 0, (int)axis + 2), out = sb_box_dim(m, c->op, (int)axis + 2);
    int64_t s = listed(m, c->op, c->stride, axis), p = listed(m, c->op, c->padding, axis);
    int64_t d = listed(m, c->op, c->dilation, axis), first, last;
    const int64_t most = 1 << 24; /* so that products do not overflow */
    if (in < 1 || out < 1 || s < 1 || p < 0 || d < 1) return UNKNOWN;
    if (in > most || out > most || s > most || p > most || d > most) return UNKNOWN;
    if (c->is_transposed) {
        int64_t extra = listed(m, c->op, c->output_padding, axis);
        first = last = out - 1 - extra + 2 * p - (in - 1) * s;
        if (extra < 0 || extra > most || first < 0) return UNKNOWN;
    } else {
        last = in + 2 * p - 1 - (out - 1) * s;
        first = last - s + 1 > 0 ? last - s + 1 : 0;
    }
    /* (kernel size - 1) * d must be in the range from first to last */
    int64_t k = (first + d - 1) / d;
    return last >= 0 && k * d <= last && (k + 1) * d > last ? k + 1 : UNKNOWN;
}

static bool read_conv(const sb_model *m, uint32_t op, conv *out) {
    if (sb_box_is(m, op, "aten::_convolution")) {
        *out = (conv){.op = op, .stride = 3, .padding = 4, .dilation = 5, .groups = 8};
        out->is_transposed = constant_input(m, op, 6) == 1;
        out->output_padding = 7;
        return true;
    }
    *out = (conv){.op = op, .stride = 3, .padding = 4, .dilation = 5, .groups = 6};
    return sb_box_is(m, op, "aten::conv1d") || sb_box_is(m, op, "aten::conv2d") ||
           sb_box_is(m, op, "aten::conv3d");
}

static int64_t conv_elements(const sb_model *m, const conv *c, uint32_t input) {
    int64_t from = input_dim(m, c->op, 0, 1), to = sb_box_dim(m, c->op, 1);
    int64_t groups = constant_input(m, c->op, c->groups);
    if (input == 2) return to;
    if (input != 1 || from < 0 || to < 0 || groups < 1) return UNKNOWN;
    int64_t n = c->is_transposed ? times(from, to / groups) : times(from / groups, to);
    uint32_t axes = 0;
    while (axes < 4 && sb_box_dim(m, c->op, (int)axes + 2) >= 0) axes++;
    if (axes == 0) return UNKNOWN;
    for (uint32_t i = 0; i < axes; i++) n = times(n, kernel_size(m, c, i));
    return n;
}

/* ---- recurrent layers ------------------------------------------------------------------------ */

/* All parameters are passed in one list: for each layer and direction two weights, then two biases
 * if the layer has biases. `which` is the position in the list. */
static int64_t recurrent_elements(const sb_model *m, uint32_t op, uint32_t which) {
    static const struct {
        const char *op;
        int64_t gates;
    } kinds[] = {{"aten::lstm", 4}, {"aten::gru", 3}, {"aten::rnn_tanh", 1}, {"aten::rnn_relu", 1}};
    int64_t gates = 0, has_biases, is_both_ways;
    for (size_t i = 0; i < 4; i++)
        if (sb_box_is(m, op, kinds[i].op)) gates = kinds[i].gates;
    if (!gates) return UNKNOWN;
    has_biases = constant_input(m, op, 3);
    is_both_ways = constant_input(m, op, 7);
    int64_t in = input_dim(m, op, 0, -1), out = sb_box_dim(m, op, -1);
    if (has_biases < 0 || is_both_ways < 0 || in < 0 || out < 0) return UNKNOWN;
    int64_t ways = is_both_ways ? 2 : 1, hidden = out / ways;
    uint32_t each = has_biases ? 4 : 2, layer = which / each / (uint32_t)ways;
    int64_t rows = times(gates, hidden);
    if (which % each == 0) return times(rows, layer ? out : in);
    return which % each == 1 ? times(rows, hidden) : rows;
}

/* ---- uses ------------------------------------------------------------------------------------ */

static int64_t linear_elements(const sb_model *m, const sb_edge *use) {
    int64_t out = sb_box_dim(m, use->to, -1);
    if (use->input == 2) return out;
    return use->input == 1 ? times(input_dim(m, use->to, 0, -1), out) : UNKNOWN;
}

/* Normalization layers: `weight` is the input index of the weight, which the bias follows. Inputs
 * from `statistics` on are running statistics, which are not parameters. */
static const struct {
    const char *op;
    uint32_t weight;
    int axis;
    uint32_t statistics; /* 0: it has none */
} norms[] = {
    {"aten::layer_norm", 2, 0, 0},
    {"aten::batch_norm", 1, 1, 3},
    {"aten::instance_norm", 1, 1, 3},
    {"aten::group_norm", 2, 1, 0},
};

/* The product of the sizes in normalized_shape, or of the last axis when that is not in the
 * graph. */
static int64_t layer_norm_elements(const sb_model *m, uint32_t op) {
    uint32_t list = input_of(m, op, 1);
    int64_t n = 1;
    if (list == SB_BOX_NONE || !sb_box_is(m, list, "prim::ListConstruct"))
        return sb_box_dim(m, op, -1);
    for (uint32_t i = 0; i < m->boxes[list].in_count; i++) n = times(n, constant_input(m, list, i));
    return n;
}

static int64_t use_elements(const sb_model *m, const sb_edge *use) {
    uint32_t op = use->to;
    conv c;
    if (sb_box_is(m, op, "aten::linear")) return linear_elements(m, use);
    if (read_conv(m, op, &c)) return conv_elements(m, &c, use->input);
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        if (!sb_box_is(m, op, norms[i].op)) continue;
        if (norms[i].statistics && use->input >= norms[i].statistics) return SB_ELEMENTS_NONE;
        if (use->input != norms[i].weight && use->input != norms[i].weight + 1) return UNKNOWN;
        return norms[i].axis ? sb_box_dim(m, op, norms[i].axis) : layer_norm_elements(m, op);
    }
    if (sb_box_is(m, op, "prim::ListConstruct"))
        for (uint32_t i = 0; i < m->boxes[op].out_count; i++) {
            const sb_edge *list = &m->edges[m->outs[m->boxes[op].first_out + i]];
            int64_t n = list->input == 2 ? recurrent_elements(m, list->to, use->input) : UNKNOWN;
            if (n >= 0) return n;
        }
    return UNKNOWN;
}

int64_t sb_torch_elements(const sb_model *m, uint32_t fetch) {
    const sb_box *b = &m->boxes[fetch];
    int64_t n = UNKNOWN;
    for (uint32_t i = 0; i < b->out_count && n == UNKNOWN; i++)
        n = use_elements(m, &m->edges[m->outs[b->first_out + i]]);
    return n;
}
