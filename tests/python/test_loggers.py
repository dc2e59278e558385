"""seaboard.lightning and seaboard.transformers beside the loggers of these frameworks: the same calls, the same files."""

import argparse
import pickle
import types

import pytest
from peers import assert_same

import seaboard.lightning
import seaboard.transformers

torch = pytest.importorskip("torch")


# ---- Lightning


def lightning():
    return pytest.importorskip("pytorch_lightning")


def loggers(tmp_path, **options):
    lightning()
    from pytorch_lightning.loggers import TensorBoardLogger

    made = {"ours": seaboard.lightning.TensorBoardLogger, "theirs": TensorBoardLogger}
    return {name: kind(str(tmp_path / name), **options) for name, kind in made.items()}


def test_a_training_of_lightning_logs_the_same(tmp_path):
    pl = lightning()

    class Model(pl.LightningModule):
        example_input_array = torch.ones(1, 4)

        def __init__(self, width=2, name="net"):
            super().__init__()
            self.save_hyperparameters()
            self.layer = torch.nn.Linear(4, width)

        def forward(self, x):
            return self.layer(x)

        def training_step(self, batch, index):
            loss = self(batch).square().mean()
            self.log("loss", loss)
            self.logger.experiment.add_text("note", "hello", self.global_step)
            return loss

        def validation_step(self, batch, index):
            self.log("val", self(batch).mean(), prog_bar=False)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    for name, logger in loggers(tmp_path, log_graph=True, name="trial").items():
        pl.seed_everything(1)
        loader = torch.utils.data.DataLoader(torch.randn(16, 4), batch_size=4)
        quiet = {"enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
        trainer = pl.Trainer(max_epochs=2, logger=logger, accelerator="cpu", log_every_n_steps=1, **quiet)
        trainer.fit(Model(), loader, loader)
        assert logger.log_dir == str(tmp_path / name / "trial/version_0") == trainer.log_dir
    assert_same(tmp_path / "ours", tmp_path / "theirs")
    ours, theirs = (tmp_path / name / "trial/version_0/hparams.yaml" for name in ("ours", "theirs"))
    assert ours.read_text() == theirs.read_text()


def test_every_method_of_the_logger(tmp_path):
    for logger in loggers(tmp_path, name="", version="first", prefix="p", sub_dir="s").values():
        logger.log_metrics({"a": 1, "b": torch.tensor(2.5), "many": {"x": 1.0, "y": 2.0}}, step=3)
        logger.log_hyperparams({"lr": 0.1, "deep": {"on": True, "shape": [1, 2]}, "none": None}, {"acc": 0.5})
        logger.log_hyperparams(argparse.Namespace(seed=7))
        with pytest.raises(ValueError, match="not supported"):
            logger.log_metrics({"bad": "text"})
        logger.save()
        logger.finalize("success")
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_versions_follow_each_other_and_loggers_travel_to_other_processes(tmp_path):
    for expected in (0, 1):
        logger = seaboard.lightning.SeaboardLogger(tmp_path, name="trial")
        assert logger.version == expected and logger.save_dir == str(tmp_path)
        logger.log_metrics({"a": 1.0}, 0)
        assert pickle.loads(pickle.dumps(logger)).log_dir == logger.log_dir
        logger.finalize("failed")


def test_it_is_a_logger_of_the_framework(tmp_path):
    pl = lightning()
    from pytorch_lightning.loggers import Logger

    assert issubclass(seaboard.lightning.TensorBoardLogger, Logger)
    assert pl.Trainer(logger=seaboard.lightning.TensorBoardLogger(tmp_path), accelerator="cpu").logger is not None


def test_other_processes_than_the_first_write_nothing(tmp_path, monkeypatch):
    rank_zero = pytest.importorskip("lightning_utilities.core.rank_zero")
    monkeypatch.setattr(rank_zero.rank_zero_only, "rank", 1, raising=False)
    logger = seaboard.lightning.TensorBoardLogger(tmp_path)
    logger.log_metrics({"a": 1.0}, 0)
    logger.log_hyperparams({"a": 1})
    logger.experiment.add_scalar("a", 1.0, 0)
    logger.finalize("success")
    assert list(tmp_path.iterdir()) == []


# ---- transformers


def drive(callback, output):
    """What a Trainer calls, in its order."""
    args = types.SimpleNamespace(output_dir=str(output), to_json_string=lambda: '{"lr": 0.1}')
    state = types.SimpleNamespace(is_world_process_zero=True, is_hyper_param_search=False, trial_name=None, global_step=0)
    model = types.SimpleNamespace(config=types.SimpleNamespace(to_json_string=lambda: "{}"))
    callback.on_train_begin(args, state, None, model=model)
    for state.global_step in (5, 10):
        callback.on_log(args, state, None, logs={"loss": 0.5, "epoch": 1, "eval_acc": 0.25, "test_x": 1, "note": "text", "odd": [1]})
    callback.on_train_end(args, state, None)
    state.is_world_process_zero = False
    callback.on_log(args, state, None, logs={"loss": 1.0})


def test_the_callback_of_transformers_logs_the_same(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    from transformers import TrainerCallback
    from transformers.integrations import TensorBoardCallback

    assert issubclass(seaboard.transformers.TensorBoardCallback, TrainerCallback)
    kinds = {"ours": seaboard.transformers.TensorBoardCallback, "theirs": TensorBoardCallback}
    for name, kind in kinds.items():
        monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / name))
        drive(kind(), tmp_path / "output")
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_the_callback_logs_below_the_output_directory(tmp_path):
    drive(seaboard.transformers.SeaboardCallback(), tmp_path)
    (run,) = (tmp_path / "runs").iterdir()
    assert len(list(run.glob("*tfevents*"))) == 1
