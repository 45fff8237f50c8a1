#!/usr/bin/env python3
"""Builds and checks the site.

    tools/site.py build [DIR]   the whole site: MkDocs (strict), and what docs/hooks.py has made of code;
                                then its links
    tools/site.py api           only has Doxygen read the headers of final: a warning is an error
    tools/site.py links [DIR]   checks every internal link and anchor of a built site, and that no
                                page loads anything from the network
    tools/site.py texts         writes what is generated in README.md and docs/ anew: the table of
                                the chapters, the map of the classes, files that are shown whole,
                                and of what was measured tables, numbers and pictures; and what
                                translations copy from their sources
                                (--check: only says whether they are as they should be)

DIR is build/site unless given. MkDocs is taken from this Python if it has the pinned versions;
otherwise a virtual environment is made once, under build/ (--venv PATH puts it elsewhere).
"""

import argparse
import hashlib
import html.parser
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tools/site-requirements.txt"
WITH_TABLE = ["README.md", "docs/index.md", "docs/reading-map.md"]
CLASS_MAP = "docs/repository.md"
WITH_FILES = ["docs/your-own-server.md", "docs/deployment.md"]
SHOWN_FILE = re.compile(r"(<!-- file: (\S+) -->\n).*?(<!-- /file -->)", re.DOTALL)


class SiteError(Exception):
    """Something that the caller can do something about."""


def say(text):
    print(f"site: {text}", flush=True)


# ---------------------------------------------------------------- MkDocs


def has_requirements(python):
    """Whether this interpreter has exactly what tools/site-requirements.txt pins."""
    code = (
        "import importlib.metadata as m, sys\n"
        "for line in open(sys.argv[1]):\n"
        "  name, _, version = line.split('#')[0].strip().partition('==')\n"
        "  if name and m.version(name) != version: sys.exit(1)\n"
    )
    run = subprocess.run([python, "-c", code, str(REQUIREMENTS)], capture_output=True, check=False)
    return run.returncode == 0


def python_with_mkdocs(venv):
    """An interpreter with the pinned packages: this one, or a virtual environment's."""
    if has_requirements(sys.executable):
        return sys.executable
    python = venv / "bin/python"
    stamp = venv / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    say(f"installing MkDocs into {venv}")
    shutil.rmtree(venv, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", str(venv)], check=False).returncode:
        raise SiteError("no virtual environment could be made; on Debian: apt-get install python3-venv")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*install, "-r", str(REQUIREMENTS)], check=False).returncode:
        raise SiteError("pip could not install tools/site-requirements.txt; is the network there?")
    stamp.write_text(wanted)
    return str(python)


def build_pages(site, venv):
    python = python_with_mkdocs(venv)
    say(f"building the pages into {site}")
    command = [python, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, "--site-dir", str(site)], cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise SiteError("MkDocs does not build the pages; its messages are above")


# ---------------------------------------------------------------- Doxygen


def check_comments():
    sys.path.insert(0, str(ROOT / "tools"))
    sys.dont_write_bytecode = True
    from website import doxygen

    with tempfile.TemporaryDirectory() as scratch:
        try:
            doxygen.run(ROOT, pathlib.Path(scratch))
        except doxygen.DoxygenError as error:
            raise SiteError(str(error)) from error
    say("Doxygen has nothing to say")


# ---------------------------------------------------------------- links


class Links(html.parser.HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"),
             ("audio", "src"), ("embed", "src"), ("object", "data"), ("form", "action")}
    LINK_LOADS = {"stylesheet", "icon", "shortcut", "preload", "modulepreload", "preconnect", "dns-prefetch",
                  "manifest", "prefetch"}

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.loads, self.inline = set(), [], [], []
        self._in = None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for key in ("id", "name"):
            if values.get(key) and (key == "id" or tag == "a"):
                self.ids.add(values[key])
        for key, value in attributes:
            if value is None:
                continue
            if (tag, key) in self.LOADS:
                self.loads.append(value)
            elif key == "srcset":
                self.loads += [part.split()[0] for part in value.split(",") if part.strip()]
            elif key == "style":
                self.inline.append(value)
        if tag in ("a", "area") and values.get("href") is not None:
            self.links.append(values["href"])
        if tag == "link" and values.get("href"):
            relations = set((values.get("rel") or "").split())
            (self.loads if relations & self.LINK_LOADS else self.links).append(values["href"])
        self._in = tag if tag == "style" else None

    def handle_endtag(self, tag):
        if tag == "style":
            self._in = None

    def handle_data(self, data):
        if self._in == "style":
            self.inline.append(data)


def css_loads(text):
    found = re.findall(r"@import\s+(?:url\()?[\"']?([^\"');\s]+)", text)
    found += re.findall(r"url\(\s*[\"']?([^\"')]+?)[\"']?\s*\)", text)
    return [url for url in found if not url.startswith(("data:", "#"))]


def is_elsewhere(url):
    parts = urllib.parse.urlsplit(url)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp", "ws", "wss")


def read_pages(site):
    pages = {}
    for path in sorted(path for path in site.rglob("*.html") if path.is_file()):
        parser = Links()
        parser.feed(path.read_text(encoding="utf-8", errors="replace"))
        pages[path] = parser
    return pages


