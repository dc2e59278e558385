"""Pictures that are made in Python: figures of matplotlib, boxes drawn with pillow, stacks of arrays."""

from __future__ import annotations

import io
from typing import Any, Sequence

from seaboard._arrays import as_numpy


def stacked(pictures: Sequence[Any]) -> Any:
    """Several pictures of the same size as one array."""
    import numpy as np

    return np.stack([as_numpy(picture) for picture in pictures])


def of_figure(figure: Any, close: bool) -> Any:
    """The pixels (H, W, 3) of a figure, drawn without a screen."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    if close:
        import matplotlib.pyplot

        matplotlib.pyplot.close(figure)
    return pixels


def _bytes_of_pixels(picture: Any, dataformats: str) -> Any:
    """(H, W, C) with bytes as torch makes them: bytes stay, everything else is scaled by 255 and clipped."""
    import numpy as np

    array = as_numpy(picture)
    names = dataformats.upper()
    if len(set(names)) != len(names):
        raise AssertionError(f"You can not use the same dimension shordhand twice: dataformats={dataformats!r}")
    if array.ndim != len(names):
        raise AssertionError(
            f"size of tensor and dimension format are not the same: the shape {array.shape} has {array.ndim} "
            f"dimensions, dataformats={dataformats!r} names {len(names)}"
        )
    if "C" in names:
        array = array.transpose([names.index(axis) for axis in "HWC"])
    else:
        array = array.transpose([names.index(axis) for axis in "HW"])[:, :, None]
    if array.shape[2] == 1:
        array = array.repeat(3, axis=2)
    scale = 1 if array.dtype == np.uint8 else 255
    return (array.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def with_boxes(
    picture: Any, boxes: Any, rescale: float, dataformats: str, labels: Sequence[str] | None
) -> tuple[bytes, int, int]:
    """A PNG with red boxes and their labels, and the picture's own width and height."""
    import math

    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont

    pixels = _bytes_of_pixels(picture, dataformats)
    height, width = pixels.shape[:2]
    image = PIL.Image.fromarray(pixels)
    draw = PIL.ImageDraw.Draw(image)
    font = PIL.ImageFont.load_default()
    for index, (left, top, right, bottom) in enumerate(as_numpy(boxes)[:, :4].tolist()):
        outline = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(outline, width=2, fill="Red")
        if labels is None or not labels[index]:
            continue
        box = font.getbbox(labels[index])
        wide, high = box[2] - box[0], box[3] - box[1]
        margin = math.ceil(0.05 * high)
        draw.rectangle([(left, bottom - high - 2 * margin), (left + wide, bottom)], fill="Red")
        draw.text((left + margin, bottom - high - margin), labels[index], fill="black", font=font)
    size = (int(width * rescale), int(height * rescale))
    if size != image.size:
        image = image.resize(size, PIL.Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue(), width, height
