"""Translations: what has fallen behind is told, what is wrong is an error, what is code is copied."""

import pathlib
import re
import subprocess
import sys
import warnings

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import translations  # noqa: E402

SOURCE = """\
# 01 One

A socket that waits,
and a [link](../02-two/README.md#there).

<!-- run: stays -->
```console title="another terminal"
$ ./server 1  # comes up
up
```

## The code

It calls `Wait()`.

```cpp title="a.h › A"
int a;  // counts
```

And on.

```cpp
int b;
```

### Inside

- one
- two
"""
CHINESE = """\
# 01 一

一个会等待的套接字，还有一个[链接](../02-two/README.md#there)。

```
```

## 代码

它调用 `Wait()`。

```
```

接着看。

```
```

### 里面

- 一
- 二
"""
PAGE, TRANSLATION = "chapters/01-one/README.md", "chapters/01-one/README.zh.md"
TERMS = "| English | 中文 | 不用 | 理由 |\n|---|---|---|---|\n| socket | 套接字 | 插座 | |\n| event loop | 事件循环、循环 | — | |\n"


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def change(root, path, old, new):
    text = (root / path).read_text(encoding="utf-8")
    assert old in text, old
    write(root, path, text.replace(old, new))


def sync(root):
    for path, text in translations.texts(root).items():
        write(root, path, text)


def state(root):
    report = translations.check(root)
    return report.errors, report.warnings


@pytest.fixture
def book(tmp_path):
    """A page, and its translation as it should be."""
    write(tmp_path, PAGE, SOURCE)
    write(tmp_path, translations.TERMS, TERMS)
    write(tmp_path, translations.PHRASES, '{"another terminal": "另一个终端"}')
    write(tmp_path, TRANSLATION, translations.noted(CHINESE, SOURCE, []))
    sync(tmp_path)
    assert state(tmp_path) == ([], [])
    return tmp_path


def test_the_translations_are_in_order():
    report = translations.check()
    assert report.errors == []
    for each in report.warnings:
        warnings.warn(f"behind: {each}", stacklevel=1)


def test_the_links_lead_to_files():
    for path in translations.all_translations():
        copier = translations.Copier(path)
        text = translations.COMMENT.sub("", (ROOT / path).read_text(encoding="utf-8"))
        for match in translations.LINK.finditer("".join(section.text() for section in translations.read(text)[1])):
            target = copier.target(match[2].split("#")[0])
            assert target is None or (ROOT / target).exists(), f"{path}: {match[2]}"


