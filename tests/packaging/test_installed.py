"""The life of the package on a Debian whose first process is systemd: install, reload, restart, upgrade, remove, purge.

The tests go on from each other, in this order.
"""

import re
import shutil
import time

import pytest
from machines import call
from serving import BINARY

PATIENCE = 20.0
ADDRESS = "http://127.0.0.1:4507"
LOG = "/var/log/turtle"


def await_text(booted, command, pattern):
    """Runs the command until its output has the pattern, and returns the match."""
    deadline = time.monotonic() + PATIENCE
    while not (found := re.search(pattern, said := booted.run(command))):
        assert time.monotonic() < deadline, f"{command} never printed {pattern}:\n{said}"
        time.sleep(0.1)
    return found


def main_process(booted):
    return booted.run("systemctl show --property MainPID --value turtle").strip()


@pytest.fixture(scope="module")
def installed(booted):
    booted.run("dpkg --install /packages/turtle_*.deb")
    return booted


def test_the_service_is_up_once_it_is_installed(installed):
    assert installed.run("systemctl is-active turtle.service turtle.socket").split() == ["active"] * 2
    assert installed.run("systemctl is-enabled turtle.service turtle.socket").split() == ["enabled"] * 2
    assert "<title>Turtle is running</title>" in installed.run(f"curl --silent {ADDRESS}/")
    assert installed.run("curl --silent http://127.0.0.1:9507/readyz") == "ready\n"
    assert installed.run("ps -o user= -C turtle").split() == ["turtle"]


def test_it_may_do_little(installed):
    status = installed.run(f"cat /proc/{main_process(installed)}/status")
    for name in ("CapEff", "CapBnd", "CapAmb"):
        assert re.search(rf"^{name}:\t0+$", status, re.M), status
    assert re.search(r"^NoNewPrivs:\t1$", status, re.M) and re.search(r"^Seccomp:\t2$", status, re.M)


def test_the_units_are_right(installed):
    said = installed.run("systemd-analyze verify --man=no turtle.service turtle.socket")
    assert not re.search(r"turtle\.(service|socket)", said)


def test_a_reload_takes_over_a_setting(installed):
    installed.run("""sed -i 's#"port": 4507,#&\\n  "blocks_ip": ["192.0.2.7"],#' /etc/turtle/turtle.json""")
    process = main_process(installed)
    installed.run("turtle -t -f /etc/turtle/turtle.json && systemctl reload turtle")
    await_text(installed, f"cat {LOG}/turtle.log", "the settings were reloaded")
    assert main_process(installed) == process


def test_a_hand_over_is_noticed_by_systemd(installed):
    process = main_process(installed)
    installed.run("systemctl kill -s USR2 --kill-who=main turtle")
    await_text(installed, "systemctl show --property MainPID --value turtle", rf"^(?!{process}\n)\d+")
    await_text(installed, "ps -o pid= -C turtle", r"^ *\d+\n$")  # the old one has ended
    assert installed.run("systemctl is-active turtle") == "active\n"


def test_logs_are_rotated(installed):
    installed.run(f"curl --silent {ADDRESS}/before")
    await_text(installed, f"cat {LOG}/access.log", "GET /before ")
    assert "error" not in installed.run("logrotate --force /etc/logrotate.d/turtle")

    def in_the_new_one():
        installed.run(f"curl --silent {ADDRESS}/after")
        return installed.run(f"cat {LOG}/access.log || true")

    deadline = time.monotonic() + PATIENCE
    while "GET /after " not in in_the_new_one():
        assert time.monotonic() < deadline
    assert "GET /before " in installed.run(f"cat {LOG}/access.log.1")


def test_an_upgrade_loses_no_request_and_keeps_the_configuration(installed, tmp_path):
    call("cpack", "--config", BINARY.parent / "CPackConfig.cmake", "-D", "CPACK_DEBIAN_PACKAGE_RELEASE=2", "-B", tmp_path)
    (newer,) = tmp_path.glob("turtle_*-2_*.deb")
    shutil.copy(newer, installed.folder / "packages/newer.deb")
    process = main_process(installed)
    load = f"while ! [ -e /run/enough ]; do curl --silent --output /dev/null --write-out '%{{http_code}}\\n' {ADDRESS}/; done"
    statuses = installed.run(
        f"({load}) >/run/statuses & until [ -s /run/statuses ]; do :; done; dpkg --install /packages/newer.deb >&2;"
        " touch /run/enough; wait; sort /run/statuses | uniq"
    ).splitlines()  # fmt: skip
    assert statuses[-1] == "200" and "000" not in statuses and not [each for each in statuses if each.startswith("5")]
    assert main_process(installed) != process
    assert installed.run("dpkg-query --show --showformat '${Version}' turtle").endswith("-2")
    assert "192.0.2.7" in installed.run("cat /etc/turtle/turtle.json")


def test_a_removal_leaves_what_the_administrator_has_made(installed):
    installed.run("echo mine >/var/www/turtle/page.html && dpkg --remove turtle")
    assert installed.run("systemctl is-active turtle.service turtle.socket || true").split() == ["inactive"] * 2
    installed.run("test ! -e /usr/bin/turtle && test -s /etc/turtle/turtle.json")
    assert installed.run("ls /var/www/turtle") == "page.html\n"
    installed.run("dpkg --install /packages/newer.deb")
    assert installed.run(f"curl --silent {ADDRESS}/page.html") == "mine\n"


def test_a_purge_leaves_the_user_and_the_site(installed):
    installed.run("dpkg --purge turtle")
    left = installed.run("find / -xdev -name '*turtle*' -not -path '/packages/*' -not -path '/src/*'").split()
    assert left == ["/var/www/turtle"]
    assert "turtle" in installed.run("getent passwd turtle")
    assert "turtle" not in installed.run("systemctl list-unit-files")
