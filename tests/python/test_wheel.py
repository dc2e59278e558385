"""The wheel that users install: made from the release build, tried in an environment with nothing else."""

import os
import pathlib
import re
import shutil
import subprocess
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_wheel_works_in_a_clean_environment_and_is_small():
    """tools/wheel installs what it made into an empty environment, logs, reads, and starts the command there."""
    subprocess.run([ROOT / "tools/setup", "wheel"], check=True, stderr=subprocess.DEVNULL)
    said = subprocess.run([ROOT / "tools/setup", "wheel-path"], check=True, capture_output=True, text=True)
    made = subprocess.run([said.stdout.strip() + "/bin/python", ROOT / "tools/wheel"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    name, size = re.search(r"build/wheels/(\S+\.whl) \(([\d.]+) MB\)", made.stdout).groups()
    assert "-cp311-abi3-manylinux" in name
    assert float(size) <= 10


def test_pip_install_builds_from_source_in_a_fresh_environment(tmp_path):
    """`pip install .` with what pip would download at hand already; without the optimiser and the web app, which the wheel has."""
    subprocess.run([ROOT / "tools/setup", "wheel"], check=True, stderr=subprocess.DEVNULL)
    said = subprocess.run([ROOT / "tools/setup", "wheel-path"], check=True, capture_output=True, text=True)
    (tools,) = pathlib.Path(said.stdout.strip()).glob("lib/python*/site-packages")
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "tools.pth").write_text(f"{tools}\n")
    settings = {"build-dir": tmp_path / "build", "cmake.define.CMAKE_C_FLAGS_RELEASE": "-O0",
                "cmake.define.CMAKE_INTERPROCEDURAL_OPTIMIZATION": "OFF", "cmake.define.SB_HARDEN": "OFF", "cmake.define.SB_UI": "OFF"}
    quick = ["--no-index", "--no-deps", "--no-build-isolation", *(f"-C{name}={value}" for name, value in settings.items())]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if shutil.which("ccache"):
        environment["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
    done = subprocess.run([home / "bin/pip", "install", "--quiet", *quick, ROOT], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    program = "import seaboard; w = seaboard.SummaryWriter('runs'); w.add_scalar('a', 1.0, 1); w.close(); print(len(seaboard.read('runs')))"
    isolated = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run([home / "bin/python", "-c", program], cwd=tmp_path, env=isolated, capture_output=True, text=True, check=True)
    assert ran.stdout == "1\n"
    shown = subprocess.run([home / "bin/seaboard", "--version"], env=isolated, capture_output=True, text=True, check=True)
    assert re.search(r"\d+\.\d+\.\d+", shown.stdout)


# what CMake asks for: its name in conda-forge and in the guide's line for Homebrew
LIBRARIES = {"ZLIB": ("zlib", "zlib"), "GIF": ("giflib", "giflib"), "PNG": ("libpng", "libpng"), "JPEG": ("libjpeg-turbo", "jpeg-turbo"),
             "libwebp": ("libwebp-base", "webp"), "libdeflate": ("libdeflate", "libdeflate"), "libmicrohttpd": ("libmicrohttpd", "libmicrohttpd"),
             "libzstd": ("zstd", "zstd"), "jansson": ("jansson", "jansson"), "md4c": ("md4c", "md4c"), "sqlite3": ("libsqlite", "sqlite"),
             "kissfft-float": ("kissfft", "KISSFFT_DATATYPE"), "libpcre2-8": ("pcre2", "pcre2")}


def test_the_conda_recipe_and_the_guides_name_every_library_that_is_needed():
    text = (ROOT / "CMakeLists.txt").read_text()
    asked = re.findall(r"^find_package\((\w+) REQUIRED", text, re.M) + re.findall(r"^pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", text, re.M)
    assert set(asked) - {"Threads", "PkgConfig"} == set(LIBRARIES)
    recipe = (ROOT / "python/conda/meta.yaml").read_text()
    guides = [(ROOT / "docs/guide" / name).read_text() for name in ("python.md", "python.zh.md")]
    for conda, brew in LIBRARIES.values():
        assert f"    - {conda}\n" in recipe, conda
        assert all(re.search(rf"(brew install .*\b{brew}\b)|{brew}=", guide) for guide in guides), brew


def test_a_build_that_lacks_packages_ends_with_what_to_do():
    """tools/setup says the one command (tests/checks/setup_test.py); pip's user is pointed to it, and nothing is compiled."""
    said = subprocess.run([ROOT / "tools/setup", "wheel-path"], check=True, capture_output=True, text=True)
    program = (
        "import sys, types; sys.path.insert(0, 'python/build_backend'); import backend\n"
        "backend.subprocess.run = lambda *given, **more: types.SimpleNamespace(returncode=1)\n"
        "backend.build_wheel('nowhere')"
    )
    done = subprocess.run([said.stdout.strip() + "/bin/python", "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "the lines above say what is missing and how to install it" in done.stderr
