"""tensorboardX: SummaryWriter.add_scalar, add_image, add_histogram."""

import os

import common


def main():
    from tensorboardX import SummaryWriter

    args = common.arguments()
    image, values = common.image(args), common.values(args)
    works = [
        ("scalar", 20000, lambda w, step: w.add_scalar("train/loss", 1.0 / (step + 1), step)),
        ("image", 100, lambda w, step: w.add_image("train/picture", image, step, dataformats="HWC")),
        ("histogram", 300, lambda w, step: w.add_histogram("train/weights", values, step)),
    ]
    for work, count, call in works:
        logdir = os.path.join(args.folder, "tensorboardx_" + work)
        common.measure(
            "tensorboardX",
            work,
            common.scaled(count, args),
            lambda: SummaryWriter(logdir),
            call,
            lambda w: w.close(),
        )


main()
