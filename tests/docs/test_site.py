"""The pages of ./run docs, made without plots: links lead somewhere, every public name and every method has its place.

    test_site.py SOURCE     reports in the format of cmocka"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from math import pi

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import Skipped, run_all  # noqa: E402

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "docs", "site"))
EMPTY = ("meta", "link", "img", "br", "hr")


class Reader(HTMLParser):
    """What a page has: anchors, addresses that it leads to; and whether its elements close in their order."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.addresses, self.open, self.faults, self.loaded, self.tags = [], [], [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in EMPTY:
            self.open.append(tag)
        for key, value in attributes:
            if key == "id":
                self.anchors.append(value)
            elif key in ("href", "src"):
                self.addresses.append(value)
                self.loaded += [value] if tag != "a" else []

    def handle_startendtag(self, tag, attributes):
        """cmark-gfm closes what is empty at once"""
        self.handle_starttag(tag, attributes)
        if tag not in EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append("</%s> at line %d" % (tag, self.getpos()[0]))


pages, pictures = {}, {}             # what all_pages made; a picture: its text


def made(place, *more):
    subprocess.run([sys.executable, os.path.join(root, "docs", "site"), place, *more], check=True,
                   env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def all_pages():
    """Made once: name of the page: what is in it."""
    if not pages:
        if not shutil.which("cmark-gfm"):
            raise Skipped("there is no cmark-gfm")
        with tempfile.TemporaryDirectory() as place:
            made(place, "--without-plots")
            for name in os.listdir(place):
                if name.endswith((".html", ".svg")):
                    with open(os.path.join(place, name), encoding="utf-8") as f:
                        if name.endswith(".svg"):
                            pictures[name] = f.read()
                        else:
                            pages[name] = Reader(f.read())
    return pages


def methods():
    return [name[:-5] for _, _, names in os.walk(os.path.join(root, "methods")) for name in names
            if name.endswith(".toml")]


def test_pages_are_whole():
    """Elements close in their order, and no page has an anchor twice."""
    for name, page in all_pages().items():
        assert not page.faults and not page.open, "%s: %s" % (name, page.faults or page.open)
        twice = {x for x in page.anchors if page.anchors.count(x) > 1}
        assert not twice, "%s has twice: %s" % (name, ", ".join(sorted(twice)))


def test_links():
    """Links between pages lead to a page and an anchor that are there; nothing is loaded from elsewhere."""
    lost = []
    for name, page in all_pages().items():
        for address in page.addresses:
            if re.match(r"https?:|mailto:", address):
                continue
            to, _, anchor = address.partition("#")
            there = to in ("", "style.css", "katex.css") or to in pages or to in pictures
            if not there or anchor and anchor not in pages[to or name].anchors:
                lost.append("%s: %s" % (name, address))
    assert not lost, "%d links lead nowhere: %s" % (len(lost), "; ".join(lost[:20]))


def test_nothing_from_elsewhere():
    """No scripts, and no resources but those beside the pages."""
    for name, page in all_pages().items():
        assert "script" not in page.tags, name + " has a script"
        assert all(re.fullmatch(r"[\w.-]+", address) for address in page.loaded), "%s: %s" % (name, page.loaded)
    assert not re.search(r"@import|url\(", read("docs/site/style.css"))


def test_pictures_of_texts():
    """are beside the pages, small, and have text as text"""
    all_pages()
    names = {"picture-" + name for name in os.listdir(os.path.join(root, "docs", "pictures"))}
    assert names == {name for name in pictures if name.startswith("picture-")}, pictures.keys()
    shown = set().union(*(pages[page + ".html"].loaded for page in ("manual", "choosing", "applications")))
    assert names <= shown, names - shown
    for name in names:
        assert len(pictures[name]) < 60000 and "<text" in pictures[name], name
        xml.fromstring(pictures[name])


def headers_of_c():
    """those of C++ are shown as they are"""
    return [name for name in os.listdir(os.path.join(root, "include", "costate")) if name.endswith(".h")]


def test_every_public_name():
    """Functions, types, macros, constants: an anchor of their own; members: that of their struct before a dot."""
    for header in headers_of_c():
        anchors = all_pages()[header[:-2] + "-h.html"].anchors
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
        lost = sorted(names - set(anchors))
        assert names and not lost, header + ": no anchor for " + ", ".join(lost)


def test_every_name_in_fortran():
    """Types, functions and subroutines of the modules."""
    for module in os.listdir(os.path.join(root, "fortran")):
        text = re.sub(r"!.*", "", read("fortran/" + module))
        names = set(re.findall(r"^ *(?!end\b)(?:type, bind\(c\) ::|[\w() ]*\bfunction|subroutine) (\w+)", text, re.M))
        lost = sorted(names - set(all_pages()[module[:-4] + "-f90.html"].anchors))
        assert names and not lost, module + ": no anchor for " + ", ".join(lost)


def test_every_comment_of_the_headers():
    """No word of a comment is lost on the way."""
    from header import parse
    for header in headers_of_c():
        text = read("include/costate/" + header)
        found = parse(text)
        shown = [found.name, found.title, found.text]
        for part in found.parts:
            shown.append(part.title)
            for item in part.items:
                shown += [item.text] + [member.text for member in getattr(item, "members", [])]
        there = " ".join(" ".join(shown).split())
        bodies = re.sub(r"^\{\n.*?^\}\n", "", text, flags=re.S | re.M)
        for comment in re.findall(r"/\*(.*?)\*/", bodies, re.S):
            words = " ".join(comment.strip(" -\n").split())
            if " - " not in words[:20]:
                assert words in there, "%s: a comment is lost: %s" % (header, words[:100])


def test_every_method():
    """A page each, and a line in the table of all."""
    index = all_pages()["gallery.html"].addresses
    for name in methods():
        assert "method-%s.html" % name in pages, "no page of " + name
        assert "method-%s.html" % name in index, "gallery.html does not list " + name


def test_region_of_euler():
    """|1 + z| = 1 is a circle: the loop about the region has its area and lies on it."""
    from regions import Grid, logarithm, loops, window
    f = logarithm(lambda z: 1 + z)
    side, centre = window(f, True)
    grid = Grid(f, (centre - side, centre + side), side)
    loop, = loops(grid)
    error = grid.dx * grid.dx        # of linear interpolation: dx^2/8 |f''/f'|, and |f''| = |f'| on the circle
    assert loop[0] == loop[-1] and max(abs(abs(complex(x + 1, y)) - 1) for x, y in loop) < error
    area = abs(sum(x * v - u * y for (x, y), (u, v) in zip(loop, loop[1:]))) / 2
    assert abs(area - pi) < 2 * pi * error, area


def test_figures_are_xml():
    from figure import Figure
    picture = Figure((0, 1), (-9, 2), "a < b", ("x", "y"), log=(False, True))
    picture.curve([(0, 0), (1, 1)], "c0")
    picture.area([[(0, 0), (1, 0), (0, 1)]])
    picture.note("|R| <= 1", "t0")
    picture.cells([[0, 1], [1, 0]], lambda value: "#%06x" % value)
    picture.points([(0.5, 1), (0.5, 1), (0.7, 1)], "many")
    assert picture.parts[-1].count("h0") == 2
    xml.fromstring(picture.text())


run_all(globals())
