"""What a graph is made of, one by one, beside TensorFlow and torch: the value and the gradient of every op, dropout, the
optimizers, names, control dependencies, groups, summaries, savers and run metadata. test_train.py has whole programs."""

import ctypes as c
import pathlib
import sys

import numpy as np
import pytest

# torch's compiler brings an LLVM that ends a process which has TensorFlow's already; nothing here compiles
sys.modules.setdefault("triton", None)
tf = pytest.importorskip("tensorflow")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ckpt_ctypes import SeaboardError  # noqa: E402
from train_ctypes import ADAM, ALL_AXES, GRADIENT_DESCENT, MOMENTUM, Net, dims, library, op_list  # noqa: E402

tf1 = tf.compat.v1
SAME, VALID = 0, 1
FLOAT, INT32, INT64 = 1, 3, 9


def floats(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.RandomState(seed + 17 * sum(shape)).uniform(low, high, shape).astype(np.float32)


def ints(high, *shape):
    return np.random.RandomState(5).randint(0, high, shape).astype(np.int32)


def conv(n, x, f, sy, sx, padding):
    return n.add("conv2d", x, f, c.c_int64(sy), c.c_int64(sx), padding)


def pool(n, x, padding):
    return n.add("max_pool", x, c.c_int64(3), c.c_int64(2), c.c_int64(2), c.c_int64(2), padding)


# name: (the op of ours, the same in torch or None where torch has no such padding, its inputs)
CASES = {
    "add": (lambda n, x, y: n.add("add", x, y), lambda t, x, y: x + y, [floats(3, 4), floats(4)]),
    "sub": (lambda n, x, y: n.add("sub", x, y), lambda t, x, y: x - y, [floats(3, 1), floats(3, 4)]),
    "mul": (lambda n, x, y: n.add("mul", x, y), lambda t, x, y: x * y, [floats(2, 3, 4), floats(3, 1)]),
    "div": (lambda n, x, y: n.add("div", x, y), lambda t, x, y: x / y, [floats(3, 4), floats(4, low=0.5)]),
    "pow": (lambda n, x, y: n.add("pow", x, y), lambda t, x, y: x**y, [floats(3, 4, low=0.5), floats(4)]),
    "square": (lambda n, x: n.add("square", x), lambda t, x: t.square(x), [floats(3, 4)]),
    "neg": (lambda n, x: n.add("neg", x), lambda t, x: -x, [floats(3, 4)]),
    "matmul": (lambda n, x, y: n.add("matmul", x, y, False, False), lambda t, x, y: x @ y, [floats(20, 300), floats(300, 17)]),
    "matmul, first transposed": (
        lambda n, x, y: n.add("matmul", x, y, True, False), lambda t, x, y: x.T @ y, [floats(30, 20), floats(30, 17)]),
    "matmul, second transposed": (
        lambda n, x, y: n.add("matmul", x, y, False, True), lambda t, x, y: x @ y.T, [floats(20, 30), floats(17, 30)]),
    "matmul, both transposed": (
        lambda n, x, y: n.add("matmul", x, y, True, True), lambda t, x, y: x.T @ y.T, [floats(30, 20), floats(17, 30)]),
    "sum": (lambda n, x: n.add("sum", x, dims(1), False), lambda t, x: x.sum(1), [floats(3, 4, 5)]),
    "sum of all": (lambda n, x: n.add("sum", x, ALL_AXES, False), lambda t, x: x.sum(), [floats(3, 4)]),
    "mean": (lambda n, x: n.add("mean", x, dims(0, 2), True), lambda t, x: x.mean((0, 2), keepdim=True), [floats(3, 4, 5)]),
    "mean of all": (lambda n, x: n.add("mean", x, ALL_AXES, False), lambda t, x: x.mean(), [floats(3, 4)]),
    "cast": (lambda n, x: n.add("cast", x, FLOAT), lambda t, x: x.float(), [floats(3, 4)]),
    "reshape": (lambda n, x: n.add("reshape", x, dims(2, -1)), lambda t, x: x.reshape(2, -1), [floats(3, 4)]),
    "slice": (lambda n, x: n.add("slice", x, dims(1, 0), dims(2, -1)), lambda t, x: x[1:3], [floats(3, 4)]),
    "identity": (lambda n, x: n.add("identity", x), lambda t, x: x * 1, [floats(3)]),
    "bias_add": (lambda n, x, b: n.add("bias_add", x, b), lambda t, x, b: x + b, [floats(2, 5, 3), floats(3)]),
    "relu": (lambda n, x: n.add("relu", x), lambda t, x: t.relu(x), [floats(3, 4)]),
    "sigmoid": (lambda n, x: n.add("sigmoid", x), lambda t, x: t.sigmoid(x), [floats(3, 4)]),
    "tanh": (lambda n, x: n.add("tanh", x), lambda t, x: t.tanh(x), [floats(3, 4)]),
    "softmax": (lambda n, x: n.add("softmax", x), lambda t, x: t.softmax(x, -1), [floats(3, 4)]),
    "conv2d same": (lambda n, x, f: conv(n, x, f, 1, 2, SAME), None, [floats(3, 7, 6, 2), floats(3, 3, 2, 5)]),
    "conv2d valid": (
        lambda n, x, f: conv(n, x, f, 2, 1, VALID),
        lambda t, x, f: t.nn.functional.conv2d(x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1), stride=(2, 1)).permute(0, 2, 3, 1),
        [floats(3, 7, 6, 2), floats(3, 2, 2, 5)]),
    "max_pool same": (lambda n, x: pool(n, x, SAME), None, [floats(2, 7, 6, 3)]),
    "max_pool valid": (
        lambda n, x: pool(n, x, VALID),
        lambda t, x: t.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), (3, 2), (2, 2)).permute(0, 2, 3, 1),
        [floats(2, 7, 6, 3)]),
}


