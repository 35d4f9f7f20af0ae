"""The blocks of docs/python.md run, in order, in one session, and print what the blocks of text behind them say."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "docs")]
import session
from cases import Skipped, run_all

GUIDE = os.path.join(here, "..", "..", "docs", "python.md")


def test_blocks():
    if not session.there("scipy"):
        raise Skipped("no scipy")
    blocks = session.blocks_of(GUIDE)
    assert len(blocks) >= 12, len(blocks)
    with session.in_folder():
        lacking = session.run(blocks, session.compare)
    if lacking:
        print("left out: " + ", ".join(sorted(lacking)))


def test_names():
    """every function of the package that the guide names is there"""
    import costate
    with open(GUIDE, encoding="utf-8") as file:
        names = set(re.findall(r"\bcostate\.([A-Za-z_]+)\b(?!\.)", file.read())) - {"torch", "jax", "plots"}
    missing = [name for name in sorted(names) if not hasattr(costate, name)]
    assert not missing, missing


run_all(globals())
