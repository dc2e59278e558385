"""A session of TF1 whose merged summaries are written with a FileWriter."""

import sys

import tensorflow.compat.v1 as tf

from seaboard.summary.v1 import FileWriter  # instead of: FileWriter = tf.summary.FileWriter

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [None], "x")
slope = tf.Variable(0.0, name="slope")
loss = tf.reduce_mean((slope * x - 2 * x) ** 2)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
tf.summary.scalar("loss", loss)
tf.summary.histogram("x", x)
merged = tf.summary.merge_all()

with tf.Session() as session:
    writer = FileWriter(sys.argv[1], session.graph)
    session.run(tf.global_variables_initializer())
    for step in range(20):
        summary, _ = session.run([merged, train], {x: [0.5, 1.0, 1.5]})
        writer.add_summary(summary, step)
    writer.close()