def tolerance_of(case):
    return 2e-3 if "conv" in case or "matmul" in case else 1e-4


def run_in_tensorflow(graph_def, names, feeds):
    graph = tf.Graph()
    with graph.as_default():
        definition = tf1.GraphDef.FromString(graph_def)
        tf1.import_graph_def(definition, name="")
        with tf1.Session(graph=graph) as session:
            return session.run([f"{name}:0" for name in names], {f"{name}:0": value for name, value in feeds.items()})


def compare(net, fetches, feeds, tolerance=1e-4):
    ours = net.run(fetches, feeds)
    theirs = run_in_tensorflow(net.graph_def(), [net.name(f) for f in fetches], {net.name(op): v for op, v in feeds})
    for fetch, a, b in zip(fetches, ours, theirs):
        assert a.dtype == b.dtype and a.shape == b.shape, net.name(fetch)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=net.name(fetch))
    return ours


# ---- values and gradients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_tensorflow_and_torch(case):
    make, in_torch, inputs = CASES[case]
    net = Net()
    placeholders = [net.placeholder(value) for value in inputs]
    y = make(net, *placeholders)
    # a loss in which every place of y counts differently
    squared = net.add("square", net.add("tanh", y))
    loss = net.add("sum", squared, ALL_AXES, False)
    grads = net.gradients(loss, placeholders)
    ours = compare(net, [y, *grads], list(zip(placeholders, inputs)), tolerance_of(case))
    net.close()
    if not in_torch:
        return
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(value, requires_grad=True) for value in inputs]
    value = in_torch(torch, *tensors)
    torch.square(torch.tanh(value)).sum().backward()
    for a, b in zip(ours, [value.detach(), *[tensor.grad for tensor in tensors]]):
        np.testing.assert_allclose(a, b.numpy(), rtol=tolerance_of(case), atol=tolerance_of(case))


def test_losses_and_their_gradients_equal_tensorflow_and_torch():
    logits, labels, shares = floats(6, 5), ints(5, 6), np.random.RandomState(2).dirichlet(np.ones(5), 6).astype(np.float32)
    net = Net()
    x, classes, dense = net.placeholder(logits), net.placeholder(labels), net.placeholder(shares)
    sparse = net.add("sparse_softmax_cross_entropy", classes, x)
    full = net.add("softmax_cross_entropy", dense, x)
    loss = net.add("mean", net.add("add", sparse, net.add("square", full)), ALL_AXES, False)
    ours = compare(net, [sparse, full, *net.gradients(loss, [x])], [(x, logits), (classes, labels), (dense, shares)])
    net.close()
    torch = pytest.importorskip("torch")
    tensor, cross_entropy = torch.tensor(logits, requires_grad=True), torch.nn.functional.cross_entropy
    of_classes = cross_entropy(tensor, torch.tensor(labels).long(), reduction="none")
    of_shares = cross_entropy(tensor, torch.tensor(shares), reduction="none")
    (of_classes + torch.square(of_shares)).mean().backward()
    for a, b in zip(ours, [of_classes.detach(), of_shares.detach(), tensor.grad]):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-4)


