"""The numbers of coefficient files."""
import re
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace

from .collocation import KINDS
from .document import MOST_STAGES, check_keys, document, naming
from .expr import evaluate
from .linalg import zeros
from .real import Refused, brief, tolerance

ORIGINAL = {"alpha", "gamma", "b", "bhat"}           # the blocks of the two forms of Rosenbrock methods
TRANSFORMED = {"gamma", "a", "c", "m", "mhat", "e"}
EMBEDDED = OPTIONAL = {"bhat", "mhat", "e"}


@dataclass(frozen=True)
class Table:
    """The numbers of a file, as it states them: derivation reads them and writes its own (Tableau, Forms).  Matrices
    are lists of rows; what the file does not give is None."""
    path: str
    name: str
    family: str
    order: int
    embedded: int
    embedded2: int
    s: int                           # stages, an explicit first one included
    dense: object                    # claimed order of the dense output, None: no claim
    claims: tuple
    keys: dict
    tol: object
    A: list = None                   # Runge-Kutta
    b: list = None
    bhat: list = None
    bhat2: list = None
    c: list = None
    alpha: list = None               # Rosenbrock, original form
    gamma: list = None
    a: list = None                   # Rosenbrock, transformed form
    C: list = None
    m: list = None
    mhat: list = None
    m_less_mhat: list = None         # its block e: the opposite sign of Method.e = mhat - m
    diagonal: object = None
    theta: object = None             # bhat = b + theta b Gamma
    continuous: list = None          # rows of coefficients of theta, theta^2, ... a stage
    rodas: list = None
    sums: dict = field(default_factory=dict)     # the redundant columns of the blocks, such as alpha_i
    collocation: bool = False
    printed: int = 0                 # significant digits of the longest decimal number
    nodes: object = None             # the kind of nodes that define the method, for which there is no tableau


def load(path):
    """Read and parse the file; its numbers are checked elsewhere."""
    return table(document(path))


def table(doc):
    with naming(doc.path):
        return Reader(doc).table()


def texts(doc):
    """All formulas of a file."""
    yield from [doc.keys["theta"]] if "theta" in doc.keys else []
    yield from doc.keys.get("let", {}).values()
    for lines in doc.blocks.values():
        for label, entries in lines:
            yield from [label or ""] + entries


@lru_cache(maxsize=None)
def significant(formula):
    """The significant digits of the longest decimal number in it."""
    found = re.findall(r"\d*\.\d*", formula)
    return max((len(x.replace(".", "").lstrip("0")) for x in found), default=0)


