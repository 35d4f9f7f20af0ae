"""The coefficient files that are shipped, their methods, and ways to change them.

Two variables of the environment are for a user's files: COSTATE_MORE_METHODS, folders as methods/ whose files are
tested, too, and COSTATE_METHODS, names of methods: loops over files go over theirs alone."""
import dataclasses
import functools
import os
import re
import tempfile
import unittest
from decimal import Decimal, localcontext
from pathlib import Path

from codegen import collocation, derive, document, kinds, read, real
from codegen.composite import read as composite_read
from codegen.rkc import read as rkc_read

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "methods", *(Path(f) for f in os.environ.get("COSTATE_MORE_METHODS", "").split(os.pathsep) if f)]
NAMED = os.environ.get("COSTATE_METHODS", "").split()

ALL = sorted(kinds.files(*FOLDERS))
CHOSEN = [f for f in ALL if not NAMED or f.stem in NAMED]
FILES = [f for f in CHOSEN if f.parent.name not in ("rkc", "composite")]   # tableaux: what is left has its own tests

if not set(NAMED) <= {f.stem for f in ALL}:
    raise ValueError(f"COSTATE_METHODS: not all of {NAMED} are files in {', '.join(map(str, FOLDERS))}")

THOROUGH = os.environ.get("COSTATE_TESTS") == "all"          # ./run test all: else a part of what takes long
DEGREES = 16                                                 # of a method of family rkc: every 16th

SAME_CLAIMS = {("radau1a", "radau")}                         # Radau IIA has all that is said of Radau IA


PAIR = """
name   = "pair_of_two"
title  = "a composite method"
family = "composite"
source = "a test"
[[member]]
method = "bs32"
[[member]]
method = "radau2a"
"""


def small(folder):
    """A folder as methods/ with few files: of each family one that is derived in no time."""
    for name in ("bs32", "euler", "lobatto3a2", "radau2a", "ros2", "sdirk2a"):
        write(folder / path(name).parent.name / f"{name}.toml", path(name).read_text(encoding="utf-8"))
    text = path("rkl2").read_text(encoding="utf-8")
    write(folder / "rkc" / "rkl2.toml", re.sub(r"^degrees .*", "degrees = '3 5 7'\n", text, flags=re.M | re.S))
    write(folder / "composite" / "pair_of_two.toml", PAIR)
    return folder


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


class InDirectory(unittest.TestCase):
    """Tests that write files, in a directory of their own; refused() takes self.method(text), which reads self.path."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name, "inside")      # composite methods search the folders beside this one
        self.directory.mkdir()
        self.path = self.directory / "trial.toml"

    def refused(self, message, text):
        with self.subTest(message):
            with self.assertRaises(real.Refused) as caught:
                self.method(text)
            self.assertTrue(str(caught.exception).startswith(f"{self.path}: "), caught.exception)
            self.assertIn(message, str(caught.exception))


def path(name):
    found, = [f for f in ALL if f.stem == name]
    return found


@functools.cache
def method(name):
    """The method of a file, of any kind, derived once for all tests, which do not change it.  Methods of family rkc
    have a part of their degrees, unless all are requested or methods are named."""
    file = path(name)
    if file.parent.name == "composite":
        return composite_read.method(file, member)
    if file.parent.name == "rkc" and not (THOROUGH or NAMED):
        return few_degrees(file)
    return kinds.kind_of(file).method(file)


def member(name):
    """What a composite method finds by a name."""
    found = [f for f in ALL if f.stem == name]
    if found and found[0].parent.name == "composite":
        return composite_read.unread(found[0])
    return method(name) if found else None


def few_degrees(file):
    """Every 16th degree, beginning at another one in each file, and the lowest and the highest: what a file states of
    damping and beta is for these."""
    keys, first = document.document(file).keys, ALL.index(file) % DEGREES
    key = "polynomials" if "polynomials" in keys else "degrees"
    rows = [row for row in keys[key].splitlines() if row.strip()] if key == "polynomials" else listed(keys[key])
    few = rows[:2] + rows[2 + first:-1:DEGREES] + rows[-1:]
    with document.naming(file), localcontext(prec=rkc_read.PRECISION):
        return rkc_read.derive(str(file), keys | {key: "\n".join(few)})


def listed(degrees):
    """Those of `degrees`, which has ranges, one by one."""
    ranges = [[int(s) for s in word.split("-")] for word in degrees.split()]
    return [str(s) for ends in ranges for s in range(ends[0], ends[-1] + 1)]


def load(name_or_path):
    """The text of a shipped file."""
    return document.document(name_or_path if isinstance(name_or_path, Path) else path(name_or_path))


def derive_document(text):
    return derive.from_table(read.table(text))


def mutants(text):
    """(what is changed, a function that gives the text with it) for every entry: by as much as its digits can tell
    (bump)."""
    for key, lines in text.blocks.items():
        for i, (label, entries) in enumerate(lines):
            if label not in (None, "", "b", "bhat", "bhat2"):
                yield f"{key}: label of line {i + 1}", functools.partial(altered, text, key, i, None)
            for j in range(len(entries)):
                yield f"{key}: line {i + 1}, entry {j + 1}", functools.partial(altered, text, key, i, j)
    let = text.keys.get("let", {})
    for name in let:
        yield f"let.{name}", lambda name=name: with_key(text, "let", let | {name: bump(text, let[name])})
    own = text.keys.get("nodes")
    for kind in [x for x in collocation.KINDS if own and x != own and (own, x) not in SAME_CLAIMS]:
        yield f"nodes: {kind}", functools.partial(with_key, text, "nodes", kind)
    for key in ("order", "stages", "embedded", "embedded2", "dense"):
        for step in (-1, 1):
            if key in text.keys:
                value = text.keys[key] + step
                yield f"{key}: {value}", functools.partial(with_key, text, key, value)


def with_key(text, key, value):
    return dataclasses.replace(text, keys=text.keys | {key: value})


def altered(text, key, i, j):
    label, entries = text.blocks[key][i]
    if j is None:
        label = bump(text, label)
    else:
        entries = entries[:j] + [bump(text, entries[j])] + entries[j + 1:]
    lines = text.blocks[key]
    return dataclasses.replace(text, blocks=text.blocks | {key: lines[:i] + [(label, entries)] + lines[i + 1:]})


def bump(text, entry):
    """The formula of an entry, changed by the relative amount 1e-8, or by 1e-8 where it is zero; in a table of few
    digits by 1000 times its tolerance, as a single entry enters some condition with a weight of 1/1000 and more."""
    reader = read.Reader(text)
    for name, definition in text.keys.get("let", {}).items():
        reader.names[name] = reader.value(definition, name)
    value = reader.value(entry, "entry")
    change = max(abs(value) * Decimal("1e-8") or Decimal("1e-8"), 1000 * real.tolerance(text.keys.get("digits", 99)))
    return f"{entry}+{change}" if value else str(change)