def test_integers_and_comparisons_equal_tensorflow_and_have_no_gradient():
    x, y, targets = floats(6, 5), ints(4, 6, 5), ints(5, 6)
    net = Net()
    a, b, t = net.placeholder(x), net.placeholder(y), net.placeholder(targets)
    fetches = [
        net.add("argmax", a, c.c_int64(1)),
        net.add("argmax", b, c.c_int64(0)),
        net.add("argmax", a, c.c_int64(-1)),
        net.add("in_top_k", a, t, 2),
        net.add("equal", b, net.add("cast", a, INT32)),
        net.add("cast", b, FLOAT),
        net.add("cast", a, INT64),
        net.add("add", b, b),
        net.add("sum", b, dims(1), False),
    ]
    ours = compare(net, fetches, [(a, x), (b, y), (t, targets)])
    np.testing.assert_array_equal(ours[0], x.argmax(1))
    is_equal = net.add("cast", fetches[4], FLOAT)
    assert net.gradients(net.add("sum", is_equal, ALL_AXES, False), [a]) == [None]
    net.close()


def test_dropout_and_its_gradient_equal_tensorflow_with_the_same_mask():
    x, keep = floats(40, 50), np.float32(0.3)
    net = Net()
    a, p = net.placeholder(x), net.add("placeholder", FLOAT, dims())
    y = net.add("dropout", a, p)
    loss = net.add("sum", net.add("square", y), ALL_AXES, False)
    [slope] = net.gradients(loss, [a])
    mask_op = net.find("dropout/Floor")
    with net.session(seed=4) as session:
        value, mask, grad = session.run([y, mask_op, slope], [(a, x), (p, keep)])
        again = session.run([mask_op], [(p, keep)])[0]
    assert set(np.unique(mask)) == {0, 1} and abs(mask.mean() - 0.3) < 0.05
    assert (mask != again).any()  # every run draws its own
    np.testing.assert_allclose(value, x * mask / keep, rtol=1e-5)
    theirs = run_in_tensorflow(net.graph_def(), [net.name(y), net.name(slope)],
                               {net.name(a): x, net.name(p): keep, "dropout/Floor": mask})
    np.testing.assert_allclose(value, theirs[0], rtol=1e-5)
    np.testing.assert_allclose(grad, theirs[1], rtol=1e-4)
    net.close()


def test_random_numbers_have_tensorflows_statistics():
    net = Net()
    # TensorFlow draws other numbers each time: with 1.2 million of them the limits are eight deviations of a quantile away
    ops = [net.add(f"{kind}", dims(3000, 400), c.c_double(a), c.c_double(b))
           for kind, a, b in (("truncated_normal", 1, 0.5), ("random_normal", -1, 2), ("random_uniform", 2, 5))]
    with net.session(seed=9) as session:
        ours = session.run(ops)
    theirs = run_in_tensorflow(net.graph_def(), [net.name(op) for op in ops], {})
    net.close()
    for a, b in zip(ours, theirs):
        assert abs(a.mean() - b.mean()) < 0.03 and abs(a.std() - b.std()) < 0.03
        np.testing.assert_allclose(np.quantile(a, [0.01, 0.25, 0.5, 0.75, 0.99]),
                                   np.quantile(b, [0.01, 0.25, 0.5, 0.75, 0.99]), atol=0.08)


def test_a_message_names_both_ops_and_shapes():
    net = Net()
    x, y = net.placeholder(floats(2, 3)), net.placeholder(floats(4, 5))
    with pytest.raises(SeaboardError, match=r"Placeholder \[2,3\] and Placeholder_1 \[4,5\]"):
        net.add("matmul", x, y, False, False)
    net.close()


