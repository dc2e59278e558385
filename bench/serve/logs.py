"""The log directories that serving is measured with; made once, kept in the user's cache, the same for everybody.

L1      10 runs x 100 tags x 10 000 steps, scalars as TF2 writes them (a tensor and metadata in each): 10 M records
L2      1000 runs x 10 tags x 100 steps, scalars as torch writes them: 1 M records
L3      100 image tags of 100 pictures of 64 KiB
I       20 runs x 1000 steps of one image tag, PNG files of 512 x 512 pixels: 20 000 records, 2.7 GB
H       20 runs x 100 histogram tags x 1000 steps of 30 buckets, as tf.summary writes them: 2 M records, 1.7 GB
G<n>    a run with a graph of n nodes: blocks of layers of operations, with variables, shapes and series
T<n>    a run with a trace of n million slices as torch.profiler writes it (100 bytes each, plain): steps, operators in each other, kernels
X<n>    a run with an XSpace of n MB (17 bytes a slice): operators three deep on eight threads, steps
one     a run with one tag of 1000 points
tags    a run with 10 000 tags of 3 points
few     50 000 records as those of L1, for the loader that takes seconds for that

Runs of one directory are copies of each other: readers don't know, and making them takes seconds.
"""

import os
import pathlib
import random
import shutil
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/conformance"))

VERSION = "bench-logs-1"
PICTURE = 64 * 1024


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "seaboard" / VERSION


