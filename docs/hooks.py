"""What MkDocs does for Turtle beyond docs/: see https://www.mkdocs.org/user-guide/configuration/#hooks

* The pages of the chapters, chapters/NN-name/README.md, become pages of the site where they
  are; nothing is copied. So do SECURITY.md, CONTRIBUTING.md and CHANGELOG.md.
* Links are written for a code host, relative to the file. Here they are pointed at the page that
  the target became. A linked source file or folder becomes a page under source/, and so does every
  file of a chapter; the title of an excerpt leads to its line there.
* What is made of code has its pages from tools/website: see there.
* The navigation lists the chapters that are there.
* A page's translation, README.zh.md beside README.md, becomes a page below zh/: see
  tools/website/languages.py.
* A page with a diagram loads the vendored mermaid, with the colours of the book; any other page doesn't. A list between
  <!-- steps: NAME --> and <!-- /steps --> becomes a picture that is stepped through.

MkDocs is imported only where it is needed: tools/site.py uses the first part without it.
"""

import html
import json
import pathlib
import posixpath
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from website import doxygen, languages, pages as made_of_code, shell, sources, steps  # noqa: E402

MERMAID = "assets/vendor/mermaid.min.js"
DIAGRAMS = "assets/diagrams.js"  # gives it the colours of the book

# Pages that stand at the top of the repository.
TOP_PAGES = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

# A link target of Markdown: [text](target "title"), ![alt](target) and [label]: target.
INLINE_LINK = re.compile(r"(\]\()([^()\s]+)((?:\s+\"[^\"]*\")?\))")
REFERENCE_LINK = re.compile(r"^( {0,3}\[[^\]]+\]: +)(\S+)(.*)$", re.MULTILINE)
# What holds no links: fenced blocks, HTML comments, code in a line.
NOT_PROSE = re.compile(r"(^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$|<!--.*?-->|(?P<tick>`+)[^`].*?(?P=tick))",
                       re.MULTILINE | re.DOTALL)


# ---------------------------------------------------------------- the chapters and their table


def chapters(root=ROOT):
    """The chapters that have a page, in order, as docs/chapters.json describes them."""
    plan = json.loads((root / "docs/chapters.json").read_text(encoding="utf-8"))
    there = [c for c in plan["chapters"] if (root / "chapters" / c["folder"] / "README.md").is_file()]
    return plan["parts"], there


def chapter_table(path, root=ROOT):
    """The Markdown table of the chapters with links that are right in the file `path`."""
    parts, there = chapters(root)
    to_root = posixpath.relpath(".", posixpath.dirname(path) or ".")
    to_root = "" if to_root == "." else to_root + "/"
    lines = ["| | chapter | what goes wrong before it | what it adds | at its end |", "|---|---|---|---|---|"]
    part = None
    for chapter in there:
        if chapter["part"] != part:
            part = chapter["part"]
            lines.append(f"| **{part}** | **{parts[part]}** | | | |")
        link = f"[{chapter['title']}]({to_root}chapters/{chapter['folder']}/README.md)"
        lines.append(
            f"| {chapter['folder'][:2]} | {link} | {chapter['problem']} | {chapter['new']} | {chapter['end']} |"
        )
    return "\n".join(lines)


def part_table(path, root=ROOT):
    """The Markdown table of the parts: what each builds, and its chapters. A part without any is planned."""
    parts, there = chapters(root)
    built = json.loads((root / "docs/chapters.json").read_text(encoding="utf-8"))["what_parts_build"]
    to_root = posixpath.relpath(".", posixpath.dirname(path) or ".") + "/"
    lines = ["| | part | what it builds | chapters |", "|---|---|---|---|"]
    for part, title in parts.items():
        folders = [chapter["folder"] for chapter in there if chapter["part"] == part]
        name = f"[{title}]({to_root}chapters/{folders[0]}/README.md)" if folders else title
        numbers = "–".join(dict.fromkeys((folders[0][:2], folders[-1][:2]))) if folders else "planned"
        lines.append(f"| {part} | {name} | {built[part]} | {numbers} |")
    return "\n".join(lines)


def with_chapter_table(text, path, root=ROOT):
    """`text` with the tables of the chapters and of the parts, each between its two markers, made again."""
    for name, table in (("chapters", chapter_table), ("parts", part_table)):
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda match, table=table: match.group(1) + table(path, root) + "\n" + match.group(2),
            text,
            flags=re.DOTALL,
        )
    return text


