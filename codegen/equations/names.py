"""Names in C: those of the file, made unique; loads of variables at the top of a function."""
import re
from dataclasses import dataclass

from .declare import C_WORDS

WORDS = """x dx ex out ctx w g dy dp dm dyp ey ep em eyp gy gp gm gyp J M zeros i t dt et mode y INFINITY NAN NULL EOF
bool jac jac_yp mass pattern count column row events problem map index_of"""
FUNCTIONS_OF_C = """acos asin atan atan2 atanh acosh asinh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim
floor fma fmax fmin fmod frexp gamma hypot j0 j1 jn y0 y1 yn ldexp lgamma log log10 log1p log2 logb lrint modf nan pow
remainder rint round scalbn signgam sin sinh sqrt tan tanh tgamma trunc abs index memset significand drem pow10
exp10"""
TAKEN = C_WORDS | set(WORDS.split()) | set(FUNCTIONS_OF_C.split())


@dataclass
class Loads:
    text: str
    lengths: list                    # of arrays that zeros must have, as NULL may stand for them


def listed(before, items, after, indent):
    """Lines of a list with commas, none of whose items is broken"""
    lines, line = [], before
    for k, item in enumerate(items):
        piece = item + (after if k == len(items) - 1 else ",")
        if len(line) + len(piece) > 117 and line.strip():
            lines.append(line.rstrip())
            line = " " * indent
        line += piece + " "
    return lines + [line.rstrip()]


def c_word(name):
    """The name of a component of a vector, c[2], as a word"""
    return re.sub(r"\W+", "_", name).strip("_")


def quantities_of(model):
    return model.states + model.parameters + model.memory + model.costs + model.outputs


class Names:
    """Of the variables and temporaries of a model's functions; also: further words that they must not be"""

    def __init__(self, model, also=()):
        self.model = model
        taken = TAKEN | set(also) | {f"{model.name}_{c_word(q.name)}" for q in quantities_of(model)}
        self.of = {}
        for space, quantities in (("y", model.states), ("p", model.parameters), ("m", model.memory)):
            for q in quantities:
                self.of[space, q.index] = self.fresh(c_word(q.name), taken)
        for q in model.states:
            self.of["yp", q.index] = self.fresh(c_word(q.name) + "_prime", taken)
        for space in ("y", "p", "m", "yp"):
            for side in "de":
                for (s, k), name in list(self.of.items()):
                    if s == space:
                        self.of[side + space, k] = self.fresh(f"{side}_{name}", taken)
        self.prefix = next(p for p in ("s", "u", "v", "tmp", "tmp_")
                           if not any(re.fullmatch(p + r"_?\d+", k) for k in taken))

    @staticmethod
    def fresh(name, taken):
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def variable(self, key):
        _, space, index, _ = key
        if space == "mode":
            return "mode"
        if space == "given":
            return f"{self.prefix}_{index}"
        if space == "w":
            return f"w[{index}]"
        if space in ("t", "dt", "et"):
            return space
        return self.of[space, index]

    def loads(self, graph, roots, of="xde", indent="    "):
        """Declarations of the variables that roots use: of the point x, of the directions d and e"""
        lines, lengths = [], []
        keys = graph.variables(roots)
        for q in of:
            before, point = q.replace("x", ""), {"x": "x", "d": "dx", "e": "ex"}[q]
            for space in ("y", "yp", "p", "m"):
                these = [k for k in keys if k[1] == before + space]
                if these and before:
                    lines.append(f"{indent}const double *{q}{space} = {point}->{space} ? {point}->{space} : zeros;")
                    lengths.append(self.length(space))
                array = f"{q}{space}" if before else f"x->{space}"
                self._load(lines, these, lambda k, array=array: f"{array}[{k[2]}]", indent)
            if any(k[1] == before + "t" for k in keys):
                lines.append(f"{indent}const double {before}t = {point}->t;")
        if "x" in of and any(k[1] == "mode" for k in keys):
            lines.append(f"{indent}const int mode = x->mode;")
        return Loads("".join(line + "\n" for line in lines), lengths)

    def length(self, space):
        m = self.model
        return {"y": len(m.states), "yp": len(m.states), "p": len(m.parameters), "m": len(m.memory)}[space]

    def _load(self, lines, keys, text, indent):
        if keys:
            lines.extend(listed(indent + "const double ", [f"{self.variable(k)} = {text(k)}" for k in keys], ";",
                                len(indent) + 4))
