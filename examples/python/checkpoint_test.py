"""Restores the newest checkpoint of checkpoint_train.py into a new model, and tries it on new data."""

import os
import sys

import numpy as np
from checkpoint_train import MLP

from seaboard import train  # instead of: from tensorflow import train

model = MLP()
checkpoint = train.Checkpoint(myAwesomeModel=model)
checkpoint.restore(train.latest_checkpoint(os.path.join(sys.argv[1], "save"))).expect_partial()
x = np.random.default_rng(1).normal(size=(500, 4)).astype("float32")
guess = np.argmax(model(x).numpy(), axis=1)
print("accuracy", np.mean(guess == (x.sum(axis=1) > 0)))