# ---- training ----------------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "gradient descent": (dict(kind=GRADIENT_DESCENT, learning_rate=0.05), lambda t, p: t.optim.SGD(p, lr=0.05)),
    "momentum": (dict(kind=MOMENTUM, learning_rate=0.02, momentum=0.9), lambda t, p: t.optim.SGD(p, lr=0.02, momentum=0.9)),
    "nesterov": (dict(kind=MOMENTUM, learning_rate=0.02, momentum=0.9, nesterov=1),
                 lambda t, p: t.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True)),
    "adam": (dict(kind=ADAM, learning_rate=0.01), lambda t, p: t.optim.Adam(p, lr=0.01)),
    "adam with rates of its own": (dict(kind=ADAM, learning_rate=0.01, beta1=0.8, beta2=0.99, epsilon=1e-6),
                                   lambda t, p: t.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), eps=1e-6)),
}
WEIGHTS = [("w", (6, 8)), ("b", (8,)), ("v", (8, 3))]
STEPS = 25


def start_values():
    return [floats(*shape, low=-0.5, high=0.5, seed=i) for i, (_, shape) in enumerate(WEIGHTS)]


def batch(step):
    random = np.random.RandomState(step)
    return random.uniform(-1, 1, (10, 6)).astype(np.float32), random.randint(0, 3, 10).astype(np.int32)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_reaches_the_parameters_of_tensorflow_and_torch(name):
    options, in_torch = OPTIMIZERS[name]
    net = Net()
    x, y = net.placeholder(batch(0)[0]), net.placeholder(batch(0)[1])
    w, b, v = [net.variable(value, called=label) for value, (label, _) in zip(start_values(), WEIGHTS)]
    hidden = net.add("tanh", net.add("add", net.add("matmul", x, w, False, False), b))
    losses = net.add("sparse_softmax_cross_entropy", y, net.add("matmul", hidden, v, False, False))
    step = net.call("global_step")
    train = net.minimize(net.add("mean", losses, ALL_AXES, False), step, **options)
    init = net.add("initializer")
    with net.session() as session:
        session.run([init])
        for i in range(STEPS):
            images, labels = batch(i)
            session.run([train], [(x, images), (y, labels)])
        *ours, steps = session.run([w, b, v, step])
    assert steps == STEPS

    graph = tf.Graph()
    with graph.as_default(), tf1.Session(graph=graph) as session:
        tf1.import_graph_def(tf1.GraphDef.FromString(net.graph_def()), name="")
        session.run(net.name(init))
        for i in range(STEPS):
            images, labels = batch(i)
            session.run(net.name(train), {f"{net.name(x)}:0": images, f"{net.name(y)}:0": labels})
        theirs = [session.run(f"{label}:0") for label, _ in WEIGHTS]
    for (label, _), a, other in zip(WEIGHTS, ours, theirs):
        np.testing.assert_allclose(a, other, rtol=1e-3, atol=1e-5, err_msg=label)
    net.close()

    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(value, requires_grad=True) for value in start_values()]
    optimizer = in_torch(torch, tensors)
    for i in range(STEPS):
        images, labels = batch(i)
        logits = torch.tanh(torch.tensor(images) @ tensors[0] + tensors[1]) @ tensors[2]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.tensor(labels).long()).backward()
        optimizer.step()
    for (label, _), a, tensor in zip(WEIGHTS, ours, tensors):
        np.testing.assert_allclose(a, tensor.detach().numpy(), rtol=2e-3, atol=2e-5, err_msg=label)


def test_the_convolutional_network_of_the_tutorials_trains_as_in_tensorflow():
    images, labels = floats(8, 12, 12, 1, low=0, high=1), ints(4, 8)
    net = Net()
    x, y, keep = net.placeholder(images), net.placeholder(labels), net.add("placeholder", FLOAT, dims())
    shapes = [(5, 5, 1, 4), (4,), (3, 3, 4, 6), (6,), (54, 4)]
    v = [net.variable(floats(*shape, low=-0.3, high=0.3, seed=i), called=f"v{i}") for i, shape in enumerate(shapes)]
    h = x
    for i in (0, 2):
        h = net.add("relu", net.add("bias_add", conv(net, h, v[i], 1, 1, SAME), v[i + 1]))
        h = net.add("max_pool", h, c.c_int64(2), c.c_int64(2), c.c_int64(2), c.c_int64(2), SAME)
    flat = net.add("dropout", net.add("reshape", h, dims(8, -1)), keep)
    losses = net.add("sparse_softmax_cross_entropy", y, net.add("matmul", flat, v[4], False, False))
    train = net.minimize(net.add("mean", losses, ALL_AXES, False), net.call("global_step"), kind=ADAM, learning_rate=0.003)
    init, feeds = net.add("initializer"), [(x, images), (y, labels), (keep, np.float32(1))]
    with net.session() as session:
        session.run([init])
        for _ in range(8):
            session.run([train], feeds)
        ours = session.run(v)
    graph = tf.Graph()
    with graph.as_default(), tf1.Session(graph=graph) as session:
        tf1.import_graph_def(tf1.GraphDef.FromString(net.graph_def()), name="")
        session.run(net.name(init))
        for _ in range(8):
            session.run(net.name(train), {f"{net.name(op)}:0": value for op, value in feeds})
        theirs = [session.run(f"v{i}:0") for i in range(5)]
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=2e-4)
    net.close()


