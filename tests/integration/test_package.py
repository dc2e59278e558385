"""`make package`: the .deb and the tar file run by themselves, on what their lists of needs say."""

import os
import pathlib
import re
import subprocess

import pytest
from command import FIXTURES
from serve_driver import Seaboard

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_LIBRARY = re.compile(r"^(libc|libm|libpthread|libdl|librt|libresolv|ld-linux.*|linux-vdso)\.so")


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages():
    """The paths of what was made: [.deb, .tar.gz]."""
    paths = [ROOT / line for line in run(ROOT / "tools/package").split()]
    assert sorted(path.suffix for path in paths) == [".deb", ".gz"]
    return sorted(paths, key=lambda path: path.suffix)


@pytest.fixture(scope="module")
def deb(packages, tmp_path_factory):
    root = tmp_path_factory.mktemp("deb")
    run("dpkg-deb", "-x", packages[0], root)
    return root


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    root = tmp_path_factory.mktemp("tar")
    run("tar", "-xzf", packages[1], "-C", root)
    (folder,) = root.iterdir()
    return folder


def check_serving(program):
    """Starts the packaged command over a log of ours, asks for page and data, and stops it."""
    version = run(ROOT / "build/seaboard", "--version")
    assert run(program, "--version") == version
    server = Seaboard(FIXTURES / "torch_writer")
    server.command[0] = str(program)
    with server:
        server.loaded()
        assert server.json("/data/runs")
        page = server.get("/")
        assert page.status == 200 and b"<script" in page.body


def test_the_deb_runs(deb):
    check_serving(deb / "usr/bin/seaboard")


def test_the_tar_file_runs(unpacked):
    check_serving(unpacked / "bin/seaboard")


def test_the_debs_needs_are_runtime_packages_that_hold_every_library(packages, deb):
    depends = run("dpkg-deb", "-f", packages[0], "Depends")
    named = {re.match(r"\s*(\S+)", part)[1] for part in re.split(r"[,|]", depends)}
    assert not [name for name in named if name.endswith("-dev")]
    programs = (deb / "usr/bin/seaboard", deb / "usr/lib/libseaboard.so.0")
    needed = {name for program in programs for name in re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", program))}
    holders = {}
    for line in run("dpkg-query", "-S", *(f"*/{name}" for name in needed)).splitlines():
        package, path = line.split(": ", 1)
        holders.setdefault(pathlib.Path(path).name, set()).add(package.split(":")[0])
    assert len(needed) > 5
    for library in needed:
        assert named & holders[library], (library, depends)


def test_the_deb_has_the_fields_that_dpkg_wants(packages, deb):
    fields = run("dpkg-deb", "-f", packages[0])
    version = run(ROOT / "build/seaboard", "--version").split()[1]
    for field in ("Package: seaboard", f"Version: {version}", "Maintainer: ", "Description: "):
        assert field in fields
    owners = {line.split()[1] for line in run("dpkg-deb", "-c", packages[0]).splitlines()}
    assert owners == {"root/root"}
    run("md5sum", "--check", "--quiet", "-", cwd=deb, input=run("dpkg-deb", "-I", packages[0], "md5sums"))
    for path in ("usr/share/man/man1/seaboard.1.gz", "usr/share/doc/seaboard/copyright", "usr/lib/pkgconfig/seaboard.pc"):
        assert (deb / path).exists()


def test_the_tar_file_carries_every_library_but_the_c_library(unpacked):
    """ldd as the loader of a machine without these libraries would see it: all come from the unpacked folder."""
    lines = run("ldd", unpacked / "bin/seaboard", env={**os.environ, "LC_ALL": "C"}).splitlines()
    outside = []
    for line in lines:
        found = re.match(r"\s*(\S+) => (\S+)", line)
        if found and not C_LIBRARY.match(found[1]) and not os.path.realpath(found[2]).startswith(str(unpacked)):
            outside.append(line)
    assert len(lines) > 5 and not outside
    assert list((unpacked / "share/doc/seaboard/libraries").iterdir())


def test_the_deb_does_not_depend_on_when_it_is_made(packages):
    before = packages[0].read_bytes()
    run(ROOT / "tools/package", "deb")
    assert packages[0].read_bytes() == before


def test_nothing_of_the_build_machine_is_inside(deb):
    """No path of the source tree: not in the programs, not in the files that describe the library."""
    for path in deb.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert str(ROOT).encode() not in path.read_bytes(), path
