"""The blocks of Python in documents run, in order, in one session for each document, and print what the blocks of text
behind them say."""
import contextlib
import io
import os
import re
import sys
import tempfile
import warnings

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, ".."))
from cases import Skipped, run_all

# at least so many blocks
DOCUMENTS = {"reference/python.md": 12, "start/first-run.md": 1, "coming-from/pybamm.md": 1, "coming-from/scipy.md": 2}
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def there(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def printed(code, session):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, code.split("\n")[0], "exec"), session)
    return out.getvalue()


def read(name):
    with open(os.path.join(here, "..", "..", "docs", name), encoding="utf-8") as file:
        return file.read()


def run_blocks(name, least):
    blocks = BLOCK.findall(read(name))
    assert len(blocks) >= least, (name, len(blocks))
    session, left_out, back = {}, set(), os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for needs, code, text in blocks:
                if needs and not there(needs):
                    left_out.add(needs)
                    continue
                out = printed(code, session)
                assert out == text, f"{code}prints\n{out}"
        finally:
            os.chdir(back)
    if left_out:
        print(name + ": left out: " + ", ".join(sorted(left_out)))


def test_blocks():
    """a block may name the module that it needs: ```python torch"""
    if not there("scipy"):
        raise Skipped("no scipy")
    for name, least in DOCUMENTS.items():
        run_blocks(name, least)


def test_names():
    """every function of the package that the documents name is there"""
    import costate
    text = "".join(map(read, DOCUMENTS))
    names = set(re.findall(r"\bcostate\.([A-Za-z_]+)\b(?!\.)", text)) - {"torch", "jax", "plots", "h", "hpp", "o"}
    missing = [name for name in sorted(names) if not hasattr(costate, name)]
    assert not missing, missing


run_all(globals())