# ---- names, order, groups ----------------------------------------------------------------------------------------


def test_names_are_made_unique_as_tensorflow_does():
    """A random program of scopes and ops with few names, some of which look like numbered ones."""
    random, net, graph, ours, theirs, open_scopes = np.random.RandomState(8), Net(), tf.Graph(), [], [], []
    names = ["a", "b", "a_1", "b_2", "a_1_1"]
    with graph.as_default():
        for _ in range(400):
            action, name = random.randint(4), names[random.randint(len(names))]
            if action == 0 and len(open_scopes) < 4:
                library.sb_net_scope_begin(net.g, name.encode())
                open_scopes.append(tf1.name_scope(name))
                open_scopes[-1].__enter__()
            elif action == 1 and open_scopes:
                library.sb_net_scope_end(net.g)
                open_scopes.pop().__exit__(None, None, None)
            else:
                ours.append(net.name(net.group([], called=name)))
                theirs.append(tf1.no_op(name=name).name)
        while open_scopes:
            open_scopes.pop().__exit__(None, None, None)
    assert ours == theirs and len(set(ours)) == len(ours) > 150
    net.close()


def test_control_dependencies_and_groups_run_first_and_are_in_the_graph():
    net = Net()
    w = net.variable(np.float32(3), called="w")
    train = net.minimize(net.add("square", w), net.call("global_step"), kind=GRADIENT_DESCENT, learning_rate=0.25)
    library.sb_net_control_begin(net.g, op_list([train]), c.c_size_t(1))
    after = net.add("identity", net.find("w"), called="after")
    library.sb_net_control_end(net.g)
    both = net.group([train, after], called="both")
    init = net.add("initializer")
    nodes = {node.name: list(node.input) for node in tf1.GraphDef.FromString(net.graph_def()).node}
    assert nodes["after"] == ["w", "^GradientDescent"] and nodes["both"] == ["^GradientDescent", "^after"]
    with net.session() as session:
        session.run([init])
        assert session.run([after])[0] == 1.5  # 3 - 0.25 * 2 * 3: the step came first
        assert session.run([both]) == [None]
        assert session.run([w])[0] == 0.75
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.import_graph_def(tf1.GraphDef.FromString(net.graph_def()), name="")
        session.run(net.name(init))
        assert session.run("after:0") == 1.5
        session.run("both")
        assert session.run("w:0") == 0.75
    net.close()


# ---- summaries, checkpoints, metadata ----------------------------------------------------------------------------


