"""The operations of the real `turtle`, asked by curl and checked by promtool."""

import contextlib
import re
import shutil
import socket
import subprocess
import time
from urllib.parse import urlsplit

import pytest
from serving import PATIENCE

REQUESTS = re.compile(r'^turtle_http_requests_total\{loop="\d+",code="(\d+)"\} (\d+)$', re.MULTILINE)


def curl(*arguments):
    done = subprocess.run(["curl", "-sS", *map(str, arguments)], capture_output=True, timeout=PATIENCE, check=True)
    return done.stdout.decode()


def counts(metrics):
    """Requests by status, of all loops together."""
    sums = {}
    for code, count in REQUESTS.findall(metrics):
        sums[code] = sums.get(code, 0) + int(count)
    return sums


@pytest.fixture
def watched(start, site, programs, tmp_path):
    turtle = start(site, "--threads", "2", "--task-threads", "1", "--cgi-dir", programs, "--response-cache", "on",
                   "--access-log", tmp_path / "access.log", "--operations", "127.0.0.1:0")
    yield turtle
    assert turtle.stop() == (0, "")


def test_promtool_has_nothing_to_say(watched):
    promtool = shutil.which("promtool")
    assert promtool, "promtool is needed: apt-get install prometheus"
    for path in ("/", "/docs", "/nothing", "/cgi-bin/add?1&2"):
        curl("-o", "/dev/null", watched.url + path)
    metrics = curl(watched.operations + "/metrics")
    done = subprocess.run([promtool, "check", "metrics"], input=metrics, text=True, capture_output=True,
                          timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = re.findall("^# TYPE (\\S+) ", metrics, re.MULTILINE)
    assert len(names) == len(set(names))
    for name in ("turtle_loop_busy_seconds_total", "turtle_http_request_duration_seconds", "turtle_cache_hits_total",
                 "turtle_pool_tasks_total", "turtle_log_dropped_lines_total", "process_open_fds"):
        assert name in names


def test_the_type_is_what_the_format_demands(watched):
    head = curl("-I", watched.operations + "/metrics").lower()
    assert "\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n" in head
    assert "\r\ncache-control: no-store\r\n" in head


def test_each_request_is_counted_once(watched):
    before = counts(curl(watched.operations + "/metrics"))
    assert before == {}
    curl("-Z", "--parallel-max", "8", "-o", "/dev/null", f"{watched.url}/style.css?[1-200]")
    curl("-o", "/dev/null", f"{watched.url}/nothing?[1-30]")
    assert counts(curl(watched.operations + "/metrics")) == {"200": 200, "404": 30}


def test_a_client_makes_no_series(watched):
    """Whatever it asks for, by whatever name and method: the lines stay the same but for the statuses."""
    def series():
        metrics = curl(watched.operations + "/metrics")
        return {line.rsplit(" ", 1)[0] for line in metrics.splitlines() if "requests_total" not in line}

    before = series()
    for method, path in (("BREW", "/pot"), ("GET", '/"} 1'), ("DELETE", "/x"), ("GET", "/cgi-bin/none")):
        curl("-o", "/dev/null", "-X", method, "--path-as-is", "-g", watched.url + path.replace(" ", "%20"))
    with watched.connect() as client:
        client.sendall(b'G"ET / HTTP/1.1\r\n\r\n')
        client.recv(65536)
    assert series() == before
    assert set(counts(curl(watched.operations + "/metrics"))) <= {"404", "405", "501", "400"}


def test_health(watched):
    assert curl(watched.operations + "/livez") == "live\n"
    assert curl(watched.operations + "/readyz") == "ready\n"


def test_those_who_are_silent_do_not_keep_the_probe_out_for_long(start, site):
    """There are 64 places. Whoever watches would start the server again if they stayed taken."""
    turtle = start(site, "--operations", "127.0.0.1:0")
    place = urlsplit(turtle.operations)

    def is_live():
        with contextlib.suppress(subprocess.CalledProcessError):
            return curl(turtle.operations + "/livez") == "live\n"

    with contextlib.ExitStack() as silent:
        for _ in range(64):
            silent.enter_context(socket.create_connection((place.hostname, place.port), PATIENCE))
        deadline = time.monotonic() + PATIENCE
        while not (live := is_live()) and time.monotonic() < deadline:
            pass
        assert live
    code, said = turtle.stop()
    assert code == 0
    assert re.fullmatch(r"(\S+Z WARN \d+ clients? refused: max_connections is 64\n)+", said)


# What ProcSubset=pid of turtle.service leaves of /proc: processes, and nothing of the system. Root may mount
# that, and where there are user namespaces, anybody.
MOUNTS = ("--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
          'mount -t proc -o subset=pid proc /proc && exec "$@"', "sh")
WAYS = [("unshare", *MOUNTS), ("unshare", "--user", "--map-root-user", *MOUNTS)]
ONLY_PROCESSES = next((way for way in WAYS
                       if subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0), None)


@pytest.mark.skipif(ONLY_PROCESSES is None, reason="/proc can't be mounted here with subset=pid: for that, "
                                                   "Linux 5.8 and the right to mount or user namespaces are needed")
def test_a_service_that_sees_only_processes_knows_its_own(start, site):
    turtle = start(site, "--operations", "127.0.0.1:0", prefix=ONLY_PROCESSES)
    metrics = curl(turtle.operations + "/metrics")
    for name in ("start_time_seconds", "resident_memory_bytes", "cpu_seconds_total", "open_fds"):
        assert f"\nprocess_{name} " in metrics
    assert turtle.stop() == (0, "")


def test_events_come_one_after_the_other(watched):
    with subprocess.Popen(["curl", "-sSN", watched.operations + "/events"], stdout=subprocess.PIPE) as viewer:
        try:
            lines = [viewer.stdout.readline() for _ in range(4)]
        finally:
            viewer.kill()
    assert [line[:6] for line in lines] == [b"data: ", b"\n", b"data: ", b"\n"]


def test_without_the_flag_there_is_none_of_it(start, site):
    turtle = start(site)
    for path in ("metrics", "livez", "readyz", "events"):
        assert curl("-o", "/dev/null", "-w", "%{http_code}", f"{turtle.url}/{path}") == "404"
    assert turtle.stop() == (0, "")
