"""tools/run_tests: jobs run side by side within the cores, in the order of their needs; reports are counted right; a
browser test that fails is run again, and one that passes then is named as unsteady."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import testrun  # noqa: E402

PATIENCE = 60  # seconds


class Order(unittest.TestCase):
    """Schedule: work is recorded as it begins and ends; no test looks at a clock."""

    def setUp(self):
        self.begun, self.lock = [], threading.Lock()

    def work(self, name, answer=True):
        def run():
            with self.lock:
                self.begun.append(name)
            return answer

        return run

    def test_needs_come_first(self):
        schedule = testrun.Schedule(4)
        schedule.add("test", self.work("test"), ["build"])
        schedule.add("build", self.work("build"))
        schedule.run()
        self.assertEqual(self.begun, ["build", "test"])

    def test_needs_that_nobody_makes_are_taken_to_be_there(self):
        schedule = testrun.Schedule(1)
        schedule.add("test", self.work("test"), ["build"])
        schedule.run()
        self.assertEqual(self.begun, ["test"])

    def test_what_needs_a_failed_job_is_not_run_and_the_rest_is(self):
        schedule = testrun.Schedule(1)
        schedule.add("build", self.work("build", False))
        schedule.add("test", self.work("test"), ["build"])
        schedule.add("test of the test", self.work("test of the test"), ["test"])
        schedule.add("other", self.work("other"))
        schedule.run()
        self.assertEqual(self.begun, ["build", "other"])

    def test_jobs_that_fit_run_at_the_same_time(self):
        together = threading.Barrier(3)
        schedule = testrun.Schedule(2)
        for name, cores in (("a", 1), ("b", 0.5), ("c", 0.5)):
            schedule.add(name, lambda: together.wait(PATIENCE) is not None, cores=cores)
        schedule.run()
        self.assertFalse(together.broken)

    def test_jobs_never_use_more_cores_than_there_are(self):
        running, most = [], [0.0]

        def work(cores):
            with self.lock:
                running.append(cores)
                most[0] = max(most[0], sum(running))
            with self.lock:
                running.remove(cores)

        schedule = testrun.Schedule(2)
        for cores in (1, 1, 0.5, 1.5, 2, 9, 1):
            schedule.add(str(cores), lambda cores=cores: work(min(cores, 2)), cores=cores)
        schedule.run()
        self.assertLessEqual(most[0], 2)

    def test_a_mistake_of_the_runner_is_raised(self):
        schedule = testrun.Schedule(1)
        schedule.add("wrong", lambda: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            schedule.run()


def case(output, status="run", failure=False):
    element = xml.Element("testcase", name="unit/x", status=status)
    xml.SubElement(element, "system-out").text = output
    if failure:
        xml.SubElement(element, "failure", message="")
    return element


class Suites(unittest.TestCase):
    """The schedule of tools/run_tests itself, with a runner that only records its calls."""

    def test_every_job_has_its_own_arguments(self):
        loader = importlib.machinery.SourceFileLoader("run_tests", str(TOOLS / "run_tests"))
        run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
        loader.exec_module(run_tests)
        runner = mock.MagicMock(cores=2)
        run_tests.schedule_of(["dev", "tsan", "release"], runner).run()
        runner.build.assert_any_call("release", "build", options=["-DSB_WERROR=ON"])
        runner.build.assert_any_call("tsan", "build/tsan", "threads_tests")
        runner.ctest.assert_any_call("tsan", "build/tsan", "--label-regex", "threads", prefix=mock.ANY)
        runner.ctest.assert_any_call("dev", "build/dev")


class Counting(unittest.TestCase):
    def counts(self, expected, *args, **more):
        self.assertEqual(str(testrun.count_case(case(*args, **more))), expected)

    def test_a_cmocka_program_counts_as_its_tests(self):
        self.counts("3 passed, 0 failed", "[  PASSED  ] 3 test(s).\n")
        self.counts("2 passed, 1 failed, 4 skipped", "[  PASSED  ] 2 test(s).\n[  SKIPPED ] 4 test(s), listed below:\n[  FAILED  ] 1 test(s), listed below:\n", "fail")
        self.counts("0 passed, 1 failed", "[  PASSED  ] 0 test(s).\n")

    def test_a_crash_or_a_leak_is_a_failure(self):
        self.counts("2 passed, 1 failed", "[       OK ] a\n[       OK ] b\n[ RUN      ] c\n", "fail")
        self.counts("3 passed, 1 failed", "[  PASSED  ] 3 test(s).\nLeakSanitizer\n", "fail")

    def test_a_program_of_unittest_counts_as_its_tests(self):
        self.counts("5 passed, 0 failed", "Ran 5 tests in 1.0s\n\nOK\n")
        self.counts("2 passed, 2 failed, 1 skipped", "Ran 5 tests in 1.0s\n\nFAILED (failures=1, errors=1, skipped=1)\n", "fail")

    def test_anything_else_counts_as_one(self):
        self.counts("1 passed, 0 failed", "fine\n")
        self.counts("0 passed, 1 failed", "not fine\n", "fail")
        self.counts("0 passed, 0 failed, 1 skipped", "", "notrun")


# Stands for node: run.mjs's results are in script.json, a list for each call. Says how it was called.
NODE = """\
#!{python}
import json, pathlib, sys
root = pathlib.Path({root!r})
script = json.loads((root / "script.json").read_text())
results = script.pop(0)
(root / "script.json").write_text(json.dumps(script))
args = sys.argv[1:]
only = pathlib.Path(args[args.index("--only") + 1]).read_text().split("\\n") if "--only" in args else None
with open(root / "calls.txt", "a") as calls:
    print(json.dumps({{"args": args, "only": only}}), file=calls)
