#!/usr/bin/env python3
"""What a script can see of the English: words that mislead, sentences without a subject, long ones.

    tools/english.py check             fails where a file has more findings than tools/english.txt lists,
                                       or fewer: then the list can shrink
    tools/english.py shrink            rewrites the list; refuses to raise a count
    tools/english.py show [WORD ...]   the findings whose file or rule contains one of the words
    tools/english.py rules             the rules, and what to write instead

It reads the comments and the string literals of C++ (of tests only the comments), and the sentences of
pages: no code, no output, no generated part, no translation. A sentence that stands in several chapters'
versions of one file counts once, so reword it in all of them. Rename a listed file in the list, too.
Python's standard library only.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "tools/english.txt"
MOST_WORDS = 35

Text = tuple[int, str]  # a line's number and what begins there
Counts = dict[str, dict[str, int]]  # file -> rule -> findings


@dataclasses.dataclass(frozen=True)
class Finding:
    file: str  # src/core/looper.h for all versions of it
    place: str  # path:line of the first version that has it
    rule: str
    sentence: str


# --- rules ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    advice: str
    pattern: re.Pattern[str]
    in_questions: bool = True


def _rule(name: str, advice: str, pattern: str, in_questions: bool = True) -> Rule:
    return Rule(name, advice, re.compile(pattern), in_questions)


_BEFORE_A_CLAUSE = "and|or|but|if|that|to|for|of|by|from|with|only|than|when|because|even|so"
_DETERMINER = "[Aa]n?|[Tt]he|[Ii]ts|[Tt]heir|[Ee]ach|[Ee]very|[Nn]o|late|whole|[Tt]his|such"

RULES = (
    _rule("who", "name the subject: a client that, callers", rf"^(?:Who|Whom)\b|\b(?:{_BEFORE_A_CLAUSE}) whom?\b", False),
    _rule("whoever", "name the subject: callers, any client that", r"\b[Ww]ho(?:m)?ever\b"),
    _rule("what", "name the subject: bytes that, anything that", r"^What(?:ever)?\b|; what\b|\bbut what\b", False),
    _rule(
        "behind",
        "after, for time and order",
        r"\b(?<!left )(?<!leave )(?<!leaves )(?<!fall )(?<!falls )(?<!fallen )[Bb]ehind\b"
        r"(?! (?:an? |the |another |your )?(?:\w+ )?(?:proxy|proxies|load balancer|NAT|firewall|nginx|HAProxy)\b)",
    ),
    _rule("anew", "again", r"\banew\b"),
    _rule("tell of", "report, list, describe", r"\b(?:[Tt]ells?|[Tt]elling|[Tt]old) of\b"),
    _rule("sees to it", "makes sure, or the verb itself", r"\b[Ss](?:ees?|aw|een) to (?:it|that)\b"),
    _rule("moment", "each time, when, as soon as", r"\bin the moment (?:in which|when|that)\b"),
    _rule("of its own", "its own X", r"\b[Aa]n? (?:\w+ ){1,2}of (?:its|their|his|her|your|our|one's) own\b"),
    _rule("also if", "even if", r"\b[Aa]lso (?:if|when)\b"),
    _rule("stands", "is", r"\b(?:stands?|lies?) (?:in|on|at|under|below|above|between|beside|there|here)\b"),
    _rule("he", "it for a client or a process, they for a person", r"\b(?:[Hh]e|[Hh]is|[Hh]im|[Hh]imself)\b"),
    _rule("standard", "default", r"\b(?:by standard|as a standard|standard (?:actions?|values?|settings?|lifetime|limit))\b"),
    _rule("figures", "statistics", r"\b[Ff]igures\b"),
    _rule("folder", "directory", r"\b[Ff]olders?\b"),
    _rule("answer", "response", rf"\b(?:{_DETERMINER}) (?:answers?|reply|replies)\b"),
    _rule("time-out", "timeout", r"\b[Tt]ime-outs?\b"),
)
LONG = "long"
TITLE = "title"
ADVICE = {
    **{rule.name: rule.advice for rule in RULES},
    LONG: f"at most {MOST_WORDS} words in a sentence; 25 are better",
    TITLE: "an exercise's title says what is built",
}
RIDDLE = re.compile(r"\w+$|(?:Who|Whose|Whom|What|Where|When|Which|Why|From|To|In|On|At|By|With|Without|Only|Not)\b")

SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"”’)]*\s+(?=[\"“(]*[A-Z0-9`¤])")
WORD = re.compile(r"[\w¤][\w¤'’.+/-]*")


def sentences(text: str) -> list[str]:
    return [each for each in SENTENCE_END.split(" ".join(text.split())) if each]


def findings_of(sentence: str) -> Iterator[str]:
    """The rule of each finding in a sentence."""
    question = "?" in sentence[-3:]
    for rule in RULES:
        if rule.in_questions or not question:
            yield from (rule.name for _ in rule.pattern.finditer(sentence))
    if len(WORD.findall(sentence)) > MOST_WORDS:
        yield LONG


# --- C++ -----------------------------------------------------------------------------------------

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\\ ]*)\((?P<raw>.*?)\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
ITEM = re.compile(r"^(?:[*-]|\d\.|@\w+)\s")
ESCAPES = {"n": "\n\n", "t": " ", "r": " "}


def prose_of_code(text: str, with_strings: bool) -> Iterator[Text]:
    """Its comments, item by item, and its string literals, those side by side in one."""
    comment: list[tuple[int, str]] = []
    literal: list[str] = []
    end = column = literal_begins = 0
    line, counted = 1, 0
    for token in TOKEN.finditer(text):
        between = text[end : token.start()]
        line += text.count("\n", counted, token.start())
        counted = token.start()
        at = token.start() - text.rfind("\n", 0, token.start())
        word = token.group()
        is_comment = word.startswith(("//", "/*"))
        goes_on = not between.strip()
        if comment and not (is_comment and goes_on and between.count("\n") == 1 and at == column):
            yield from items(comment)
            comment = []
        if literal and not (goes_on and not is_comment and word[0] in 'R"'):
            yield literal_begins, "".join(literal)
            literal = []
        if is_comment:
            column = at
            lines = word[2:].removesuffix("*/").split("\n") if word.startswith("/*") else [word.lstrip("/")]
            comment += [(line + offset, each) for offset, each in enumerate(lines)]
        elif with_strings and word[0] in 'R"':
            literal_begins = literal_begins if literal else line
            literal.append(unescaped(word[1:-1]) if token["raw"] is None else token["raw"].replace("\n", "\n\n"))
        end = token.end()
    if comment:
        yield from items(comment)
    if literal:
        yield literal_begins, "".join(literal)


def unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), literal)


def items(comment: list[tuple[int, str]]) -> Iterator[Text]:
    """A comment's paragraphs and items. What is indented by itself is code."""
    begins, words, in_item = 0, [], False
    for number, line in comment:
        bare = line.strip()
        if not bare or ITEM.match(bare):
            if words:
                yield begins, " ".join(words)
            begins, words, in_item = number, [ITEM.sub("", bare, count=1)] if bare else [], bool(bare)
        elif bare.startswith("NOLINT") or (not in_item and len(line) - len(line.lstrip()) > 3):
            if words:
                yield begins, " ".join(words)
            words = []
        else:
            begins = begins if words else number
            words.append(bare)
    if words:
        yield begins, " ".join(words)