class Reader:
    """Turns a document into a table; every fault names its place."""

    def __init__(self, doc):
        self.doc, self.names = doc, {}

    def table(self):
        keys = self.doc.keys
        check_keys(self.doc.path, keys)
        for name, text in keys.get("let", {}).items():
            self.names[name] = self.value(text, f"let.{brief(name)}")
        t = SimpleNamespace(path=self.doc.path, name=keys["name"], family=keys["family"], order=keys["order"],
                            embedded=keys.get("embedded", 0), embedded2=keys.get("embedded2", 0),
                            dense=keys.get("dense"), claims=tuple(keys.get("is", ())), keys=keys,
                            tol=tolerance(keys.get("digits")), collocation=keys.get("collocation", False), sums={})
        if "theta" in keys and t.family != "ros":
            raise Refused("theta: is for the family ros")
        if "nodes" in keys or "stages" in keys or t.family == "collocation":
            self.nodes(t)
        elif t.family == "ros":
            self.rosenbrock(t)
        else:
            self.runge_kutta(t)
        self.dense(t, t.s)
        t.printed = self.digits(keys.get("digits"))
        return Table(**vars(t))

    def digits(self, stated):
        """Too few let typing errors pass; who prints that many more than are right?"""
        printed = max((significant(x) for x in texts(self.doc)), default=0)
        if stated is not None and printed > stated + 5:
            raise Refused(f"digits: {stated} are stated, but there are entries of {printed}")
        return printed

    def value(self, text, place):
        try:
            return evaluate(text, self.names)
        except Refused as fault:
            raise Refused(f"{place}: {fault}") from None

    def entries(self, texts, place):
        return [self.value(text, f"{place}, entry {j}") for j, text in enumerate(texts, 1)]

    def plain(self, key):
        """The lines of a block that has no column before a bar."""
        if any(label is not None for label, _ in self.doc.blocks[key]):
            raise Refused(f"{key}: takes no column before a bar")
        return [texts for _, texts in self.doc.blocks[key]]

    def row(self, key, s):
        """A block of one row, such as b; None where it is not given."""
        if key not in self.doc.blocks:
            return None
        texts = sum(self.plain(key), [])
        if len(texts) != s:
            raise Refused(f"{key}: {len(texts)} entries, should be {s}")
        return self.entries(texts, key)

    def dense(self, t, s):
        """The blocks continuous, s rows of equal length, and rodas, rows of s entries."""
        blocks = self.doc.blocks
        for key in {"continuous", "rodas"} & set(blocks):
            if t.dense is None:
                raise Refused(f"{key}: its order is not stated (key dense)")
        if "continuous" in blocks:
            lines = self.plain("continuous")
            if len(lines) != s:
                raise Refused(f"continuous: {len(lines)} rows, should be {s}, one a stage")
            for i, texts in enumerate(lines, 1):
                if len(texts) != len(lines[0]):
                    raise Refused(f"continuous: row {i}: {len(texts)} entries, but row 1 has {len(lines[0])}")
            t.continuous = [self.entries(texts, f"continuous: row {i}") for i, texts in enumerate(lines, 1)]
        if "rodas" in blocks:
            for i, (_, texts) in enumerate(blocks["rodas"], 1):
                if len(texts) != s:
                    raise Refused(f"rodas: row {i}: {len(texts)} entries, should be {s}, one a stage")
            t.rodas = [self.entries(texts, f"rodas: row {i}") for i, (_, texts) in enumerate(blocks["rodas"], 1)]
            t.sums["rodas"] = self.labels(blocks["rodas"], "rodas", "sum")

    def matrix(self, lines, key, width):
        """Square from rows that may leave out zeros at the right; width(i) is the most entries row i may have."""
        s = len(lines)
        if s > MOST_STAGES + 1:                      # one may be the explicit first one
            raise Refused(f"{key}: {s} stages, at most {MOST_STAGES} are provided for")
        A = zeros(s, s)
        for i, (_, texts) in enumerate(lines):
            if len(texts) > width(i, s):
                raise Refused(f"{key}: row {i + 1}: {len(texts)} entries, at most {width(i, s)} fit its shape")
            for j, x in enumerate(self.entries(texts, f"{key}: row {i + 1}")):
                A[i][j] = x
        return A

    def labels(self, lines, key, symbol):
        """The column at the left of the bar: all rows or none."""
        given = [label for label, _ in lines if label]
        if given and len(given) < len(lines):
            raise Refused(f"{key}: the column {symbol} is incomplete")
        return [self.value(x, f"{key}: {symbol}_{i}") for i, x in enumerate(given, 1)] if given else None

    def runge_kutta(self, t):
        for key in set(self.doc.blocks) - {"tableau", "continuous"}:
            raise Refused(f"{key}: not a block of family {t.family}")
        lines = self.doc.blocks.get("tableau", [])
        stages = [line for line in lines if line[0] not in ("b", "bhat", "bhat2")]
        weights = {label: texts for label, texts in lines if label in ("b", "bhat", "bhat2")}
        if not stages or "b" not in weights:
            raise Refused("tableau: needs a row a stage and a row b")
        if len(lines) != len(stages) + len(weights) or any(x[0] is None for x in lines):
            raise Refused("tableau: every line is 'c_i | entries', 'b | ...', 'bhat | ...' or 'bhat2 | ...', once each")
        t.s = s = len(stages)
        width = {"sdirk": lambda i, s: i + 1, "firk": lambda i, s: s}.get(t.family, lambda i, s: i)
        t.A = self.matrix(stages, "tableau", width)
        t.c = self.labels(stages, "tableau", "c")
        for label, texts in weights.items():
            if len(texts) != s:
                raise Refused(f"{label}: {len(texts)} entries, should be {s}")
            setattr(t, label, self.entries(texts, label))

    def nodes(self, t):
        """A method by its nodes: there are no numbers to read."""
        if t.family not in ("firk", "collocation"):
            raise Refused("nodes, stages: are for the families firk and collocation")
        for key in [*self.doc.blocks, *(key for key in ("collocation", "digits", "let") if key in t.keys)]:
            raise Refused(f"{key}: is not for a method given by nodes and stages, from which everything is derived")
        for key in ("nodes", "stages"):
            if key not in t.keys:
                raise Refused(f"key '{key}' is missing")
        t.nodes, t.s = t.keys["nodes"], t.keys["stages"]
        if t.nodes not in KINDS:
            raise Refused(f"nodes: '{brief(t.nodes)}' is none of {', '.join(KINDS)}")
        kind = KINDS[t.nodes]
        if not kind.least <= t.s <= kind.most:
            raise Refused(f"stages: must be from {kind.least} to {kind.most} for nodes '{t.nodes}'")
        if kind.singular and t.family == "firk":
            raise Refused(f"nodes: '{t.nodes}' makes A singular, which is for the family collocation")
        if kind.other and t.family == "collocation":
            raise Refused(f"nodes: '{t.nodes}' is no collocation method, but of the family firk")

    def rosenbrock(self, t):
        blocks = self.doc.blocks
        original, transformed = "alpha" in blocks, "a" in blocks
        if not original and not transformed:
            raise Refused("needs the blocks alpha, gamma, b or a, c, m and gamma")
        forms = (ORIGINAL if original else set()) | (TRANSFORMED if transformed else set())
        for key in set(blocks) - forms - {"continuous", "rodas"}:
            raise Refused(f"{key}: not a block of this form of family ros")
        for key in forms - OPTIONAL:
            if key not in blocks:
                raise Refused(f"the block {key} is missing")
        t.s = s = len(blocks["alpha" if original else "a"])
        if original:
            t.alpha, t.gamma = self.triangle(t, "alpha", s), self.triangle(t, "gamma", s)
            t.b, t.bhat = self.row("b", s), self.row("bhat", s)
        else:
            t.diagonal, = self.row("gamma", 1)
        if transformed:
            t.a, t.C = self.triangle(t, "a", s), self.triangle(t, "c", s)
            t.m, t.mhat, t.m_less_mhat = self.row("m", s), self.row("mhat", s), self.row("e", s)
        if original and transformed and t.bhat is None and t.m_less_mhat is not None:
            raise Refused("bhat: is missing beside b, but e is given")
        if "theta" in t.keys:
            for key in EMBEDDED & set(blocks):
                raise Refused(f"{key}: is not for a method with theta, from which the embedded solution is derived")
            t.theta = self.value(t.keys["theta"], "theta")

    def triangle(self, t, key, s):
        """A lower triangle, with diagonal for gamma; the sums that may stand beside it go to t.sums."""
        lines = self.doc.blocks[key]
        if len(lines) != s:
            first = "alpha" if "alpha" in self.doc.blocks else "a"
            raise Refused(f"{key}: {len(lines)} rows, should be {s}, as {first} has (the empty first row of a strictly "
                          "lower triangle counts; without the column of sums it is left out)")
        t.sums[key] = self.labels(lines, key, "gamma" if key in ("gamma", "c") else "alpha")
        return self.matrix(lines, key, (lambda i, s: i + 1) if key == "gamma" else (lambda i, s: i))