def target_file(site, page, url):
    """(file, anchor) that an internal URL on `page` leads to; None for another scheme."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme:
        return None
    location, anchor = urllib.parse.unquote(parts.path), urllib.parse.unquote(parts.fragment)
    if not location:
        return page, anchor
    start = site if location.startswith("/") else page.parent
    target = pathlib.Path(os.path.normpath(start / location.lstrip("/")))
    if target.is_dir():
        target /= "index.html"
    return target, anchor


def check_links(site):
    """Every complaint about the built site, as a line of text."""
    pages = read_pages(site)
    if not pages:
        raise SiteError(f"{site} holds no page; build it first")
    problems, count = [], 0
    for page, parser in pages.items():
        name = page.relative_to(site)
        loads = parser.loads + [url for text in parser.inline for url in css_loads(text)]
        problems += [f"{name}: loads {url} from the network" for url in loads if is_elsewhere(url)]
        # The page of the error 404 is sent for any address, so its links start at the top.
        for url in parser.links + loads:
            if is_elsewhere(url) or not url:
                continue
            target = target_file(site, page, url)
            if target is None:
                continue
            count += 1
            file, anchor = target
            if not file.is_relative_to(site) or not file.is_file():
                problems.append(f"{name}: {url}: no such page")
            elif anchor and file in pages and anchor not in pages[file].ids:
                problems.append(f"{name}: {url}: no such anchor")
    for path in sorted(path for path in site.rglob("*.css") if path.is_file()):
        for url in css_loads(path.read_text(encoding="utf-8", errors="replace")):
            if is_elsewhere(url):
                problems.append(f"{path.relative_to(site)}: loads {url} from the network")
            elif not (path.parent / urllib.parse.urlsplit(url).path).exists():
                problems.append(f"{path.relative_to(site)}: {url}: no such file")
    for base in (site, site / "zh"):
        problems += check_search(site, base, pages)
    say(f"{len(pages)} pages, {count} internal links")
    return sorted(set(problems))


def check_search(site, base, pages):
    """Complaints about the places that the search of the pages below `base` leads to."""
    path = base / "search/search_index.json"
    if not path.is_file():
        return []
    index = json.loads(path.read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"]} | set(index["config"].get("names", {}).values())
    problems = []
    for place in sorted(places):
        file, anchor = target_file(site, base / "index.html", place or "./")
        if file not in pages:
            problems.append(f"the search: {place}: no such page")
        elif anchor and anchor not in pages[file].ids:
            problems.append(f"the search: {place}: no such anchor")
    return problems


def run_links(site):
    problems = check_links(site)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        raise SiteError(f"{len(problems)} links are wrong")


# ---------------------------------------------------------------- the table of the chapters


def load_hooks():
    spec = importlib.util.spec_from_file_location("turtle_hooks", ROOT / "docs/hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(hooks)
    return hooks


def measured_texts():
    """The page, and the pictures, that are made of docs/measured."""
    sys.path.insert(0, str(ROOT / "tools"))
    sys.dont_write_bytecode = True
    from measure import pages

    try:
        return pages.generated(ROOT)
    except pages.Unknown as error:
        raise SiteError(str(error)) from error


def classmap_texts():
    """The page with the map of the classes, and the chapters' pages, each with the classes of its state."""
    sys.path.insert(0, str(ROOT / "tools"))
    import classmap

    return {CLASS_MAP: classmap.generated((ROOT / CLASS_MAP).read_text(encoding="utf-8")), **classmap.page_texts()}


def with_files(text, root=ROOT):
    """`text` with each file that it shows between two markers as the file is now."""
    from website import highlight

    def block(match):
        path = match.group(2)
        if not (root / path).is_file():
            raise SiteError(f"a page shows {path}, which is not there")
        code = (root / path).read_text(encoding="utf-8")
        if "```" in code:
            raise SiteError(f"{path} holds ```, which would end its block")
        language = highlight.language_of(root / path)
        return f'{match.group(1)}```{language} title="{path}"\n{code}```\n{match.group(3)}'

    return SHOWN_FILE.sub(block, text)


def translated_texts():
    """The translations, with what is copied from their sources as these are now."""
    import translations

    try:
        return translations.texts(ROOT)
    except translations.TranslationError as error:
        raise SiteError(str(error)) from error


def run_texts(check):
    hooks = load_hooks()
    fresh = {name: hooks.with_chapter_table((ROOT / name).read_text(encoding="utf-8"), name) for name in WITH_TABLE}
    fresh.update(measured_texts())
    for name in WITH_FILES:
        fresh[name] = with_files(fresh.get(name) or (ROOT / name).read_text(encoding="utf-8"))
    stale = []
    # A chapter's page may have numbers and classes. The translations last: they are made of the others.
    for texts in (lambda: fresh, classmap_texts, translated_texts):
        for name, text in texts().items():
            path = ROOT / name
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
                if not check:
                    path.write_text(text, encoding="utf-8")
    if check and stale:
        raise SiteError(f"what is generated is old in {', '.join(stale)}: python3 tools/site.py texts")
    say(f"written: {', '.join(stale)}" if stale else "what is generated is as it should be")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["build", "api", "links", "texts"])
    parser.add_argument("dir", nargs="?", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build/site-venv")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    site = options.dir.resolve()
    try:
        if options.action == "texts":
            run_texts(options.check)
        elif options.action == "api":
            check_comments()
        elif options.action == "links":
            run_links(site)
        else:
            build_in_place(site, options.venv.resolve())
    except SiteError as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    return 0


def build_in_place(site, venv):
    """Builds beside `site` and swaps at the end: a failed build leaves the old site alone."""
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".site-") as scratch:
        fresh = pathlib.Path(scratch) / "site"
        build_pages(fresh, venv)
        run_links(fresh)
        if site.exists():
            site.rename(pathlib.Path(scratch) / "old")
        fresh.rename(site)
    say(f"the site is in {site}")


if __name__ == "__main__":
    sys.exit(main())
