"""Coefficient files as text: TOML, its keys, and the lines of the blocks in it."""
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .families import FAMILIES
from .real import Refused, brief

PROPERTIES = ("fsal", "stiffly-accurate", "A-stable", "L-stable", "dae", "w-method", "explicit-first")
BLOCKS = ("tableau", "alpha", "gamma", "a", "c", "continuous", "rodas", "b", "bhat", "m", "mhat", "e")
TEXTS = ("name", "title", "family", "source")
TEXT, WHOLE = ((str,), "a text"), ((int,), "a whole number")     # kinds of values: types, and what they are called
NUMBER, FLAG = ((int, float), "a number"), ((bool,), "true or false")
KEYS = {key: TEXT for key in TEXTS + ("checked", "nodes", "theta")} \
    | {key: WHOLE for key in ("order", "stages", "embedded", "embedded2", "dense", "digits")} \
    | {"is": ((list,), "a list of properties"), "let": ((dict,), 'definitions let.x = "formula"'), "collocation": FLAG}
MOST_STAGES = 32                 # STAGES_MOST of src/step/descriptor.h: weights of a step lie in arrays of this size
MAX_ORDER = 13                   # 12486 trees of order 13 take a second; of order 14 there are 32973


@dataclass
class Document:
    """A file as text: keys, and blocks as lists of (label, entries)."""
    path: str
    keys: dict
    blocks: dict


def document(path):
    try:
        keys = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise Refused(f"{path}: cannot be read: {fault}") from None
    except ValueError as fault:                      # TOMLDecodeError, or int() of thousands of digits
        raise Refused(f"{path}: not TOML: {fault}") from None
    except RecursionError:
        raise Refused(f"{path}: not TOML: nested too deeply") from None
    blocks = {}
    for key in [k for k in keys if k in BLOCKS]:
        text = keys.pop(key)
        if not isinstance(text, str):
            raise Refused(f"{path}: {key}: must be text, so that its digits are read exactly")
        blocks[key] = split_block(text)
    for key in ("alpha", "a", "c"):                  # strictly lower: without a column of labels row 1 is no line
        if key in blocks and all(label is None for label, _ in blocks[key]):
            blocks[key].insert(0, (None, []))
    return Document(str(path), keys, blocks)


def split_block(text):
    """(label, entries) of each line; label is None where the line has no bar."""
    lines = []
    for line in text.splitlines():
        if not line.strip() or set(line.strip()) <= set("-+| "):
            continue
        label, bar, entries = line.partition("|")
        lines.append((label.strip(), entries.split()) if bar else (None, line.split()))
    return lines


@contextmanager
def naming(path):
    """What is refused within it begins with the name of the file."""
    try:
        yield
    except Refused as fault:
        text = str(fault)
        raise Refused(text if text.startswith(str(path)) else f"{path}: {text}") from None


def check_kinds(keys, kinds, needed, place=""):
    """Every key is known, none that is needed is missing, and all are of their kinds."""
    for key in needed:
        if key not in keys:
            raise Refused(f"{place}key '{key}' is missing")
    for key, value in keys.items():
        if key not in kinds:
            raise Refused(f"{place}key '{brief(key)}' is unknown")
        types, what = kinds[key]
        if type(value) not in types or isinstance(value, str) and not value.strip():
            raise Refused(f"{place}{key}: must be {what}")
        if isinstance(value, str) and not value.isprintable() \
                and not all(x.isprintable() or x.isspace() for x in value):
            raise Refused(f"{place}{key}: holds a control character")


def check_whole(keys, most):
    for key, value in keys.items():
        limit = 99 if key == "digits" else most
        if type(value) is int and not 1 <= value <= limit:
            raise Refused(f"{key}: must be from 1 to {limit}")


def check_keys(path, keys):
    check_kinds(keys, KEYS, TEXTS + ("order",))
    check_whole(keys, MAX_ORDER)
    for name, text in keys.get("let", {}).items():
        if not isinstance(text, str):
            raise Refused(f"let.{brief(name)}: must be text, so that its digits are read exactly")
    for claim in keys.get("is", ()):
        if claim not in PROPERTIES:
            raise Refused(f"is: '{brief(str(claim))}' is none of {', '.join(PROPERTIES)}")
    check_place(Path(path), keys["name"], keys["family"])


def check_place(path, name, family):
    if family not in FAMILIES:
        raise Refused(f"family: '{brief(family)}' is none of {', '.join(FAMILIES)}")
    if not name.isidentifier() or not name.isascii() or name != path.stem:
        raise Refused(f"name: '{brief(name)}' must be a C identifier and the name of the file")
    if path.parent.name in FAMILIES and path.parent.name != family:
        raise Refused(f"family: '{family}', but the file is in {path.parent.name}/")
