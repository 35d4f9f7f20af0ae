"""The coefficient files that are shipped, and ways to change them."""
import copy
import os
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from codegen import collocation, derive, document, read, real

ROOT = Path(__file__).resolve().parents[2]
ALL = sorted(f for f in (ROOT / "methods").glob("*/*.toml") if f.parent.name in document.FAMILIES)
FILES = [f for f in ALL if f.parent.name not in ("rkc", "composite")]      # tableaux: what is left has its own tests

THOROUGH = os.environ.get("COSTATE_TESTS") == "all"          # ./run test all: else a part of what takes long

SAME_CLAIMS = {("radau1a", "radau")}                         # Radau IIA has all that is said of Radau IA


class InDirectory(unittest.TestCase):
    """Tests that write files, in a directory of their own; refused() takes self.method(text), which reads self.path."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
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


def method(name):
    return derive.method(path(name))


def load(name_or_path):
    """The text of a shipped file."""
    return document.document(name_or_path if isinstance(name_or_path, Path) else path(name_or_path))


def derive_document(text):
    return derive.from_table(read.table(text))


def mutants(text):
    """(what was changed, the text with it) for every entry: by as much as its digits can tell (bump)."""
    for key, lines in text.blocks.items():
        for i, (label, entries) in enumerate(lines):
            if label not in (None, "", "b", "bhat", "bhat2"):
                yield f"{key}: label of line {i + 1}", altered(text, key, i, None)
            for j in range(len(entries)):
                yield f"{key}: line {i + 1}, entry {j + 1}", altered(text, key, i, j)
    for name in text.keys.get("let", {}):
        other = copy.deepcopy(text)
        other.keys["let"][name] = bump(text, other.keys["let"][name])
        yield f"let.{name}", other
    own = text.keys.get("nodes")
    for kind in [x for x in collocation.KINDS if own and x != own and (own, x) not in SAME_CLAIMS]:
        other = copy.deepcopy(text)
        other.keys["nodes"] = kind
        yield f"nodes: {kind}", other
    for key in ("order", "stages", "embedded", "embedded2", "dense"):
        for step in (-1, 1):
            if key in text.keys:
                other = copy.deepcopy(text)
                other.keys[key] += step
                yield f"{key}: {other.keys[key]}", other


def altered(text, key, i, j):
    other = copy.deepcopy(text)
    label, entries = other.blocks[key][i]
    if j is None:
        label = bump(text, label)
    else:
        entries[j] = bump(text, entries[j])
    other.blocks[key][i] = (label, entries)
    return other


def bump(text, entry):
    """The formula of an entry, changed by the relative amount 1e-8, or by 1e-8 where it is zero; in a table of few
    digits by 1000 times its tolerance, as a single entry enters some condition with a weight of 1/1000 and more."""
    reader = read.Reader(text)
    for name, definition in text.keys.get("let", {}).items():
        reader.names[name] = reader.value(definition, name)
    value = reader.value(entry, "entry")
    change = max(abs(value) * Decimal("1e-8") or Decimal("1e-8"), 1000 * real.tolerance(text.keys.get("digits", 99)))
    return f"{entry}+{change}" if value else str(change)
