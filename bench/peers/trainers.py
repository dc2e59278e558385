"""TensorFlow's TF1-style session and torch on the network of bench_train.c. Each runs in a process of its own, so that
its memory is its own."""

import resource
import subprocess
import sys
import time

import common

BATCH, PIXELS, WARM_UP, STEPS, ROUNDS, ROUND_SECONDS = 100, 784, 200, 3000, 3, 10
WORK, PART = "training, MNIST 784-128-32-10", "all processors"
SIZES = [(784, 128), (128, 32), (32, 10)]


def inputs():
    import numpy as np

    images = (np.arange(BATCH * PIXELS) * 7 % 255 / 255).astype(np.float32).reshape(BATCH, PIXELS)
    return images, np.arange(BATCH, dtype=np.int32) % 10


def measure(who, step, args):
    """The best of some rounds; a round ends early when it is slow, so that a busy machine does not hold up the benchmark."""
    for _ in range(common.scaled(WARM_UP, args)):
        step()
    count, best = common.scaled(STEPS, args), 0
    for _ in range(ROUNDS):
        start, done = time.perf_counter(), 0
        while done < count and time.perf_counter() - start < ROUND_SECONDS:
            step()
            done += 1
        best = max(best, done / (time.perf_counter() - start))
    common.report(who, WORK, PART, "steps/s", best)
    common.report(who, WORK, "memory", "MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def run_tensorflow(args):
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    images, labels = inputs()
    x, y = tf.placeholder(tf.float32, (BATCH, PIXELS)), tf.placeholder(tf.int32, (BATCH,))
    h = x
    for i, (rows, columns) in enumerate(SIZES):
        w = tf.Variable(tf.truncated_normal([rows, columns], stddev=0.05))
        h = tf.matmul(h, w) + tf.Variable(tf.zeros([columns]))
        h = tf.nn.relu(h) if i < 2 else h
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.Variable(0, trainable=False))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        measure("TF1 session", lambda: session.run([train, loss], {x: images, y: labels}), args)


def run_torch(args):
    import torch

    images, labels = inputs()
    x, y = torch.tensor(images), torch.tensor(labels).long()
    layers = [torch.nn.Linear(*size) for size in SIZES]
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    measure("torch", step, args)


def main():
    if len(sys.argv) > 1 and sys.argv[1] in ("tensorflow", "torch"):
        who = sys.argv.pop(1)
        run_tensorflow(common.arguments()) if who == "tensorflow" else run_torch(common.arguments())
        return
    for who in ("tensorflow", "torch"):
        subprocess.run([sys.executable, __file__, who, *sys.argv[1:]], check=True)


main()
