"""Names in C: those of a file, made legal and unique; loads of variables at the top of a function.

What other files see are NAME_word, with NAME of the model.  Variables of functions are word_: no word of C, macro or
function of a library ends so, and nothing else in a generated file does."""
import re
from dataclasses import dataclass

# The first words of names that a generated file or its headers define: a model of this name is model_NAME in C.
FIRST = set("""rhs equations cost output start rest rates on no lu lane factor solve transposed less times net plain
other reactions reactants zero jac mass costate outside place read add clear near numbers write rows entry pattern new
load ends own image wrapped image kind list M FP FLT DBL LDBL INT UINT LONG LLONG CHAR SCHAR UCHAR SHRT USHRT SIZE RAND
EXIT MB HUGE NAN INFINITY COSTATE LS LANE""".split())


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


def identifier(name, taken):
    """A word of C for a name, which joins those that are taken: a component x[2] is x_2, and an underscore is added
    as long as the word is taken"""
    word = re.sub(r"\W+", "_", name.replace("[-", "[m").rstrip("]"))
    while word in taken:
        word += "_"
    taken.add(word)
    return word


def variable(name, taken):
    """The word of a variable in a function; words that begin with an underscore belong to compilers"""
    return identifier(("v" if name.startswith("_") else "") + name.rstrip("]") + "_", taken)


def prefix(model):
    """NAME, which all names begin with that other files see"""
    return f"model_{model.name}" if model.name.split("_")[0] in FIRST else model.name


def public(model, reserved):
    """{id of a quantity, or name of a mode: its word behind NAME_}; reserved: words that mean something else there"""
    taken, out = set(reserved), {}
    named = [(id(q), q.name) for q in quantities_of(model)] + [(mode, mode) for mode in model.modes]
    for key, name in sorted(named, key=lambda item: "[" in item[1]):       # x_1 is x_1, and x[1] gives way
        out[key] = identifier(name, taken)
    return out


def quantities_of(model):
    return model.states + model.parameters + model.memory + model.costs + model.outputs


class Names:
    """Of the variables and temporaries of a model's functions; taken: words that the file has elsewhere"""

    def __init__(self, model, taken):
        self.model, taken = model, set(taken)
        self.of = {}
        for space, quantities in (("y", model.states), ("p", model.parameters), ("m", model.memory)):
            for q in quantities:
                self.of[space, q.index] = variable(q.name, taken)
        for q in model.states:
            self.of["yp", q.index] = variable(f"{q.name.rstrip(']')}_prime", taken)
        for space, quantities in (("y", model.states), ("p", model.parameters), ("m", model.memory),
                                  ("yp", model.states)):
            for side in "de":
                for q in quantities:
                    self.of[side + space, q.index] = variable(f"{side}_{self.of[space, q.index].rstrip('_')}", taken)

    def variable(self, key):
        """Text of a variable, or a pointer to the first one of a block"""
        kind, space, index, _ = key
        if kind == "block":
            array = {"w": "w"}.get(space, space if space[0] in "de" else f"x->{space}")
            return f"{array} + {index}" if index else array
        if space == "mode":
            return "mode"
        if space == "relation":
            return f"x->relation[{index}]"
        if space == "whole":                 # products of whole numbers would be whole
            return f"(double)x->relation[{index}]"
        if space == "given":
            return f"s_{index}"
        if space == "w":
            return f"w[{index}]"
        if space in ("t", "dt", "et"):
            return space
        return self.of[space, index]

    def loads(self, graph, roots, of="xde", indent="    ", given=()):
        """Declarations of the variables that roots use: of the point x, of the directions d and e, and g, of what is
        in the array `given`; given: nodes whose variables are not wanted"""
        lines, lengths = [], []
        keys, blocks = graph.loaded(roots, given)
        for q in of.replace("g", ""):
            before, point = q.replace("x", ""), {"x": "x", "d": "dx", "e": "ex"}[q]
            for space in ("y", "yp", "p", "m"):
                these = [k for k in keys if k[1] == before + space]
                if before and (these or before + space in blocks):
                    lines.append(f"{indent}const double *{q}{space} = {point}->{space} ? {point}->{space} : zeros;")
                    lengths.append(self.length(space))
                array = f"{q}{space}" if before else f"x->{space}"
                self._load(lines, these, lambda k, array=array: f"{array}[{k[2]}]", indent)
            if any(k[1] == before + "t" for k in keys):
                lines.append(f"{indent}const double {before}t = {point}->t;")
        if "x" in of and any(k[1] == "mode" for k in keys):
            lines.append(f"{indent}const int mode = x->mode;")
        if "g" in of:
            self._load(lines, [k for k in keys if k[1] == "given"], lambda k: f"given[{k[2]}]", indent)
        return Loads("".join(line + "\n" for line in lines), lengths)

    def length(self, space):
        m = self.model
        return {"y": len(m.states), "yp": len(m.states), "p": len(m.parameters), "m": len(m.memory)}[space]

    def _load(self, lines, keys, text, indent):
        if keys:
            lines.extend(listed(indent + "const double ", [f"{self.variable(k)} = {text(k)}" for k in keys], ";",
                                len(indent) + 4))
