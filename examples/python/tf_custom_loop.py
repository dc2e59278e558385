"""A custom training loop of TensorFlow that logs with tf.summary, inside and outside of a tf.function."""

import sys

import numpy as np
import tensorflow as tf

import seaboard.summary as summary  # instead of: from tensorflow import summary

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 3)).astype("float32")
y = (x @ [[1.0], [2.0], [3.0]]).astype("float32")
weights = tf.Variable(tf.zeros((3, 1)))


@tf.function
def train_step(step):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weights - y) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    summary.scalar("loss", loss, step=step)
    return loss


writer = summary.create_file_writer(sys.argv[1])
with writer.as_default():
    for step in tf.range(50, dtype=tf.int64):
        train_step(step)
        with summary.record_if(lambda: int(step) % 10 == 0):
            summary.histogram("weights", weights, step=step)
    summary.image("noise", rng.uniform(size=(2, 8, 8, 3)), step=50)
    summary.text("notes", "linear **regression**", step=50)
writer.close()
