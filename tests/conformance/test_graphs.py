"""Graphs that TensorFlow 1 and 2 style programs, Keras, torch and ONNX make here and now: our API has the nodes, edges,
shapes and parameter counts that the framework itself says.

The API is asked for every operation by name (graph/find, then graph/node) and for the totals (graph/draw).
"""

import glob
import io
import json
import pathlib
import struct
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
import torch
from tensorboard.compat.proto import config_pb2, event_pb2, graph_pb2
from torch import nn
from torch.utils.tensorboard import SummaryWriter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
from api_client import Api  # noqa: E402
from serve_driver import Seaboard  # noqa: E402

tf1 = tf.compat.v1
RUN_GRAPH = "__run_graph__"
OP = 1


# ---- asking -------------------------------------------------------------------------------------------------------


class Graph:
    """One graph as the API tells it."""

    def __init__(self, api, ref):
        self.api, self.source = api, {"graph": ref}
        self.drawing = api.post("graph/draw", {"source": self.source, "open": []})
        self.totals = self.drawing["totals"]

    def names(self):
        """Operations, whole names as in the graph: "a/(a)" is "a"."""
        found, total = [], 1
        while len(found) < total:
            ask = {"source": self.source, "query": ".", "regex": True, "from": len(found), "count": 1000}
            reply = self.api.post("graph/find", ask)
            found, total = found + reply["hits"], reply["total"]
        return {plain(hit["name"]): hit for hit in found if hit["kind"] == OP}

    def node(self, name):
        return self.api.post("graph/node", {"source": self.source, "name": name})

    def inputs(self, hit):
        """[(name, slot)], control edges last with slot -1."""
        links = self.node(hit["name"])["inputs"]
        return sorted((plain(link["name"]), link["slot"]) for link in links)

    def odd(self):
        return {odd["kind"]: odd["examples"] for odd in self.drawing["odds"]}


def drop(api, data):
    """A file sent to the server, as the page does when it is dropped."""
    return Graph(api, {"file": json.loads(api.call("graph/file", data)[2])["file"]})


def plain(name):
    above, _, last = name.rpartition("/")
    return above if last.startswith("(") and above.split("/")[-1] == last[1:-1] else name


def text(shape):
    """As the API writes a shape; "" when it is not known."""
    if shape is None or shape.unknown_rank:
        return ""
    return " × ".join("?" if dim.size < 0 else str(dim.size) for dim in shape.dim) or "scalar"


def inputs_of(node):
    """[(name, slot)] as the NodeDef has them."""
    found = []
    for name in node.input:
        base, _, slot = name.partition(":")
        found.append((name[1:], -1) if name.startswith("^") else (base, int(slot or 0)))
    return sorted(found)


def assert_same_nodes(graph, definition):
    """All nodes of a GraphDef, their kinds, inputs and shapes."""
    wanted = {node.name: node for node in definition.node}
    names = graph.names()
    assert set(names) == set(wanted)
    for name, node in wanted.items():
        assert names[name]["op"] == node.op, name
        assert graph.inputs(names[name]) == inputs_of(node), name
        if "_output_shapes" in node.attr:
            shapes = [text(shape) for shape in node.attr["_output_shapes"].list.shape]
            assert graph.node(names[name]["name"])["shapes"] == shapes, name
    assert graph.totals["ops"] == len(wanted)
    assert graph.totals["edges"] == sum(len(node.input) for node in wanted.values())


# ---- what is written ----------------------------------------------------------------------------------------------


