"""The site of ./run docs, built without the pictures of the gallery: no warning of Sphinx, links lead somewhere, every
public name and every method has its place, old headings are found, and the search answers what strangers ask.

    test_site.py SOURCE BUILD     reports in the format of cmocka"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as xml
from functools import cache
from html.parser import HTMLParser
from math import pi

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, documents, run_all  # noqa: E402

root, build = sys.argv[1:3]
DROPPED = os.path.join(root, "tests", "dropped")       # methods that are added, which get pages like the others
FIRST_RESULTS = 8                    # of a search: what is seen without scrolling far
NEEDED = ("sphinx", "myst_parser", "furo", "breathe", "sphinx_copybutton", "matplotlib", "tomllib")
# tags that say nothing to a Reader, two thirds of all: the colours of code, for example
SILENT = re.compile(r'</(?!script|style)\w+>|<(?!h[1-6]|script|style)\w+(?: class="[^"]*")?>')


class Reader(HTMLParser):
    """What a page has: anchors, addresses that it leads to, what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.addresses, self.loaded, self.levels, self.words = set(), [], [], [], []
        self.feed(SILENT.sub(" ", text))

    def updatepos(self, start, end):
        """Lines are not counted."""
        return end

    def handle_data(self, data):
        self.words += data.split()

    def handle_starttag(self, tag, attributes):
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        for key, value in attributes:
            if key == "id":
                self.anchors.add(value)
            elif key in ("href", "src") and value:
                self.addresses.append(value)
                if tag != "a":
                    self.loaded.append(value)


site = {}                            # made once: "pages": {name: Reader}, "files", "searches"


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


@cache
def interpreter():
    """A Python that has Sphinx and what the site needs of it; None: there is none."""
    asked = "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, %r)))" % (NEEDED,)
    for python in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run([python, "-c", asked], capture_output=True).returncode:
            return python
    return None


def python():
    if not interpreter():
        raise Skipped("no Python here has " + ", ".join(NEEDED))
    return interpreter()


