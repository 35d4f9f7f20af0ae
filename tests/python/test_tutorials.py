"""The tutorials in Python run, print what their pages say, and save the pictures that the pages show."""
import os
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

here = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(here, "..", "..", "docs", "tutorials")
PICTURES = os.path.join(FOLDER, "..", "pictures")
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "docs"), FOLDER]
import make_pictures
import session
from cases import Skipped, run_all

SHOWN = re.compile(r"!\[([^\]]*)\]\(\.\./pictures/([\w.-]+)\)")
LARGEST = 100000                        # bytes of a picture


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


def test_committed_pictures():
    for name in shown():
        path = os.path.join(PICTURES, name)
        assert os.path.getsize(path) < LARGEST, f"{name}: {os.path.getsize(path)} bytes"
        xml.parse(path)


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
