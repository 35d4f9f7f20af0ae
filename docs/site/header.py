"""A C header as parts: titles, comments, declarations with the comments and members that belong to them.

What begins a part is a comment /* ---- title ---- */.  A comment that begins at the margin is a text of its own; one
behind a declaration, or indented on lines after it, belongs to the declaration; so do those of members."""
import re
from dataclasses import dataclass, field

PART = re.compile(r"^/\* -{4,} (?P<title>[^\n]+?) -{4,} \*/\n", re.M)
TOKEN = re.compile(r"/\*.*?\*/", re.S)
GUARDS = re.compile(r"^#ifdef __cplusplus\n.*?\n#endif\n|^#include [^\n]*\n|^#ifndef COSTATE_\w*H\n#define [^\n]*\n",
                    re.S | re.M)
BODY = re.compile(r"^(static inline [^{]*?)((?:\s*/\*[^\n]*\*/)?)\n\{\n.*?^\}\n", re.S | re.M)


@dataclass
class Text:
    """A comment at the margin."""
    text: str
    apart: bool = True               # an empty line is before it
    names = ()


@dataclass
class Member:
    """A member of a struct or enum; code "" is a comment between members, of those that follow."""
    code: str
    text: str
    names: list


@dataclass
class Declaration:
    code: str                        # without comments; of a struct and enum without its members
    text: str
    name: str
    members: list = field(default_factory=list)
    own: list = field(default_factory=list)          # the names of enumerators, which are public
    head: str = ""                   # code of a struct and enum: up to its members, and behind them
    tail: str = ""

    @property
    def names(self):
        return [self.name, *self.own] if self.name else self.own


@dataclass
class Part:
    title: str
    items: list


@dataclass
class Header:
    name: str
    title: str
    text: str
    parts: list

    def names(self):
        return [name for part in self.parts for item in part.items for name in item.names]


def words(comment):
    """a comment without its marks, its lines dedented"""
    return "\n".join(re.sub("^   ", "", line).rstrip() for line in comment.strip()[2:-2].strip().split("\n"))


def parse(text):
    first, rest = re.match(r"(/\*.*?\*/)\n(.*)", text, re.S).groups()
    name, title, about = re.match(r"(\S+) - (.*?\.)\n(.*)", words(first) + "\n", re.S).groups()
    rest = GUARDS.sub("", rest)
    rest = re.sub(r"^#(ifndef COSTATE_NO_HANDSHAKE|endif)\n", "", rest, flags=re.M)
    rest = BODY.sub(r"\1;\2\n", rest)
    pieces = PART.split(rest)
    parts = [Part(title, list(items(text))) for title, text in zip(["", *pieces[1::2]], pieces[::2])]
    return Header(name, title, about.strip("\n"), [part for part in parts if part.items])


def items(text):
    """The comments at the margin and the declarations of a part, in their order."""
    at = 0
    while at < len(text):
        if text[at] == "\n":
            at += 1
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield Text(words(text[at:end]), text[max(0, at - 2):at] in ("", "\n", "\n\n"))
            at = end
        else:
            end = extent(text, at)
            found = declaration(text[at:end])
            if found:
                yield found
            at = end


def extent(text, at):
    """Where the declaration at `at` ends, with the comments behind it and on indented lines after it."""
    depth, macro = 0, text[at] == "#"
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0 and (text[at - 1] == ";" or macro and text[at:at + 1] in ("\n", "")):
            break
        if macro and text.startswith("/*", at):
            break
    more = re.compile(r"[ ]*/\*.*?\*/|\n[ ]+/\*.*?\*/", re.S)
    while found := more.match(text, at):
        at = found.end()
    return at


def split(text):
    """(code, comments) of a declaration"""
    comments = " ".join(" ".join(words(c).split()) for c in TOKEN.findall(text))
    code = re.sub(r"[ ]*\n\s*\n", "\n", TOKEN.sub("", text))
    return "\n".join(line.rstrip() for line in code.strip().split("\n")), comments


