"""Parts of tools/run_tests that know nothing of our suites: a schedule of jobs over the cores, counts of tests from the
reports of cmocka, unittest and JUnit, and what becomes of tests that pass only when they are run again."""

import re
import threading
import time
import xml.etree.ElementTree as xml

# How a cmocka program ends its report.
CMOCKA = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (?:\w+: )?(\d+) test\(s\)", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (?:\w+: )?(\d+) test\(s\)", re.M),
}
CMOCKA_OK = re.compile(r"^\[       OK \] ", re.M)
# How Python's unittest ends its report.
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \(([^)]*)\))?", re.M)


class Count:
    """How many tests passed, failed and were skipped."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def total(self):
        return self.passed + self.failed + self.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def count_case(case):
    """What one test of ctest's report counts as: a program of cmocka or unittest as the tests that it reported,
    anything else as one."""
    output = case.findtext("system-out") or ""
    ended_well = case.get("status") == "run"
    if case.get("status") in ("disabled", "notrun") and case.find("failure") is None:
        return Count(skipped=1)
    unittest = UNITTEST.search(output)
    if unittest:
        details = dict(pair.split("=") for pair in (unittest.group(2) or "").replace(" ", "").split(",") if pair)
        failed = int(details.get("failures", 0)) + int(details.get("errors", 0))
        skipped = int(details.get("skipped", 0))
        return Count(int(unittest.group(1)) - failed - skipped, failed, skipped)
    sums = {kind: sum(int(n) for n in pattern.findall(output)) for kind, pattern in CMOCKA.items()}
    if not any(sums.values()):
        if "[  PASSED  ]" in output:
            return Count(failed=1)  # a program of no tests
        # not cmocka, or it ended before its report: the tests that it named as passed count
        return Count(passed=1) if ended_well else Count(passed=len(CMOCKA_OK.findall(output)), failed=1)
    count = Count(**sums)
    if not ended_well and not count.failed:
        count.failed = 1  # a leak, found after the last test
    return count


class Results:
    """A report in JUnit's format: the count, and the names of the tests that failed and of those that passed."""

    def __init__(self, path):
        root = xml.parse(path).getroot()
        self.count = Count()
        for suite in root.iter("testsuite"):
            failed = int(suite.get("failures")) + int(suite.get("errors"))
            skipped = int(suite.get("skipped"))
            self.count.add(Count(int(suite.get("tests")) - failed - skipped, failed, skipped))
        self.failed, self.passed = [], []
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(case_id(case))
            elif case.find("skipped") is None:
                self.passed.append(case_id(case))


def case_id(case):
    """The name by which the suite's runner finds a test: pytest's tests.folder.test_file is a path."""
    module = case.get("classname") or ""
    return f"{module.replace('.', '/')}.py::{case.get('name')}" if module.startswith("tests.") else case.get("name")


def settle_retry(first, passed_again):
    """The tests of the first results that failed, and passed when they were run again, count as passed. Answers their
    names."""
    unsteady = [name for name in first.failed if name in passed_again]
    first.count.failed -= len(unsteady)
    first.count.passed += len(unsteady)
    return unsteady


class Job:
    def __init__(self, name, work, needs, cores):
        self.name, self.work, self.needs, self.cores = name, work, needs, cores
        self.state = "waiting"  # running, done, failed


class Schedule:
    """Jobs that run side by side. A job begins when all that it needs is done and its cores are free; of those that
    may begin, the one that was added first does. A job whose work answers False has failed, and what needs it is not
    run. One that asks for more cores than there are runs alone."""

    def __init__(self, cores):
        self.cores = cores
        self.jobs = []
        self.changed = threading.Condition()
        self.error = None

    def add(self, name, work, needs=(), cores=1.0):
        """Needs that are in no job of this schedule are taken to be there."""
        self.jobs.append(Job(name, work, needs, min(cores, self.cores)))

    def run(self):
        with self.changed:
            while True:
                if self.error:
                    raise self.error
                self._skip_hopeless()
                for job in self.jobs:
                    if self._may_begin(job):
                        job.state = "running"
                        threading.Thread(target=self._do, args=(job,), daemon=True).start()
                if all(job.state in ("done", "failed") for job in self.jobs):
                    return
                self.changed.wait()

    def _states(self, names):
        return [job.state for job in self.jobs if job.name in names]

    def _skip_hopeless(self):
        hopeless = True
        while hopeless:
            hopeless = [job for job in self.jobs if job.state == "waiting" and "failed" in self._states(job.needs)]
            for job in hopeless:
                job.state = "failed"

    def _may_begin(self, job):
        used = sum(other.cores for other in self.jobs if other.state == "running")
        is_ready = all(state == "done" for state in self._states(job.needs))
        return job.state == "waiting" and is_ready and used + job.cores <= self.cores + 1e-9

    def _do(self, job):
        ok = False
        try:
            ok = job.work() is not False
        except BaseException as error:  # a mistake of the runner itself: the main thread raises it
            self.error = error
        with self.changed:
            job.state = "done" if ok else "failed"
            self.changed.notify_all()


class Clock:
    """A stopwatch: the seconds since it was created."""

    def __init__(self):
        self.started = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.started
