"""docs/explanation/mathematics.md and what cites it: each citation in the code leads to an equation or a section, the
numbers are in order, formulas are well-formed, and the files that the text names exist.

    test_mathematics.py SOURCE     reports in the format of cmocka

A citation is  (mathematics, eq. 3.2)  or  (mathematics, section 5.4 and 5.5),  eq. 3.2 to 3.4  for several; others may
follow it in the same parentheses."""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all, tracked  # noqa: E402

root = sys.argv[1]

DOCUMENT = "docs/explanation/mathematics.md"
CITED_IN = ("src", "include", "codegen", "tests", "bench", "docs", "examples", "fortran")
NUMBER = r"(?:\d+(?:\.\d+)?|[A-Z])"
CITATION = re.compile(r"mathematics, (eq\.|section) (%s)(?: (?:to|and) (%s))?(?=[;,:)])" % (NUMBER, NUMBER))
BEGUN = re.compile(r"\(mathematics\b(?!\.md)|\bmathematics, (?:eq|section)")
OLD = "step" + "-maps"
PAIRS = {r"\left": r"\right", r"\begin": r"\end", "{": "}", "(": ")", "[": "]"}


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


class Document:
    """equations, sections: numbers in the order of the text; formulas: (line, LaTeX, on lines of its own)"""

    def __init__(self, text):
        self.equations, self.sections, self.formulas, self.faults, self.prose = [], [], [], [], []
        self.read(text)

    def read(self, text):
        display, begun = None, 0
        for k, line in enumerate(text.split("\n"), 1):
            if line.strip() == "$$":
                if display is not None:
                    self.formulas.append((begun, "\n".join(display), True))
                display, begun = ([], k) if display is None else (None, 0)
            elif display is not None:
                display.append(line)
                self.add_tags(k, line)
            else:
                self.add_line(k, line)
        if display is not None:
            self.faults.append("line %d: $$ is not closed" % begun)

    def add_tags(self, k, line):
        for tag in re.findall(r"\\tag\{([^}]*)\}", line):
            self.equations.append(tag)
            if tag.split(".")[0] != self.chapter():
                self.faults.append("line %d: equation %s stands in chapter %s" % (k, tag, self.chapter()))

    def add_line(self, k, line):
        found = re.match(r"(##|###) (?:Appendix )?(%s)\b" % NUMBER, line)
        if found:
            self.sections.append(found.group(2))
        line = re.sub(r"`[^`]*`", "`code`", line)
        self.formulas += [(k, x, False) for x in re.findall(r"\$([^$]*)\$", line)]
        rest = re.sub(r"\$[^$]*\$", "", line)
        self.prose.append((k, rest))
        if "$" in rest:
            self.faults.append("line %d: a $ without another one" % k)

    def chapter(self):
        return self.sections[-1].split(".")[0] if self.sections else ""

    def has(self, kind, number):
        return number in (self.equations if kind == "eq." else self.sections)


def in_order(numbers):
    """What is wrong with "1", "1.1", "1.2", "2", ...: chapters and their parts go up by one."""
    wrong, last = [], (0, 0)
    for number in numbers:
        if number.isalpha():
            continue
        now = tuple(int(x) for x in (number + ".0").split(".")[:2])
        follows = now == (last[0], last[1] + 1) or now[0] > last[0] and now[1] <= 1
        wrong += [] if follows else [number]
        last = now
    return wrong


def joined(text):
    """Comments as running text: without what their lines begin with."""
    return re.sub(r"\s*\n[ \t]*(?:\*(?!/)|//|#|!)?[ \t]*", " ", text)


def citations_of(text):
    """(kind, number) of each; and those that are begun, but not in the form of one."""
    text = joined(text)
    good = [(m.start(), m.group(1), [x for x in m.groups()[1:] if x]) for m in CITATION.finditer(text)]
    starts = {start for start, _, _ in good}
    malformed = [text[m.start():m.start() + 60] for m in BEGUN.finditer(text)
                 if m.start() + m.group().startswith("(") not in starts]
    return [(kind, number) for _, kind, numbers in good for number in numbers], malformed


def lost_in(text, document):
    found, malformed = citations_of(text)
    return malformed + ["%s %s" % x for x in found if not document.has(*x)]


def unbalanced(latex):
    """The first token that does not close what was opened, or ""."""
    waiting = []
    for token in re.findall(r"\\(?:left|right|begin|end)(?![a-z])|\\[{}]|\\\\|[{}]", latex):
        if token in PAIRS:
            waiting.append(PAIRS[token])
        elif token in PAIRS.values() and (not waiting or waiting.pop() != token):
            return token
    return waiting[-1] if waiting else ""


document = Document(read(DOCUMENT))