def declaration(text):
    braces = re.match(r"((?:typedef )?(?:struct|enum)[^{;]*\{)(.*)(\}[^}]*?;)(.*)", text, re.S)
    if braces:
        return with_members(*braces.groups())
    code, comments = split(text)
    return Declaration(code, comments, name_of(code)) if code else None


def name_of(code):
    for pattern in (r"#define (\w+)", r"typedef int \(\*(\w+)\)", r"^[^()]*?\b(\w+)\s*\(", r"(\w+)\s*;$"):
        found = re.search(pattern, code)
        if found:
            return found.group(1)
    return ""


def with_members(head, body, tail, behind):
    kind = re.search(r"struct|enum", head).group()
    above = re.match(r"[ ]*/\*.*?\*/", body, re.S)             # on the line of the brace: of the whole
    if above:
        body = body[above.end():]
    comments = [" ".join(words(c).split()) for c in TOKEN.findall((above.group() if above else "") + behind)]
    members = list(enumerators(body) if kind == "enum" else fields(body))
    named = re.search(r"(\w+)\s*;", tail) or re.search(r"(?:struct|enum) (\w+)", head)
    return Declaration("", " ".join(comments), named.group(1) if named else "", members,
                       [name for m in members for name in m.names] if kind == "enum" else [], head, tail)


@dataclass
class Row:
    """What rows() finds: code "" is a comment between members; fresh: the code begins a line."""
    code: str
    text: str
    fresh: bool = True


def rows(body, ends):
    """The members of a body, which `ends` ends, with their comments: a comment belongs to the code before it on its
    line or, where it is deeper than members are, on a line before; else it stands alone."""
    out, at, depth, begun = [], 0, 0, 0
    while at < len(body):
        if body.startswith("/*", at):
            end = body.index("*/", at) + 2
            begun = remark(out, body, begun, at, end, depth, ends)
            at = end
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(body[at], 0)
        at += 1
        if body[at - 1] == ends and depth == 0:
            if code := bare(body[begun:at]).strip(ends + " "):
                out.append(Row(code, "", fresh(body[begun:at])))
            begun = at
    if rest := bare(body[begun:]):
        out.append(Row(rest, "", fresh(body[begun:])))
    return out


def remark(out, body, begun, at, end, depth, ends):
    """A comment in a body goes to what it is about; returns where the code after it begins."""
    code, line = bare(body[begun:at]), body[body.rfind("\n", 0, at) + 1:at]
    if code and depth == 0:                                      # before the end of a member, or behind the last one
        out.append(Row(code, words(body[at:end]), fresh(body[begun:at])))
        return end
    if line.strip() or len(line) > 4 and out:
        out[-1].text = (out[-1].text + " " + words(body[at:end])).strip()
        return begun if code else end
    out.append(Row("", words(body[at:end])))
    return end


def bare(text):
    return TOKEN.sub("", text).strip()


def fresh(text):
    return "\n" in text[:len(text) - len(text.lstrip())]


def fields(body):
    for row in rows(body, ";"):
        code = re.sub(r"\n\s+", " ", row.code)
        yield Member(code + ";" if code else "", " ".join(row.text.split()), members_of(code))


def members_of(code):
    flat = re.sub(r"\(\*(\w+)\)\s*(\(.*\)|\[\w+\])", r"\1", code, flags=re.S)
    return [re.search(r"(\w+)(?:\[\w+\])*\s*$", part).group(1)
            for part in flat.split(",") if re.search(r"\w", part)]


def enumerators(body):
    """A line of several is one row; the comment on it is theirs."""
    line = []
    for row in rows(body, ","):
        if line and (row.fresh or not row.code):
            yield named(line, "")
            line = []
        if not row.code:
            yield Member("", " ".join(row.text.split()), [])
            continue
        line.append(row.code)
        if row.text:
            yield named(line, row.text)
            line = []
    if line:
        yield named(line, "")


def named(line, text):
    return Member(", ".join(line), " ".join(text.split()), [x.split("=")[0].strip() for x in line])
