"""The blocks of Python in a page of Markdown, run in order as one session, and what they print.

A block of text right behind a block of Python is what it prints; a block may name the module that it needs, as in
```python torch, and is left out where that module is not installed."""
import contextlib
import io
import os
import re
import tempfile
import warnings

BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def blocks_of(path):
    """[(module that it needs, code, expected text)]"""
    with open(path, encoding="utf-8") as file:
        return BLOCK.findall(file.read())


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


@contextlib.contextmanager
def in_folder(place=None):
    """works in `place`, or in a new folder that is removed afterwards; yields its path"""
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as new:
        place = os.path.abspath(place or new)
        os.chdir(place)
        try:
            yield place
        finally:
            os.chdir(back)


def run(blocks, report):
    """runs them in the current folder, calls report(code, expected, printed) after each; returns modules that lack"""
    session, lacking = {}, set()
    for needs, code, expected in blocks:
        if needs and not there(needs):
            lacking.add(needs)
            continue
        report(code, expected, printed(code, session))
    return lacking


def compare(code, expected, out):
    assert out == expected, f"{code}prints\n{out}"
