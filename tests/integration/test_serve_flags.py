"""The options of `seaboard serve`: what is accepted, what is refused, in which words and with which exit code."""

import pytest
from command import FIXTURES, frame, scalar, seaboard
from serve_driver import Seaboard

LOGS = FIXTURES / "tf/v2"


# ---- refused --------------------------------------------------------------------------------------------------------

# TensorBoard's messages under our name: exit code, what standard error must hold
REFUSED = [
    (["--inspect", "--logdir_spec", "a:b"], 1, "Error: --logdir_spec is not supported with --inspect."),
    (["--inspect", "--logdir", "x", "--event_file", "y"], 1, "Error: Must specify either --logdir or --event_file, but not both."),
    (["--inspect"], 1, "Error: Must specify either --logdir or --event_file."),
    (["--logdir", "x", "--logdir_spec", "y"], 1, "Error: May not specify both --logdir and --logdir_spec"),
    (["--port", "0"], 1, "Error: A logdir must be specified. For example `seaboard --logdir mylogdir`"),
    (["--logdir="], 1, "Error: A logdir must be specified."),
    (["--db", "sqlite:x"], 1, "without a database"),
    (["--grpc_data_provider", "localhost:1"], 1, "without a database or a data server"),
    (["--logdir", "x", "--host", "localhost", "--bind_all"], 1, "Error: Must not specify both --host and --bind_all."),
    (["--logdir", "x", "--load_fast=true", "--detect_file_replacement=true"], 1, "Error: Must not specify both --load_fast=true and"),
    (["--logdir", "x", "--path_prefix", "foo"], 1, "Error: Path prefix must start with slash, but got: 'foo'."),
    (["--logdir", "x", "--certfile", "c"], 1, "TLS needs both --certfile and --keyfile."),
    (["--logdir", "x", "--certfile", "/nowhere/c", "--keyfile", "/nowhere/k", "--port", "0"], 1, "/nowhere/c"),
    (["--logdir", "x", "--reload_task=blocking"], 1, "--reload_task=blocking reads once; it needs --reload_interval=0."),
    (["--logdir", "gs://bucket/x", "--port", "0"], 1, "only directories of this machine can be read"),
    (["--logdir_spec", "a:s3://bucket/x", "--port", "0"], 1, "only directories of this machine can be read"),
    (["--logdir", "x", "--reload_interval", "-1"], 2, "argument --reload_interval: must be non-negative: -1"),
    (["--logdir", "x", "--reload_interval", "soon"], 2, "argument --reload_interval: invalid float value: 'soon'"),
    (["--logdir", "x", "--reload_interval", "nan"], 2, "argument --reload_interval"),
    (["--logdir", "x", "--max_reload_threads", "1.5"], 2, "argument --max_reload_threads: invalid int value: '1.5'"),
    (["--logdir", "x", "--reuse_port=maybe"], 2, "argument --reuse_port: invalid choice: 'maybe' (choose from True, False)"),
    (["--logdir", "x", "--load_fast=perhaps"], 2, "argument --load_fast: invalid choice: 'perhaps'"),
    (["--logdir", "x", "--samples_per_plugin", "scalars"], 2, "'scalars' is not of the form name=number"),
    (["--logdir", "x", "--samples_per_plugin", "scalars=1,images=x"], 2, "'images=x' is not of the form name=number"),
    (["--logdir", "x", "--memory_limit", "much"], 2, "argument --memory_limit: 'much' is no size; type 2G, or 512M"),
    (["--logdir", "x", "--port==6007"], 2, "'=6007' is no number; type --port 6007"),
    (["--logdir", "x", "--port", ":6007"], 2, "':6007' is no number; type --port 6007"),
    (["--logdir", "x", "--port", "http"], 2, "'http' is no number; type --port 6006, or --port 0"),
    (["--logdir", "x", "--port", "-1"], 2, "-1 is below 0"),
    (["--logdir", "x", "--port", "70000"], 255, "ERROR: Seaboard cannot bind to port 70000 > 65535"),
    (["--logdir", "x", "--port", "99999999999"], 255, "cannot bind to port"),
    (["--logdir", "x", "--host", "192.0.2.1", "--port", "0"], 255, "ERROR: Seaboard could not bind to unavailable address 192.0.2.1"),
    (["--logdir", "x", "--host", "no.such.host.invalid", "--port", "0"], 255, "ERROR: Seaboard"),
    (["--nonsense"], 2, "unknown or ambiguous option '--nonsense'"),
    (["--logdi", "x"], 2, "unknown or ambiguous option"),
    (["--logdir", "x", "y"], 2, "there is no place for 'y'; a log directory goes behind --logdir"),
    (["--logdir"], 2, "an argument is missing behind"),
    (["--bind_all=true", "--logdir", "x"], 2, "takes no argument"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, code, text", REFUSED, ids=lambda part: " ".join(part) if isinstance(part, list) else None)
def test_a_command_line_that_makes_no_sense_is_refused(arguments, code, text):
    done = seaboard(*arguments)
    assert done.returncode == code, done.stderr
    assert text in done.stderr.decode(), done.stderr.decode()
    assert done.stdout == b""


def test_a_directory_without_an_option_gets_a_hint(tmp_path):
    done = seaboard(tmp_path)
    assert done.returncode == 2
    assert f"seaboard --logdir '{tmp_path}'" in done.stderr.decode()


@pytest.mark.parametrize("token", ["an own token with blanks", "fifteen-letters", "0123456789abcde\n"])
def test_a_token_that_is_short_or_cannot_be_sent_is_refused(tmp_path, token):
    done = seaboard("--logdir", tmp_path, "--port", "0", "--auth", "token", env={"SEABOARD_TOKEN": token, "HOME": str(tmp_path)})
    assert done.returncode == 1
    assert b"SEABOARD_TOKEN must have 16 to " in done.stderr


# ---- accepted -------------------------------------------------------------------------------------------------------


def test_version_goes_to_standard_output():
    for arguments in (["--version_tb"], ["--version_tb", "--logdir", "x"], ["serve", "--version_tb"]):
        done = seaboard(*arguments)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.strip().split(b".")[0].isdigit()


def test_helpfull_lists_every_option():
    done = seaboard("--helpfull")
    assert done.returncode == 0
    for name in (b"--logdir DIR", b"--bind_all", b"--samples_per_plugin SPEC", b"--open", b"--grpc_data_provider"):
        assert name in done.stdout, name


def test_inspect_is_the_inspect_command():
    by_option = seaboard("--inspect", "--logdir", LOGS)
    by_command = seaboard("inspect", "--logdir", LOGS)
    assert by_option.returncode == 0
    assert by_option.stdout == by_command.stdout != b""
    tagged = seaboard("--inspect", "--logdir", LOGS, "--tag", "loss")
    assert b"Event statistics for tag loss in" in tagged.stdout


FORMS = [
    ["--logdir", LOGS],
    [f"--logdir={LOGS}"],
    ["-logdir", LOGS],
    [f"-logdir={LOGS}", "-host", "localhost", "-window_title", "x"],
    ["serve", "--logdir", LOGS],
    ["--logdir", LOGS, "serve"],
    ["--logdir", "elsewhere", "--logdir", LOGS],  # the last one counts
    ["--logdir", LOGS, "--window_t", "short", "--reload_i", "3", "--purge", "TRUE"],
    ["--logdir", LOGS, "--db_import", "--verbosity", "1", "-v", "0", "--logtostderr"],
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: " ".join(str(word) for word in form))
def test_options_may_be_written_in_many_ways(form):
    driver = Seaboard(LOGS)  # it writes --logdir X; what is tested takes its place
    driver.command[1:3] = [str(word) for word in form]
    with driver as server:
        server.wait(lambda: server.json("/data/runs"), lambda runs: "train" in runs)
        assert server.json("/data/logdir") == {"logdir": str(LOGS)}


def test_what_has_no_effect_is_said_in_one_line():
    with Seaboard(LOGS, "--load_fast=false", "--reload_multifile=true") as server:
        pass
    lines = [line for line in server.said.split(b"\n") if line.startswith(b"Note: no effect here")]
    assert len(lines) == 1
    assert b"--load_fast (" in lines[0] and b"--reload_multifile (" in lines[0]


def test_home_is_expanded_but_shown_as_typed(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/events.out.tfevents.1").write_bytes(frame(scalar(b"x", 1, 1.0)))
    driver = Seaboard("~/logs")
    driver.environment = {"HOME": str(tmp_path)}
    with driver as server:
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["."])
        assert server.json("/data/logdir") == {"logdir": "~/logs"}


def test_several_directories_with_and_without_names(tmp_path):
    for name in ("a", "b/sub", "c"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "events.out.tfevents.1").write_bytes(frame(scalar(b"x", 1, 1.0)))
    driver = Seaboard("unused")
    driver.command[1:3] = ["--logdir_spec", f"one:{tmp_path}/a,two:{tmp_path}/b,{tmp_path}/c"]
    with driver as server:
        runs = server.wait(lambda: sorted(server.json("/data/runs")), lambda runs: len(runs) == 3)
    assert runs == [".", "one/.", "two/sub"]


def test_overlapping_directories_show_under_each_name(tmp_path):
    for name in ("a", "a/sub"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "events.out.tfevents.1").write_bytes(frame(scalar(b"x", 1, 1.0)))
    driver = Seaboard("unused")
    spec = f"one:{tmp_path}/a,two:{tmp_path}/a,three:{tmp_path}/a/sub,one:{tmp_path}/a"
    driver.command[1:3] = ["--logdir_spec", spec]
    with driver as server:
        runs = server.wait(lambda: sorted(server.json("/data/runs")), lambda runs: len(runs) >= 5)
    assert runs == ["one/.", "one/sub", "three/.", "two/.", "two/sub"]


def test_a_directory_that_is_not_there_yet_is_waited_for(tmp_path):
    missing = tmp_path / "later"
    with Seaboard(missing, "--reload_interval", "0.2") as server:
        server.wait(lambda: server.said, lambda said: b"does not exist yet" in said)
        assert server.json("/data/runs") == []
        missing.mkdir()
        (missing / "events.out.tfevents.1").write_bytes(frame(scalar(b"x", 1, 1.0)))
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["."])


def test_an_empty_directory_is_said_to_be_empty(tmp_path):
    with Seaboard(tmp_path) as server:
        server.wait(lambda: server.said, lambda said: b"holds no event files yet" in said)


def test_reading_once_reads_once(tmp_path):
    (tmp_path / "events.out.tfevents.1").write_bytes(frame(scalar(b"x", 1, 1.0)))
    with Seaboard(tmp_path, "--reload_interval", "0", "--reload_task", "blocking") as server:
        assert server.json("/data/runs") == ["."]


def test_title_and_prefix(tmp_path):
    with Seaboard(tmp_path, "--window_title", "A & <b>", "--path_prefix", "/x/y//") as server:
        assert b"/x/y/" in server.said
        assert server.json("/x/y/data/window_properties") == {"window_title": "A & <b>"}
        assert server.get("/data/runs").status == 404
        assert server.get("/x/ydata/runs").status == 404
        moved = server.get("/x/y")
        assert (moved.status, moved["Location"]) == (301, "/x/y/")


def test_samples_thin_out_data_only_where_asked_for(tmp_path):
    frames = b"".join(frame(scalar(b"x", step, float(step))) for step in range(2000))
    (tmp_path / "events.out.tfevents.1").write_bytes(frames)
    counts = {}
    for options in ([], ["--compat_sampling"], ["--samples_per_plugin", "scalars=10"], ["--samples_per_plugin", "scalars=0", "--compat_sampling"]):
        with Seaboard(tmp_path, *options) as server:
            path = "/data/plugin/scalars/scalars?run=.&tag=x"
            server.loaded()
            points = server.json(path)
            counts[" ".join(options)] = len(points)
            assert points[-1][1] == 1999, "the last point is always there"
    assert list(counts.values()) == [2000, 1000, 10, 2000]


def test_without_purging_superseded_points_are_served():
    path = "/data/plugin/scalars/scalars?run=restart&tag=a"
    counts = {}
    for purge in ("true", "false"):
        with Seaboard(FIXTURES / "tf/awkward", f"--purge_orphaned_data={purge}") as server:
            server.loaded()
            counts[purge] = len(server.json(path))
    assert counts["false"] > counts["true"] > 0


def test_the_environment_tells_all_options_but_no_secret(tmp_path):
    with Seaboard(tmp_path, "--auth", "token") as server:
        token = server.said.split(b"token=")[1].split()[0].decode()
        reply = server.get("/data/environment", f"Authorization: Bearer {token}")
        assert token.encode() not in reply.body
        flags = reply.json()["debug"]["flags"]
    assert flags["auth"] == "token" and flags["port"] == 0 and flags["host"] is None
    assert flags["reload_interval"] == 5.0 and flags["__tensorboard_subcommand"] == "serve"
    assert "keyfile" not in flags


def test_a_short_limit_for_memory_loses_nothing(tmp_path):
    frames = b"".join(frame(scalar(b"x", step, float(step))) for step in range(30000))
    (tmp_path / "events.out.tfevents.1").write_bytes(frames)
    with Seaboard(tmp_path, "--memory_limit", "1k") as server:
        server.loaded()
        points = server.json("/data/plugin/scalars/scalars?run=.&tag=x")
    assert [point[1] for point in points] == list(range(30000))
