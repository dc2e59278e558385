"""Writes one log with TensorFlow's summaries and one with torch's, for the browser: peers.py LOGDIR."""

import io
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
import torch
from PIL import Image
from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import SummaryWriter

logdir = sys.argv[1]
tone = np.sin(np.arange(8000) / 8000 * 2 * np.pi * 440).astype(np.float32)


def plain(*colour):
    return np.full((24, 32, 3), colour, np.uint8)


with tf.summary.create_file_writer(f"{logdir}/tf").as_default():
    for step in (1, 2):
        tf.summary.image("picture", plain(200, 40, 90)[None], step)
        tf.summary.image("batch", np.stack([plain(k, 0, 0) for k in (1, 2, 3)]), step)
        tf.summary.audio("clip", tone[None, :, None], 8000, step)
        tf.summary.text("text", "**bold** of TensorFlow", step)
        tf.summary.histogram("values", np.linspace(-1, 1, 1000), step)

with SummaryWriter(f"{logdir}/torch") as writer:
    for step in (1, 2):
        writer.add_image("picture", plain(20, 140, 90), step, dataformats="HWC")
        writer.add_audio("clip", torch.from_numpy(tone)[None], step, 8000)
        writer.add_text("text", "**bold** of torch", step)
        writer.add_histogram("values", np.linspace(-1, 1, 1000), step)
        # add_video needs moviepy: its GIF is written as what it is, a picture
        out = io.BytesIO()
        frames = [Image.fromarray(plain(60 * k, 10, 10)) for k in range(4)]
        frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)
        video = Summary.Image(height=24, width=32, colorspace=3, encoded_image_string=out.getvalue())
        writer.file_writer.add_summary(Summary(value=[Summary.Value(tag="video", image=video)]), step)
