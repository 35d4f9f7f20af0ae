"""Joins source files of a library into one: the project's headers where they are included first, each system header
once, functions between files static, and names that several files have for themselves made different."""
import re

from declarations import TAGGED, declared
from tokens import directives, tokens

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">].*\n', re.M)
GUARD = re.compile(r"^#ifndef (COSTATE_\w+_H)\n#define \1\n(.*)^#endif\n\Z", re.M | re.S)
# The system's headers are all read with the most that they can show, instead of file by file.
FEATURES = re.compile(r"^#define _[A-Z]\w*_SOURCE\b.*\n", re.M)
PUBLIC, PRIVATE, SHARED = "costate_", "COSTATE_PRIVATE", "costate_internal_"


class Refused(Exception):
    """The sources cannot be joined; the text says why."""


class File:
    """A source file, or a header with a guard; headers without one are part of the file that includes them."""

    def __init__(self, path, text, headers):
        self.path, self.headers = path, headers
        guarded = GUARD.search(text)
        self.guarded = bool(guarded)
        if guarded:
            text = text[:guarded.start()] + guarded[2]
        text = FEATURES.sub("", text)
        text = INCLUDE.sub(lambda found: self.inside(found), text)
        self.tokens = tokens(text)
        self.has = declared(self.tokens)
        self.includes = [found[2] for found in INCLUDE.finditer(text) if found[2] in headers]

    def inside(self, found):
        name = found[2]
        if name not in self.headers or GUARD.search(self.headers[name]):
            return found[0]
        return INCLUDE.sub("", self.headers[name])

    def label(self, name):
        """The name that a name of room/file.c gets: name_room_file"""
        return re.sub(r"\W", "_", f"{name}_{self.path.rpartition('.')[0]}")


