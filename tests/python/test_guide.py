"""The blocks of Python in documents run, in order, in one session for each document, and print what the blocks of text
behind them say."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "..", "docs")]
import session
from cases import Skipped, run_all

# at least so many blocks
DOCUMENTS = {"../README.md": 1, "reference/python.md": 13, "start/first-run.md": 1, "coming-from/petab.md": 2,
             "coming-from/pybamm.md": 1, "coming-from/sbml.md": 1, "coming-from/scipy.md": 2,
             "explanation/traced-functions.md": 2, "howto/fits.md": 2,
             "index.md": 1, "howto/slow-runs.md": 3, "howto/memory.md": 1, "howto/splitting.md": 1,
             "reference/python-more.md": 9}


def path(name):
    return os.path.join(here, "..", "..", "docs", name)


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def test_blocks():
    """a block may name the module that it needs: ```python torch"""
    if not session.there("scipy"):
        raise Skipped("no scipy")
    for name, least in DOCUMENTS.items():
        blocks = session.blocks_of(path(name))
        assert len(blocks) >= least, (name, len(blocks))
        with session.in_folder():
            lacking = session.run(blocks, session.compare)
        if lacking:
            print(name + ": left out: " + ", ".join(sorted(lacking)))


def test_names():
    """every function of the package that the documents name is there"""
    import costate
    text = "".join(read(name) for name in DOCUMENTS)
    names = set(re.findall(r"\bcostate\.([A-Za-z_]+)\b(?!\.)", text)) - {"torch", "jax", "plots", "h", "hpp", "o"}
    missing = [name for name in sorted(names) if not hasattr(costate, name)]
    assert not missing, missing


run_all(globals())
