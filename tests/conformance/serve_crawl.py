"""Everything a server says about its data: every data route, for every run and tag that it names.

The answer is a dict from a key, (plugin, what, run, tag, ...), to a value that can be compared: JSON parsed, HTML as a
tree, protobuf text as a message, blobs as bytes with their content type. Blob keys differ between loaders, so what they
lead to stands in their place.
"""

import html.parser
import json
import re

from google.protobuf import text_format
from tensorboard.compat.proto import config_pb2, graph_pb2

STATUSES = ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]
REGEXES = [".*", "lo", "^a$", "loss|acc", "(", "", "[a-z]+/.*x", r"\w+\d"]


# ---- HTML -----------------------------------------------------------------------------------------------------------


class _Tree(html.parser.HTMLParser):
    VOID = {"br", "hr", "img"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = ("root", (), [])
        self.open = [self.root]

    def handle_starttag(self, tag, attributes):
        node = (tag, tuple(sorted(attributes)), [])
        self.open[-1][2].append(node)
        if tag not in self.VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        if tag not in self.VOID and len(self.open) > 1:
            self.open.pop()

    def handle_data(self, data):
        if any(node[0] == "pre" for node in self.open):
            self.open[-1][2].append(data)
            return
        text = re.sub(r"\s+", " ", data)
        if text.strip():
            self.open[-1][2].append(text.strip())


def tree(text):
    """Nested (tag, attributes, children) of a piece of HTML; blanks between elements do not count."""
    parser = _Tree()
    parser.feed(text)
    parser.close()

    def freeze(node):
        return node if isinstance(node, str) else (node[0], node[1], tuple(freeze(child) for child in node[2]))

    return freeze(parser.root)


def described(info):
    return {**info, "description": tree(info["description"])}


# ---- values ---------------------------------------------------------------------------------------------------------


def blob(answer):
    return (answer.status, answer.type(), answer.body)


def message(answer, kind):
    """Protobuf text, as the bytes of the message it stands for."""
    if answer.status != 200:
        return (answer.status, answer.body)
    parsed = text_format.Parse(answer.body.decode(), kind())
    return (answer.type(), parsed.SerializeToString(deterministic=True))


class Crawler:
    def __init__(self, peer):
        self.peer = peer
        self.found = {}

    def put(self, *key_and_value):
        self.found[key_and_value[:-1]] = key_and_value[-1]

    def plugin(self, path, query=None, **more):
        return self.peer.ask("/data/plugin/" + path, query, **more)

    def ok(self, path, query=None, **more):
        answer = self.plugin(path, query, **more)
        assert answer.status == 200, (self.peer.name, path, query, answer.status, answer.body[:300])
        assert answer.type() == "application/json", (path, answer.type())
        return json.loads(answer.body)

    def data(self, path, query=None, **more):
        """The answer, or its status when it is none: TensorBoard fails on some data."""
        answer = self.plugin(path, query, **more)
        return json.loads(answer.body) if answer.status == 200 else answer.status

    # ---- plugins ----------------------------------------------------------------------------------------------------

    def core(self):
        self.put("core", "runs", self.peer.json("/data/runs"))
        environment = self.peer.json("/data/environment")
        for key in ("data_location", "window_title", "experiment_name", "experiment_description", "creation_time"):
            self.put("core", "environment", key, environment[key])
        for name in ("logdir", "window_properties", "experiments", "experiment_runs"):
            self.put("core", name, self.peer.json("/data/" + name))
        # TensorBoard looks for projector files after it was asked for the first time, beside everything else
        self.peer.json("/data/plugins_listing")

    def listing(self):
        for name, about in self.peer.json("/data/plugins_listing").items():
            self.put("core", "plugins_listing", name, about)

    def scalars(self):
        tags = self.ok("scalars/tags")
        self.put("scalars", "runs", sorted(tags))
        for run, infos in tags.items():
            for tag, info in infos.items():
                where = {"run": run, "tag": tag}
                self.put("scalars", "tag", run, tag, described(info))
                self.put("scalars", "points", run, tag, self.data("scalars/scalars", where))
                csv = self.plugin("scalars/scalars", {**where, "format": "csv"})
                self.put("scalars", "csv", run, tag, blob(csv))
        names = sorted({tag for infos in tags.values() for tag in infos})
        for tag in names:
            runs = sorted(tags)
            boundary = "xyzzy"
            fields = [("tag", tag)] + [("runs", run) for run in runs]
            body = "".join(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                for name, value in fields
            )
            headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
            found = self.data(
                "scalars/scalars_multirun",
                method="POST",
                body=(body + f"--{boundary}--\r\n").encode(),
                headers=headers,
            )
            for run, points in found.items():
                self.put("scalars", "multirun", run, tag, points)

    def image_bytes(self, points):
        return [
            (p["step"], p["wallTime"], blob(self.plugin("timeseries/imageData", {"imageId": p["imageId"]})))
            for p in points
        ]

    def timeseries(self):
        tags = self.ok("timeseries/tags")
        for plugin in ("scalars", "histograms"):
            info = tags[plugin]
            self.put("timeseries", "run_tags", plugin, info["runTagInfo"])
            self.put("timeseries", "descriptions", plugin, {t: tree(h) for t, h in info["tagDescriptions"].items()})
        images = tags["images"]
        self.put("timeseries", "descriptions", "images", {t: tree(h) for t, h in images["tagDescriptions"].items()})
        self.put("timeseries", "samples", images["tagRunSampledInfo"])
        for tag in sorted({t for ts in tags["scalars"]["runTagInfo"].values() for t in ts}):
            asked = json.dumps([{"plugin": "scalars", "tag": tag}])
            (answer,) = self.data("timeseries/timeSeries", {"requests": asked})
            for run, points in answer.pop("runToSeries").items():
                self.put("timeseries", "scalars", run, tag, points)
            self.put("timeseries", "scalars", tag, answer)
        for run, names in tags["histograms"]["runTagInfo"].items():
            for tag in names:
                asked = json.dumps([{"plugin": "histograms", "tag": tag, "run": run}])
                self.put("timeseries", "histograms", run, tag, self.data("timeseries/timeSeries", {"requests": asked}))
        for tag, runs in images["tagRunSampledInfo"].items():
            for run, info in runs.items():
                for sample in range(info["maxSamplesPerStep"]):
                    asked = json.dumps([{"plugin": "images", "tag": tag, "run": run, "sample": sample}])
                    (answer,) = self.data("timeseries/timeSeries", {"requests": asked})
                    series = {name: self.image_bytes(points) for name, points in answer.pop("runToSeries").items()}
                    self.put("timeseries", "images", run, tag, sample, (answer, series))

    def media(self, plugin, listing, single):
        for run, infos in self.ok(f"{plugin}/tags").items():
            for tag, info in infos.items():
                self.put(plugin, "tag", run, tag, described(info))
                for sample in range(info["samples"]):
                    steps = self.data(f"{plugin}/{listing}", {"run": run, "tag": tag, "sample": sample})
                    if isinstance(steps, list):
                        for step in steps:
                            answer = self.peer.ask(f"/data/plugin/{plugin}/{single}?" + step.pop("query"))
                            step["bytes"] = blob(answer)
                    self.put(plugin, "steps", run, tag, sample, steps)

    def text(self):
        for run, tags in self.ok("text/tags").items():
            self.put("text", "tags", run, sorted(tags))
            for tag in tags:
                for markdown in ("true", "false"):
                    found = self.data("text/text", {"run": run, "tag": tag, "markdown": markdown})
                    if isinstance(found, list):
                        found = [{**point, "text": tree(point["text"])} for point in found]
                    self.put("text", "texts", markdown, run, tag, found)

    def histograms(self):
        for plugin in ("histograms", "distributions"):
            for run, infos in self.ok(f"{plugin}/tags").items():
                for tag, info in infos.items():
                    self.put(plugin, "tag", run, tag, described(info))
                    self.put(plugin, "points", run, tag, self.data(f"{plugin}/{plugin}", {"run": run, "tag": tag}))

    def graphs(self):
        info = self.ok("graphs/info")
        self.put("graphs", "info", info)
        for run, about in info.items():
            if about["run_graph"]:
                answer = self.plugin("graphs/graph", {"run": run})
                self.put("graphs", "run_graph", run, message(answer, graph_pb2.GraphDef))
                limited = {"run": run, "limit_attr_size": 64, "large_attrs_key": "_too_large"}
                answer = self.plugin("graphs/graph", limited)
                self.put("graphs", "limited", run, self.sorted_lists(answer))
            for tag, has in about["tags"].items():
                where = {"run": run, "tag": tag}
                if has["op_graph"]:
                    answer = self.plugin("graphs/graph", where)
                    self.put("graphs", "op_graph", run, tag, message(answer, graph_pb2.GraphDef))
                if has["conceptual_graph"]:
                    answer = self.plugin("graphs/graph", {**where, "conceptual": "true"})
                    self.put("graphs", "conceptual", run, tag, message(answer, graph_pb2.GraphDef))
                if has["profile"]:
                    answer = self.plugin("graphs/run_metadata", where)
                    self.put("graphs", "run_metadata", run, tag, message(answer, config_pb2.RunMetadata))

    @staticmethod
    def sorted_lists(answer):
        """TensorBoard lists the attributes that it left out in the order of a hash table."""
        graph = text_format.Parse(answer.body.decode(), graph_pb2.GraphDef())
        for node in graph.node:
            if "_too_large" in node.attr:
                names = node.attr["_too_large"].list.s
                names[:] = sorted(names)
        return graph.SerializeToString(deterministic=True)

    def pr_curves(self):
        for run, infos in self.ok("pr_curves/tags").items():
            for tag, info in infos.items():
                self.put("pr_curves", "tag", run, tag, described(info))
                self.put("pr_curves", "curves", run, tag, self.data("pr_curves/pr_curves", {"run": run, "tag": tag}))

    def mesh(self):
        for run, infos in self.ok("mesh/tags").items():
            self.put("mesh", "tags", run, infos)
            for tag, info in infos.items():
                meshes = self.data("mesh/meshes", {"run": run, "tag": tag})
                # of one step the parts come in the order of a dictionary
                self.put("mesh", "meshes", run, tag, sorted(meshes, key=lambda m: (m["step"], m["content_type"])))
                for step in sorted({m["step"] for m in meshes}):
                    for part in ("VERTEX", "FACE", "COLOR"):
                        for sample in range(info["samples"]):
                            where = {"run": run, "tag": tag, "content_type": part, "sample": sample, "step": step}
                            self.put("mesh", "data", run, tag, step, part, sample, blob(self.plugin("mesh/data", where)))

    def custom_scalars(self):
        self.put("custom_scalars", "layout", self.ok("custom_scalars/layout"))
        for run in self.peer.json("/data/runs"):
            for regex in REGEXES:
                found = self.data("custom_scalars/scalars", {"run": run, "tag": regex})
                self.put("custom_scalars", "scalars", run, regex, found)

    # ---- hparams ----------------------------------------------------------------------------------------------------

    def experiment(self, **request):
        found = self.ok("hparams/experiment", {"request": json.dumps(request)})
        for info in found["hparamInfos"]:
            if "domainDiscrete" in info:  # a set, in any order
                info["domainDiscrete"].sort(key=repr)
        return found

    def groups(self, **request):
        """The groups with their metrics in an order of their own."""
        found = self.data("hparams/session_groups", {"request": json.dumps(request)})
        if isinstance(found, dict):
            for group in found["sessionGroups"]:
                for part in (group, *group["sessions"]):
                    part["metricValues"].sort(key=lambda value: (value["name"]["tag"], value["name"]["group"]))
        return found

    def hparams(self):
        whole = self.experiment()
        self.put("hparams", "experiment", whole)
        self.put("hparams", "experiment", "no metrics", self.experiment(includeMetrics=False))
        self.put("hparams", "experiment", "limit", self.experiment(hparams_limit=2))
        base = {"allowedStatuses": STATUSES, "sliceSize": 1000}
        groups = self.groups(**base)
        self.put("hparams", "groups", groups)
        self.put("hparams", "groups", "no metrics", self.groups(**base, includeMetrics=False))
        self.put("hparams", "groups", "slice", self.groups(**{**base, "startIndex": 1, "sliceSize": 2}))
        self.put("hparams", "groups", "none allowed", self.groups(sliceSize=10))
        self.put("hparams", "groups", "success", self.groups(**{**base, "allowedStatuses": [1]}))
        self.ask_columns(whole, base)
        for group in groups["sessionGroups"]:
            for session in group["sessions"]:
                for metric in whole["metricInfos"]:
                    asked = {"sessionName": session["name"], "metricName": metric["name"]}
                    found = self.data("hparams/metric_evals", {"request": json.dumps(asked)})
                    self.put("hparams", "evals", session["name"], json.dumps(metric["name"], sort_keys=True), found)
        self.downloads(whole, base)

    def ask_columns(self, whole, base):
        for order in ("ORDER_ASC", "ORDER_DESC"):
            for first in (False, True):
                columns = [{"hparam": h["name"]} for h in whole["hparamInfos"]]
                columns += [{"metric": m["name"]} for m in whole["metricInfos"]]
                for column in columns:
                    asked = {**column, "order": order, "missingValuesFirst": first}
                    key = ("sorted", json.dumps(asked, sort_keys=True))
                    self.put("hparams", *key, self.groups(**base, colParams=[asked]))
        for info in whole["hparamInfos"]:
            name = info["name"]
            filters = [{"filterDiscrete": info["domainDiscrete"][:1]}] if "domainDiscrete" in info else []
            if info["type"] == "DATA_TYPE_STRING":
                filters.append({"filterRegexp": "a"})
            if "domainInterval" in info:
                filters.append({"filterInterval": {"minValue": -1e9, "maxValue": info["domainInterval"]["minValue"]}})
            filters.append({"filterRegexp": "x"})  # does not fit numbers
            filters.append({"includeInResult": True})
            filters.append({"includeInResult": False})
            for one in filters:
                asked = {"hparam": name, "excludeMissingValues": True, **one}
                self.put("hparams", "filtered", json.dumps(asked, sort_keys=True), self.groups(**base, colParams=[asked]))
        for metric in whole["metricInfos"]:
            for how in ("AGGREGATION_AVG", "AGGREGATION_MEDIAN", "AGGREGATION_MIN", "AGGREGATION_MAX"):
                found = self.groups(**base, aggregationType=how, aggregationMetric=metric["name"])
                self.put("hparams", "aggregated", how, json.dumps(metric["name"], sort_keys=True), found)

    def downloads(self, whole, base):
        width = len(whole["hparamInfos"]) + len(whole["metricInfos"])
        for visible in ([True] * width, [i % 2 == 0 for i in range(width)], [True]):
            for form in ("csv", "json", "latex", "zz"):
                query = {"format": form, "columnsVisibility": json.dumps(visible), "request": json.dumps(base)}
                answer = self.plugin("hparams/download_data", query)
                value = blob(answer) if answer.status == 200 else answer.status
                if form == "json":
                    value = json.loads(answer.body)
                self.put("hparams", "download", form, json.dumps(visible), value)

    def debugger(self):
        self.put("debugger-v2", "runs", self.ok("debugger-v2/runs"))

    def all(self):
        for part in (
            self.core,
            self.scalars,
            self.timeseries,
            lambda: self.media("images", "images", "individualImage"),
            lambda: self.media("audio", "audio", "individualAudio"),
            self.text,
            self.histograms,
            self.graphs,
            self.pr_curves,
            self.mesh,
            self.custom_scalars,
            self.hparams,
            self.debugger,
            self.listing,
        ):
            part()
        return self.found


def crawl(peer):
    return Crawler(peer).all()
