"""Finds the functions of a C++ source file: where each one starts, and where its body lies.

This is no compiler: it reads declarations at namespace and class scope, the way a person skims a
file, and steps over every body without looking inside. Comments, string literals (raw ones too)
and preprocessor lines are blanked out first, so that braces in them count for nothing.

It understands what this repository's C++17 uses: nested namespaces and classes, templates,
attributes, trailing return types, operators, conversion functions, constructors with initialiser
lists, function-try-blocks and thread-safety annotations. It does not follow #if branches that
open a brace in one branch and close it in another.

    for function in functions(text):
        print(function.name, function.line, text[slice(*function.body)] if function.body else "")
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Iterable


class Kind(enum.Enum):
    FUNCTION = "function"
    CONSTRUCTOR = "constructor"
    DESTRUCTOR = "destructor"
    CONVERSION = "conversion"


@dataclasses.dataclass(frozen=True)
class Function:
    """One declaration or definition. Offsets count characters of the text it was found in."""

    name: str  # with its classes, without namespaces: "Socket::Recv", "Poller::~Poller"
    parameters: tuple[str, ...]  # types only, names and default values dropped
    qualifiers: str  # "const", "&&": what tells overloads apart besides the parameters
    returns: str  # "" for constructors and destructors; "auto" when it is deduced
    kind: Kind
    specifiers: frozenset[str]  # constexpr, static, noexcept, noreturn, template, deleted, ...
    start: int  # first character, with template<...> and attributes
    end: int  # just behind the closing brace or the semicolon
    body: tuple[int, int] | None  # from "{", or `try {`, to just behind "}"; None: a declaration
    line: int  # of `start`, counted from 1
    required_parameters: int  # those without a default value

    @property
    def class_name(self) -> str:
        """The innermost class: "Socket" for "Socket::Recv", "" for a free function."""
        return self.name.split("::")[-2] if "::" in self.name else ""

    @property
    def short_name(self) -> str:
        return self.name.split("::")[-1]

    @property
    def key(self) -> str:
        """The same for two versions of one function, different for its overloads."""
        return f"{self.name}({', '.join(self.parameters)}){self.qualifiers}"


_MASK = re.compile(
    r"""
    (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=fence)"
  | (?:u8|[uUL])?"(?P<string>(?:\\.|[^"\\\n])*)"
  | (?:u8|[uUL])?'(?P<char>(?:\\.|[^'\\\n])+)'
  | \.?\d(?:'?[\w.])*
  | [A-Za-z_]\w*
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def mask(text: str) -> str:
    """The text with comments, directives and the insides of literals blanked: same length, same lines."""

    def blank(part: str) -> str:
        return re.sub(r"[^\n]", " ", part)

    def replace(match: re.Match[str]) -> str:
        if match["directive"] is not None or match["comment"] is not None:
            return blank(match[0])
        for group in ("raw", "string", "char"):
            if match[group] is not None:
                return '"' + blank(match[0][1:-1]) + '"'
        return match[0]

    return _MASK.sub(replace, text)


_TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:'?[\w.])*|::|->|\S")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+\Z")
_CLOSING = {"(": ")", "[": "]", "{": "}"}

# Words before "(" that do not name a function.
_NOT_A_NAME = {"decltype", "alignas", "noexcept", "throw", "__attribute__", "requires", "explicit"}
_SPECIFIERS = {"constexpr", "consteval", "static", "inline", "virtual", "explicit", "friend", "extern"}
# A parameter's last word is its name unless it is one of these.
_TYPE_WORDS = set("void bool char short int long float double signed unsigned const volatile auto".split())


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_TOKEN.finditer(mask(text)))
        self.tokens = [match[0] for match in matches]
        self.offsets = [match.start() for match in matches]
        self.found: list[Function] = []

    # -- moving over tokens --

    def at(self, index: int) -> str:
        return self.tokens[index] if index < len(self.tokens) else ""

    def skip_group(self, index: int) -> int:
        """From an opening bracket to just behind its closing one."""
        waiting: list[str] = []
        while index < len(self.tokens):
            token = self.tokens[index]
            if token in _CLOSING:
                waiting.append(_CLOSING[token])
            elif waiting and token == waiting[-1]:
                waiting.pop()
            index += 1
            if not waiting:
                break
        return index

    def skip_angles(self, index: int) -> int:
        """From "<" to just behind its ">". Brackets inside are stepped over, "->" is one token."""
        depth = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            if token in _CLOSING:
                index = self.skip_group(index)
                continue
            if token in (";", "}"):  # it was a comparison after all
                return index
            depth += (token == "<") - (token == ">")
            index += 1
            if depth == 0:
                break
        return index

    def skip_statement(self, index: int) -> int:
        """To just behind the next ";" that stands outside all brackets."""
        while index < len(self.tokens):
            token = self.tokens[index]
            if token == ";":
                return index + 1
            if token == "}":  # the scope ends without a semicolon
                return index
            index = self.skip_group(index) if token in _CLOSING else index + 1
        return index

    def skip_attributes(self, index: int) -> int:
        while True:
            if self.at(index) == "[" and self.at(index + 1) == "[":
                index = self.skip_group(index)
            elif self.at(index) in ("alignas", "__attribute__") and self.at(index + 1) == "(":
                index = self.skip_group(index + 1)
            else:
                return index

    def skip_class_attributes(self, index: int) -> int:
        """Between `class` and its name there may be macros too: MY_API, MY_CAPABILITY("mutex")."""
        while True:
            after = self.skip_attributes(index)
            if _MACRO.match(self.at(after)) and self.at(after + 1) == "(":
                after = self.skip_group(after + 1)
            elif _MACRO.match(self.at(after)) and _WORD.match(self.at(after + 1)):
                after += 1
            if after == index:
                return index
            index = after

    # -- scopes --

    def scope(self, index: int, classes: tuple[str, ...]) -> int:
        """Reads declarations up to the "}" that ends the scope; returns the place of that "}"."""
        while index < len(self.tokens) and self.tokens[index] != "}":
            token = self.tokens[index]
            if token == ";":
                index += 1
            elif token in ("public", "private", "protected") and self.at(index + 1) == ":":
                index += 2
            elif token == "namespace" or (token == "inline" and self.at(index + 1) == "namespace"):
                while self.at(index) not in ("{", ";", ""):
                    index += 1
                index = self.inner_scope(index, classes) if self.at(index) == "{" else index + 1
            elif token == "extern" and self.at(index + 1) == '"':
                index += 3  # extern "C": the literal is blanked, its quotes are two tokens
                if self.at(index) == "{":
                    index = self.inner_scope(index, classes)
            elif token in ("using", "typedef", "static_assert"):
                index = self.skip_statement(index)
            else:
                after = self.declaration(index, classes)
                index = after if after > index else index + 1
        return index

    def inner_scope(self, brace: int, classes: tuple[str, ...]) -> int:
        return self.scope(brace + 1, classes) + 1

    def declaration(self, index: int, classes: tuple[str, ...]) -> int:
        start = index
        specifiers: set[str] = set()
        while True:
            after = self.skip_attributes(index)
            specifiers.update({"noreturn"} & set(self.tokens[index:after]))
            index = after
            if self.at(index) == "template":
                specifiers.add("template")
                index = self.skip_angles(index + 1)
            elif self.at(index) in _SPECIFIERS:
                specifiers.add(self.tokens[index])
                index += 1
            else:
                break
        if self.at(index) in ("class", "struct", "union", "enum"):
            brace = self.class_brace(index)
            if brace is not None:
                if self.at(index) == "enum":
                    return self.skip_statement(self.skip_group(brace))
                name = self.class_name(index + 1)
                return self.skip_statement(self.inner_scope(brace, (*classes, *name)))
        return self.declarator(start, index, specifiers, classes)

    def class_brace(self, index: int) -> int | None:
        """The "{" of a class definition; None when the words only name a type."""
        index += 1
        while index < len(self.tokens):
            index = self.skip_class_attributes(index)
            token = self.at(index)
            if token == "{":
                return index
            if token in ("(", ";", "=", ")", "}"):
                return None
            index = self.skip_angles(index) if token == "<" else index + 1
        return None

    def class_name(self, index: int) -> tuple[str, ...]:
        name: list[str] = []
        while True:
            index = self.skip_class_attributes(index)
            token = self.at(index)
            if token == "<":
                index = self.skip_angles(index)
            elif token == "::":
                index += 1
            elif _WORD.match(token) and token not in ("class", "struct", "final"):
                name.append(token)
                index += 1
            elif token in ("class", "struct"):
                index += 1
            else:
                return tuple(name) or ("(unnamed)",)

    # -- functions --

    def declarator(self, start: int, index: int, specifiers: set[str], classes: tuple[str, ...]) -> int:
        """From behind the specifiers: a function, a variable, or something to step over."""
        first = index
        name_at = index
        name: list[str] = []  # the qualified name that ends at the current token
        open_name = False  # the last token was "::" or "~": the next word belongs to the name
        while index < len(self.tokens):
            token = self.tokens[index]
            if token == "operator":
                if not open_name:
                    name, name_at = [], index
                word, conversion, index = self.operator_name(index)
                returns = conversion or self.spelled(first, name_at)
                return self.parameters(
                    start, index, [*name, word], returns, specifiers, classes, bool(conversion)
                )
            if token == "(":
                before = self.tokens[index - 1] if index > first else ""
                if before in _NOT_A_NAME:
                    index = self.skip_group(index)
                elif name and not open_name and self.at(index + 1) not in ("*", "&", "^"):
                    returns = self.spelled(first, name_at)
                    return self.parameters(start, index, name, returns, specifiers, classes, False)
                else:
                    return self.skip_statement(index)
            elif token in ("=", "{", ";", "}", ":"):
                return self.skip_statement(index)
            elif token == "<":
                index = self.skip_angles(index)
                open_name = False
            elif token == "::":
                if not name:
                    name_at = index
                open_name = True
                index += 1
            elif token == "~":
                if not open_name:
                    name, name_at = [], index
                open_name = True
                index += 1
                name.append("~")
            elif _WORD.match(token):
                if open_name and name and name[-1] == "~":
                    name[-1] = "~" + token
                elif open_name:
                    name.append(token)
                else:
                    name, name_at = [token], index
                open_name = False
                index += 1
            elif token == "[":
                index = self.skip_group(index)
            else:
                name, open_name = [], False
                index += 1
        return index

    def operator_name(self, index: int) -> tuple[str, str, int]:
        """("operator==", "", place of "(") or, for a conversion, ("operator bool", "bool", ...)."""
        index += 1
        begin = index
        if self.at(index) == "(" and self.at(index + 1) == ")":
            return "operator()", "", index + 2
        while self.at(index) not in ("(", ""):
            index = self.skip_angles(index) if self.at(index) == "<" and index > begin and _WORD.match(
                self.tokens[index - 1]) else index + 1
        word = self.tokens[begin:index]
        spelled = self.spelled(begin, index)
        if word and _WORD.match(word[0]) and word[0] not in ("new", "delete", "co_await"):
            return f"operator {spelled}", spelled, index
        return "operator" + (" " if word and _WORD.match(word[0]) else "") + "".join(word), "", index

    def parameters(
        self,
        start: int,
        index: int,
        name: list[str],
        returns: str,
        specifiers: set[str],
        classes: tuple[str, ...],
        conversion: bool,
    ) -> int:
        """From the "(" of the parameter list to behind the body or the semicolon."""
        open_at = index
        index = self.skip_group(index)
        close_at = index - 1
        qualifiers = ""
        specifiers = set(specifiers)
        body = None
        tried: int | None = None
        while index < len(self.tokens):
            token = self.tokens[index]
            if token in ("const", "volatile"):
                qualifiers += " " + token
                index += 1
            elif token == "&":
                qualifiers += "&"
                index += 1
            elif token in ("noexcept", "throw"):
                specifiers.add("noexcept")
                index = self.skip_group(index + 1) if self.at(index + 1) == "(" else index + 1
            elif token == "[":
                index = self.skip_group(index)
            elif token == "->":
                begin = index + 1
                index = self.return_type_end(begin)
                returns = self.spelled(begin, index)
            elif token == "=":
                specifiers.update({"default": {"defaulted"}, "delete": {"deleted"}, "0": {"pure"}}.get(
                    self.at(index + 1), set()))
                index = self.skip_statement(index)
                break
            elif token == ";":
                index += 1
                break
            elif token == "try" and self.at(index + 1) == "{":
                tried = index
                index += 1
            elif token == "try" or token == ":":
                specifiers.update({"try"} & {token})
                if token == "try" and self.at(index + 1) == ":":
                    index += 1
                if self.at(index) == ":":
                    index = self.initialisers(index + 1)
                if self.at(index) != "{":
                    return self.skip_statement(index)
            elif token == "{":
                begin = index if tried is None else tried
                index = self.skip_group(index)
                while self.at(index) == "catch":
                    index = self.skip_group(self.skip_group(index + 1))
                body = (self.offsets[begin], self.offsets[index - 1] + 1)
                break
            elif _WORD.match(token):  # override, final, an annotation such as GUARDED_BY(mutex_)
                index = self.skip_group(index + 1) if self.at(index + 1) == "(" else index + 1
            else:  # a variable such as `Foo a(1), b(2);`
                return self.skip_statement(index)
        else:
            return index

        full_name = [*classes, *name]
        kind = Kind.FUNCTION
        if conversion:
            kind = Kind.CONVERSION
        elif name[-1].startswith("~"):
            kind = Kind.DESTRUCTOR
        elif not returns and len(full_name) > 1 and full_name[-1] == full_name[-2]:
            kind = Kind.CONSTRUCTOR
        types, required = self.parameter_types(open_at + 1, close_at)
        self.found.append(
            Function(
                name="::".join(full_name),
                parameters=types,
                qualifiers=qualifiers,
                returns=returns if kind is not Kind.CONSTRUCTOR else "",
                kind=kind,
                specifiers=frozenset(specifiers),
                start=self.offsets[start],
                end=self.offsets[index - 1] + 1,
                body=body,
                line=self.text.count("\n", 0, self.offsets[start]) + 1,
                required_parameters=required,
            )
        )
        return index

    def return_type_end(self, index: int) -> int:
        while index < len(self.tokens):
            token = self.tokens[index]
            if token in ("{", ";", "=", "try", "override", "final", "requires"):
                return index
            if token == "<":
                index = self.skip_angles(index)
            elif token in _CLOSING:
                index = self.skip_group(index)
            else:
                index += 1
        return index

    def initialisers(self, index: int) -> int:
        """From behind the ":" of a constructor to the "{" of its body."""
        while index < len(self.tokens):
            while self.at(index) not in ("(", "{", "", ";"):
                index = self.skip_angles(index) if self.at(index) == "<" else index + 1
            index = self.skip_group(index)
            while self.at(index) == ".":  # a pack expansion
                index += 1
            if self.at(index) != ",":
                return index
            index += 1
        return index

    def parameter_types(self, begin: int, end: int) -> tuple[tuple[str, ...], int]:
        types: list[str] = []
        required = 0
        while begin < end:
            stop = begin
            default = end
            while stop < end and self.tokens[stop] != ",":
                token = self.tokens[stop]
                if token == "=" and default == end:
                    default = stop
                if token == "<" and default == end:
                    stop = self.skip_angles(stop)
                else:
                    stop = self.skip_group(stop) if token in _CLOSING else stop + 1
            last = min(stop, default)
            required += default >= stop
            words = self.tokens[begin:last]
            if (
                len(words) > 1
                and _WORD.match(words[-1])
                and words[-1] not in _TYPE_WORDS
                and words[-2] not in ("::", "struct", "class", "enum")
                and set(words[:-1]) - {"const", "volatile"}
            ):
                last -= 1
            types.append(self.spelled(begin, last))
            begin = stop + 1
        if types == ["void"]:
            return (), 0
        return tuple(types), required

    def spelled(self, begin: int, end: int) -> str:
        """Tokens as one line: a space only where two words meet."""
        line = ""
        for token in self.tokens[begin:end]:
            if line and _WORD.match(token) and (line[-1].isalnum() or line[-1] in "_>*&,"):
                line += " "
            line += token
        return line


