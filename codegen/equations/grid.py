"""A grid as the functions on it see it: where states and parameters of a cell stand, boundaries, names in C."""
import re

from .calls_text import wrapper
from .model import LOW, HIGH, PERIODIC, WALL, ZERO
from .names import prefix, public, variable

DEAR = 8                                     # additions: what is worth to be computed before the loop over cells
INDICES = ("i", "j", "k")                    # of the axes, in C
RESERVED = {"grid", "new", "free", "problem", "start", "start_map", "defaults", "index", "parameter", "parts",
            "splitting", "states", "parameters", "costs"} | {f"{kind}_{what}" for kind in ("state", "parameter", "cost")
                                      for what in ("names", "units")}        # words that a header has behind NAME_
ENDS = {PERIODIC: -1, WALL: -2, ZERO: 0}     # else the number of a value outside


class Grid:
    """Scalar parameters come first in p, then the fields among them, in the order of their declarations.  F: the lists
    of nodes of all maps."""

    def __init__(self, model, F):
        self.model, self.g, self.name, self.F = model, model.graph, prefix(model), F
        self.axes, self.nf = len(model.axes), len(model.states)
        self.scalars = [q for q in model.parameters if not q.axes]
        self.fields = [q for q in model.parameters if q.axes]
        self.place = {q.index: k for k, q in enumerate(self.scalars)} | {q.index: k for k, q in enumerate(self.fields)}
        self.here = (0,) * self.axes
        self.last = INDICES[self.axes - 1]
        self.periodic = [axis.ends[LOW] == PERIODIC for axis in model.axes]
        self._read_ends()
        self._name_things()
        self.rows = {self.here[:-1]}             # offsets of the rows that are read
        self.numbers = {}                        # key -> member, of those that are used
        self.once = []                           # nodes that are computed once for all cells: ("v", "once", k, ())
        self.strided = self.nf > 1 and model.layout == "fields"

    def _read_ends(self):
        """ends: for each state, and last for parameters, a code for the low and high end of each axis"""
        m, self.outside = self.model, []
        self.ends = []
        for q in m.states:
            what = lambda a, end: m.boundaries.get((q.index, a, end), m.axes[a].ends[end])     # noqa: B023, E731
            self.ends.append([tuple(self._code(what(a, end)) for end in (LOW, HIGH)) for a in range(self.axes)])
        self.ends.append([(ENDS[PERIODIC if p else WALL],) * 2 for p in self.periodic])
        self.has_outside = any(code >= 0 for field in self.ends for both in field for code in both)

    def outside_of(self, loads):
        """The nodes of the values outside that these variables may stand for"""
        codes = {self.ends[k[2]][a][o > 0] for k in loads for a, o in enumerate(k[3]) if o}
        return [node for code, node in enumerate(self.outside, 1) if code in codes]

    def _code(self, what):
        if isinstance(what, str) or self.g.is_zero(what):
            return ENDS.get(what, 0)
        if what not in self.outside:
            self.outside.append(what)
        return 1 + self.outside.index(what)

    # ---- names ----

    def _name_things(self):
        self.words = public(self.model, RESERVED | {*self.g.functions})
        self.taken = {f"{self.name}_{word}" for word in self.words.values()} | {wrapper(f) for f in self.g.functions}
        self.arrays = {}
        for q in self.fields:
            for side in ("", "d", "e", "g"):
                self.arrays[side + "p", q.index] = variable(f"{side}_{q.name}_of".lstrip("_"), self.taken)
        self.sizes = {name: name + "_" for name in self.model.sizes}                     # size -> argument, member
        self.locals = {}
        for q in self.model.states:
            self.local(("v", "y", q.index, self.here))
        for q in self.fields:
            self.local(("v", "p", q.index, self.here))
        self.taken_members = {"t", "dt", "et", "mode"}

    def is_number(self, key):
        """Whether a variable is the same for all cells"""
        return key[1] in ("size", "t", "dt", "et", "mode", "once") or key[1] in ("p", "dp", "ep", "w") and not key[3]

    def variable(self, key):
        """The text of a variable in the function of a cell"""
        if key[1] == "axis":
            return f"at_{INDICES[key[2]]}"
        if key[1:2] + key[3:] == ("w", ()):
            return f"w[{key[2]}]"
        if self.is_number(key):
            return f"p.{self.member(key)}"
        return self.local(key)

    def member(self, key):
        if key not in self.numbers:
            plain = self._plain(key)
            self.numbers[key] = plain if key[1] in ("t", "dt", "et", "mode") else variable(plain, self.taken_members)
        return self.numbers[key]

    def _plain(self, key):
        space, index = key[1:3]
        if space == "once":
            return f"once_{index}"
        if space == "size":
            return list(self.sizes)[index]
        if space in ("t", "dt", "et", "mode"):
            return space
        side = space[:-1]
        return f"{side}_{self.model.parameters[index].name}".lstrip("_")

    def local(self, key):
        if key not in self.locals:
            _, space, index, offsets = key
            parameter = space.endswith("p")
            q = (self.model.parameters if parameter else self.model.states)[index]
            side = space if space == "w" else space[:-1]
            name = f"{side}_{q.name}".lstrip("_") + ("_" + offset_word(offsets) if any(offsets) else "")
            self.locals[key] = variable(name, self.taken)
        return self.locals[key]

    def enumerator(self, q):
        """Of a state or parameter: NAME_u"""
        return f"{self.name}_{self.words[id(q)]}"

    # ---- what is the same for all cells ----

    def constant(self, roots):
        """The nodes below roots that are the same for all cells"""
        out = set()
        for a in self.g.order(roots):
            key, below = self.g.nodes[a], self.g.children(a)
            if key[0] == "c" or key[0] == "v" and self.is_number(key) or below and all(b in out for b in below):
                out.add(a)
        return out

    def hoisted(self, roots):
        """roots with variables for what is dear and the same for all cells"""
        g, constant = self.g, self.constant(roots)
        dear = [a for a in g.order(roots) if a in constant and g.operation_cost(a) >= DEAR
                and g.variables([a]) and not g.variables([a], "w")]
        self.once += [a for a in dear if a not in self.once]
        return g.rebuilt(roots, {}, {a: g.v("once", self.once.index(a)) for a in dear})

    # ---- addresses ----

    def cell(self, offsets):
        """The cell at these offsets from the one at hand"""
        self.rows.add(offsets[:-1])
        row = f"r.{offset_word(offsets[:-1])} + " if self.axes > 1 else ""
        d = offsets[-1]
        return row + self.last + (f" {'-' if d < 0 else '+'} {abs(d)}" if d else "")

    def address(self, array, field, offsets=None):
        cell = self.cell(self.here if offsets is None else offsets)
        if self.nf == 1:
            return f"{array}[{cell}]"
        if self.strided:
            stride = "" if field == 0 else "r.field + " if field == 1 else f"{field}*r.field + "
            return f"{array}[{stride}{cell}]"
        cell = f"({cell})" if " " in cell else cell
        return f"{array}[{self.nf}*{cell}{f' + {field}' if field else ''}]"

    def is_gradient(self, array):
        """Whether it is the gradient with respect to a field of parameters"""
        return any(name == array and side == "gp" for (side, _), name in self.arrays.items())

    def parameter_array(self, array):
        """(side, where it begins in p, as text to be added)"""
        (side, index), = (k for k, name in self.arrays.items() if name == array)
        before, k = len(self.scalars), self.place[index]
        parts = [str(before)] * bool(before) + [f"{k}*G->cells" if k > 1 else "G->cells"] * bool(k)
        return side, "".join(f" + {part}" for part in parts)

    def place_in_y(self, field, cell):
        """C text: the index of a state, from C texts of its number and its cell"""
        if self.nf == 1:
            return cell
        return f"{field}*G->cells + {cell}" if self.strided else f"FIELDS*{cell} + {field}"

    def cell_of(self, c):
        """C text: the cell of an unknown"""
        return c if self.nf == 1 else f"{c} % G->cells" if self.strided else f"{c} / FIELDS"

    def needs_rows(self):
        return self.axes > 1 or self.strided

    def load(self, key):
        """The address that a variable is read from, and its array"""
        _, space, index, offsets = key
        if space.endswith("p"):
            array = self.arrays[space, index]
            return f"{array}[{self.cell(offsets)}]", array
        return self.address(space, index, offsets), space


def offset_word(offsets):
    if not any(offsets):
        return "o"
    return "_".join("o" if d == 0 else f"{'m' if d < 0 else 'p'}{abs(d)}" for d in offsets)
