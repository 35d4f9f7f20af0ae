"""The header of a generated C file: indices of all quantities, what the file offers."""
import re

from . import start_limit
from .calls_text import prototypes

PLACES = {"state": "states, y", "parameter": "parameters, p", "memory": "memory variables", "cost": "running costs, q",
          "output": "outputs"}
# Words behind NAME_ that a header has of its own.
RESERVED = {"problem", "start", "start_map", "output_map", "defaults", "backend", "lanes", "states", "parameters",
            "memory", "costs", "outputs", "grid", "start_problem", "start_steady", "start_periodic",
            "start_period"} | {
    f"{kind}_{what}" for kind in ("state", "parameter", "memory", "cost", "output") for what in ("names", "units")}

SOLVER = """
/* A linear solver for this model, for options.backend: elimination without loops in the pattern of the Jacobian, with
   a general solver of the library for matrices that need other pivots. */
const costate_backend *{0}_backend(void);
"""

LANES = """
/* The maps for 2, 4 and 8 members side by side, ended by lanes = 0; for members.lanes. */
const costate_lane_maps *{0}_lanes(void);
"""


def kinds(model):
    """The kinds of quantities that a model has, with their lists"""
    return [(kind, q) for kind, q in (("state", model.states), ("parameter", model.parameters),
                                      ("memory", model.memory), ("cost", model.costs), ("output", model.outputs)) if q]


def comment(text):
    """Text that does not end a comment: not by trigraphs either, of which ??/ can splice lines"""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("??", "? ?")


def quoted(text):
    """A string; ? is escaped, as ??/ is a backslash where trigraphs are replaced"""
    escaped = (f"\\{ord(c):03o}" if ord(c) < 32 or ord(c) == 127 else "\\" + c if c in '\\"?' else c for c in text)
    return '"' + "".join(escaped) + '"'


def guard_of(stem):
    return f"COSTATE_MODEL_{re.sub(r'[^A-Za-z0-9]', '_', stem).upper()}_H"


def header(file, backend):
    """file: a File; backend: with NAME_backend"""
    model, name, stem, lanes = file.model, file.name, file.stem, file.side_by_side
    guard, include = guard_of(stem), "lanes" if lanes else "linsol" if backend else "costate"
    return f"/* {stem}.h - written by costate-model from {comment(file.origin)}; changes belong there. */\n" \
        f"#ifndef {guard}\n#define {guard}\n\n#include <costate/{include}.h>\n{start_limit.include(model)}\n" \
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + indices(file) + declarations(model, name) + \
        start_limit.declarations(model, name) + prototypes(model.graph.functions, name) + \
        (SOLVER.format(name) if backend else "") + (LANES.format(name) if lanes else "") + \
        "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


def indices(file):
    model, text, name = file.model, "", file.name
    for kind, quantities in kinds(model):
        lines = [f"    {name}_{file.words[id(q)]}," + remark(q) for q in quantities]
        width = max(len(line.split("/*")[0]) for line in lines)
        lines = [line if "/*" not in line else line.split("/*", 1)[0].ljust(width) + " /*" + line.split("/*", 1)[1]
                 for line in lines]
        count = {"memory": "memory"}.get(kind, kind + "s")
        text += f"enum {{    /* {PLACES[kind]} */\n" + "\n".join(lines) + f"\n    {name}_{count}\n}};\n"
    return text + modes(model, name, file.words)


def modes(model, name, words):
    if not model.modes:
        return ""
    return "enum { " + ", ".join(f"{name}_{words[mode]}" for mode in model.modes) + " };    /* modes */\n"


def remark(q):
    text = " ".join(x for x in (comment(q.text), f"[{comment(q.unit)}]" if q.unit else "") if x)
    return f"/* {text} */" if text else ""


def declarations(model, name):
    rows = len(model.states) + len(model.costs) + len(model.memory)
    text = f"\nconst costate_problem *{name}_problem(void);\n\n" \
        f"/* y: {rows} initial values at t, as the file gives them, else 0; the map (t, p) -> y, with derivatives" \
        " */\n" \
        f"void {name}_start(double t, const double *p, double *y);\nconst costate_map *{name}_start_map(void);\n"
    if model.outputs:
        text += "\n/* outputs as functions of t, y, p and m, with their derivatives */\n" \
            f"const costate_map *{name}_output_map(void);\n"
    text += "\n"
    if model.parameters:
        text += f"extern const double {name}_defaults[{len(model.parameters)}];      /* of the parameters */\n"
    for kind, quantities in kinds(model):
        for what in ("names", "units"):
            text += f"extern const char *const {name}_{kind}_{what}[{len(quantities)}];\n"
    return text
