"""Trains a model of Keras, saves a checkpoint every 20 steps, and goes on from the newest one when it is started again."""

import os
import sys

import keras
import numpy as np
import tensorflow as tf

from seaboard import train  # instead of: from tensorflow import train


class MLP(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense1 = keras.layers.Dense(16, activation="relu")
        self.dense2 = keras.layers.Dense(2)

    def call(self, inputs):
        return self.dense2(self.dense1(inputs))


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 4)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("int64")
    model, optimizer, step = MLP(), keras.optimizers.Adam(0.05), tf.Variable(0, dtype=tf.int64)
    checkpoint = train.Checkpoint(myAwesomeModel=model, optimizer=optimizer, step=step)
    manager = train.CheckpointManager(checkpoint, os.path.join(sys.argv[1], "save"), max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    writer = tf.summary.create_file_writer(sys.argv[1])
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        with writer.as_default():
            tf.summary.scalar("loss", loss, step=step.assign_add(1))
        if step.numpy() % 20 == 0:
            print("saved", manager.save(), "at step", step.numpy())
    writer.close()