# --- pages ---------------------------------------------------------------------------------------

GENERATED = re.compile(r"<!-- (file|classes now|classes|measured|chapters|parts|layers|trust)\b.*?<!-- /\1 -->", re.DOTALL)
HIDDEN = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+).*?^(?P=indent)(?P=fence)[^\n]*$|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)
CODE = re.compile(r"(`+).+?\1", re.DOTALL)
TAG = re.compile(r"</?\w+[^<>\n]*>")  # behind CODE, which may look like one
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?: \"[^\"]*\")?\)")
EXERCISE = re.compile(r"### \d+\. (?P<title>.+) \(\w+\)$")


def _blank(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def prose_of_page(text: str) -> Iterator[Text]:
    """Its paragraphs, items, headings and cells of tables."""
    text = HIDDEN.sub(_blank, GENERATED.sub(_blank, text))
    text = CODE.sub(lambda match: "¤" + _blank(match), text)
    text = TAG.sub(_blank, text)
    text = LINK.sub(r"\1", text)
    begins, words = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip().lstrip("> ").replace("**", "")
        alone = not bare or bare.startswith(("#", "|"))
        if words and (alone or ITEM.match(bare)):
            yield begins, " ".join(words)
            words = []
        if bare.startswith("|"):
            yield from ((number, cell.strip()) for cell in bare.strip("|").split("|"))
        elif bare.startswith("#"):
            yield number, bare
        elif bare:
            begins = begins if words else number
            words.append(ITEM.sub("", bare, count=1))
    if words:
        yield begins, " ".join(words)


def findings_of_heading(heading: str) -> Iterator[str]:
    exercise = EXERCISE.match(heading)
    if exercise and RIDDLE.match(exercise["title"]):
        yield TITLE
    words = heading.lstrip("# ")
    yield from (rule for rule in findings_of(words) if rule not in ("what", "who"))  # a title has no verb


# --- the tree ------------------------------------------------------------------------------------

NOT_OURS = ("docs/zh/", "docs/measured/")
CODE_FOLDERS = ("src", "tests", "examples", "bench", "fuzz")


def files(root: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
    """What is read, under the name by which it is listed: one for all versions of a chapter's file."""
    for chapter in sorted((root / "chapters").glob("[0-9][0-9]-*")):
        for top in ("src", "tests", "examples"):
            for path in sources(chapter / top):
                yield path.relative_to(chapter).as_posix(), path
        for path in sources(chapter / "exercises"):
            yield path.relative_to(root).as_posix(), path
    for top in CODE_FOLDERS:
        for path in sources(root / "final" / top):
            yield path.relative_to(root / "final").as_posix(), path
    for path in sources(root / "cookbook"):
        yield path.relative_to(root).as_posix(), path
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "chapters").glob("*/README.md")]
    pages += (root / "cookbook").rglob("*.md")
    for path in sorted(pages):
        name = path.relative_to(root).as_posix()
        if not name.endswith(".zh.md") and not name.startswith(NOT_OURS):
            yield name, path


