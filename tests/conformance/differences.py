"""Where seaboard deliberately answers otherwise than TensorBoard, with the answer it must give and the reason.

DATA: (directory, pattern of keys, check, reason). A pattern is a tuple with None for anything; its length may be shorter
than the key's. check(ours, theirs) says whether our answer is the right one, theirs being a dict of both loaders'
answers (MISSING where there is none). An entry that no longer makes a difference fails the test: it must go.
"""

MISSING = "(absent)"


def _points(value):
    """Steps of points in any of the forms that routes give them."""
    if isinstance(value, dict):
        return _points(value["tag_to_events"]["a"])
    if isinstance(value, tuple):  # CSV
        return [int(line.split(b",")[1]) for line in value[2].split(b"\r\n")[1:-1]]
    return [point["step"] if isinstance(point, dict) else point[1] for point in value]


def _all_but_14(ours, theirs):
    # record 14 of 30 is the one with the damaged payload
    return _points(ours) == [step for step in range(30) if step != 14]


def _says_400(ours, theirs):
    return ours == 400 and set(theirs.values()) == {500}


def _enabled_too(ours, theirs):
    return all({**value, "enabled": True} == ours and not value["enabled"] for value in theirs.values())


DAMAGED = (
    "One record has a damaged payload. TensorBoard's slow loader never gets past it, its fast one takes the damaged bytes "
    "for true and shows a point in the year 10^78. We leave out that record, keep all others, and say so."
)
NO_SESSION = "No session of a group has the metric. TensorBoard falls over (500); we say what is wrong (400)."
PROJECTOR = "TensorBoard's projector knows --logdir only; ours shows the embeddings of every directory that is served."

DATA = [
    ("tf", ("scalars", "points", "awkward/bitflip"), _all_but_14, DAMAGED),
    ("tf", ("scalars", "csv", "awkward/bitflip"), _all_but_14, DAMAGED),
    ("tf", ("scalars", "multirun", "awkward/bitflip"), _all_but_14, DAMAGED),
    ("tf", ("timeseries", "scalars", "awkward/bitflip"), _all_but_14, DAMAGED),
    ("tf", ("custom_scalars", "scalars", "awkward/bitflip", ".*"), _all_but_14, DAMAGED),
    ("tf", ("custom_scalars", "scalars", "awkward/bitflip", "^a$"), _all_but_14, DAMAGED),
    ("tf", ("hparams", "aggregated", "AGGREGATION_MAX", '{"group": "validation", "tag": "loss"}'), _says_400, NO_SESSION),
    ("tf", ("hparams", "aggregated", "AGGREGATION_MIN", '{"group": "validation", "tag": "loss"}'), _says_400, NO_SESSION),
    ("tf", ("hparams", "aggregated", "AGGREGATION_MEDIAN", '{"group": "validation", "tag": "loss"}'), _says_400, NO_SESSION),
    ("sessions", ("hparams", "aggregated", "AGGREGATION_MAX", '{"group": "", "tag": "accuracy"}'), _says_400, NO_SESSION),
    ("sessions", ("hparams", "aggregated", "AGGREGATION_MIN", '{"group": "", "tag": "accuracy"}'), _says_400, NO_SESSION),
    ("sessions", ("hparams", "aggregated", "AGGREGATION_MEDIAN", '{"group": "", "tag": "accuracy"}'), _says_400, NO_SESSION),
    ("spec", ("core", "plugins_listing", "projector"), _enabled_too, PROJECTOR),
]


def entry_for(directory, key):
    """The index in DATA of the entry for a key, or None."""
    for i, (where, pattern, _, _) in enumerate(DATA):
        fits = len(pattern) <= len(key) and all(p is None or p == k for p, k in zip(pattern, key))
        if where == directory and fits:
            return i
    return None
