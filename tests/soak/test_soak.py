"""A short soak. TURTLE_SANITIZED says that the memory is a sanitizer's, and not to be judged."""

import os

import clients
import soak

SECONDS = 20.0


def test_good_and_bad_clients_leave_no_trace():
    run = soak.Soak(SECONDS, threads=6, judge_memory="TURTLE_SANITIZED" not in os.environ)
    faults = run.run()
    assert not faults, "\n".join(faults)
    assert run.tally.requests > 0 and run.tally.resets > 0


def test_a_wrong_body_is_told(monkeypatch):
    def make_site(folder, make=clients.make_site):
        site, programs = make(folder)
        (site / "page.html").write_bytes(clients.PAGE[:-1] + b"?")
        return site, programs

    monkeypatch.setattr(clients, "make_site", make_site)
    faults = soak.Soak(4.0, threads=2).run()
    assert any("Wrong: " in fault for fault in faults), faults
