/* keras_params.c: counts the weights of Keras layers; one function for each family of layer
 * classes. */
#include "graph/formats/keras_params.h"

#include <string.h>

#include "base/banned.h"

#define UNKNOWN (-1)
#define MOST_WRAPPED 8 /* depth of wrapper layers: Bidirectional, TimeDistributed */

/* ---- JSON ------------------------------------------------------------------------------------ */

static const json_t *member(const json_t *object, const char *key) {
    const json_t *value = json_is_object(object) ? json_object_get(object, key) : NULL;
    return json_is_null(value) ? NULL : value;
}

static int64_t number(const json_t *config, const char *key, int64_t otherwise) {
    const json_t *value = member(config, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool flag(const json_t *config, const char *key, bool otherwise) {
    const json_t *value = member(config, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

static bool text_is(const json_t *value, const char *text) {
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Returns the items of a tuple, which is stored as a list or as {"class_name": "__tuple__",
 * "items": [...]}; NULL when the value is neither. */
static const json_t *list_of(const json_t *value) {
    const json_t *items = member(value, "items");
    return json_is_array(items) ? items : json_is_array(value) ? value : NULL;
}

bool sb_keras_shape_read(sb_keras_shape *out, const json_t *value) {
    const json_t *list = list_of(value);
    *out = (sb_keras_shape){0};
    if (!list || json_array_size(list) > SB_KERAS_MOST_DIMS) return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *dim = json_array_get(list, i);
        if (!json_is_integer(dim) && !json_is_null(dim)) return false;
        out->dims[out->rank++] = json_is_integer(dim) ? json_integer_value(dim) : UNKNOWN;
    }
    return true;
}

bool sb_keras_built_for(sb_keras_shape *out, const json_t *layer) {
    const json_t *build = member(layer, "build_config");
    const json_t *shape = member(build, "input_shape");
    if (!shape) {
        const json_t *several = member(build, "shapes_dict");
        shape = member(several, "input_shape");
        if (!shape) shape = member(several, "query_shape");
        if (!shape) shape = member(several, "sequences_shape");
    }
    return sb_keras_shape_read(out, shape);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Checked arithmetic: the result is UNKNOWN when an operand is UNKNOWN or the result overflows. */
static int64_t times(int64_t a, int64_t b) {
    int64_t n;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &n) ? UNKNOWN : n;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t n;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &n) ? UNKNOWN : n;
}

/* Returns the size of one dimension. A negative axis counts from the last dimension. */
static int64_t dim(const sb_keras_shape *shape, int64_t axis) {
    if (axis < 0) axis += (int64_t)shape->rank;
    return axis >= 0 && axis < (int64_t)shape->rank ? shape->dims[axis] : UNKNOWN;
}

static int64_t channels(const json_t *config, const sb_keras_shape *in) {
    return dim(in, text_is(member(config, "data_format"), "channels_first") ? 1 : -1);
}

/* Returns the product of a list of sizes. A single number is used for each of `rank` axes. */
static int64_t product(const json_t *value, size_t rank) {
    const json_t *list = list_of(value);
    int64_t n = 1;
    if (json_is_integer(value)) {
        for (size_t i = 0; i < rank; i++) n = times(n, json_integer_value(value));
        return n;
    }
    if (!list) return UNKNOWN;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        n = times(n, json_is_integer(one) ? json_integer_value(one) : UNKNOWN);
    }
    return n;
}

/* ---- families -------------------------------------------------------------------------------- */

typedef int64_t (*count_fn)(const json_t *config, const sb_keras_shape *in);

static int64_t count_dense(const json_t *config, const sb_keras_shape *in) {
    int64_t units = number(config, "units", UNKNOWN);
    return plus(times(dim(in, -1), units), flag(config, "use_bias", true) ? units : 0);
}

static int64_t kernel(const json_t *config, const sb_keras_shape *in) {
    return product(member(config, "kernel_size"), in->rank > 2 ? in->rank - 2 : 0);
}

static int64_t count_conv(const json_t *config, const sb_keras_shape *in) {
    int64_t filters = number(config, "filters", UNKNOWN), groups = number(config, "groups", 1);
    int64_t each = channels(config, in);
    if (each > 0 && groups > 0) each /= groups;
    return plus(times(times(kernel(config, in), each), filters),
                flag(config, "use_bias", true) ? filters : 0);
}

static int64_t count_depthwise(const json_t *config, const sb_keras_shape *in) {
    int64_t outputs = times(channels(config, in), number(config, "depth_multiplier", 1));
    return plus(times(kernel(config, in), outputs), flag(config, "use_bias", true) ? outputs : 0);
}

static int64_t count_separable(const json_t *config, const sb_keras_shape *in) {
    int64_t filters = number(config, "filters", UNKNOWN);
    int64_t between = times(channels(config, in), number(config, "depth_multiplier", 1));
    return plus(plus(times(kernel(config, in), between), times(between, filters)),
                flag(config, "use_bias", true) ? filters : 0);
}

static int64_t count_embedding(const json_t *config, const sb_keras_shape *in) {
    (void)in;
    return times(number(config, "input_dim", UNKNOWN), number(config, "output_dim", UNKNOWN));
}

/* Returns the product of the sizes of the axes that are normalized; the layer has a weight per
 * element. */
static int64_t normed(const json_t *config, const sb_keras_shape *in) {
    const json_t *axis = member(config, "axis"), *list = list_of(axis);
    int64_t n = 1;
    if (!list) return dim(in, json_is_integer(axis) ? json_integer_value(axis) : -1);
    for (size_t i = 0; i < json_array_size(list); i++)
        n = times(n, dim(in, json_integer_value(json_array_get(list, i))));
    return n;
}

static int64_t count_norm(const json_t *config, const sb_keras_shape *in) {
    return times(normed(config, in), flag(config, "scale", true) + flag(config, "center", true));
}

/* The moving mean and the moving variance are counted too: they are weights that are not
 * trained. */
static int64_t count_batch_norm(const json_t *config, const sb_keras_shape *in) {
    return plus(count_norm(config, in), times(2, normed(config, in)));
}

static int64_t count_rms_norm(const json_t *config, const sb_keras_shape *in) {
    return normed(config, in);
}

static int64_t count_gates(const json_t *config, const sb_keras_shape *in, int64_t gates) {
    int64_t units = number(config, "units", UNKNOWN);
    int64_t weights = times(units, plus(dim(in, -1), units));
    return times(gates, plus(weights, flag(config, "use_bias", true) ? units : 0));
}

static int64_t count_rnn(const json_t *config, const sb_keras_shape *in) {
    return count_gates(config, in, 1);
}

static int64_t count_lstm(const json_t *config, const sb_keras_shape *in) {
    return count_gates(config, in, 4);
}

/* With reset_after (the default) a GRU has a second bias vector. */
static int64_t count_gru(const json_t *config, const sb_keras_shape *in) {
    bool has_second = flag(config, "use_bias", true) && flag(config, "reset_after", true);
    return plus(count_gates(config, in, 3),
                has_second ? times(3, number(config, "units", UNKNOWN)) : 0);
}

static int64_t count_conv_lstm(const json_t *config, const sb_keras_shape *in) {
    int64_t filters = number(config, "filters", UNKNOWN);
    int64_t size = product(member(config, "kernel_size"), in->rank > 3 ? in->rank - 3 : 0);
    int64_t from = dim(in, text_is(member(config, "data_format"), "channels_first") ? 2 : -1);
    int64_t weights = times(times(size, plus(from, filters)), filters);
    return times(4, plus(weights, flag(config, "use_bias", true) ? filters : 0));
}

static int64_t count_prelu(const json_t *config, const sb_keras_shape *in) {
    const json_t *shared = list_of(member(config, "shared_axes"));
    int64_t n = 1;
    for (size_t i = 1; i < in->rank; i++) {
        bool is_shared = false;
        for (size_t k = 0; k < json_array_size(shared); k++)
            is_shared |= json_integer_value(json_array_get(shared, k)) == (json_int_t)i;
        if (!is_shared) n = times(n, in->dims[i]);
    }
    return n;
}

static int64_t count_none(const json_t *config, const sb_keras_shape *in) {
    (void)config;
    (void)in;
    return 0;
}

static int64_t count_unknown(const json_t *config, const sb_keras_shape *in) {
    (void)config;
    (void)in;
    return UNKNOWN;
}

/* Query, key and value may have different sizes, so each has its own projection. */
static int64_t count_attention(const json_t *layer) {
    const json_t *config = member(layer, "config");
    const json_t *shapes = member(member(layer, "build_config"), "shapes_dict");
    sb_keras_shape query, key, value;
    if (!sb_keras_shape_read(&query, member(shapes, "query_shape"))) return UNKNOWN;
    if (!sb_keras_shape_read(&value, member(shapes, "value_shape"))) value = query;
    if (!sb_keras_shape_read(&key, member(shapes, "key_shape"))) key = value;
    int64_t bias = flag(config, "use_bias", true) ? 1 : 0;
    int64_t heads = number(config, "num_heads", UNKNOWN);
    int64_t k = times(heads, number(config, "key_dim", UNKNOWN));
    int64_t v = times(heads, number(config, "value_dim", number(config, "key_dim", UNKNOWN)));
    const json_t *shape = member(config, "output_shape");
    int64_t out = shape ? product(shape, 1) : dim(&query, -1);
    int64_t n = times(plus(dim(&query, -1), bias), k);
    n = plus(n, times(plus(dim(&key, -1), bias), k));
    n = plus(n, times(plus(dim(&value, -1), bias), v));
    return plus(n, times(plus(v, bias), out));
}

/* Layer classes that have weights. A class of Keras that is not in this table has none.
 * count_unknown is for classes whose weights cannot be computed from the JSON. */
static const struct {
    const char *name;
    count_fn count;
} classes[] = {
    {"Dense", count_dense},
    {"Conv1D", count_conv},
    {"Conv2D", count_conv},
    {"Conv3D", count_conv},
    {"Conv1DTranspose", count_conv},
    {"Conv2DTranspose", count_conv},
    {"Conv3DTranspose", count_conv},
    {"DepthwiseConv1D", count_depthwise},
    {"DepthwiseConv2D", count_depthwise},
    {"SeparableConv1D", count_separable},
    {"SeparableConv2D", count_separable},
    {"Embedding", count_embedding},
    {"BatchNormalization", count_batch_norm},
    {"LayerNormalization", count_norm},
    {"GroupNormalization", count_norm},
    {"RMSNormalization", count_rms_norm},
    {"SimpleRNN", count_rnn},
    {"LSTM", count_lstm},
    {"GRU", count_gru},
    {"ConvLSTM1D", count_conv_lstm},
    {"ConvLSTM2D", count_conv_lstm},
    {"ConvLSTM3D", count_conv_lstm},
    {"PReLU", count_prelu},
    {"AdditiveAttention", count_unknown},
    {"EinsumDense", count_unknown},
    {"FlaxLayer", count_unknown},
    {"GroupQueryAttention", count_unknown},
    {"JaxLayer", count_unknown},
    {"Normalization", count_unknown},
    {"RNN", count_unknown},
    {"SpectralNormalization", count_unknown},
    {"TFSMLayer", count_unknown},
    {"TorchModuleWrapper", count_unknown},
};

static count_fn counter_of(const json_t *layer) {
    const json_t *name = member(layer, "class_name"), *module = member(layer, "module");
    if (!json_is_string(name)) return count_none;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcmp(classes[i].name, json_string_value(name)) == 0) return classes[i].count;
    bool is_own = !module || (json_is_string(module) &&
                              strncmp(json_string_value(module), "keras", strlen("keras")) == 0);
    return is_own && !member(layer, "registered_name") ? count_none : count_unknown;
}

static int64_t count_for(const json_t *layer, const sb_keras_shape *in, unsigned depth) {
    const json_t *config = member(layer, "config"), *class = member(layer, "class_name");
    if (depth > MOST_WRAPPED) return UNKNOWN;
    if (text_is(class, "MultiHeadAttention")) return count_attention(layer);
    if (text_is(class, "Bidirectional"))
        return times(2, count_for(member(config, "layer"), in, depth + 1));
    /* the weights are shared by all time steps: remove the time axis */
    if (text_is(class, "TimeDistributed")) {
        sb_keras_shape each = *in;
        if (each.rank < 2) return UNKNOWN;
        each.rank--;
        memmove(each.dims + 1, each.dims + 2, (each.rank - 1) * sizeof each.dims[0]);
        return count_for(member(config, "layer"), &each, depth + 1);
    }
    return counter_of(layer)(config, in);
}

int64_t sb_keras_params(const json_t *layer) {
    sb_keras_shape in;
    if (!sb_keras_built_for(&in, layer)) in = (sb_keras_shape){0};
    return count_for(layer, &in, 0);
}

/* ---- outputs --------------------------------------------------------------------------------- */

bool sb_keras_output(sb_keras_shape *out, const json_t *layer) {
    static const char *const same[] = {
        "Activation",
        "Add",
        "AlphaDropout",
        "BatchNormalization",
        "Dropout",
        "ELU",
        "Identity",
        "GaussianNoise",
        "GroupNormalization",
        "LayerNormalization",
        "LeakyReLU",
        "PReLU",
        "ReLU",
        "RMSNormalization",
        "Rescaling",
        "MultiHeadAttention",
        "Softmax",
        "UnitNormalization",
    };
    const json_t *config = member(layer, "config"), *class = member(layer, "class_name");
    if (text_is(class, "InputLayer"))
        return sb_keras_shape_read(out, member(config, "batch_shape"));
    if (!sb_keras_built_for(out, layer)) return false;
    if (text_is(class, "Dense") && out->rank) {
        out->dims[out->rank - 1] = number(config, "units", UNKNOWN);
        return true;
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (text_is(class, same[i])) return true;
    return false;
}
