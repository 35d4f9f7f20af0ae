"""The header of a model on a grid."""
import textwrap

from .calls_text import prototypes
from .grid_splitting_text import HEADER as SPLITTING
from .header import comment, guard_of, modes

PLACES = {"state": "states: fields in y", "parameter": "parameters in p", "cost": "running costs, behind the states"}

TEXT = """
/* The model on a grid of @CELLS cells@USUAL.
   NULL: no memory; an axis has too few cells (least: @LEAST); or there are more unknowns or entries of the Jacobian
   than fit into int.  There may be several grids of different sizes, and several threads and solvers may use one. */
typedef struct @NAME_grid @NAME_grid;
@NAME_grid *@NAME_new(@ARGUMENTS);
void @NAME_free(@NAME_grid *);                 /* accepts NULL */
const costate_problem *@NAME_problem(const @NAME_grid *);

/* where the state of a cell is in y */
int @NAME_index(const @NAME_grid *, int state@INDICES);
"""
START = """
/* y: initial values at t, as the file gives them@COSTS; and the map (t, p) -> y with its
   derivatives, whose ctx is the grid */
void @NAME_start(const @NAME_grid *, double t, const double *p, double *y);
const costate_map *@NAME_start_map(const @NAME_grid *);
"""
DEFAULTS = """
/* p: the usual values of all parameters */
void @NAME_defaults(const @NAME_grid *, double *p);
"""
PARAMETER = """
/* where a parameter is in p; indices are those of the cell, for parameters that are fields */
int @NAME_parameter(const @NAME_grid *, int parameter@INDICES);
"""


def header(file):
    m, grid, name = file.model, file.grid, file.grid.name
    guard, interface = guard_of(file.stem), "operators" if file.splitting.parts else "costate"
    text = f"/* {file.stem}.h - written by costate-model from {comment(file.origin)}; changes belong there. */\n" \
        f"#ifndef {guard}\n#define {guard}\n\n#include <costate/{interface}.h>\n\n" \
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    for kind, quantities in file.kinds():
        text += f"enum {{    /* {PLACES[kind]} */\n"
        for q in quantities:
            line = f"    {grid.enumerator(q)},".ljust(28)
            text += (line + remark(q, kind)).rstrip() + "\n"
        text += f"    {name}_{kind}s\n}};\n"
    text += modes(m, name, grid.words)
    usual = ", ".join(f"{s} = {v}" for s, v in m.sizes.items() if v is not None)
    body = TEXT + START * bool(file.start) + DEFAULTS * bool(m.parameters) + PARAMETER * bool(grid.fields) \
        + (SPLITTING if file.splitting.parts else without_splitting(file.splitting.reason))
    for word, by in (("@CELLS", " x ".join(str(axis.size) for axis in m.axes)),
                     ("@USUAL", f" (usually {usual})" * bool(usual)),
                     ("@LEAST", ", ".join(str(n) for n in file.tables.least())),
                     ("@ARGUMENTS", ", ".join(f"int {s}" for s in grid.sizes.values()) or "void"),
                     ("@INDICES", file.object.arguments), ("@COSTS", "; running costs 0" * bool(m.costs)),
                     ("@NAME", name)):
        body = body.replace(word, by)
    text += body + "\n"
    for kind, quantities in file.kinds():
        for what in ("names", "units"):
            text += f"extern const char *const {name}_{kind}_{what}[{len(quantities)}];\n"
    text += prototypes(m.graph.functions, name)
    return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


def without_splitting(reason):
    text = f"/* There is no splitting for W-methods: {comment(reason)}. */"
    return "\n" + textwrap.fill(text, 118, subsequent_indent="   ", break_on_hyphens=False) + "\n"


def remark(q, kind):
    parts = [q.text, f"[{q.unit}]" if q.unit else "", "(a field)" if kind == "parameter" and q.axes else ""]
    parts = [part for part in parts if part]
    return f"/* {comment(' '.join(parts))} */" if parts else ""