def functions(text: str) -> list[Function]:
    """All declarations and definitions at namespace and class scope, in the order of the text."""
    parser = _Parser(text)
    index = 0
    while index < len(parser.tokens):
        index = parser.scope(index, ()) + 1  # a stray "}" ends a scope: go on behind it
    return parser.found


def definitions(text: str) -> list[Function]:
    """Only the functions that have a body."""
    return [function for function in functions(text) if function.body]


def comment_above(text: str, offset: int) -> str:
    """The comment whose last line stands directly above the line of `offset`, without its slashes."""
    lines = text[: text.rfind("\n", 0, offset) + 1].splitlines()
    found: list[str] = []
    while lines and (match := re.match(r"\s*///?<?(?: (.*)|\s*)$", lines[-1])):
        found.insert(0, (match[1] or "").strip())
        lines.pop()
    return "\n".join(found).strip()


def comment_behind(text: str, offset: int) -> str:
    """The comment on the rest of the line of `offset`, without its slashes."""
    match = re.compile(r"[ \t]*///?<?[ \t]+(.+)").match(text, offset)
    return match[1].strip() if match else ""


def first_sentence(comment: str) -> str:
    """The first sentence of a comment, Doxygen commands and list marks left out."""
    text = re.sub(r"\A\s*[@\\](?:brief|returns?)\s+", "", comment)
    text = re.split(r"\n\s*\n|^\s*[@\\]\w+", text, maxsplit=1, flags=re.MULTILINE)[0]
    text = " ".join(text.split())
    match = re.match(r"(.+?[.!?])(?=\s+[A-Z`(]|\s*$)", text)
    return (match[1] if match else text).strip()