def png(width, height, rows, level):
    """rows: bytes of RGB, row by row, each behind the number of its filter."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, level)) + chunk(b"IEND", b"")


def picture(chance):
    """A PNG of 64 KiB that nobody can make smaller."""
    width, height = 160, 136
    return png(width, height, b"".join(b"\0" + chance.randbytes(width * 3) for _ in range(height)), 0)


def samples(steps, side=512):
    """Pictures as of a model that learns: shapes that come out of noise, which takes most of the bytes at first."""
    import numpy as np

    chance = np.random.default_rng(1)
    y, x = np.mgrid[0:side, 0:side] / side
    noise = chance.integers(0, 24, (side, side, 3))
    for step in range(steps):
        share = step / steps
        shapes = np.stack([np.sin(9 * x + 6 * share), np.cos(7 * y - 4 * share), np.sin(5 * (x + y) + share)], axis=-1)
        pixels = (120 + 90 * shapes).astype(np.uint8) // 8 * 8
        is_noisy = chance.random((side, side)) < 0.02 + 0.06 * (1 - share)
        pixels[is_noisy] += noise[is_noisy].astype(np.uint8)
        rows = np.zeros((side, 1 + 3 * side), np.uint8)
        rows[:, 1:] = pixels.reshape(side, 3 * side)
        yield png(side, side, rows.tobytes(), 4)


def scalars(sb, folder, style, tags, steps):
    chance = random.Random(1)
    with sb.Writer(folder, style=style) as writer:
        for step in range(steps):
            for tag in range(tags):
                writer.scalar(f"layer_{tag}/loss", chance.random() + 100 / (step + 1), step)


def histograms(sb, folder, tags, steps):
    """Weights that spread as training goes on; every tenth tag narrows instead."""
    import numpy as np

    at = np.linspace(-4, 4, 31)
    middle = (at[1:] + at[:-1]) / 2
    counts = np.round(10000 * np.exp(-(middle**2) / 2) / np.sqrt(2 * np.pi) * (at[1] - at[0]))
    with sb.Writer(folder, style=sb.TF2) as writer:
        for step in range(steps):
            for tag in range(tags):
                spread = 0.01 * (1 + tag % 7) * (1 + step / steps if tag % 10 else 2 - step / steps)
                rows = np.column_stack([at[:-1] * spread, at[1:] * spread, np.roll(counts, tag % 3)])
                writer.histogram_rows(f"layer_{tag // 4}/weight_{tag % 4}", rows, step)


def graph(nodes):
    """A GraphDef of that many nodes: blocks of 50, each four layers deep, that feed one another."""

    def field(number, value):
        n, length = len(value), b""
        while n >= 0x80:
            length += bytes([n & 0x7F | 0x80])
            n >>= 7
        return bytes([number << 3 | 2]) + length + bytes([n]) + value

    def node(name, op, *inputs):
        shape = b"".join(field(2, b"\x08" + bytes([size])) for size in (64, 96))
        shapes = field(5, field(1, b"_output_shapes") + field(2, field(1, field(7, shape))))
        return field(1, field(1, name.encode()) + field(2, op.encode()) + b"".join(field(3, i.encode()) for i in inputs) + shapes)

    ops = ["MatMul", "BiasAdd", "Relu", "AddV2", "Mul", "Softmax", "Reshape", "Transpose"]
    parts, last = [node("input", "Placeholder")], "input"
    for block in range((nodes - 1) // 50):
        entry, first = last, None
        for i in range(50):
            layer = i * 4 // 50
            name = f"model/block_{block}/layer_{layer}/{ops[i % 8]}_{i // 8}"
            more = [first] if first and i % 7 == 0 else [entry] if i % 25 == 24 else []
            parts.append(node(name, ops[i % 8], last, *more))
            first, last = first or name, name
    return b"".join(parts) + field(4, b"\x08\x1b")


def trace(folder, millions):
    """Operators in each other on four threads, kernels on four streams, in steps: about 100 bytes a slice."""
    names = [f"aten::operator_{i}" for i in range(300)]
    with open(folder / "host_1.1794737034369441671.pt.trace.json", "w") as out:
        out.write('{"schemaVersion":1,"baseTimeNanoseconds":1763000000000000000,"traceEvents":[\n')
        for step in range(int(millions * 1000)):
            at = 1000 + step * 2000
            out.write(f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{step}","pid":1,"tid":1,"ts":{at},"dur":1990}},\n')
            for i in range(125):
                ts, name = at + 5 + i * 15, names[(step * 7 + i) % 300]
                for lane in range(4):
                    out.write(f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{1 + lane},"ts":{ts},"dur":12}},\n')
                    out.write(f'{{"ph":"X","cat":"kernel","name":"k{name}","pid":0,"tid":{7 + lane},"ts":{ts + 3},"dur":9}},\n')
        out.write('{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}}]}\n')


def varint(x):
    out = bytearray()
    while x >= 0x80:
        out.append(x & 0x7F | 0x80)
        x >>= 7
    out.append(x)
    return bytes(out)


def message(number, *parts):
    body = b"".join(parts)
    return varint(number << 3 | 2) + varint(len(body)) + body


def xspace_line(line, slices):
    """Slices three deep, in order of time; every eighth has a statistic, every thousandth on the first thread marks a step."""
    yield b"\x08" + varint(line + 1) + message(2, b"worker")
    for i in range(slices):
        start = (i + 1) * 1_000_000 + i % 3 * 1000
        is_step = line == 0 and i % 1000 == 0
        event = b"\x08" + varint(301 if is_step else i * 7 % 300 + 1) + b"\x10" + varint(start)
        event += b"\x18" + varint(999_000_000 if is_step else 2_900_000 if i % 3 == 0 else 900_000 - i % 3 * 200_000)
        if is_step:
            event += message(4, b"\x08\x02\x20\x01") + message(4, b"\x08\x03\x20" + varint(i // 1000))
        elif i % 8 == 0:
            event += message(4, b"\x08\x01\x20" + varint(i))
        yield b"\x22" + varint(len(event)) + event


def xspace(folder, megabytes):
    """Planes of up to 100 MB, so that no more than one is in memory."""
    folder = folder / "plugins/profile/2026_11_16_10_00_00"
    folder.mkdir(parents=True)
    names = [f"model/layer_{i}/op:MatMul" for i in range(1, 301)] + ["train"]
    about = [message(4, b"\x08" + varint(i), message(2, b"\x08" + varint(i), message(2, name.encode()))) for i, name in enumerate(names, 1)]
    about += [
        message(5, b"\x08" + varint(i), message(2, b"\x08" + varint(i), message(2, name)))
        for i, name in enumerate((b"bytes", b"_r", b"step_num"), 1)
    ]
    with open(folder / "host.xplane.pb", "wb") as out:
        for plane in range(max(1, round(megabytes / 100))):
            slices = int(min(megabytes, 100) * 1e6 / 17 / 8)
            name = b"/host:CPU" if plane == 0 else b"/device:CUSTOM:worker %d" % plane
            lines = [message(3, b"".join(xspace_line(line + (plane > 0), slices))) for line in range(8)]
            out.write(message(1, message(2, name), *lines, *about))


def copies(folder, count):
    """The one run that is there, that many times."""
    first = folder / "run0000"
    for i in range(1, count):
        shutil.copytree(first, folder / f"run{i:04}")


def make(name, folder):
    import sbctypes as sb

    if name == "L1":
        scalars(sb, folder / "run0000", sb.TF2, 100, 10000)
        copies(folder, 10)
    elif name == "L2":
        scalars(sb, folder / "run0000", sb.TORCH, 10, 100)
        copies(folder, 1000)
    elif name == "tags":
        with sb.Writer(folder / "run0000", style=sb.TORCH) as writer:
            for step in range(3):
                for tag in range(10000):
                    writer.scalar(f"layer{tag // 20}/param_{tag % 20}", tag + step, step)
    elif name == "H":
        histograms(sb, folder / "run0000", 100, 1000)
        copies(folder, 20)
    elif name == "I":
        with sb.Writer(folder / "run0000", style=sb.TF2) as writer:
            for step, file in enumerate(samples(1000)):
                writer.image_encoded("val/samples", [file], step, width=512, height=512)
        copies(folder, 20)
    elif name.startswith("X"):
        xspace(folder / "run0000", float(name[1:]))
    elif name.startswith("T"):
        trace(folder / "run0000", float(name[1:]))
    elif name.startswith("G"):
        with sb.Writer(folder / "run0000", style=sb.TF1) as writer:
            writer.graph(graph(int(name[1:])))
    elif name == "one":
        scalars(sb, folder / "run0000", sb.TF2, 1, 1000)
    elif name == "few":
        scalars(sb, folder / "run0000", sb.TF2, 100, 500)
    elif name == "L3":
        chance = random.Random(1)
        with sb.Writer(folder / "run0000", style=sb.TF2) as writer:
            for step in range(100):
                files = [picture(chance)]
                for tag in range(100):
                    writer.image_encoded(f"image_{tag}", files, step, width=160, height=136)


def logdir(name):
    """Where it is; makes it first when it is not there."""
    folder = cache() / name
    if not folder.exists():
        part = folder.with_name(f"{name}.part{os.getpid()}")
        (part / "run0000").mkdir(parents=True)
        make(name, part)
        os.rename(part, folder)
    return folder


def warm(folder):
    """Bytes of all files below it, all of them read once: the page cache has them."""
    total = 0
    for path in sorted(folder.rglob("*tfevents*")):
        with open(path, "rb", buffering=0) as file:
            while data := file.read(1 << 22):
                total += len(data)
    return total
