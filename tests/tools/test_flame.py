"""The flame graph: what perf prints, what it means, and the picture."""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as tree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from measure import flame  # noqa: E402
from measure.process import Failed  # noqa: E402

SCRIPT = """\
turtle  100  1.000000:     1003009 cpu-clock:
	ffffffff8211aaaa tcp_ack+0x1a ([kernel.kallsyms])
	ffffffff8211bbbb __do_softirq+0x2 ([kernel.kallsyms])
	ffffffff8211cccc __sys_sendto+0x10 ([kernel.kallsyms])
	ffffffff8211dddd do_syscall_64+0x71 ([kernel.kallsyms])
	ffffffff8211eeee entry_SYSCALL_64_after_hwframe+0x76 ([kernel.kallsyms])
	          11ba13 __send+0x13 (/usr/lib/libc.so.6)
	           23a10 TURTLE_SERVER::OutQueue::FlushTo(TURTLE_SERVER::Socket&, bool)+0x40 (/build/turtle)
	           1fa10 TURTLE_SERVER::Looper::Loop()+0x40 (/build/turtle)
	           10a10 main+0x40 (/build/turtle)
	           27249 __libc_start_call_main+0x79 (/usr/lib/libc.so.6)

turtle  100  1.001000:     1003009 cpu-clock:
	ffffffff8211ffff __sys_recvfrom+0x10 ([kernel.kallsyms])
	ffffffff8211dddd do_syscall_64+0x71 ([kernel.kallsyms])
	          11ba13 __libc_recv+0x13 (/usr/lib/libc.so.6)
	           1fa10 TURTLE_SERVER::Looper::Loop()+0x40 (/build/turtle)

turtle  100  1.002000:     1003009 cpu-clock:
	           2aa10 TURTLE_SERVER::HttpParser::Parse(std::basic_string_view<char, std::char_traits<char> >, int)+0x4 (/build/turtle)
	           1fa10 TURTLE_SERVER::Looper::Loop()+0x40 (/build/turtle)
	           10a10 main+0x40 (/build/turtle)

turtle  100  1.003000:     1003009 cpu-clock:
	           2aa10 TURTLE_SERVER::HttpParser::Parse(std::basic_string_view<char, std::char_traits<char> >, int)+0x9 (/build/turtle)
	               0 [unknown] ([unknown])
	           1fa10 TURTLE_SERVER::Looper::Loop()+0x40 (/build/turtle)
"""


def test_stacks_are_read_from_the_outside_in():
    stacks = flame.read_script(SCRIPT)
    assert sum(stacks.values()) == 4
    longest = max(stacks, key=len)
    assert longest[0] == "__libc_start_call_main"
    assert longest[-1] == "k:tcp_ack"
    assert "OutQueue::FlushTo" in longest


@pytest.mark.parametrize(
    "written, short",
    [
        ("TURTLE_SERVER::Looper::Loop()", "Looper::Loop"),
        ("void TURTLE_SERVER::Guarded<int, std::vector<int> >(char const*, int&&)", "Guarded"),
        ("TURTLE_SERVER::(anonymous namespace)::Put(int) [clone .isra.0]", "Put"),
        ("std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke(int)", "std::_Function_handler::_M_invoke"),
        ("__memmove_avx512_unaligned_erms", "__memmove_avx512_unaligned_erms"),
        ("recv@plt", "recv"),
    ],
)
def test_names_are_shortened(written, short):
    assert flame.short_name(written) == short


def test_the_start_of_the_program_and_the_kernels_way_in_are_left_out():
    stacks = {flame.tidy(stack) for stack in flame.read_script(SCRIPT)}
    assert ("main", "Looper::Loop", "HttpParser::Parse") in stacks
    assert ("Looper::Loop", "HttpParser::Parse") in stacks
    assert not any("syscall" in frame.lower() for stack in stacks for frame in stack)


def test_the_kernels_part_is_known_by_its_call():
    found = flame.evaluate(SCRIPT)
    assert found["samples"] == 4
    assert found["kernel"] == 0.5
    assert found["calls"] == {"send": 0.25, "receive": 0.25}
    assert found["delivery"] == 0.25
    assert found["functions"] == {"HttpParser::Parse": 0.5}


@pytest.mark.parametrize(
    "frame, call",
    [
        ("k:__x64_sys_epoll_wait", "wait"), ("k:do_epoll_wait", "wait"), ("k:__arm64_sys_sendmsg", "send"),
        ("k:__sys_accept4", "accept"), ("k:asm_sysvec_apic_timer_interrupt", "interrupts"),
        ("k:__x64_sys_futex", "other calls"), ("Looper::Loop", ""),
    ],
)  # fmt: skip
def test_calls_are_told_apart(frame, call):
    assert flame.call_of(("main", frame)) == call


def test_what_is_seldom_is_left_out_of_the_tree():
    stacks = collections.Counter({("main", "often"): 999, ("main", "seldom"): 1})
    name, share, children = flame.tree(stacks)
    assert (name, share) == ("all", 1.0)
    assert [child[0] for child in children[0][2]] == ["often"]


def test_the_picture_is_well_formed_and_tells_the_kernel_from_the_server():
    found = flame.evaluate(SCRIPT.replace("HttpParser::Parse", "HttpParser::operator<"))
    text = flame.picture(found)
    picture = tree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    titles = [each.text for each in picture.iter(f"{space}title")]
    assert "tcp_ack: 25.0%" in titles
    classes = {each.get("class") for each in picture.iter(f"{space}rect")}
    assert {"kernel", "user", "all"} <= classes
    assert "prefers-color-scheme: dark" in text
    described = picture.find(f"{space}desc").text
    assert "Looper::Loop" in described and "50%" in described


def test_bars_stand_within_the_bar_that_called_them():
    picture = tree.fromstring(flame.picture(flame.evaluate(SCRIPT)))
    space = "{http://www.w3.org/2000/svg}"
    rows: dict[float, list[tuple[float, float]]] = {}
    for group in picture.iter(f"{space}g"):
        bar = group.find(f"{space}rect")
        x, width = float(bar.get("x")), float(bar.get("width"))
        rows.setdefault(float(bar.get("y")), []).append((x, x + width))
    levels = [rows[y] for y in sorted(rows, reverse=True)]
    assert len(levels) > 4
    for below, above in zip(levels, levels[1:]):
        for left, right in above:
            assert any(low - 0.2 <= left and right <= high + 0.2 for low, high in below)


def test_a_recording_without_stacks_is_refused():
    with pytest.raises(Failed, match="no stack"):
        flame.evaluate("")


def test_a_missing_perf_is_told(monkeypatch):
    monkeypatch.setattr(flame.sys, "platform", "linux")
    monkeypatch.setattr(flame.shutil, "which", lambda name: None)
    with pytest.raises(Failed, match="perf is missing; on Debian: apt install linux-perf"):
        flame.refuse()


def test_what_perf_printed_is_drawn(tmp_path, capsys):
    (tmp_path / "script").write_text(SCRIPT)
    arguments = ["--from", str(tmp_path / "script"), "--json", str(tmp_path / "a"), "--svg", str(tmp_path / "b")]
    assert flame.main(arguments) == 0
    assert json.loads((tmp_path / "a").read_text())["samples"] == 4
    assert tree.parse(tmp_path / "b")
    assert flame.main(["--from", str(tmp_path / "none")]) == 1
    assert "flame: " in capsys.readouterr().err