def sources(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))


def find(root: pathlib.Path = ROOT) -> list[Finding]:
    found: list[Finding] = []
    seen: set[tuple[str, str]] = set()  # file and sentence
    read: set[tuple[str, str]] = set()  # file and text: a copy is not looked at twice
    for name, path in files(root):
        text = path.read_text(encoding="utf-8")
        if (name, text) in read:
            continue
        read.add((name, text))
        is_page = name.endswith(".md")
        place = path.relative_to(root).as_posix()
        is_test = "tests/" in name
        for line, block in prose_of_page(text) if is_page else prose_of_code(text, with_strings=not is_test):
            is_heading = is_page and block.startswith("#")
            for paragraph in block.split("\n\n"):
                for sentence in [paragraph] if is_heading else sentences(paragraph):
                    if (name, sentence) in seen:
                        continue
                    seen.add((name, sentence))
                    rules = findings_of_heading(sentence) if is_heading else findings_of(sentence)
                    found += [Finding(name, f"{place}:{line}", rule, sentence) for rule in rules]
    return found


# --- the list ------------------------------------------------------------------------------------

HEAD = """\
# Findings of tools/english.py that are not mended yet: rule=count, of each file. `tools/english.py shrink`
# rewrites this list; a count never grows.
"""


def count(found: list[Finding]) -> Counts:
    counts: Counts = {}
    for each in found:
        of_file = counts.setdefault(each.file, collections.Counter())
        of_file[each.rule] = of_file.get(each.rule, 0) + 1
    return counts


def read_list(path: pathlib.Path) -> Counts:
    counts: Counts = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            pairs = (each.rsplit("=", 1) for each in rest.split(", "))
            counts[name] = {rule: int(number) for rule, number in pairs}
    return counts


def write_list(path: pathlib.Path, counts: Counts) -> None:
    lines = [
        f"{name}: {', '.join(f'{rule}={number}' for rule, number in sorted(of_file.items()))}\n"
        for name, of_file in sorted(counts.items())
    ]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")


def differences(there: Counts, listed: Counts) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, str, int, int]]]:
    """What is more than listed, and what is less: file, rule, listed, there."""
    pairs = sorted({(name, rule) for counts in (there, listed) for name in counts for rule in counts[name]})
    rows = [(name, rule, listed.get(name, {}).get(rule, 0), there.get(name, {}).get(rule, 0)) for name, rule in pairs]
    return [row for row in rows if row[3] > row[2]], [row for row in rows if row[3] < row[2]]


def faults(root: pathlib.Path = ROOT) -> list[str]:
    found = find(root)
    more, less = differences(count(found), read_list(root / LIST))
    lines = []
    for name, rule, listed, there in more:
        lines.append(f"{name}: {rule}: {there}, and {listed} listed; write: {ADVICE[rule]}")
        lines += [f"    {each.place}: {each.sentence}" for each in found if (each.file, each.rule) == (name, rule)]
    for name, rule, listed, there in less:
        lines.append(f"{name}: {rule}: {there}, and {listed} listed: the list can shrink, by tools/english.py shrink")
    return lines


def shrink(root: pathlib.Path = ROOT) -> list[str]:
    """Rewrites the list. @return why it does not: what has grown"""
    there = count(find(root))
    path = root / LIST
    more, _ = differences(there, read_list(path))
    if more and path.is_file():
        return [f"{name}: {rule}: {there}, and {listed} listed" for name, rule, listed, there in more]
    write_list(path, there)
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="compare the findings with the list")
    commands.add_parser("shrink", help="rewrite the list, if no count has grown")
    commands.add_parser("rules", help="the rules, and what to write instead")
    showing = commands.add_parser("show", help="print findings")
    showing.add_argument("words", metavar="WORD", nargs="*", help="part of a file's name, or a rule; default: all")
    arguments = parser.parse_args()
    if arguments.command == "rules":
        for rule, advice in ADVICE.items():
            print(f"{rule:<11} {advice}")
        return 0
    if arguments.command == "show":
        for each in find():
            if not arguments.words or any(word in each.file or word == each.rule for word in arguments.words):
                print(f"{each.place}: {each.rule}: {each.sentence}")
        return 0
    lines = faults() if arguments.command == "check" else shrink()
    for line in lines:
        print(line, file=sys.stderr)
    if arguments.command == "check":
        total = sum(number for of_file in read_list(ROOT / LIST).values() for number in of_file.values())
        print(f"english.py: {total} findings listed, {len([each for each in lines if not each.startswith(' ')])} differ")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