class Logs:
    """Every graph in a run of its own, and what the framework says about it."""

    def __init__(self, root):
        self.root = root
        self.facts = {}

    def tf1(self):
        graph = tf.Graph()
        with graph.as_default():
            x = tf1.placeholder(tf.float32, [None, 6], name="x")
            with tf1.variable_scope("hidden"):
                w = tf1.get_variable("kernel", [6, 5])
                b = tf1.get_variable("bias", [5], use_resource=False)
                h = tf.nn.relu(tf.matmul(x, w) + b)
            with tf1.variable_scope("out"):
                y = tf.matmul(h, tf1.get_variable("kernel", [5, 2], dtype=tf.float32))
            step = tf1.train.get_or_create_global_step()
            loss = tf.reduce_mean(tf.square(y), name="loss")
            tf1.train.AdamOptimizer().minimize(loss, global_step=step)
            self.facts["tf1"] = (graph.as_graph_def(add_shapes=True), count(tf1.trainable_variables()))
            tf1.summary.FileWriter(str(self.root / "tf1"), graph=graph).close()

    def function(self):
        kernel, bias = tf.Variable(tf.zeros([6, 5]), name="kernel"), tf.Variable(tf.zeros([5]), name="bias")
        table = tf.Variable(tf.zeros([7, 6]), name="table")
        steps = tf.Variable(0, dtype=tf.int64, name="steps")

        @tf.function
        def inner(x):
            return tf.nn.relu(tf.matmul(x, kernel) + bias)

        @tf.function
        def forward(ids):
            steps.assign_add(1)
            return inner(tf.matmul(tf.one_hot(ids, 7), table))

        self.trace("function", forward, tf.constant([1, 2, 3]))
        self.facts["function"] = (traced(self.root / "function"), count([kernel, bias, table]))

    def mixed(self):
        """A function and operations outside of it, while the trace is on: the log has several graphs then."""
        kernel = tf.Variable(tf.zeros([6, 5]), name="kernel")

        @tf.function
        def inner(x):
            return tf.nn.relu(tf.matmul(x, kernel))

        @tf.function
        def forward(x):
            return inner(x) * 2 + tf.reduce_sum(inner(x))

        self.trace("mixed", lambda sizes: forward(tf.zeros(sizes)), [3, 6])
        self.facts["mixed"] = count([kernel])

    def training(self):
        """A step of training: what the optimiser and a norm keep is handed in too."""
        k = keras.layers
        model = keras.Sequential([k.Input([6]), k.Dense(5), k.BatchNormalization(), k.Dense(2)])
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x, training=True) ** 2)
            optimizer.apply(tape.gradient(loss, model.trainable_variables))
            return loss

        self.trace("training", step, tf.zeros([4, 6]))
        self.facts["training"] = count(model.trainable_variables)

    def trace(self, name, function, argument):
        writer = tf.summary.create_file_writer(str(self.root / name))
        tf.summary.trace_on(graph=True, profiler=False)
        function(argument)
        with writer.as_default():
            tf.summary.trace_export("trace", step=0)
        writer.close()

    def keras(self):
        model = keras.Sequential(
            [
                keras.layers.Input([12], name="pixels"),
                keras.layers.Dense(8, activation="relu", name="hidden"),
                keras.layers.Dropout(0.1),
                keras.layers.Dense(3, name="out"),
            ]
        )
        model.compile("adam", "sparse_categorical_crossentropy")
        callback = keras.callbacks.TensorBoard(str(self.root / "keras"), write_graph=True)
        model.fit(np.zeros([8, 12]), np.zeros([8]), batch_size=4, verbose=0, callbacks=[callback])
        self.facts["keras"] = model

    def torch(self, name, model, *example):
        writer = SummaryWriter(str(self.root / name))
        writer.add_graph(model, example[0] if len(example) == 1 else example)
        writer.close()
        self.facts[name] = (graph_of(self.root / name), sum(p.numel() for p in model.parameters()))


def count(variables):
    return sum(int(np.prod(variable.shape)) for variable in variables)


def events(folder):
    (path,) = glob.glob(str(folder / "*tfevents*"))
    for record in tf.data.TFRecordDataset(path):
        yield event_pb2.Event.FromString(record.numpy())


def graph_of(folder):
    """The GraphDef of the only event that has one."""
    (graph,) = [event.graph_def for event in events(folder) if event.graph_def]
    return graph_pb2.GraphDef.FromString(graph)