def test_summary_ops_say_what_tensorflow_says():
    net = Net()
    pictures, sound = floats(4, 6, 5, 3, low=0, high=1), floats(2, 60, 2, low=-1, high=1)
    values, notes = floats(200), b"some **text**"
    x, s, v = net.placeholder(pictures), net.placeholder(sound), net.placeholder(values)
    library.sb_net_scope_begin(net.g, b"layer")
    net.call("scalar_summary", b"loss", net.add("mean", v, ALL_AXES, False))
    library.sb_net_scope_end(net.g)
    net.call("scalar_summary", b"two words", net.add("sum", v, ALL_AXES, False))
    net.call("histogram_summary", b"values", v)
    net.call("image_summary", b"pictures", x, 3)
    net.call("image_summary", b"one", x, 1)
    net.call("audio_summary", b"sound", s, c.c_double(8000), 2)
    net.call("text_summary", b"notes", net.constant(notes))
    merged = net.call("merge_all")
    feeds = [(x, pictures), (s, sound), (v, values)]
    ours = tf1.Summary.FromString(net.run([merged], feeds)[0])
    [theirs] = run_in_tensorflow(net.graph_def(), [net.name(merged)], {net.name(op): value for op, value in feeds})
    theirs = tf1.Summary.FromString(theirs)
    assert [value.tag for value in ours.value] == [value.tag for value in theirs.value]
    assert [value.tag for value in ours.value] == [
        "layer/loss", "two_words", "values", "pictures/image/0", "pictures/image/1", "pictures/image/2", "one/image",
        "sound/audio/0", "sound/audio/1", "notes"]
    for a, b in zip(ours.value, theirs.value):
        assert a.WhichOneof("value") == b.WhichOneof("value") and a.metadata == b.metadata, a.tag
        if a.HasField("simple_value"):
            assert a.simple_value == pytest.approx(b.simple_value, rel=1e-5, abs=1e-5)
        elif a.HasField("histo"):
            assert list(a.histo.bucket) == list(b.histo.bucket) and list(a.histo.bucket_limit) == list(b.histo.bucket_limit)
            assert (a.histo.min, a.histo.max, a.histo.num) == (b.histo.min, b.histo.max, b.histo.num)
        elif a.HasField("image"):
            assert (a.image.width, a.image.height, a.image.colorspace) == (b.image.width, b.image.height, b.image.colorspace)
            np.testing.assert_array_equal(*[tf.io.decode_png(one.image.encoded_image_string).numpy() for one in (a, b)])
        elif a.HasField("audio"):
            assert (a.audio.sample_rate, a.audio.num_channels, a.audio.length_frames, a.audio.content_type) == (
                b.audio.sample_rate, b.audio.num_channels, b.audio.length_frames, b.audio.content_type)
            np.testing.assert_array_equal(*[tf.audio.decode_wav(one.audio.encoded_audio_string)[0].numpy() for one in (a, b)])
        else:
            assert tf.make_ndarray(a.tensor) == tf.make_ndarray(b.tensor) == notes
    net.close()


def test_a_graph_without_summaries_has_nothing_to_merge():
    net = Net()
    assert net.call("merge_all").value is None
    net.close()


def test_saver_ops_of_the_graph_write_and_read_the_same_files_in_tensorflow(tmp_path):
    net, value = Net(), floats(3, 4)
    w = net.variable(value, called="layer/w")
    step = net.call("global_step")
    restore = net.call("saver")
    init, save, path = net.add("initializer"), net.find("save/control_dependency"), net.find("save/Const")
    with net.session() as session:
        session.run([init])
        session.run([save], [(path, str(tmp_path / "ours"))])
    graph = tf.Graph()
    with graph.as_default(), tf1.Session(graph=graph) as session:
        tf1.import_graph_def(tf1.GraphDef.FromString(net.graph_def()), name="")
        session.run("save/restore_all", {"save/Const:0": str(tmp_path / "ours")})
        np.testing.assert_array_equal(session.run("layer/w:0"), value)
        session.run("save/control_dependency", {"save/Const:0": str(tmp_path / "theirs")})
    with net.session() as session:
        session.run([restore], [(path, str(tmp_path / "theirs"))])
        restored, count = session.run([w, step])
    np.testing.assert_array_equal(restored, value)
    assert count == 0
    net.close()


def test_run_metadata_is_read_by_tensorflow_and_names_what_ran():
    net = Net()
    x = net.placeholder(floats(30, 40))
    y = net.add("relu", net.add("matmul", x, x, False, True))
    net.add("square", x)  # nobody asks for it
    with net.session() as session:
        [value], bytes_of_metadata = session.run([y], [(x, floats(30, 40))], traced=True)
    metadata = tf1.RunMetadata.FromString(bytes_of_metadata)
    [device] = metadata.step_stats.dev_stats
    assert device.device.endswith("CPU:0")
    names = [node.node_name for node in device.node_stats]
    assert names.index("MatMul") < names.index("Relu") and "Square" not in names
    for node in device.node_stats:
        if node.node_name in ("MatMul", "Relu"):
            [output] = node.output
            assert [d.size for d in output.tensor_description.shape.dim] == list(value.shape)
            assert output.tensor_description.allocation_description.requested_bytes == value.nbytes
            assert node.op_start_rel_micros <= node.op_end_rel_micros <= node.all_end_rel_micros
    from tensorflow.python.client.timeline import Timeline

    assert '"MatMul"' in Timeline(metadata.step_stats).generate_chrome_trace_format()
    net.close()