def files():
    names = [name for folder in CITED_IN for name in tracked(root, os.path.join(root, folder))]
    if not names:
        raise Skipped("this is not a git repository")
    for name in names:
        with open(os.path.join(root, name), "rb") as f:
            content = f.read()
        if b"\0" not in content:
            yield name, content.decode("utf-8", "replace")


def is_this(name):
    return name == "tests/docs/" + os.path.basename(__file__)


def test_citations():
    lost, count = [], 0
    for name, text in files():
        if not is_this(name):
            lost += ["%s: %s" % (name, x) for x in lost_in(text, document)]
            count += len(citations_of(text)[0])
    assert not lost, "%d citations lead nowhere: %s" % (len(lost), "; ".join(lost))
    assert count > 50, "only %d citations were found" % count


def test_no_old_citations():
    old = [name for name, text in files() if OLD in text]
    assert not old, OLD + " is not in the repository, but is cited in " + ", ".join(old)


def test_numbers():
    assert not document.faults, "; ".join(document.faults)
    assert len(document.equations) > 100 and len(document.sections) > 50
    for what, numbers in (("equations", document.equations), ("sections", document.sections)):
        assert len(set(numbers)) == len(numbers), what + " that are there twice: " + ", ".join(
            sorted({x for x in numbers if numbers.count(x) > 1}))
        assert not in_order(numbers), what + " out of order: " + ", ".join(in_order(numbers))


def test_references_within():
    """(3.2) is an equation, section 3.2 a section."""
    lost = []
    for k, line in document.prose:
        lost += ["line %d: (%s)" % (k, x) for x in re.findall(r"\((\d+\.\d+)\)", line) if x not in document.equations]
    text = " ".join(line for _, line in document.prose)
    for found in re.findall(r"\b(?:sections?|chapters?) ((?:%s(?:, | and | to )?)+)" % NUMBER, text):
        lost += ["section " + x for x in re.findall(NUMBER, found) if x not in document.sections]
    assert not lost, "; ".join(lost)


def test_formulas():
    """Braces and brackets close, and nothing is there that Markdown elsewhere would take for its own."""
    wrong = ["line %d: %s does not fit" % (k, unbalanced(x)) for k, x, _ in document.formulas if unbalanced(x)]
    for k, latex, display in document.formulas:
        wrong += ["line %d: %s" % (k, x) for x in re.findall(r"\\[,;:!|_#$%&]|[*<>]", latex)]
        if display:
            wrong += ["line %d: a line begins with %s" % (k, x) for x in re.findall(r"^\s*([-+=#] |=)", latex, re.M)]
        elif latex != latex.strip() or not latex:
            wrong.append("line %d: blanks at the ends of $%s$" % (k, latex))
    assert len(document.formulas) > 500 and not wrong, "; ".join(wrong)


def test_files_exist():
    """Those that the text names by their path."""
    names = set(re.findall(r"`((?:src|codegen|tests|methods|docs)/[\w./]+)`", read(DOCUMENT)))
    lost = sorted(name for name in names if not os.path.exists(os.path.join(root, name)))
    assert len(names) > 30 and not lost, "not there: " + ", ".join(lost)


# ---- that the checks find what they are for ----

SMALL = "## 1 A\n\n### 1.1 B\n\n$$\na = b \\tag{1.1}\n$$\n\n## 2 C\n\n$$\n{a} \\tag{2.1}\n$$\n\n$$\nc \\tag{2.2}\n$$\n"


def test_of_citations():
    small = Document(SMALL)
    for good in ("(mathematics, eq. 1.1)", "(mathematics, section 1.1; Hairer)", "# (mathematics,\n# section 2)",
                 "/* (mathematics, eq. 2.1 to\n * 2.2) */"):
        assert not lost_in(good, small) and citations_of(good)[0], good
    for bad in ("(mathematics, eq. 1.2)", "(mathematics, section 3)", "(mathematics, eq. 2.1 to 2.3)",
                "(mathematics 2.1)", "(mathematics, equation 2.1)", "(mathematics, eq 2.1)", "(mathematics, eq. 2.1x)",
                "(mathematics, section)"):
        assert lost_in(bad, small), bad


def test_of_numbers():
    assert not in_order(Document(SMALL).equations + []) and not Document(SMALL).faults
    assert in_order(["1.1", "1.3"]) and in_order(["1.2", "1.1"]) and in_order(["1", "1.1", "3.2"])
    assert Document(SMALL.replace("{2.1}", "{1.2}")).faults and Document(SMALL + "$$\na\n").faults
    assert Document("a $b").faults and not Document("a $b$, `$`").faults
    assert all(unbalanced(x) for x in ("{a", "a}", r"\left( a", r"\begin{x} {\end{x}", r"\{ {"))
    assert not unbalanced(r"\left( {a} \right) \begin{x} \\ \end{x}")


run_all(globals())