def traced(folder):
    """The graph of the only function that was traced, as it was before it was optimised."""
    (value,) = [value for event in events(folder) for value in event.summary.value]
    metadata = config_pb2.RunMetadata.FromString(value.tensor.string_val[0])
    (function,) = metadata.function_graphs
    return function.pre_optimization_graph


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.deep = nn.Conv2d(8, 8, (5, 3), padding=(2, 1), groups=4, bias=False)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        x = self.up(self.deep(torch.relu(self.norm(self.first(x)))))
        return self.head(x.mean((2, 3)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48, bias=False)
        self.shared = nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + torch.softmax(q @ k.transpose(1, 2), -1) @ v
        return self.shared(torch.relu(self.shared(x)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 4, bias=False)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


class Words(nn.Module):
    """What a graph can't tell: how many rows a table has, and which of two kernels has a stride."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 8)
        self.conv = nn.Conv1d(8, 4, 3, stride=2)
        self.out = nn.Linear(4, 2)

    def forward(self, ids):
        return self.out(self.conv(self.table(ids).transpose(1, 2)).mean(2))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    logs = Logs(tmp_path_factory.mktemp("graphs"))
    keras.utils.set_random_seed(1)
    torch.manual_seed(1)
    logs.tf1()
    logs.function()
    logs.mixed()
    logs.training()
    logs.keras()
    logs.torch("linear", nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3)), torch.zeros(4, 12))
    logs.torch("convolutions", Convolutions(), torch.zeros(2, 3, 16, 16))
    logs.torch("attention", Attention(), torch.zeros(2, 7, 16))
    logs.torch("recurrent", Recurrent(), torch.zeros(2, 7, 6))
    logs.torch("words", Words(), torch.zeros(2, 9, dtype=torch.int64))
    return logs


@pytest.fixture(scope="module")
def api(logs):
    with Seaboard(logs.root) as server:
        server.loaded()
        yield Api(server)


@pytest.fixture
def opened(api):
    def open_graph(run, tag=RUN_GRAPH):
        ids = {each["name"]: each["id"] for each in api.get("runs")["runs"]}
        return Graph(api, {"run": ids[run], "tag": tag})

    return open_graph


# ---- TensorFlow ---------------------------------------------------------------------------------------------------


def test_a_session_s_graph_has_its_nodes_edges_shapes_and_trainable_variables(opened, logs):
    definition, parameters = logs.facts["tf1"]
    graph = opened("tf1")
    assert_same_nodes(graph, definition)
    assert graph.odd() == {}
    # what Adam keeps beside the variables is not counted, nor is the step
    assert (graph.totals["params"], graph.totals["unsized"]) == (parameters, 0)
    assert graph.node("hidden")["params"] == 6 * 5 + 5
    assert graph.node("out")["params"] == 5 * 2


def test_a_traced_function_has_its_nodes_and_the_variables_that_it_reads(opened, logs):
    definition, parameters = logs.facts["function"]
    graph = opened("function", "trace")
    names = graph.names()
    called = {node.name for node in definition.node if node.op.endswith("PartitionedCall")}
    own = {node.name: node for node in definition.node if node.name not in called}
    assert set(own) <= set(names)
    for name, node in own.items():
        assert names[name]["op"] == node.op
        if not any(source in called for source, _ in inputs_of(node)):
            assert graph.inputs(names[name]) == inputs_of(node), name
    # the body of the inner function stands at its call, joined to what calls it
    (call,) = called
    body = {name: hit for name, hit in names.items() if name.startswith(call + "/")}
    assert {"MatMul", "Relu", "ReadVariableOp"} <= {hit["op"] for hit in body.values()}
    (out,) = [hit for hit in names.values() if hit["op"] == "Identity" and "/" not in hit["name"]]
    assert all(source.startswith(call + "/") for source, slot in graph.inputs(out) if slot >= 0)
    assert (graph.totals["params"], graph.totals["unsized"]) == (parameters, 0)


def test_a_function_traced_beside_other_operations_opens_at_its_calls(opened, logs):
    graph = opened("mixed", "trace")
    names = graph.names()
    assert any(name.startswith("graph_2/") for name in names)
    # the body of the inner function stands at both of its calls, and nowhere else
    bodies = [name for name, hit in names.items() if hit["op"] == "MatMul"]
    assert len(bodies) == 2
    assert all("PartitionedCall" in name for name in bodies), bodies
    assert graph.odd() == {}
    assert (graph.totals["params"], graph.totals["unsized"]) == (logs.facts["mixed"], 0)


def test_a_training_step_counts_weights_but_not_what_its_optimiser_keeps(opened, logs):
    graph = opened("training", "trace")
    assert (graph.totals["params"], graph.totals["unsized"]) == (logs.facts["training"], 0)


# ---- Keras --------------------------------------------------------------------------------------------------------


def layers_of(model, within):
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            yield from layers_of(layer, f"{within}/{layer.name}")
        else:
            yield f"{within}/{layer.name}", layer


def test_a_keras_model_that_was_fitted_shows_its_layers_with_their_weights(opened, logs):
    model = logs.facts["keras"]
    graph = opened("keras/train", "keras")
    # Keras leaves the input layer out of model.layers
    assert graph.names().keys() - {f"{model.name}/pixels"} == {name for name, _ in layers_of(model, model.name)}
    for layer in model.layers:
        node = graph.node(f"{model.name}/{layer.name}")
        assert (node["params"], node["shapes"]) == (layer.count_params(), [shape_text(layer.output.shape)])
    assert (graph.totals["params"], graph.totals["unsized"]) == (model.count_params(), 0)
    assert graph.inputs({"name": f"{model.name}/out"}) == [(f"{model.name}/dropout", 0)]


def shape_text(shape):
    return " × ".join("?" if size is None else str(size) for size in shape)


def every_kind_of_layer():
    k = keras.layers
    picture, words = keras.Input([16, 16, 4], name="picture"), keras.Input([9], name="words")
    x = k.Conv2D(6, 3, padding="same", groups=2)(picture)
    x = k.BatchNormalization(scale=False)(x)
    x = k.DepthwiseConv2D(3, depth_multiplier=2, use_bias=False)(x)
    x = k.SeparableConv2D(8, (3, 5))(x)
    x = k.GroupNormalization(groups=2)(x)
    x = k.PReLU(shared_axes=[1, 2])(x)
    x = k.Conv2DTranspose(4, 2, strides=2)(x)
    x = k.Flatten()(k.GlobalAveragePooling2D(keepdims=True)(x))
    y = k.Embedding(30, 8)(words)
    y = k.Add()([y, k.MultiHeadAttention(2, 3, value_dim=5)(y, y)])
    y = k.LayerNormalization()(y)
    y = k.TimeDistributed(k.Dense(7))(y)
    y = k.Bidirectional(k.LSTM(5, return_sequences=True))(y)
    y = k.Conv1D(6, 3)(y)
    y = k.GRU(4, return_sequences=True)(y)
    y = k.SimpleRNN(3)(y)
    inner = keras.Sequential([k.Input([7]), k.Dense(5, use_bias=False), k.RMSNormalization()], name="inner")
    z = inner(k.Concatenate()([x, y]))
    return keras.Model([picture, words], k.Dense(2, name="head")(z), name="every")


def test_weights_of_every_kind_of_keras_layer_are_counted(api):
    model = every_kind_of_layer()
    graph = drop(api, model.to_json().encode())
    inner_input = {name for name in graph.names() if name.startswith("every/inner/input_layer")}
    wanted = dict(layers_of(model, "every"))
    assert graph.names().keys() - inner_input == wanted.keys()
    for name, layer in wanted.items():
        node = graph.node(name)
        assert (name, node["params"], node["unsized"]) == (name, layer.count_params(), 0)
        # a shape is told by what uses it, or follows from the class: what is told is right
        if node["shapes"]:
            assert node["shapes"] == [shape_text(layer.output.shape)], name
    assert graph.totals["params"] == model.count_params()


# ---- torch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["linear", "convolutions", "attention", "recurrent"])
def test_a_torch_module_has_its_nodes_edges_shapes_and_parameters(opened, logs, run):
    definition, parameters = logs.facts[run]
    graph = opened(run)
    names = graph.names()
    wanted = {node.name: node for node in definition.node}
    assert set(names) == set(wanted)
    for name, node in wanted.items():
        assert names[name]["op"] == node.op
        # modules themselves have no node
        made = [(source, slot) for source, slot in inputs_of(node) if source in wanted]
        assert graph.inputs(names[name]) == made, name
        if "_output_shapes" in node.attr:
            shapes = [text(shape) for shape in node.attr["_output_shapes"].list.shape]
            assert graph.node(names[name]["name"])["shapes"] == shapes
    assert (graph.totals["params"], graph.totals["unsized"]) == (parameters, 0)


def test_parameters_that_a_torch_graph_does_not_size_are_said_to_be_missing(opened, logs):
    _, parameters = logs.facts["words"]
    graph = opened("words")
    missing = 50 * 8 + 8 * 4 * 3  # the table, and the kernel with a stride
    assert (graph.totals["params"], graph.totals["unsized"]) == (parameters - missing, 2)


# ---- ONNX ---------------------------------------------------------------------------------------------------------


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_tensor(name, values):
    kind = {np.dtype("float32"): 1, np.dtype("int64"): 7}[values.dtype]
    dims = b"".join(field(1, size) for size in values.shape)
    return dims + field(2, kind) + field(8, name) + field(9, values.tobytes())


def onnx_value(name, shape):
    dims = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def onnx_node(op, name, inputs, outputs, *attributes):
    parts = [field(1, one) for one in inputs] + [field(2, one) for one in outputs]
    return b"".join(parts) + field(3, name) + field(4, op) + b"".join(field(5, one) for one in attributes)


def onnx_model():
    """Fields of onnx.proto: ModelProto 1 ir_version, 7 graph, 8 opset_import; GraphProto 1 node, 2 name, 5 initializer,
    11 input, 12 output, 13 value_info."""
    weights = {
        "fc1.weight": np.zeros([8, 12], np.float32),
        "fc1.bias": np.zeros([8], np.float32),
        "fc2.weight": np.zeros([3, 8], np.float32),
        "shape": np.array([-1, 12], np.int64),
    }
    alpha = field(1, "alpha") + field(20, 1) + varint(2 << 3 | 5) + struct.pack("<f", 1.0)
    nodes = [
        onnx_node("Reshape", "/Reshape", ["x", "shape"], ["flat"]),
        onnx_node("Gemm", "/fc1/Gemm", ["flat", "fc1.weight", "fc1.bias"], ["h"], alpha),
        onnx_node("Relu", "", ["h"], ["r"]),
        onnx_node("Gemm", "/fc2/Gemm", ["r", "fc2.weight", ""], ["y"]),
    ]
    graph = b"".join(field(1, node) for node in nodes) + field(2, "net")
    graph += b"".join(field(5, onnx_tensor(name, values)) for name, values in weights.items())
    graph += field(11, onnx_value("x", ["batch", 3, 4])) + field(12, onnx_value("y", ["batch", 3]))
    graph += field(13, onnx_value("h", ["batch", 8]))
    model = field(1, 8) + field(2, "test") + field(7, graph) + field(8, field(1, "") + field(2, 17))
    return model, sum(v.size for v in weights.values() if v.dtype == np.float32)


def test_an_onnx_model_has_its_nodes_edges_shapes_and_weights(api):
    model, parameters = onnx_model()
    graph = drop(api, model)
    names = graph.names()
    assert {name: hit["op"] for name, hit in names.items()} == {
        "x": "Input",
        "fc1/weight": "Initializer",
        "fc1/bias": "Initializer",
        "fc2/weight": "Initializer",
        "shape": "Initializer",
        "Reshape": "Reshape",
        "fc1/Gemm": "Gemm",
        "Relu_2": "Relu",
        "fc2/Gemm": "Gemm",
        "y (output)": "Output",
    }
    assert graph.inputs(names["fc1/Gemm"]) == [("Reshape", 0), ("fc1/bias", 0), ("fc1/weight", 0)]
    assert graph.inputs(names["fc2/Gemm"]) == [("Relu_2", 0), ("fc2/weight", 0)]
    assert graph.inputs(names["y (output)"]) == [("fc2/Gemm", 0)]
    assert graph.node("fc1/Gemm")["shapes"] == ["? × 8"]
    assert graph.node("x")["shapes"] == ["? × 3 × 4"]
    assert graph.node("fc1/weight")["shapes"] == ["8 × 12"]
    assert graph.drawing["format"] == "ONNX"
    assert (graph.totals["params"], graph.totals["unsized"]) == (parameters, 0)


def exported(model, example, monkeypatch):
    """An ONNX file as torch writes it. torch makes the bytes without the package onnx, which it only needs to add functions of
    onnxscript."""
    from torch.onnx._internal.torchscript_exporter import onnx_proto_utils

    monkeypatch.setattr(onnx_proto_utils, "_add_onnxscript_fn", lambda data, _: data)
    file = io.BytesIO()
    torch.onnx.export(model.eval(), example, file, dynamo=False, input_names=["x"], output_names=["y"])
    return file.getvalue()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_onnx_file_that_torch_exports_has_every_edge_and_weight(api, monkeypatch):
    model = Attention()
    graph = drop(api, exported(model, torch.zeros(2, 7, 16), monkeypatch))
    assert graph.odd() == {}
    names = graph.names()
    assert {"x", "y (output)"} <= set(names)
    # torch transposes the kernels of linear layers and gives them names with colons
    kernels = [name for name in names if "onnx.MatMul" in name]
    assert len(kernels) == 2
    products = [hit for hit in names.values() if hit["op"] == "MatMul"]
    used = {source for hit in products for source, _ in graph.inputs(hit)}
    assert set(kernels) <= used
    assert (graph.totals["params"], graph.totals["unsized"]) == (sum(p.numel() for p in model.parameters()), 0)
    assert graph.node(names["x"]["name"])["shapes"] == ["2 × 7 × 16"]
