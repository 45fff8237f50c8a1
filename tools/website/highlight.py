"""Code as HTML, line by line."""

from __future__ import annotations

import functools
import html
import pathlib

LANGUAGES = {
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".h": "cpp",
    ".inc": "cpp",
    ".ini": "ini",
    ".cmake": "cmake",
    ".conf": "nginx",
    ".in": "cmake",
    ".css": "css",
    ".diff": "diff",
    ".html": "html",
    ".js": "javascript",
    ".json": "json",
    ".md": "markdown",
    ".py": "python",
    ".service": "ini",
    ".sh": "bash",
    ".socket": "ini",
    ".svg": "xml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
# What the style sheet doesn't colour needs no element: names, punctuation, operators, white space.
PLAIN = frozenset({"", "n", "p", "o", "w", "err"})


def language_of(path: pathlib.PurePath) -> str:
    return "cmake" if path.name == "CMakeLists.txt" else LANGUAGES.get(path.suffix, "text")


@functools.lru_cache(maxsize=None)
def lines(text: str, language: str) -> tuple[str, ...]:
    """The lines of `text`, highlighted for a `.highlight`; an element never spans two of them."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import STANDARD_TYPES

    if not text:
        return ()
    result: list[str] = []
    line: list[str] = []
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=True)
    for kind, value in lexer.get_tokens(text.expandtabs(8)):
        while kind not in STANDARD_TYPES:
            kind = kind.parent
        name = STANDARD_TYPES[kind]
        for index, part in enumerate(value.split("\n")):
            if index:
                result.append("".join(line))
                line = []
            if part:
                escaped = html.escape(part, quote=False)
                line.append(escaped if name in PLAIN else f'<span class="{name}">{escaped}</span>')
    if line:
        result.append("".join(line))
    return tuple(result)


def text_of(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def rows(text: str) -> list[str]:
    """The same lines as plain text."""
    return text.removesuffix("\n").split("\n") if text else []


def of_file(path: pathlib.Path) -> tuple[str, ...]:
    return lines(text_of(path), language_of(path))