cases = "".join(f'<testcase name="{{n}}">' + ("" if ok else '<failure message="no"/>') + "</testcase>" for n, ok in results)
failed = sum(not ok for _, ok in results)
pathlib.Path(args[args.index("--junit") + 1]).write_text(
    f'<testsuite tests="{{len(results)}}" failures="{{failed}}" errors="0" skipped="0">{{cases}}</testsuite>')
print("output of node")
sys.exit(1 if failed else 0)
"""


class BrowserTests(unittest.TestCase):
    """The whole of tools/run_tests, in a tree of its own with programs that only pretend."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        for name in ("run_tests", "testrun.py"):
            shutil.copy(TOOLS / name, self.root / "tools" / name)
        self.program("tools/setup", "#!/bin/sh\n")
        self.program("bin/cmake", "#!/bin/sh\n")
        self.program("bin/node", NODE.format(python=sys.executable, root=str(self.root)))

    def program(self, name, text):
        path = self.root / name
        path.write_text(text)
        path.chmod(0o755)

    def run_tests(self, *calls):
        """Each call of run.mjs: a dict from the tests' names to whether they pass."""
        (self.root / "script.json").write_text(json.dumps([list(call.items()) for call in calls]))
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        command = [sys.executable, str(self.root / "tools/run_tests"), "e2e", "--cores", "3"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
        self.assertEqual(done.stderr, "")
        called = [json.loads(line) for line in (self.root / "calls.txt").read_text().splitlines()]
        return done.returncode, done.stdout.splitlines(), called

    def unsteady(self):
        path = self.root / "build/test/unsteady.txt"
        return path.read_text() if path.exists() else None

    def test_all_passed(self):
        code, lines, called = self.run_tests({"a": True, "b": True})
        self.assertEqual((code, lines[-1], len(called)), (0, "2 passed, 0 failed", 1))
        self.assertIsNone(self.unsteady())
        self.assertIn("--jobs", called[0]["args"])

    def test_one_that_passes_the_second_time_counts_as_passed_and_is_named(self):
        code, lines, called = self.run_tests({"a: x > 1": True, "b: y": False, "c": False}, {"b: y": True, "c": True})
        self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed"))
        self.assertEqual(lines[-3:-1], ["    b: y", "    c"])
        self.assertTrue(lines[-4].startswith("unsteady: "))
        self.assertEqual(self.unsteady(), "b: y\nc\n")
        self.assertEqual(called[1]["only"], ["b: y", "c"])
        self.assertEqual(called[1]["args"][called[1]["args"].index("--jobs") + 1], "1")

    def test_one_that_fails_twice_has_failed(self):
        code, lines, _ = self.run_tests({"a": True, "b": False, "c": False}, {"b": True, "c": False})
        self.assertEqual((code, lines[-1]), (1, "2 passed, 1 failed"))
        self.assertEqual(self.unsteady(), "b\n")
        self.assertIn("output of node", lines)

    def test_one_that_is_not_heard_of_again_has_failed(self):
        code, lines, _ = self.run_tests({"a": True, "b": False}, {})
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertIsNone(self.unsteady())

    def test_what_was_unsteady_before_is_forgotten(self):
        self.run_tests({"a": False}, {"a": True})
        self.assertEqual(self.unsteady(), "a\n")
        self.run_tests({"a": True})
        self.assertIsNone(self.unsteady())

    def test_nothing_run_is_a_failure(self):
        code, lines, _ = self.run_tests({})
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed"))


class Names(unittest.TestCase):
    def test_a_test_of_pytest_is_named_by_its_path(self):
        report = textwrap.dedent("""\
            <testsuites><testsuite tests="3" failures="1" errors="0" skipped="1">
            <testcase classname="tests.e2e_tensorboard.test_frontend" name="test_x[a.b]"><failure/></testcase>
            <testcase classname="tests.e2e_tensorboard.test_frontend" name="test_y"/>
            <testcase classname="tests.e2e_tensorboard.test_frontend" name="test_z"><skipped/></testcase>
            </testsuite></testsuites>""")
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(report)
            file.flush()
            results = testrun.Results(file.name)
        self.assertEqual(results.failed, ["tests/e2e_tensorboard/test_frontend.py::test_x[a.b]"])
        self.assertEqual(results.passed, ["tests/e2e_tensorboard/test_frontend.py::test_y"])
        self.assertEqual(str(results.count), "1 passed, 1 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main()