def pages():
    if not site:
        builder = [python(), os.path.join(root, "docs", "site")]
        if not shutil.which("doxygen"):
            raise Skipped("there is no doxygen")
        with tempfile.TemporaryDirectory() as place:
            package = os.path.join(build, "python")
            there = os.path.exists(os.path.join(package, "costate", "_places.py"))
            out = os.path.join(place, "html")
            done = subprocess.run([*builder, out, "--without-plots", "--jobs", "1", "--more-methods", DROPPED,
                                   *(["--package", package] if there else [])], capture_output=True, text=True,
                                  env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
            assert os.path.exists(os.path.join(out, "index.html")), done.stderr[-3000:]
            site["warnings"], site["status"] = done.stderr, done.returncode
            site["files"] = {os.path.relpath(name, out) for name in glob.glob(out + "/**/*", recursive=True)}
            site["scripts"] = {name: read(os.path.join(out, name)) for name in site["files"] if name.endswith(".js")}
            site["sheets"] = {name: read(os.path.join(out, name)) for name in site["files"] if name.endswith(".css")}
            site["pages"] = {}
            for name in site["files"]:
                if name.endswith(".html"):
                    with open(os.path.join(out, name), encoding="utf-8") as f:
                        site["pages"][name] = Reader(f.read())
            if shutil.which("node"):
                typed = [question["typed"] for question in questions()]
                site["searches"] = json.loads(subprocess.run(
                    ["node", os.path.join(root, "tests", "docs", "search.js"), out], input=json.dumps(typed),
                    capture_output=True, text=True, check=True).stdout)
    return site["pages"]


def questions():
    return tomllib.loads(read("tests/docs/questions.toml"))["question"]


def methods():
    """The names of those that are shipped, and of those that are added."""
    found = [glob.glob(os.path.join(folder, "*", "*.toml")) for folder in (os.path.join(root, "methods"), DROPPED)]
    assert all(found), "no coefficient files"
    return [os.path.basename(name)[:-5] for names in found for name in names]


def test_no_warnings():
    pages()
    assert site["status"] == 0, site["warnings"][-3000:]


def place(name, address):
    """The file of the site that an address in a page means."""
    return os.path.normpath(os.path.join(os.path.dirname(name), re.sub(r"\?(digest|v)=\w+", "", address)))


def test_links():
    """Links between pages lead to a page and an anchor that are there."""
    lost = []
    for name, page in pages().items():
        for address in page.addresses:
            if re.match(r"https?:|mailto:|data:|#$", address):
                continue
            to, _, anchor = address.partition("#")
            to = place(name, to) if to else name
            if to not in site["files"] or anchor and to in pages() and anchor not in pages()[to].anchors:
                lost.append("%s: %s" % (name, address))
    assert not lost, "%d links lead nowhere: %s" % (len(lost), "; ".join(lost[:20]))


def test_nothing_from_elsewhere():
    """All that a page loads is beside the pages."""
    for name, page in pages().items():
        assert not [x for x in page.loaded if re.match(r"(https?:)?//", x)], "%s: %s" % (name, page.loaded)


def test_scripts_run():
    """as plain scripts, as pages load them"""
    loaded = {place(name, address) for name, page in pages().items() for address in page.loaded}
    for path in loaded & site["scripts"].keys():
        assert not re.search(r"^(import|export) ", site["scripts"][path], re.M), path + " is a module"


def test_colours():
    """The theme's are dark where a browser prefers that, and nowhere else: `not` negates all that follows it."""
    pages()
    theme = site["sheets"]["_static/styles/furo.css"]
    assert re.search(r"prefers-color-scheme: ?dark\)\s*\{.*--color-background-primary", theme, re.S)
    for name, text in site["sheets"].items():
        wrong = [query for query in re.findall(r"@media\s+([^{]*)\{", text)
                 if re.search(r"\bnot\b[^,]*prefers-color-scheme: ?dark", query)]
        assert not wrong, "%s: %s is true on light screens" % (name, wrong)


def test_one_title():
    """Each page has one, and its headings go down by one level at a time."""
    for name, page in pages().items():
        if name.startswith(("files/", "_", "genindex", "search")):
            continue
        assert page.levels.count(1) == 1, "%s has %d titles" % (name, page.levels.count(1))
        steps = [b - a for a, b in zip(page.levels, page.levels[1:])]
        assert max(steps, default=0) <= 1, "%s skips a level of headings" % name


def test_guides_begin_with_a_question():
    for name in documents(root):
        if name.startswith("docs/howto") and not name.endswith("index.md"):
            question = re.match(r"# .*\n\n\*\*[A-Z].*\?\*\*\n\n", read(name))
            assert question, name + " does not begin with a question"


@cache
def slugs(page):
    """The anchors of a text's headings, as code hosts make them."""
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.M | re.S)
    return {re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()))
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def test_old_headings():
    """Each heading of the documents of version 1.0 has a place that is there."""
    for document, anchors in tomllib.loads(read("tests/docs/moved.toml")).items():
        assert not os.path.exists(os.path.join(root, document)), document + " has not moved"
        for anchor, place in anchors.items():
            page, _, heading = place.partition("#")
            assert os.path.exists(os.path.join(root, page)), "%s#%s: %s is not there" % (document, anchor, page)
            assert not heading or heading in slugs(page), "%s#%s: no heading %s" % (document, anchor, place)


def headers_of_c():
    """those of C++ are shown as they are"""
    return [name for name in os.listdir(os.path.join(root, "include", "costate")) if name.endswith(".h")]


def test_every_public_name():
    """Functions, types, macros, constants and members have an anchor of their own."""
    for header in headers_of_c():
        anchors = {x.removeprefix("c.") for x in pages()["reference/headers/%s.html" % header[:-2]].anchors}
        anchors |= {x.rpartition(".")[2] for x in anchors if re.search(r"\.COSTATE_\w+$", x)}
        text = re.sub(r"/\*.*?\*/", "", read("include/costate/" + header), flags=re.S)
        text = re.sub(r"^(static inline [^{]*)\{.*?^\}", r"\1;", text, flags=re.S | re.M)
        names = set(re.findall(r"^#define (COSTATE_\w+) ", text, re.M))
        names |= set(re.findall(r"^[^#\s][^#\n]*?\b(costate_\w+)\(", text, re.M)) | set(re.findall(r"\} (\w+);", text))
        for body in re.findall(r"enum [^{;]*\{(.*?)\}", text, re.S):
            names |= set(re.findall(r"\bCOSTATE_\w+", body))
        for body, struct in re.findall(r"struct [^{;()]*\{([^{}]*)\} (\w+);", text):
            for line in filter(str.strip, body.split(";")):
                line = re.sub(r"\(\*(\w+)\)\s*(\(.*\)|\[\w+\])", r"\1", line, flags=re.S)
                names |= {struct + "." + re.findall(r"(\w+)(?:\[\w+\])?\s*$", part)[0] for part in line.split(",")}
        lost = sorted(names - anchors)
        assert names and not lost, header + ": no anchor for " + ", ".join(lost)