def with_doors(text):
    """The list between `<!-- doors -->` and `<!-- /doors -->`, whose items begin with a link, as large buttons."""
    return re.sub(
        r"^<!-- doors -->\n(.*?)^<!-- /doors -->$",
        r'<div class="turtle-doors" markdown="1">\n\1</div>',
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


# ---------------------------------------------------------------- where a file is on the site


def page_uri(path):
    """The page's name for MkDocs if the repository's file `path` is a page of the site."""
    if path in TOP_PAGES:
        return TOP_PAGES[path]
    if path == "README.md":
        return "index.md"
    if languages.uri_of(path):
        return languages.uri_of(path)
    if re.fullmatch(r"chapters/\d\d-[^/]+/README\.md", path) and (ROOT / path).is_file():
        return path
    if path.startswith("docs/"):
        return path[len("docs/") :]
    return None


def repository_path(src_uri):
    """The other way round: the repository's file behind a page."""
    for path, uri in TOP_PAGES.items():
        if uri == src_uri:
            return path
    if languages.path_of(src_uri):
        return languages.path_of(src_uri)
    return src_uri if src_uri.startswith("chapters/") else "docs/" + src_uri


def source_uri(path):
    return sources.url_of(path) + "index.html"


def target_of(link, page_path):
    """(repository path, anchor) of a relative link on the page `page_path`, else None."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|#", link):
        return None
    location, _, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page_path), location))
    if path.startswith("..") or not (ROOT / path).exists():
        return None  # MkDocs complains about it
    if (ROOT / path).is_dir() and (ROOT / path / "README.md").is_file():
        if page_uri(path + "/README.md"):
            path += "/README.md"
    return path, anchor


def in_prose(text, change):
    """`text` with `change` applied to what is neither code nor comment."""
    result, end = [], 0
    for match in NOT_PROSE.finditer(text):
        result += [change(text[end : match.start()]), match.group()]
        end = match.end()
    return "".join(result) + change(text[end:])


def each_link(text, change):
    def inline(match):
        return match.group(1) + change(match.group(2)) + match.group(3)

    return in_prose(text, lambda prose: REFERENCE_LINK.sub(inline, INLINE_LINK.sub(inline, prose)))


def without_future_links(text):
    """A link to a chapter that is planned but not there yet becomes its bare text."""
    plan = json.loads((ROOT / "docs/chapters.json").read_text(encoding="utf-8"))["chapters"]
    for folder in (c["folder"] for c in plan if not (ROOT / "chapters" / c["folder"] / "README.md").is_file()):
        text = re.sub(r"\[([^\]\n]+)\]\([^()\s]*\b" + folder + r"/(?:README\.md)?(?:#[^()\s]*)?\)", r"\1", text)
    return text


def linked_sources(pages):
    """The files and folders, which are no pages, that the given pages link to."""
    found = set()

    def note(link, page):
        target = target_of(link, page)
        if target and not page_uri(target[0]):
            found.add(target[0])
        return link

    for page in pages:
        each_link((ROOT / page).read_text(encoding="utf-8"), lambda link, page=page: note(link, page))
    for folder in [path for path in found if (ROOT / path).is_dir()]:
        found |= {
            p.relative_to(ROOT).as_posix()
            for p in (ROOT / folder).rglob("*")
            if p.is_file() and sources.is_shown(p, ROOT)
        }
    return sorted(found)


# ---------------------------------------------------------------- the events of MkDocs


class BUILD:
    """What one event leaves to the next."""

    pages = None  # what tools/website makes
    nav = None
    sites = None  # the pages in both languages


def on_config(config):
    parts, there = chapters()
    nav = [
        {"Home": "index.md"},
        {
            "Before you start": [
                {"Preface": "preface.md"},
                {"How to read this repository": "repository.md"},
                {"Reading map": "reading-map.md"},
                {"Glossary": "glossary.md"},
                {"Troubleshooting": "troubleshooting.md"},
            ]
        },
    ]
    for part, title in parts.items():
        pages = [
            {f"{c['folder'][:2]} {c['title']}": f"chapters/{c['folder']}/README.md"}
            for c in there
            if c["part"] == part
        ]
        if pages:
            nav.append({f"{part} · {title}": pages})
    nav.append({"After the book": [{"Your own server": "your-own-server.md"}, {"Deployment": "deployment.md"}]})
    nav.append(
        {
            "Behind the book": [
                {"How it grew": "growth.md"},
                {"Where the microseconds go": "microseconds.md"},
                {"How we know that it holds": "trust.md"},
                {"Design": "design.md"},
                {"Reference": "reference.md"},
                {"Security": "security.md"},
                {"Contributing": "contributing.md"},
                {"Changes": "changelog.md"},
            ]
        }
    )
    config.nav = nav
    BUILD.sites = languages.Sites(ROOT)
    languages.learn_words(ROOT, pathlib.Path(config.site_dir).parent)
    return config


def on_files(files, config):
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    _, there = chapters()
    pages = {f"chapters/{c['folder']}/README.md": f"chapters/{c['folder']}/README.md" for c in there}
    pages.update(TOP_PAGES)
    pages.update(languages.pages(ROOT))
    for path, uri in pages.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    own = [repository_path(file.src_uri) for file in files.documentation_pages()]
    titles = {c["folder"]: f"{c['folder'][:2]} {c['title']}" for c in there}
    try:
        BUILD.pages = made_of_code.Pages(ROOT, titles, linked_sources(own))
    except doxygen.DoxygenError as error:
        raise PluginError(str(error)) from error
    for url in BUILD.pages.leaves:
        files.append(File.generated(config, url + "index.html", content=""))
    return files


def on_page_markdown(markdown, page, config, files):
    path = repository_path(page.file.src_uri)
    markdown = languages.unswitched(markdown)
    here = posixpath.dirname(page.file.src_uri)
    chinese = page.file.src_uri.startswith(languages.PREFIX)
    if chinese:
        source = page.file.src_uri.removeprefix(languages.PREFIX)
        markdown = languages.prepared(markdown, path, ROOT, posixpath.relpath(source, here))
    else:
        markdown = with_chapter_table(markdown, path)
    markdown = with_doors(without_future_links(markdown))

    def on_site(link):
        target = target_of(link, path)
        if target is None:
            return link
        if chinese and target[0] != languages.source_of(path):
            target = languages.translated(target[0], ROOT), target[1]
        uri = page_uri(target[0]) or source_uri(target[0])
        return posixpath.relpath(uri, here or ".") + ("#" + target[1] if target[1] else "")

    try:
        markdown = steps.with_figures(markdown, ROOT)
    except steps.StepsError as error:
        from mkdocs.exceptions import PluginError

        raise PluginError(f"{path}: {error}") from error
    if path.startswith("chapters/"):
        markdown = with_solutions(markdown, posixpath.dirname(path))
    markdown = each_link(markdown, on_site)
    if path.startswith("chapters/"):
        number, to_top = int(posixpath.basename(here)[:2]), posixpath.relpath(".", here) + "/"
        words = words_of(page)
        markdown = BUILD.pages.with_changes(markdown, number, to_top, words)
        markdown = BUILD.pages.with_linked_classes(markdown, to_top, words.classes_now)
    if path == "docs/reference.md":
        markdown = BUILD.pages.with_linked_classes(markdown, "")
    if path not in TOP_PAGES:  # what feeds a console block is no concern of the reader's
        markdown = re.sub(r"^<!-- run\b.*?-->\n", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return markdown


def with_solutions(markdown, folder):
    """The hints' Markdown is read, and where a solution is linked to, it is shown."""
    for kind, words in (("hint", "Hint|提示"), ("solution", "Solution|答案"), ("", "")):
        attribute = f' class="{kind}"' if kind else ""
        pattern = rf"<details>(?=\s*<summary>(?:{words})\b)" if kind else "<details>"
        markdown = re.sub(pattern, f'<details{attribute} markdown="1">', markdown)

    def shown(match):
        text = (ROOT / folder / match.group(1)).read_text(encoding="utf-8")
        longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        return f"{fence}diff\n{text}{fence}"

    return re.sub(r"^\[[^\]]+\]\((exercises/[^()\s]+\.diff)\)$", shown, markdown, flags=re.MULTILINE)


def words_of(page):
    return languages.WORDS if page.file.src_uri.startswith(languages.PREFIX) else made_of_code.WORDS


WORDS_A_MINUTE = 200
LINES_A_MINUTE = 20  # of code


def minutes_to_read(markdown):
    """How long a chapter's page takes up to its exercises, in steps of five minutes."""
    text = markdown.split("\n## Exercises\n")[0].split("\n## The classes now\n")[0]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    code = [match["code"] for match in re.finditer(r"^```(?!mermaid).*\n(?P<code>(?:.*\n)*?)```$", text, re.MULTILINE)]
    prose = re.sub(r"^```.*\n(?:.*\n)*?```$", "", text, flags=re.MULTILINE)
    minutes = len(re.findall(r"\w[\w'’-]*", prose)) / WORDS_A_MINUTE + sum(c.count("\n") for c in code) / LINES_A_MINUTE
    return max(5, 5 * round(minutes / 5))


def with_time(content, markdown, words):
    time = f'<p class="turtle-time">{words.time.format(minutes_to_read(markdown))}</p>'
    return re.sub(r"(</h1>)", lambda match: match[0] + "\n" + time, content, count=1)


def origin(path, page, config, words):
    """The foot of a page: which file it is, and how it is changed."""
    from mkdocs.utils import get_relative_url

    if config.extra.get("edit"):
        how, where = words.edit, f"{config.extra['edit'].rstrip('/')}/{path}"
    else:
        how, where = words.wrong, get_relative_url("contributing/#if-a-page-is-wrong", page.url)
    link = f'<a href="{html.escape(where)}">{how}</a>'
    return f'\n<p class="turtle-origin">{words.origin.format(html.escape(path), link)}</p>'


def on_page_content(content, page, config, files):
    path = repository_path(page.file.src_uri)
    words = words_of(page)
    content += origin(path, page, config, words)
    if path.startswith("chapters/"):
        source = languages.source_of(path) if languages.uri_of(path) else path
        content = with_time(content, (ROOT / source).read_text(encoding="utf-8"), words)
        content = BUILD.pages.with_linked_titles(content, ROOT / path, page.url)
        if not page.url.startswith(languages.PREFIX):
            BUILD.pages.note_page(page.markdown, int(path.split("/")[1][:2]), page.url, page.toc)
    return languages.with_marked_links(content, page.url) if page.url.startswith(languages.PREFIX) else content


def on_nav(nav, config, files):
    BUILD.nav = nav
    BUILD.sites.navigate(config.nav, files, config)


def on_page_context(context, page, config, nav):
    BUILD.sites.dress(context, page, config)
    return context


def on_env(env, config, files):
    """Everything is known now: the pages that MkDocs doesn't make get their content."""
    theme = shell.Shell(config, BUILD.nav, files, env, with_own_search)
    for url, make in BUILD.pages.leaves.items():
        files.get_file_from_path(url + "index.html").content_string = theme.render(make())


def with_own_search(output, url=None):
    """The theme's search is run by assets/search.js, and has a name for those who hear it."""
    output = output.replace('data-md-component="search" role="dialog"',
                            'data-md-component="search" role="dialog" aria-label="Search"', 1)
    pattern = r'("search": "[^"]*assets/)(javascripts/workers/[^"]+")'
    return re.sub(pattern, r"\1search.js?theme=\2", output, count=1)


def on_post_template(output, template_name, config):
    return with_own_search(output) if template_name.endswith(".html") else output


def on_post_page(output, page, config):
    """What a script or a style sheet of ours needs around pictures: what is too wide scrolls (turtle-scroll)."""
    from mkdocs.utils import get_relative_url

    output = languages.finished(with_own_search(output), page.url)
    say = BUILD.sites.phrases if page.url.startswith(languages.PREFIX) else str
    output = steps.with_scenes(output, ROOT, html.escape(get_relative_url(steps.SCRIPT, page.url)), say)
    output = re.sub(r'<pre class="mermaid">.*?</pre>', r'<div class="turtle-scroll">\g<0></div>', output, flags=re.DOTALL)
    output = re.sub(r'<img [^>]*src="[^"]*\bmeasured/[^>]*>', r'<span class="turtle-scroll">\g<0></span>', output)
    if 'class="mermaid"' not in output:
        return output
    scripts = "\n".join(
        f'<script src="{html.escape(get_relative_url(script, page.url))}"></script>' for script in (MERMAID, DIAGRAMS)
    )
    # Before Material's own script, which takes a mermaid that is there and else asks the network.
    return output.replace("<script id=\"__config\"", f'{scripts}\n<script id="__config"', 1)


def on_post_build(config):
    """The index of the search is written; it gets the reference, and the places of names. The Chinese pages
    have one of their own."""
    path = pathlib.Path(config.site_dir, "search/search_index.json")
    english, chinese = languages.split_index(path.read_text(encoding="utf-8"))
    english = BUILD.pages.with_names(english)
    path.write_text(english, encoding="utf-8")
    other = pathlib.Path(config.site_dir, languages.PREFIX, "search/search_index.json")
    other.parent.mkdir(parents=True)
    other.write_text(languages.chinese_index(english, chinese, ROOT), encoding="utf-8")
