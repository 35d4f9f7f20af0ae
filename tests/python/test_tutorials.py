"""Every tutorial of python/tutorials runs, and its numbers are what it says."""
import glob
import os
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, ".."))
from cases import Skipped, run_all

FOLDER = os.path.join(here, "..", "..", "python", "tutorials")
LONGEST = 60            # seconds


def needs(*modules):
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            raise Skipped("no " + name) from None


def runs(path):
    """a test of one tutorial"""
    def test():
        needs("matplotlib", "scipy")
        began = time.monotonic()
        done = subprocess.run([sys.executable, path], env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True,
                              text=True, timeout=LONGEST)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        print(f"{os.path.basename(path)}: {time.monotonic() - began:.1f} s")
    return test


def test_form():
    """cells of text and of code, as jupytext reads them, that end with code"""
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.py")))
    assert len(paths) >= 4, paths
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        heads = [line for line in lines if line.startswith("# %%")]
        assert lines[0] == "# %% [markdown]" and lines[1].startswith("# # "), path
        assert set(heads) == {"# %%", "# %% [markdown]"} and heads[-1] == "# %%", path


for path_ in sorted(glob.glob(os.path.join(FOLDER, "*.py"))):
    globals()["test_" + os.path.basename(path_)[:-3]] = runs(path_)
run_all(globals())
