"""Tests of the Python package run against build/python, which the release build makes."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(os.environ.get("SEABOARD_PYTHON", ROOT / "build/python"))

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("SEABOARD_BIN", str(ROOT / "build/seaboard"))
# programs that tests start find the package too
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(PACKAGE))
# torch's compiler brings an LLVM that ends a process which has TensorFlow's already; nothing here compiles
sys.modules.setdefault("triton", None)
