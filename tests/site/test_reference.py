"""The reference of final: every class is there, and linked with the chapters in both directions."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import chapters as book_of_chapters  # noqa: E402
from website import classes, doxygen, reference  # noqa: E402

BOOK = book_of_chapters.Book(ROOT)
TOP = re.compile(r"^(?:class|struct) (?:alignas\(\w+\) )?(?:TURTLE_\w+(?:\([^)]*\))? )?(\w+)[^;]*\{", re.MULTILINE)


def headers(chapter):
    return [path for path in chapter.files() if path.startswith("src/") and path.endswith(".h")]


def introduced():
    """By class at the top of a header of final: the first chapter that has it, found by looking for its name."""
    result = {}
    for chapter in BOOK.chapters:
        for path in headers(chapter):
            for name in TOP.findall((chapter.folder / path).read_text(encoding="utf-8")):
                result.setdefault(name, chapter)
    final = {name for path in (ROOT / "final/src").rglob("*.h") for name in TOP.findall(path.read_text(encoding="utf-8"))
             if "detail {" not in path.read_text(encoding="utf-8")}
    return {name: chapter for name, chapter in result.items() if name in final}


def page_of(site, url):
    return (site / url / "index.html").read_text(encoding="utf-8")


def test_every_class_has_its_page_and_leads_to_its_chapter_and_back(site):
    found = introduced()
    assert len(found) > 150
    for name, chapter in found.items():
        text = page_of(site, f"api/{name}")
        row = re.search(r'<th scope="row">introduced in</th><td>(.*?)</td>', text)[1]
        assert f'<a href="../../chapters/{chapter.folder.name}/">' in row, name
        changed = page_of(site, f"chapters/{chapter.folder.name}").split('id="what-changed"')[1].split("<h2")[0]
        new = re.search(r"New in the reference: (.*)", changed)[1]
        assert f'<a href="../../api/{name}/"><code>{name}</code></a>' in new, name


def test_a_class_leads_to_what_each_chapter_changed(site):
    row = re.search(r'<th scope="row">changed in</th><td>(.*?)</td>', page_of(site, "api/Connection"))[1]
    assert re.findall(r'href="([^"]+)"', row) == [
        place
        for folder, kind in (("04-looper", "h"), ("05-timer", "h"), ("06-thread-pool", "cpp"),
                             ("12-large-files", "h"), ("28-io-uring", "h"),
                             ("29-sites", "cpp"), ("30-tls", "h"))  # 06 changes only comments in the header
        for place in (f"../../chapters/{folder}/", f"../../chapters/{folder}/changes/#src-core-connection-{kind}")
    ]


def test_the_page_of_a_class_has_all_that_is_public(site):
    text = page_of(site, "api/TimerQueue")
    assert re.findall(r'class="turtle-member"><code>(.*?)</code>', text) == ["Add", "Cancel", "Next", "RunDue"]
    signature = re.search(r'id="next".*?<pre[^>]*><code>(.*?)</code>', text, re.DOTALL)[1]
    assert re.sub(r"<[^>]+>", "", signature) == "auto Next() const -&gt; std::optional&lt;TimePoint&gt;\n".strip()
    assert '<a href="../base/#timepoint">TimePoint</a>' in signature
    assert "queue_" not in text
    assert '<a href="../Looper/">Looper</a> must wake up at the latest' in text
    options = page_of(site, "api/ServerOptions")
    fields = [m for m in re.findall(r"^  [\w:<>, ]+ (\w+)(?: = |\{|;)", (ROOT / "final/src/core/server_options.h").read_text(
        encoding="utf-8"), re.MULTILINE)]
    assert fields and all(f"<code>{field}</code>" in options for field in fields)


def test_the_tables_of_the_classes_are_true_and_linked(site):
    histories = classes.histories(BOOK)
    count = 0
    for chapter in BOOK.chapters:
        text = (chapter.folder / "README.md").read_text(encoding="utf-8")
        section = re.search(r"^## The classes now$.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        for name, last in re.findall(r"^\| `(\w+)` \|.*\| (\d\d) \|$", section[0], re.MULTILINE) if section else ():
            history = histories[name]
            assert int(last) == max(n for n in (history.introduced, *history.changed) if n <= chapter.number), name
            assert f'<a href="../../api/{name}/"><code>{name}</code></a></td>' in page_of(
                site, f"chapters/{chapter.folder.name}")
            count += 1
    assert count >= 8


def write(root, files):
    for path, text in files.items():
        place = root / "chapters" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return classes.histories(book_of_chapters.Book(root))


def test_only_code_changes_a_class(tmp_path):
    first = "// Head.\nclass Apple {\n public:\n  void Eat();  // slowly\n};\nstruct Pear { int weight = 1; };\n"
    found = write(tmp_path, {
        "01-one/src/core/fruit.h": first,
        "01-one/src/core/fruit.cpp": "void Apple::Eat() {\n  Bite();\n}\n",
        "02-two/src/core/fruit.h": first.replace("slowly", "quickly"),
        "03-three/src/core/fruit.cpp": "void Apple::Eat() {\n  Bite();\n  Bite();\n}\n",
        "04-four/src/core/fruit.h": first.replace("weight = 1", "weight = 2"),
    })
    assert (found["Apple"].introduced, found["Apple"].changed) == (1, [3])
    assert found["Apple"].files[3] == ["src/core/fruit.cpp"]
    assert (found["Pear"].introduced, found["Pear"].changed) == (1, [4])


def test_a_class_within_a_class_has_its_own_history(tmp_path):
    text = "class Outer {\n  struct Inner {\n    int a;\n  };\n  int b;\n};\nclass Next final : public Outer {};\nclass Later;\n"
    found = write(tmp_path, {"01-one/src/a.h": text})
    assert sorted(found) == ["Next", "Outer", "Outer::Inner"]


def test_a_comment_that_has_no_form_is_an_error(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<doxygen><compounddef kind="class" id="classA" prot="public"><compoundname>TURTLE_SERVER::A</compoundname>'
        "<briefdescription><para>x <formula>y</formula></para></briefdescription>"
        '<location file="core/a.h" line="1"/></compounddef></doxygen>'
    )
    made = reference.Reference(tmp_path, {}, lambda header: f"source/{header}/", {}, lambda *_: "")
    with pytest.raises(reference.ReferenceError, match="formula"):
        dict(made.leaves())["api/A/"]()


def test_two_classes_never_share_a_page(tmp_path):
    one = '<compounddef kind="class" id="{0}" prot="public"><compoundname>TURTLE_SERVER::{0}</compoundname>'
    one += '<location file="core/a.h" line="1"/></compounddef>'
    (tmp_path / "a.xml").write_text(f"<doxygen>{one.format('Cgi')}{one.format('CGI')}</doxygen>")
    with pytest.raises(reference.ReferenceError, match="one page"):  # on some systems A and a are one file
        reference.Reference(tmp_path, {}, lambda header: f"source/{header}/", {}, lambda *_: "")


def test_what_doxygen_complains_of_is_an_error(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/Doxyfile").write_bytes((ROOT / "docs/Doxyfile").read_bytes())
    (tmp_path / "final/src").mkdir(parents=True)
    (tmp_path / "final/src/a.h").write_text("/// A class.\nclass A {\n public:\n  /// Does it.\n  void Do();\n};\n")
    xml = doxygen.run(tmp_path, tmp_path / "out")
    assert ElementTree.parse(xml / "classA.xml").getroot().find("compounddef") is not None
    (tmp_path / "final/src/a.h").write_text("/// A class.\nclass A {\n public:\n  void Do();\n};\n")
    with pytest.raises(doxygen.DoxygenError, match=r"Do\(\).* is not documented"):
        doxygen.run(tmp_path, tmp_path / "out2")


def test_the_page_about_the_reference_has_every_module_and_its_classes():
    page = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:.+?) \| (.+) \|$", page, re.MULTILINE))
    modules = [path.name for path in (ROOT / "final/src").iterdir() if path.is_dir()]
    assert sorted(rows) == sorted(modules) and list(rows) == reference.MODULES
    for module, names in rows.items():
        for name in re.findall(r"`([\w/.]+)`", names):
            headers = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "final/src" / module).glob("*.h"))
            there = (ROOT / "final/src" / name).is_file() if "/" in name else re.search(
                rf"^(?:class|struct|auto|\[\[nodiscard\]\] auto) {name}\b|\b{name}\(", headers, re.MULTILINE)
            assert there, (module, name)