def test_the_command_reports_both(book):
    done = subprocess.run([sys.executable, ROOT / "tools/translations.py", "check"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert " translations, 0 faults, " in done.stdout


def test_code_is_copied(book):
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    assert '```console title="另一个终端"\n$ ./server 1  # comes up\nup\n```' in text
    assert "它调用 `Wait()`。\n\n```cpp title=\"a.h › A\"\nint a;  // counts\n```\n\n接着看。\n\n```cpp\nint b;\n```" in text
    assert "<!-- run" not in text


def test_a_page_and_its_translation_lead_to_each_other(book):
    lines = {PAGE: "**English** · [简体中文](README.zh.md)", TRANSLATION: "[English](README.md) · **简体中文**"}
    for path, line in lines.items():
        text = (book / path).read_text(encoding="utf-8")
        assert re.search(rf"^# .+\n\n{re.escape(line)}\n\n\S", text, re.MULTILINE)
        assert text.count("简体中文") == 1
        write(book, path, text.replace(line + "\n\n", ""))
        assert len(state(book)[0]) == 1
        write(book, path, text.replace(".md)", ".txt)"))
        assert len(state(book)[0]) == 1
        sync(book)
        assert (book / path).read_text(encoding="utf-8") == text
        assert state(book) == ([], [])


def test_a_changed_sentence_leaves_its_section_behind_until_somebody_looked(book):
    change(book, PAGE, "And on.", "And then on.")
    assert state(book) == ([], ["chapters/01-one: section 'The code' has changed"])
    source = (book / PAGE).read_text(encoding="utf-8")
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    with pytest.raises(translations.TranslationError, match="no section 'Elsewhere'"):
        translations.noted(text, source, ["Elsewhere"])
    assert translations.behind(translations.noted(text, source, ["Inside"]), source)
    write(book, TRANSLATION, translations.noted(text, source, ["The code"]))
    assert state(book) == ([], [])


def test_line_breaks_and_runs_and_output_leave_nothing_behind(book):
    change(book, PAGE, "that waits,\nand a", "that waits, and\na")
    change(book, PAGE, "<!-- run: stays -->", "<!-- run: hangs -->")
    assert state(book) == ([], [])
    change(book, PAGE, "up\n```", "up and running\n```")
    errors, behind = state(book)
    assert errors == [f"{TRANSLATION}: section '01 One': block 1 is not the source's"] and behind == []
    sync(book)
    assert state(book) == ([], [])
    assert "up and running" in (book / TRANSLATION).read_text(encoding="utf-8")


def test_comments_may_be_translated_and_code_may_not(book):
    change(book, TRANSLATION, "// counts", "// 计数")
    change(book, TRANSLATION, "# comes up", "# 起来了")
    change(book, TRANSLATION, "另一个终端", "又一个终端")
    assert state(book) == ([], [])
    sync(book)
    assert "// 计数" in (book / TRANSLATION).read_text(encoding="utf-8")
    change(book, TRANSLATION, "// 计数", "// counted")  # as it may have been in the source
    sync(book)
    assert "// counts" in (book / TRANSLATION).read_text(encoding="utf-8")
    change(book, TRANSLATION, "int b;", "int c;")
    assert state(book)[0] == [f"{TRANSLATION}: section 'The code': block 2 is not the source's"]
    sync(book)
    assert state(book) == ([], [])


def test_a_new_block_comes_to_its_place_and_one_that_is_gone_goes(book):
    change(book, PAGE, "And on.\n", "And on.\n\n```cpp\nint between;\n```\n")
    assert state(book)[0][0].endswith("section 'The code' has 2 blocks, the source has 3")
    sync(book)
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    assert text.index("int a;") < text.index("int between;") < text.index("int b;") < text.index("### 里面")
    assert state(book) == ([], ["chapters/01-one: section 'The code' has changed"])
    change(book, PAGE, "```cpp title=\"a.h › A\"\nint a;  // counts\n```\n", "")
    sync(book)
    assert "int a;" not in (book / TRANSLATION).read_text(encoding="utf-8")
    assert state(book)[0] == []


def test_a_missing_section_is_an_error_and_comes_in_english(book):
    change(book, PAGE, "### Inside\n", "## Measure it\n\nCount.\n\n```cpp\nint m;\n```\n\n### Inside\n")
    errors, _ = state(book)
    assert errors == [f"{TRANSLATION}: section 'Measure it' is missing"]
    sync(book)
    assert state(book) == ([], ["chapters/01-one: section 'Measure it' is not translated"])
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    assert "<!-- from: untranslated Measure it -->\n## Measure it\n\nCount.\n\n```cpp\nint m;" in text
    change(book, PAGE, "Count.", "Count again.")  # it stays the source's
    assert state(book)[0] == [f"{TRANSLATION}: section 'Measure it' is untranslated and not the source's"]
    sync(book)
    assert state(book)[0] == []


def assert_empty_lines(text):
    """Around each block, and above each mark; never two of them."""
    assert "\n\n\n" not in text
    fences = 0
    before = ""
    for line in text.splitlines():
        if line.startswith("```"):
            fences += 1
            assert before == "" or fences % 2 == 0, f"{line} stands directly below {before}"
        elif line.startswith(("<!-- from", "<!-- chapters")):
            assert before == "", f"{line} stands directly below {before}"
        else:
            assert not before.startswith("```") or fences % 2 or line == "", f"{line} stands directly below {before}"
        before = line


@pytest.mark.parametrize(("old", "new"), [
    ("- two\n", "- two\n\n## Measure it\n\nCount.\n"),  # a section at the end
    ("- two\n", "- two\n\n```cpp\nint last;\n```\n"),  # a block at the end
    ("- one\n", "```cpp\nint first;\n```\n\n- one\n"),  # a block in a section that had none
    ("And on.\n\n```cpp\nint b;\n```\n", "And on.\n\n```cpp\nint b;\n```\n\n```cpp\nint c;\n```\n\nSo.\n"),
    ("It calls", "```cpp\nint first;\n```\n\nIt calls"),  # a block before the first
    ("It calls", "<!-- chapters -->\n| a |\n<!-- /chapters -->\n\nIt calls"),  # a table
])
def test_what_is_inserted_has_empty_lines_around_it(book, old, new):
    change(book, PAGE, old, new)
    sync(book)
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    assert_empty_lines(text)
    assert state(book)[0] == []
    change(book, PAGE, new, old)  # and what goes takes its line along
    sync(book)
    assert_empty_lines((book / TRANSLATION).read_text(encoding="utf-8"))


def test_done_does_not_take_english_for_a_translation(book):
    change(book, PAGE, "### Inside\n", "## Measure it\n\nCount.\n\n### Inside\n")
    sync(book)
    source, text = ((book / path).read_text(encoding="utf-8") for path in (PAGE, TRANSLATION))
    assert [each.source for each in translations.behind(translations.noted(text, source, []), source)] == ["Measure it"]


def test_a_section_that_is_renamed_keeps_its_translation(book):
    change(book, PAGE, "### Inside", "### Within")
    sync(book)
    assert state(book) == ([], ["chapters/01-one: section 'Within' has changed"])
    assert "### 里面\n\n- 一\n" in (book / TRANSLATION).read_text(encoding="utf-8")


def test_a_section_that_is_gone_is_an_error_until_it_goes(book):
    change(book, PAGE, "### Inside\n\n- one\n- two\n", "")
    assert state(book)[0] == [f"{TRANSLATION}: section 'Inside' is not in the source"]
    sync(book)
    assert state(book) == ([], [])


@pytest.mark.parametrize(("old", "new", "complaint"), [
    ("套接字", "接口", "'socket' is 套接字"),
    ("它调用", "插座，它调用", "'插座' is not said for 'socket'"),
    ("它调用 `Wait()`", "它调用", "`Wait()` is lost"),
    ("#there)", "#elsewhere)", "the links differ: chapters/02-two/README.md#elsewhere, chapters/02-two/README.md#there"),
    ("- 二\n", "", "1 entries of lists, the source has 2"),
    ("它调用 `Wait()`", "它调用`Wait()`", "no space between Chinese and Latin: …它调用`x`。…"),
    ("接着看。", "接着看,好吗。", "punctuation of Latin: …接着看,好吗。…"),
    ("接着看。", "接着看。 好。", "a space beside full-width punctuation: …接着看。 好。…"),
    ("接着看。", "**接着看。**好。", "an emphasis that a code host doesn't see: **接着看。**"),
])
def test_what_is_wrong_in_a_sentence(book, old, new, complaint):
    change(book, TRANSLATION, old, new)
    errors, _ = state(book)
    assert any(each.endswith(": " + complaint) for each in errors), errors


def test_a_name_is_not_the_term(book):
    change(book, PAGE, "It calls `Wait()`.", 'It calls `Wait()`, see event(2), "An event loop".')
    change(book, TRANSLATION, "它调用 `Wait()`。", "它调用 `Wait()`，见 event(2) 的“An event loop”。")
    source, text = ((book / path).read_text(encoding="utf-8") for path in (PAGE, TRANSLATION))
    write(book, TRANSLATION, translations.noted(text, source, []))
    assert state(book) == ([], [])


def test_a_section_without_a_mark_is_an_error(book):
    text = (book / TRANSLATION).read_text(encoding="utf-8")
    mark = next(line for line in text.splitlines() if line.endswith(" Inside -->"))
    change(book, TRANSLATION, mark + "\n", "")
    assert any("Inside" in each for each in state(book)[0])
    write(book, TRANSLATION, CHINESE)
    assert "has no marks" in state(book)[0][0]


def test_a_translation_of_nothing_is_an_error(book):
    write(book, "docs/gone.zh.md", "# x\n")
    assert state(book)[0] == ["docs/gone.zh.md is the translation of docs/gone.md, which is not there"]


def test_links_lead_to_the_translation_where_there_is_one(book):
    write(book, "chapters/02-two/README.md", "# 02 Two\n")
    write(book, "chapters/02-two/README.zh.md", translations.noted("# 02 二\n", "# 02 Two\n", []))
    assert "what is copied from the source is old" in state(book)[0][0]
    sync(book)
    assert "(../02-two/README.zh.md#there)" in (book / TRANSLATION).read_text(encoding="utf-8")
    assert state(book) == ([], [])


def test_the_tables_are_said_in_phrases(book):
    table = ("<!-- chapters -->\n| | chapter |\n|---|---|\n| **I** | **One thread** |\n"
             "| 01 | [One](chapters/01-one/README.md) |\n| 02 | [Two](chapters/02-two/README.md) |\n<!-- /chapters -->\n")
    write(book, "README.md", f"# T\n\n{table}")
    write(book, translations.PHRASES, '{"another terminal": "另一个终端", "chapter": "章", "One": "一", "Two": "二"}')
    empty = "# 题\n\n<!-- chapters -->\n<!-- /chapters -->\n"
    write(book, "README.zh.md", translations.noted(empty, f"# T\n\n{table}", []))
    sync(book)
    text = (book / "README.zh.md").read_text(encoding="utf-8")
    assert "| | 章 |\n|---|---|\n| **I** | **One thread** |\n" in text
    assert "| 01 | [一](chapters/01-one/README.zh.md) |\n| 02 | [二](chapters/02-two/README.md)（英文） |" in text
    assert state(book) == ([], ["docs/zh/phrases.json: no phrase for 'One thread'"])


def test_a_picture_that_is_stepped_through_is_kept(book):
    block = "<!-- steps: two -->\n\n**{}**\n\n1. {}\n\n<!-- /steps -->\n\n"
    write(book, "docs/assets/steps/two.json",
          '{"parts": [{"id": "a", "title": "another terminal"}], "steps": [{"text": {"a": "full: Wait()"}}]}')
    change(book, PAGE, "And on.\n", "And on.\n\n" + block.format("Two", "One."))
    change(book, TRANSLATION, "接着看。\n", "接着看。\n\n1. 一。\n")
    source, text = ((book / path).read_text(encoding="utf-8") for path in (PAGE, TRANSLATION))
    write(book, TRANSLATION, translations.noted(text, source, []))
    assert state(book)[0] == [
        f"{TRANSLATION}: section 'The code': the pictures that are stepped through are not the source's"]
    change(book, TRANSLATION, "1. 一。\n\n", block.format("二", "一。"))
    assert state(book) == ([], ["docs/zh/phrases.json: no phrase for 'full: Wait()'"])
    change(book, translations.PHRASES, "{", '{"full: Wait()": "满：Wait()", ')
    assert state(book) == ([], [])
    change(book, PAGE, "### Inside\n", "## More\n\n<!-- run: stays -->\n" + block.format("Two", "One.") + "### Inside\n")
    sync(book)
    assert "## More\n\n" + block.format("Two", "One.") in (book / TRANSLATION).read_text(encoding="utf-8")


def test_a_start_has_all_in_english(book, monkeypatch, capsys):
    monkeypatch.setattr(translations, "ROOT", book)
    write(book, "docs/new.md", "# New\n\nText.\n\n## More\n\nMore.\n")
    assert translations.main(["start", "docs/new.md"]) == 0
    assert "2 sections" in capsys.readouterr().out
    assert state(book) == ([], ["docs/new: section 'New' is not translated", "docs/new: section 'More' is not translated"])
    assert translations.main(["start", "docs/new.md"]) == 1
    change(book, "docs/new.zh.md", "## More\n\nMore.", "## 更多\n\n更多。")
    monkeypatch.chdir(book)
    assert translations.main(["done", "docs/new.zh.md", "More"]) == 0
    assert state(book) == ([], ["docs/new: section 'New' is not translated"])