def test_every_comment_of_the_headers():
    """A comment that Doxygen does not read is a title, the file's own, or a remark inside a declaration."""
    for header in headers_of_c():
        text = read("include/costate/" + header)
        for found in re.finditer(r"^/\*(?!\*)(.*?)\*/", text, re.M | re.S):
            words = found[1]
            assert found.start() == 0 or words.startswith(" ----"), header + ": not for Doxygen: " + words[:90]


def test_every_method():
    """A page each, and a row in the table of all."""
    index = pages()["reference/methods/index.html"].addresses
    for name in methods():
        assert "reference/methods/%s.html" % name in pages(), "no page of " + name
        assert name + ".html" in index, "the gallery does not list " + name


def test_formulas():
    """Formulas are typeset, and a numbered one has an anchor."""
    if not os.path.isdir("/usr/share/nodejs/katex") or not shutil.which("node"):
        raise Skipped("there is no KaTeX")
    page = pages()["explanation/mathematics.html"]
    tags = re.findall(r"\\tag\{([^}]*)\}", read("docs/explanation/mathematics.md"))
    assert len(tags) > 200 and all("eq-" + tag in page.anchors for tag in tags)
    assert any(name.endswith(".woff2") for name in site["files"])


def letters(text):
    """Words of three letters or more."""
    return re.findall(r"[A-Za-z]{3,}", text)


def test_no_word_is_lost():
    """on the way from a page of Markdown to the site: of its prose, without formulas, code and tables, in its order"""
    count = 0
    for name in documents(root):
        page = name.removeprefix("docs/")[:-3] + ".html"
        text = re.sub(r"^```.*?^```|^ *\$\$.*?\$\$$|^[|].*?$|^ {4}.*?$|!\[[^]]*\]\([^)]*\)", "",
                      read(name), flags=re.M | re.S)
        there = iter(letters(" ".join(pages()[page].words)))
        words = letters(re.sub(r"\$[^$]*\$|`[^`]*`|\]\([^)]*\)", " ", text))
        for k, word in enumerate(words):
            assert word in there, "%s lacks: %s" % (page, " ".join(words[max(0, k - 8):k + 3]))
        count += len(words)
    assert count > 30000, count


def test_pictures_of_texts():
    """are shown by a page or by README.md, small, and have text as text"""
    folder = os.path.join(root, "docs", "pictures")
    texts = "".join(map(read, ["README.md", *documents(root)]))
    for name in os.listdir(folder):
        assert "pictures/%s)" % name in texts, name + " is shown nowhere"
        text = read(os.path.join(folder, name))
        assert len(text) < 25000 and text.count("\n") <= 40 and "<text" in text, name
        xml.fromstring(text)


CIRCLE = """import json, sys
sys.path[:0] = ["docs/site", "."]
from functions import logarithm, window
from plots import filled
f = logarithm(lambda z: 1 + z)
side, centre = window(f, True)
figure = filled("", f, side, centre)
*_, edge = figure.axes[0].collections
print(json.dumps([2 * side / 150, [path.vertices.tolist() for path in edge.get_paths()]]))"""


def test_region_of_euler():
    """|1 + z| = 1 is a circle: the loop about the region has its area and lies on it."""
    done = subprocess.run([python(), "-c", CIRCLE], cwd=root, check=True, capture_output=True, text=True,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    cell, (loop,) = json.loads(done.stdout)
    error = cell * cell              # of linear interpolation: dx^2/8 |f''/f'|, and |f''| = |f'| on the circle
    assert loop[0] == loop[-1] and max(abs(abs(complex(x + 1, y)) - 1) for x, y in loop) < error
    area = abs(sum(x * v - u * y for (x, y), (u, v) in zip(loop, loop[1:]))) / 2
    assert abs(area - pi) < 2 * pi * error, area


def test_questions():
    """The search shows a page that answers among its first results."""
    pages()
    if "searches" not in site:
        raise Skipped("there is no node")
    lost = []
    for question, found in zip(questions(), site["searches"], strict=True):
        for page in question["pages"]:
            assert page + ".html" in pages(), "%s: there is no page %s" % (question["typed"], page)
        if not set(question["pages"]) & set(found[:FIRST_RESULTS]):
            lost.append("%s: %s" % (question["typed"], found[:FIRST_RESULTS]))
    assert len(questions()) >= 30 and not lost, "\n".join(lost)


run_all(globals())
