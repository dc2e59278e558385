"""What type checkers are told is what is there, and everything public has a docstring."""

import ast
import importlib
import inspect
import pathlib
import pkgutil

import seaboard
import seaboard._native as native

PACKAGE = pathlib.Path(seaboard.__file__).parent


def test_the_stub_of_the_extension_names_what_it_has():
    tree = ast.parse((PACKAGE / "_native.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            kind = getattr(native, node.name)
            told = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            assert all(hasattr(kind, name) for name in told), node.name
            have = {name for name in vars(kind) if not name.startswith("__")}
            assert have <= told, (node.name, have - told)
    told = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | {"__version__"}
    assert {name for name in dir(native) if not name.startswith("__")} <= told
    assert (PACKAGE / "py.typed").exists()


def test_public_names_have_docstrings_and_annotations():
    missing = []
    for module in pkgutil.walk_packages([str(PACKAGE)], "seaboard."):
        if "__main__" in module.name or module.name == "seaboard._native":
            continue
        loaded = importlib.import_module(module.name)
        assert loaded.__doc__, module.name
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        for name in getattr(loaded, "__all__", []):
            thing = getattr(loaded, name)
            if not inspect.isfunction(thing) or thing.__module__ != module.name:
                continue
            if not thing.__doc__ or "return" not in thing.__annotations__:
                missing.append(f"{module.name}.{name}")
    for name, method in vars(seaboard.SummaryWriter).items():
        if name.startswith("add_") and (not method.__doc__ or "return" not in method.__annotations__):
            missing.append(name)
    assert missing == []
    assert inspect.signature(native.Writer.add_scalar).parameters["global_step"].default is None
