"""costate(3) from costate.h: its first comment describes, each part is a section: what is declared, as it is, with its
comments as text between.

    man.py HEADER OUTPUT
"""
import re
import sys
import textwrap
from pathlib import Path

PART = re.compile(r"/\* -{4,} (?P<title>[^\n]+?) -{4,} \*/\n")
COMMENT = re.compile(r"^/\*.*?\*/\n", re.S | re.M)          # at the margin: beside declarations they stay there


def plain(text):
    """text for roff: backslashes and dashes are to be seen as they are, quotes and dots begin no requests"""
    seen = {"\\": r"\e", "-": r"\-", "^": r"\(ha", "~": r"\(ti", "`": r"\(ga", "'": r"\(aq"}
    return re.sub(r"^\.", r"\\&.", "".join(seen.get(letter, letter) for letter in text), flags=re.M)


def code(text):
    return [".PP", ".nf", plain(text.strip("\n")), ".fi"] if text.strip() else []


def filled(text):
    """a paragraph, in lines as roff likes them"""
    return plain("\n".join(textwrap.wrap(" ".join(text.split()), 72, break_long_words=False, break_on_hyphens=False)))


def words(comment):
    """a comment: its paragraphs; those indented deeper, too, or as they are where they are formulas or a table"""
    lines = [re.sub("^   ", "", line).rstrip() for line in comment.strip()[2:-2].strip().split("\n")]
    out = []
    for block in re.split(r"\n\n+", "\n".join(lines)):
        text = textwrap.dedent(block).strip("\n")
        if text == block:
            out += [".PP", filled(text)]
        elif re.search(r"\||\S   |^(?! )\S.*\n +", text):
            out += [".PP", ".RS 4", ".nf", plain(text), ".fi", ".RE"]
        else:
            out += [".PP", ".RS 4", filled(text), ".RE"]
    return out


def part(text):
    """declarations and comments in their order"""
    out, at = [], 0
    for found in COMMENT.finditer(text):
        out += code(text[at:found.start()]) + words(found.group())
        at = found.end()
    return out + code(text[at:])


def page(header):
    header = re.sub(r"/\*\*<?", "/*", header)              # marks of Doxygen
    version = re.search(r'#define COSTATE_VERSION "([^"]*)"', header).group(1)
    first, rest = re.match(r"(/\*.*?\*/\n)(.*)", header, re.S).groups()
    name, title = re.match(r"/\* (\w+)\.h - (.*?)\.\n", first).groups()
    rest = re.sub(r'\n#ifdef __cplusplus\n.*?\n#endif', "", rest, flags=re.S)           # extern "C" is no news
    rest = re.sub(r"#ifndef COSTATE_NO_HANDSHAKE.*?#endif\n", "", rest, flags=re.S)
    titles = PART.split(rest)
    out = [f'.\\" Made from {name}.h by the build.', f'.TH {name.upper()} 3 "" "{name} {version}" "Library Functions"',
           ".nh", ".ad l", ".SH NAME", f"{name} \\- {plain(title)}", ".SH SYNOPSIS", ".nf",
           "#include <costate/costate.h>",
           "", plain("cc program.c $(pkg-config --cflags --libs costate)"), ".fi", ".SH DESCRIPTION"]
    out += words(re.sub(r"^/\*[^\n]*\n\n?", "/* ", first))[1:]
    out += code("\n".join(re.findall(r"^#define COSTATE_VERSION .*$", header, re.M)))
    for title, text in zip(titles[1::2], titles[2::2]):
        out += [".SH " + plain(title.split(":")[0].upper())] + part(text.replace("#endif\n", ""))[1:]
    out += [".SH SEE ALSO", "The documentation of costate, docs/index.md in its source;",
            "<costate/accuracy.h>, errors of gradients;",
            "<costate/bvp.h>, boundary value problems;",
            "<costate/ensemble.h>, many runs over threads;",
            "<costate/lanes.h>, several runs side by side in one;",
            "<costate/linsol.h>, what a linear solver does;",
            "<costate/operators.h>, matrices of W-methods;",
            "<costate/periodic.h>, periodic orbits;",
            "<costate/steady.h>, steady states."]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    source, output = sys.argv[1:]
    Path(output).write_text(page(Path(source).read_text(encoding="utf-8")), encoding="utf-8")
