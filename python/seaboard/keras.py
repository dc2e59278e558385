"""The TensorBoard callback of Keras 3, for any backend: the same runs and tags, TensorFlow is not needed.

    from seaboard.keras import TensorBoard         instead of: from keras.callbacks import TensorBoard

Four things differ on purpose. With update_freq=N the metrics of an epoch and of an evaluation are always written; Keras
writes them only if the last batch happens to be a multiple of N. The graph of the training step is written, which newer
versions of Keras forget; and it is written once, also when fit() is called again with the same callback. With
embeddings_freq the run train gets a checkpoint and a configuration that the projector shows; the weights that Keras 3 saves
(.weights.h5) are there too, but no projector reads them.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

import keras

from seaboard import summary
from seaboard.summary._state import state

__all__ = ["TensorBoard"]

_log = logging.getLogger("seaboard")


class TensorBoard(keras.callbacks.Callback):
    """Logs training and validation for TensorBoard and Seaboard.

    log_dir: where the runs train and validation are made. histogram_freq: every how many epochs histograms of the
    weights are written; 0: never. write_graph: the model's graph. write_images: the weights as pictures, with the
    histograms. write_steps_per_second: how fast it goes. update_freq: "batch", "epoch", or every how many batches
    metrics are written. profile_batch: a batch, "first,last" or a pair of batches to be profiled; 0: none; harmless
    when training ends before. embeddings_freq: every how many epochs the weights are saved for the projector.
    embeddings_metadata: the file of labels of the Embedding layer, or a dictionary of layer names to files.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: str | int = "epoch",
        profile_batch: int | str | tuple[int, int] | list[int] = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: str | dict[str, str] | None = None,
    ):
        super().__init__()
        self.log_dir = str(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._first_batch, self._last_batch = _batches(profile_batch)
        self._train_batch = self._test_batch = 0
        self._writers: dict[str, summary.SummaryWriter] = {}
        self._pushed: list[tuple[Any, Any]] = []
        self._has_model = self._has_graph = self._has_embeddings = False
        self._profile: _Profile | None = None

    # ---- writers

    def _writer(self, run: str) -> summary.SummaryWriter:
        if run not in self._writers:
            self._writers[run] = summary.create_file_writer(os.path.join(self.log_dir, run))
        return self._writers[run]

    @property
    def _train_writer(self) -> summary.SummaryWriter:
        return self._writer("train")

    @property
    def _val_writer(self) -> summary.SummaryWriter:
        return self._writer("validation")

    def _push(self, writer: summary.SummaryWriter, step: int) -> None:
        """Makes a writer the default one, for metrics of batches and for summaries of the model's own."""
        if self.update_freq == "epoch":
            return
        every = int(self.update_freq)
        contexts = writer.as_default(step), summary.record_if(lambda: step % every == 0)
        for context in contexts:
            context.__enter__()
        self._pushed.append(contexts)

    def _pop(self) -> None:
        if self.update_freq != "epoch" and self._pushed:
            for context in reversed(self._pushed.pop()):
                context.__exit__(None, None, None)

    # ---- the model

    def set_model(self, model: Any) -> None:
        """Takes the model, and writes its graph."""
        self._model = model
        self._writers = {}
        if self.write_graph and not self._has_model:
            self._write_model()
        if self.embeddings_freq and not self._has_embeddings:
            self._write_projector_config()
            self._has_embeddings = True

    def _write_model(self) -> None:
        """The layers of the model, for the conceptual graph."""
        if type(self.model).__name__ not in ("Functional", "Sequential"):
            return
        try:
            text = self.model.to_json()
        except Exception as error:  # noqa: BLE001  a model that can't be told is no reason to end a training
            _log.warning("the model can't be written as JSON, so there is no conceptual graph: %s", error)
            return
        self._train_writer._native._keras_model("keras", text, 0)
        self._has_model = True
        _log.info("the model's graph takes %d bytes of the log", len(text))

    def _write_train_graph(self) -> None:
        """The operations of one training step, where TensorFlow has traced them."""
        step = _traced_function(self.model.train_function)
        concrete = getattr(step, "_concrete_stateful_fn", None) or getattr(step, "_concrete_variable_creation_fn", None)
        if concrete is None:
            return
        data = concrete.graph.as_graph_def(add_shapes=True).SerializeToString()
        self._train_writer._native._graph(data)
        _log.info("the graph of the train function takes %d bytes of the log", len(data))

    def _write_projector_config(self) -> None:
        from seaboard._proto.message import to_text
        from seaboard._proto.messages import ProjectorConfig

        labels = dict(self.embeddings_metadata) if isinstance(self.embeddings_metadata, dict) else None
        config = ProjectorConfig()
        for layer in self.model.layers:
            if isinstance(layer, keras.layers.Embedding):
                entry = config.embeddings.add(
                    tensor_name="layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
                )
                if isinstance(self.embeddings_metadata, str):
                    entry.metadata_path = self.embeddings_metadata
                elif labels and layer.name in labels:
                    entry.metadata_path = labels.pop(layer.name)
        if labels:
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `embeddings_metadata`: " + ", ".join(map(repr, labels))
            )
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write(to_text(config))

    # ---- training

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        self._train_batch = 0
        self._push(self._train_writer, 0)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        self._pop()
        if self._profile is not None:
            self._stop_profile()
        for writer in self._writers.values():
            writer.close()

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        self._train_batch += 1
        self._pop()
        self._push(self._train_writer, self._train_batch)
        self._batch_began = time.time()
        if self._first_batch and self._train_batch == self._first_batch:
            self._profile = _Profile(os.path.join(self.log_dir, "train"))

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        if self.write_graph and not self._has_graph:
            self._write_train_graph()
            self._has_graph = True
        if self.write_steps_per_second:
            seconds = max(time.time() - self._batch_began, 1e-9)
            summary.scalar("batch_steps_per_second", 1.0 / seconds, step=self._train_batch)
        if isinstance(logs, dict) and state.writer is not None:
            for name, value in logs.items():
                summary.scalar(f"batch_{name}", value, step=self._train_batch)
        if self._profile is not None and self._train_batch >= self._last_batch:
            self._stop_profile()

    def _stop_profile(self) -> None:
        profile, self._profile = self._profile, None
        with self._train_writer.as_default(), summary.record_if(True):
            profile.stop(self._last_batch)

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        self._push(self._val_writer, self._test_batch)

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        self._test_batch += 1
        self._pop()
        self._push(self._val_writer, self._test_batch)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        optimizer = self.model.optimizer
        if optimizer and hasattr(optimizer, "iterations"):
            step = int(keras.ops.convert_to_numpy(optimizer.iterations))
            with self._val_writer.as_default(), summary.record_if(True):
                for name, value in (logs or {}).items():
                    summary.scalar(f"evaluation_{name}_vs_iterations", value, step=step)
        self._pop()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        if self.write_steps_per_second:
            self._epoch_began = time.time()
            self._epoch_iterations = self._iterations()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keras calls this."""
        if logs:
            self._write_epoch(epoch, logs)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._save_embeddings(epoch)

    def _save_embeddings(self, epoch: int) -> None:
        """The weights as Keras 3 saves them, and the embeddings as a checkpoint that the projector reads, as Keras 2 did."""
        from seaboard import train
        from seaboard._proto.message import to_text
        from seaboard._proto.messages import ProjectorConfig

        folder = os.path.join(self.log_dir, "train")
        os.makedirs(folder, exist_ok=True)
        self.model.save_weights(os.path.join(folder, f"keras_embedding.ckpt-{epoch}.weights.h5"))
        layers = [layer for layer in self.model.layers if layer.weights]
        saved, config = train.Checkpoint(), ProjectorConfig()
        for place, layer in enumerate(layers):
            if not isinstance(layer, keras.layers.Embedding):
                continue
            setattr(saved, f"layer_with_weights-{place}", {"embeddings": layer.embeddings})
            entry = config.embeddings.add(tensor_name=f"layer_with_weights-{place}/embeddings/.ATTRIBUTES/VARIABLE_VALUE")
            labels = self.embeddings_metadata
            path = labels.get(layer.name) if isinstance(labels, dict) else labels
            if path:
                entry.metadata_path = path
        train.CheckpointManager(saved, folder, None, checkpoint_name="keras_embedding.ckpt").save(checkpoint_number=epoch)
        with open(os.path.join(folder, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
            file.write(to_text(config))

    def _iterations(self) -> float:
        return float(keras.ops.convert_to_numpy(self.model.optimizer.iterations))

    def _learning_rates(self) -> dict[str, float]:
        optimizer = self.model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # of LossScaleOptimizer
        if hasattr(optimizer, "optimizers"):
            return {f"learning_rate_{one.name}": _number(one.learning_rate) for one in optimizer.optimizers}
        if isinstance(optimizer, keras.optimizers.Optimizer):
            return {"learning_rate": _number(optimizer.learning_rate)}
        return {}

    def _write_epoch(self, epoch: int, logs: dict[str, Any]) -> None:
        training = {name: value for name, value in logs.items() if not name.startswith("val_")}
        validation = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
        training.update(self._learning_rates())
        if self.write_steps_per_second:
            seconds = max(time.time() - self._epoch_began, 1e-9)
            training["steps_per_second"] = (self._iterations() - self._epoch_iterations) / seconds
        for run, metrics in (("train", training), ("validation", validation)):
            if metrics:
                with self._writer(run).as_default(), summary.record_if(True):
                    for name, value in metrics.items():
                        summary.scalar(f"epoch_{name}", value, step=epoch)

    def _write_weights(self, epoch: int) -> None:
        with self._train_writer.as_default(), summary.record_if(True):
            for layer in self.model.layers:
                for weight in layer.weights:
                    name = weight.path.replace(":", "_")
                    values = keras.ops.convert_to_numpy(weight)
                    summary.histogram(f"{name}/histogram", values, step=epoch)
                    pixels = _weight_pixels(values) if self.write_images else None
                    if pixels is not None:
                        summary.image(f"{name}/image", pixels, step=epoch)


def _traced_function(function: Any) -> Any:
    """The tf.function of a training step; newer versions of Keras have a plain function around it."""
    around = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return next((one for one in [function, *around] if hasattr(one, "function_spec")), None)


def _number(value: Any) -> float:
    return float(keras.ops.convert_to_numpy(value))


def _weight_pixels(values: Any) -> Any:
    """A weight as pictures (k, height, width, channels), or None for those that have no picture."""
    values = values.squeeze()
    if values.ndim == 1:
        values = values.reshape(1, -1, 1, 1)
    elif values.ndim == 2:
        values = values.T if values.shape[0] > values.shape[1] else values
        values = values[None, :, :, None]
    elif values.ndim == 3:
        if keras.config.image_data_format() == "channels_last":
            values = values.transpose(2, 0, 1)
        values = values[..., None]
    return values if values.ndim == 4 and values.shape[-1] in (1, 3, 4) else None


def _batches(profile_batch: Any) -> tuple[int, int]:
    """The first and the last batch to be profiled; 0, 0: none."""
    given = profile_batch
    if isinstance(given, str):
        given = [int(part) for part in given.split(",")]
        given = given[0] if len(given) == 1 else given
    if isinstance(given, int):
        given = (given, given)
    if not isinstance(given, (tuple, list)) or len(given) != 2 or given[0] < 0 or given[1] < given[0]:
        raise ValueError(
            "profile_batch must be a non-negative integer or 2-tuple of positive integers. A pair of positive integers "
            f"signifies a range of batches to profile. Found: {profile_batch}"
        )
    return int(given[0]), int(given[1])


class _Profile:
    """A profile of some batches, by the profiler of the backend."""

    def __init__(self, folder: str):
        self._stop: Any = None
        backend = keras.config.backend()
        try:
            if backend == "tensorflow":
                import tensorflow

                summary.trace_on(graph=True, profiler=False)
                tensorflow.profiler.experimental.start(folder)
                self._stop = tensorflow.profiler.experimental.stop
            elif backend == "jax":
                import jax

                jax.profiler.start_trace(folder)
                self._stop = jax.profiler.stop_trace
            else:
                from seaboard._sampler import Sampler

                sampler = Sampler(folder)
                sampler.start()
                self._stop = sampler.stop
        except Exception as error:  # noqa: BLE001  no profile is no reason to end a training
            _log.error("the profiler could not be started: %s", error)
        self._has_graph = backend == "tensorflow"

    def stop(self, batch: int) -> None:
        if self._has_graph:
            summary.trace_export(f"batch_{batch}", step=batch)
        try:
            if self._stop is not None:
                self._stop()
        except Exception as error:  # noqa: BLE001
            _log.error("the profiler could not be stopped: %s", error)
