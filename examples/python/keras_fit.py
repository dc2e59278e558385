"""model.fit of Keras with the TensorBoard callback."""

import sys

import keras
import numpy as np

from seaboard.keras import TensorBoard  # instead of: from keras.callbacks import TensorBoard

keras.utils.set_random_seed(0)
x = np.random.normal(size=(128, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
callback = TensorBoard(log_dir=sys.argv[1], histogram_freq=1)
model.fit(x, y, epochs=3, validation_split=0.25, callbacks=[callback], verbose=0)