class Joined:
    """files: {path: text} in order; headers: {name in include lines: text} of the project's own"""

    def __init__(self, files, headers):
        self.texts = headers
        self.headers, self.known = {}, {}
        self.files = [File(path, text, headers) for path, text in files.items()]
        for file in self.files:
            self.find(file)
        self.functions = {x for f in self.files for x in f.has.public if not x.startswith(PUBLIC)}
        self.shared = {x for f in self.files for x in f.has.shared if not x.startswith(PUBLIC)}
        self.by_macros = dict.fromkeys(self.headers, set())     # names that macros use: by #define, not by tokens
        self.of_headers = {name: self.twice(header) for name, header in self.headers.items()}
        self.names = {file.path: self.renamed(file) for file in self.files}
        for name, header in self.headers.items():
            self.names[name] = self.with_headers_names(header, self.of_headers[name])
        self.seen = set()

    def find(self, file):
        for name in file.includes:
            if name not in self.headers:
                self.headers[name] = None
                self.headers[name] = File(name, self.texts[name], self.texts)
                self.find(self.headers[name])

    def visible(self, file):
        """All headers that a file includes, others of them as well."""
        if file.path not in self.known:
            found = {}
            for name in file.includes:
                found |= {name: self.headers[name]} | {h.path: h for h in self.visible(self.headers[name])}
            self.known[file.path] = list(found.values())
        return self.known[file.path]

    # ---- which names become others ----

    def renamed(self, file):
        """({ordinary name: new name}, {tag: new name}) of the names that a file has for itself and others have, too"""
        own = self.visible(file)
        known = set().union(*(h.has.ordinary() for h in own))
        tags = set().union(*(h.has.mentioned for h in own))
        headers = [h.has for h in self.headers.values() if h not in own]
        others = [f.has for f in self.files if f is not file] + headers
        taken = set().union(self.functions, *(x.ordinary() for x in others), *(x.mentions for x in headers))
        taken_tags = set().union(*(x.mentioned for x in others))
        names = {x: file.label(x) for x in file.has.own() if x not in known and x in taken}
        used = set().union(*(h.has.of_macros() for h in own))
        self.by_macros[file.path] = {x for x in names if x in used or x in file.has.pasted}
        return self.with_headers_names(file, (names, {x: file.label(x) for x in (file.has.tags - tags) & taken_tags}))

    def with_headers_names(self, file, own):
        """These names, and those of headers that the file includes"""
        names, tags = map(dict, own)
        for header in self.visible(file):
            names |= self.of_headers[header.path][0]
            tags |= self.of_headers[header.path][1]
        return names, tags

    def twice(self, header):
        """The same of what a header defines, and another header, too, which no file includes with it"""
        others = [h.has for h in self.headers.values() if h is not header]
        taken = set().union(self.functions, self.shared, *(x.defined() for x in others))
        tags = set().union(*(x.tags for x in others))
        return {x: header.label(x) for x in header.has.defined() & taken}, \
            {x: header.label(x) for x in header.has.tags & tags}

    def check(self):
        """Macros of headers are seen by all that follows."""
        for file in self.files:
            names = {t.text for t in file.tokens if t.kind == "name"} - set(self.names[file.path][0])
            own = self.visible(file)
            for name, header in self.headers.items():
                both = names & set(header.has.macros)
                if both and header not in own:
                    raise Refused(f"{file.path} uses {', '.join(sorted(both))}, a macro of {name}, which it does not "
                                  "include: rename one of them")

    # ---- text ----

    def text(self, file, names, tags):
        """The tokens with other names, as far as they are names: no members, which have a scope of their own"""
        out, before = [], ""
        starts = {place for place, found in file.has.prototypes if self.functions.intersection(found)} \
            if file.guarded else set()
        for k, token in enumerate(file.tokens):
            new = token.text
            if token.kind == "name" and k not in file.has.members and before not in (".", "->"):
                new = (tags if before in TAGGED else names).get(new, new)
            if token.counts:
                before = token.text
            out.append(f"{PRIVATE} {new}" if k in starts else new)
        return "".join(out)

    def part(self, file):
        shared = {x: SHARED + x for x in self.shared}
        names, tags = self.names[file.path]
        through = {x: names[x] for x in names if x in self.by_macros[file.path]}
        text = self.text(file, {**shared, **{x: new for x, new in names.items() if x not in through}}, tags)
        end = max((found.end() for found in INCLUDE.finditer(text)), default=0)
        text = self.with_headers(text[:end]) + "".join(f"#define {x} {new}\n" for x, new in sorted(through.items())) + \
            text[end:]
        file.has.macros |= dict.fromkeys(through)
        return text

    def with_headers(self, text):
        """Include lines replaced: by the text of a header that is included first here, or by nothing."""
        out, at = [], 0
        for found in INCLUDE.finditer(text):
            out += [text[at:found.start()], self.included(found, conditional(text[:found.start()]))]
            at = found.end()
        return "".join(out) + text[at:]

    def included(self, found, conditional):
        name = found[2]
        if conditional and name not in self.texts:
            return found[0]
        if name in self.seen:
            return ""
        self.seen.add(name)
        if name in self.texts:
            return f"\n/* ---- {name} ---- */\n\n" + self.part(self.headers[name])
        return f'#include "{name}"\n' if name.startswith("costate/") else f"#include <{name}>\n"

    def all(self):
        """The text of all files."""
        self.check()
        out = []
        for file in self.files:
            out.append(f"\n/* ==== {file.path} ==== */\n\n{self.part(file)}")
            kept = [file.tokens[line[2]].text for line in directives(file.tokens)
                    if len(line) > 2 and file.tokens[line[1]].text == "undef"]
            out += [f"#undef {x}\n" for x in sorted(set(file.has.macros) - set(kept))]
        return "".join(out)


def conditional(text):
    """Whether a text ends between #if and #endif."""
    return len(re.findall(r"^[ \t]*#[ \t]*if", text, re.M)) > len(re.findall(r"^[ \t]*#[ \t]*endif", text, re.M))
