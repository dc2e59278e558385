"""`make install`: a tree that other programs can be built against, with manual pages and completions.

The release build is installed once into an empty folder; every test looks at that copy only.
"""

import os
import pathlib
import re
import subprocess

import pytest
from command import BINARY, seaboard

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = "/opt/seaboard"


def run(*command, **options):
    """Runs a command that must succeed; what it printed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def install(what, destdir):
    return run(ROOT / "tools/install", what, PREFIX, destdir)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    destdir = tmp_path_factory.mktemp("installed")
    install("install", destdir)
    return destdir / PREFIX.lstrip("/")


@pytest.fixture(scope="module")
def commands():
    page = seaboard("help").stdout.decode()
    names = re.findall(r"^  (\w+) +\S", page, re.M)
    return [name for name in names if name not in ("version", "help")]


def options_of(command):
    return re.findall(r"^ {2,6}(?:-\w, )?(--\w+)", seaboard("help", command).stdout.decode(), re.M)


def pkg_config(tree, *args):
    return run("pkg-config", *args, "seaboard", env={**os.environ, "PKG_CONFIG_PATH": str(tree / "lib/pkgconfig")}).split()


# ---- programs ------------------------------------------------------------------------------------------------


def readme_example():
    """The C program of the README, as it stands there."""
    text = (ROOT / "README.md").read_text()
    return re.search(r"```c\n(#include <seaboard.*?)```", text, re.S)[1]


def check_example(program, folder, library_path=None):
    """Runs the README's example and looks at what it wrote."""
    environment = {**os.environ, **({"LD_LIBRARY_PATH": str(library_path)} if library_path else {})}
    run(program, cwd=folder, env=environment)
    rows = seaboard("export", folder / "runs").stdout.decode().splitlines()
    assert len(rows) == 1 + 1000
    assert rows[1].startswith("first,loss,0,")


FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def test_the_readmes_example_links_with_the_shared_library(tree, tmp_path):
    (tmp_path / "first.c").write_text(readme_example())
    run("cc", *FLAGS, "first.c", "-o", "first", *pkg_config(tree, "--cflags", "--libs"), cwd=tmp_path)
    needed = run("readelf", "-d", tmp_path / "first")
    assert "[libseaboard.so.0]" in needed
    # what the library itself needs is its own business
    assert "libpng" not in needed and "libz" not in needed
    check_example(tmp_path / "first", tmp_path, tree / "lib")


@pytest.mark.parametrize("compiler", ["cc", "g++"])
def test_the_readmes_example_links_with_the_static_library(tree, tmp_path, compiler):
    (tmp_path / "first.c").write_text(readme_example())
    flags = FLAGS if compiler == "cc" else []
    run("cc", *flags, "-c", "first.c", *pkg_config(tree, "--cflags"), cwd=tmp_path)
    # no linker plugin: the archive must be machine code
    link = [compiler, "-static", "-fno-use-linker-plugin", "first.o", "-o", "first"]
    run(*link, *pkg_config(tree, "--static", "--libs"), cwd=tmp_path)
    assert "NEEDED" not in run("readelf", "-d", tmp_path / "first")
    check_example(tmp_path / "first", tmp_path)


def test_the_archive_is_ordinary_code(tree):
    sections = run("readelf", "-SW", tree / "lib/libseaboard.a")
    assert "gnu.lto" not in sections and "gnu.debuglto" not in sections
    assert "sb_writer_open" in run("nm", "--defined-only", tree / "lib/libseaboard.a")


CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(first C)
find_package(seaboard 0.1 REQUIRED)
add_executable(shared first.c)
target_link_libraries(shared PRIVATE seaboard::seaboard)
add_executable(static first.c)
target_link_libraries(static PRIVATE seaboard::static)
"""


def test_the_readmes_example_builds_with_cmake(tree, tmp_path):
    (tmp_path / "first.c").write_text(readme_example())
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree}")
    run("cmake", "--build", tmp_path / "build")
    for kind in ("shared", "static"):
        folder = tmp_path / kind
        folder.mkdir()
        assert ("libseaboard.so.0" in run("readelf", "-d", tmp_path / "build" / kind)) == (kind == "shared")
        check_example(tmp_path / "build" / kind, folder)


OPTIONS_IN_CPP = """
#include <seaboard/seaboard.h>
int main() {
    sb_writer_opts opts = SB_INIT(sb_writer_opts);
    opts.logdir = "runs";
    return opts.size == sizeof opts && sb_version_number() == SB_VERSION_NUMBER ? 0 : 1;
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_headers_are_fit_for_cpp(tree, tmp_path, standard):
    (tmp_path / "first.cpp").write_text(OPTIONS_IN_CPP)
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run("g++", *flags, "first.cpp", "-o", "first", *pkg_config(tree, "--cflags", "--libs"), cwd=tmp_path)
    run(tmp_path / "first", env={**os.environ, "LD_LIBRARY_PATH": str(tree / "lib")})


def test_every_part_tells_the_same_version(tree):
    version = seaboard("--version").stdout.decode().split()[1]
    assert pkg_config(tree, "--modversion") == [version]
    assert f'"{version}"' in (tree / "lib/cmake/seaboard/seaboardConfigVersion.cmake").read_text()
    assert (tree / "lib" / f"libseaboard.so.{version}").is_file()
    assert run(tree / "bin/seaboard", "--version") == f"seaboard {version}\n"


def test_the_shared_library_is_versioned(tree):
    assert os.readlink(tree / "lib/libseaboard.so") == "libseaboard.so.0"
    assert os.readlink(tree / "lib/libseaboard.so.0").startswith("libseaboard.so.0.")
    assert "soname: [libseaboard.so.0]" in run("readelf", "-d", tree / "lib/libseaboard.so")


def test_only_public_headers_are_installed(tree):
    ours = {path.name for path in (ROOT / "include/seaboard").iterdir()}
    assert {path.relative_to(tree / "include").as_posix() for path in (tree / "include").rglob("*.h")} == {
        f"seaboard/{name}" for name in ours
    }


# ---- pages ---------------------------------------------------------------------------------------------------


def manual(tree, page):
    """The page as a reader sees it, found by man itself."""
    environment = {**os.environ, "MANWIDTH": "200", "LC_ALL": "C", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": ""}
    text = run("man", "--warnings", "-M", tree / "share/man", page, env=environment)
    return re.sub(r".\x08", "", text)


def test_every_command_has_a_manual_page(tree, commands):
    pages = {path.name for path in (tree / "share/man/man1").iterdir()}
    assert pages == {"seaboard.1"} | {f"seaboard-{name}.1" for name in commands}
    main = manual(tree, "seaboard")
    for name in commands:
        assert f"seaboard-{name}(1)" in main
        page = manual(tree, f"seaboard-{name}")
        assert f"seaboard-{name} - " in page
        for option in options_of(name):
            assert re.search(rf"^ +(-\w, )?{option}\b", page, re.M), (name, option)


def test_the_manual_pages_have_no_roff_errors(tree):
    for page in sorted((tree / "share/man/man1").iterdir()):
        done = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True, check=True)
        assert done.stderr == "", page.name


# ---- completions ---------------------------------------------------------------------------------------------


def complete_bash(tree, *words):
    script = tree / "share/bash-completion/completions/seaboard"
    quoted = " ".join(f"'{word}'" for word in words)
    program = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _seaboard; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return run("bash", "--norc", "-c", program).split()


def complete_fish(tree, *words):
    script = tree / "share/fish/vendor_completions.d/seaboard.fish"
    line = " ".join(words)
    lines = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'").splitlines()
    return [line.split("\t")[0] for line in lines]


def complete_zsh(tree, *words):
    """zsh's own functions are replaced: what they were called with is what they would propose."""
    script = tree / "share/zsh/site-functions/_seaboard"
    quoted = " ".join(f"'{word}'" for word in words)
    program = (
        "_arguments() { print -rl -- \"$@\"; }; compdef() { :; }; _describe() { print -rl -- ${(P)2%%:*}; };"
        f" source {script}; words=({quoted}); CURRENT={len(words)}; _seaboard"
    )
    return run("zsh", "-f", "-c", program).splitlines()


@pytest.mark.parametrize("complete", [complete_bash, complete_fish, complete_zsh])
def test_commands_are_completed(tree, commands, complete):
    assert set(complete(tree, "seaboard", "")) == {*commands, "version", "help"}


@pytest.mark.parametrize("complete", [complete_bash, complete_fish])
def test_options_and_their_values_are_completed(tree, commands, complete):
    for name in commands:
        assert set(complete(tree, "seaboard", name, "--")) == set(options_of(name)), name
    assert set(complete(tree, "seaboard", "serve", "--auth", "")) == {"token", "none"}
    assert set(complete(tree, "seaboard", "--reload_task", "b")) == {"blocking"}
    assert set(complete(tree, "seaboard", "export", "--format", "")) == {"csv", "json"}
    assert set(complete(tree, "seaboard", "completion", "")) == {"bash", "zsh", "fish"}
    assert set(complete(tree, "seaboard", "manual", "in")) == {"inspect"}
    assert {"ls", "verify"} <= set(complete(tree, "seaboard", "ckpt", ""))


def test_options_are_completed_in_zsh(tree, commands):
    for name in commands:
        specs = " ".join(complete_zsh(tree, "seaboard", name, "--"))
        for option in options_of(name):
            assert option in specs, (name, option)
    serve = complete_zsh(tree, "seaboard", "--auth", "")
    assert any(spec.startswith("--auth=") and spec.endswith(":MODE:(token none)") for spec in serve)
    assert any(spec.startswith("--logdir=") and spec.endswith(":DIR:_files -/") for spec in serve)


@pytest.mark.parametrize("complete", [complete_bash, complete_fish])
def test_paths_are_completed(tree, tmp_path, complete):
    (tmp_path / "some runs").mkdir()
    start = f"{tmp_path}/so"
    assert complete(tree, "seaboard", "--logdir", start)
    assert complete(tree, "seaboard", "inspect", start)
    assert complete(tree, "seaboard", "ckpt", "ls", start)
    assert not [word for word in complete(tree, "seaboard", "stop", start) if "runs" in word]


# ---- going again ---------------------------------------------------------------------------------------------


def test_uninstall_removes_what_install_made_and_nothing_else(tmp_path):
    install("install", tmp_path)
    base = tmp_path / PREFIX.lstrip("/")
    assert (base / "bin/seaboard").exists()
    foreign = base / "lib/libother.so"
    foreign.write_text("not ours")
    (base / "include/seaboard/mine.h").write_text("not ours either")
    install("uninstall", tmp_path)
    left = {path.relative_to(base).as_posix() for path in base.rglob("*") if not path.is_dir()}
    assert left == {"lib/libother.so", "include/seaboard/mine.h"}
    assert not (base / "lib/cmake/seaboard").exists()
    install("uninstall", tmp_path)  # a second time changes nothing
    assert foreign.read_text() == "not ours"


def test_make_passes_prefix_and_destdir_on():
    for what in ("install", "uninstall"):
        plan = run("make", "-n", what, "PREFIX=/usr/x y", "DESTDIR=/tmp/z", cwd=ROOT)
        assert f"tools/install {what} '/usr/x y' '/tmp/z'" in plan


def test_the_installed_command_is_the_built_one(tree):
    assert run(tree / "bin/seaboard", "help") == run(BINARY, "help")
