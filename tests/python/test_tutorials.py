"""The tutorials in Python run, print what their pages say, and save the pictures that the pages show."""
import math
import os
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

here = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(here, "..", "..", "docs", "tutorials")
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "docs"), FOLDER]
import make_pictures
import session
import small_svg
from cases import Skipped, run_all

SHOWN = re.compile(r"!\[([^\]]*)\]\(\.\./pictures/([\w.-]+)\)")


def shown():
    """{picture: text instead of it} of all pages"""
    found = {}
    for page in sorted(os.listdir(FOLDER)):
        if page.endswith(".md"):
            with open(os.path.join(FOLDER, page), encoding="utf-8") as file:
                found.update({name: words for words, name in SHOWN.findall(file.read())})
    return found


def test_pictures_that_are_shown_are_made():
    """and no others; each has a text for those who cannot see it"""
    pictures = shown()
    assert set(pictures) == make_pictures.names(), set(pictures) ^ make_pictures.names()
    short = [name for name, words in pictures.items() if len(words) < 40]
    assert not short, f"no text instead of {short}"


CURVE = """<svg xmlns="http://www.w3.org/2000/svg" width="99pt" height="99pt" viewBox="0 0 99 99">
 <metadata>who and when</metadata>
 <g id="axes_1">
  <path id="line2d_1" d="%s" style="fill: none; stroke: #000000"/>
  <path d="M 0 0
L 9 9
z" style="fill: none; stroke: #000000"/>
  <text x="12.3456" y="-0.04">time</text>
 </g>
</svg>"""


def test_small_pictures():
    """draw the same curve with fewer points, and lose no text"""
    points = [(k / 10, 40 + 30 * math.sin(k / 100)) for k in range(900)]
    small = small_svg.small(CURVE % ("M " + "\nL ".join("%.6f %.6f" % point for point in points)))
    curve, triangle, text = xml.fromstring(small)
    assert curve.attrib["class"] == triangle.attrib["class"] and triangle.attrib["d"] == "M0 0l9 9z", small
    assert text.text == "time" and (text.get("x"), text.get("y")) == ("12.3", "0"), small
    start, steps = re.fullmatch(r"M([^l]*)l(.*)", curve.get("d")).groups()
    x, y = map(float, re.findall(r"-?[\d.]+", start))
    moves = list(map(float, re.findall(r"-?(?:\d+\.?\d*|\.\d+)", steps)))
    drawn = [(x, y)]
    for dx, dy in zip(moves[::2], moves[1::2]):
        drawn.append((drawn[-1][0] + dx, drawn[-1][1] + dy))
    away = [abs(v + (w - v) * (p - u) / (q - u) - (40 + 30 * math.sin(p / 10)))
            for (u, v), (q, w) in zip(drawn, drawn[1:]) for p in (u, (u + q) / 2)]
    assert len(drawn) < 60 and abs(drawn[-1][0] - 89.9) < 0.06 and max(away) < 0.3, (len(drawn), drawn[-1], max(away))
    assert len(small) < 800, len(small)


def runs(page):
    """a test of one page"""
    def test():
        for module in ("matplotlib", "scipy"):
            if not session.there(module):
                raise Skipped("no " + module)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            make_pictures.run_page(page, place)
            made = set(os.listdir(place))
        assert made == set(make_pictures.saved(page)), made
        print(f"{page.name}: {time.monotonic() - began:.1f} s")
    return test


assert len(make_pictures.pages_of_python()) >= 8
for page_ in make_pictures.pages_of_python():
    globals()["test_" + page_.stem.replace("-", "_")] = runs(page_)
run_all(globals())