def normalised(body: str) -> str:
    """A body without comments and layout, to tell whether two versions do the same."""
    pieces: list[str] = []
    position = 0
    for match in _MASK.finditer(body):  # literals stay, comments go
        if match["comment"] is not None:
            pieces.append(body[position : match.start()])
            position = match.end()
    pieces.append(body[position:])
    return " ".join(re.findall(r'"(?:\\.|[^"\\])*"|\w+|\S', "".join(pieces)))


def without_default_constructor(found: Iterable[Function]) -> set[str]:
    """Short names of the classes whose constructors all need an argument, so that `{}` makes none."""
    constructors: dict[str, list[Function]] = {}
    for function in found:
        if function.kind is Kind.CONSTRUCTOR and function.class_name:
            constructors.setdefault(function.class_name, []).append(function)

    def is_copy_or_move(function: Function) -> bool:
        return len(function.parameters) == 1 and re.fullmatch(
            rf"(const )?{re.escape(function.class_name)}&&?", function.parameters[0]
        ) is not None

    needy = set()
    for name, declared in constructors.items():
        # An explicit constructor can't serve `return {};` either.
        plain = [
            each
            for each in declared
            if each.required_parameters == 0 and not each.specifiers & {"deleted", "explicit"}
        ]
        if not plain and any(not is_copy_or_move(each) or "deleted" in each.specifiers for each in declared):
            needy.add(name)
    return needy
