"""The header of a model on a grid."""
from .c_file import comment
from .names import c_word


def header(file):
    m, grid, name = file.model, file.grid, file.grid.name
    guard = f"{name.upper()}_H"
    text = f"/* {file.stem}.h - written by costate-model from {file.origin}; changes belong there. */\n" \
        f"#ifndef {guard}\n#define {guard}\n\n#include <costate/costate.h>\n\n" \
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    for kind, quantities in file.kinds():
        text += f"enum {{                 /* {'states: fields in y' if kind == 'state' else 'parameters'} */\n"
        for q in quantities:
            remark = " ".join(x for x in (q.text, f"[{q.unit}]" if q.unit else "",
                                          "(a field)" if kind == "parameter" and q.axes else "") if x)
            line = f"    {name}_{c_word(q.name)},".ljust(28) + (f"/* {comment(remark)} */" if remark else "")
            text += line.rstrip() + "\n"
        text += f"    {name}_{kind}s\n}};\n"
    sizes = ", ".join(f"int {s}" for s in m.sizes) or "void"
    usual = ", ".join(f"{s} = {v}" for s, v in m.sizes.items() if v is not None)
    cells = " x ".join(str(axis.size) for axis in m.axes)
    least = ", ".join(str(n) for n in file.least())
    text += f"""
/* The model on a grid of {cells} cells{f'; usual sizes: {usual}' if usual else ''}.  NULL: no memory; a size is too
   small (least numbers of cells: {least}); or there are more unknowns or entries of the Jacobian than fit into int.
   Several grids of different sizes can exist at the same time, and several threads can use one. */
typedef struct {name}_grid {name}_grid;
{name}_grid *{name}_new({sizes});
void {name}_free({name}_grid *);                 /* accepts NULL */
const costate_problem *{name}_problem(const {name}_grid *);
"""
    if any(q.value is not None for q in m.states):
        text += f"\n/* y: n initial values at t, as the file gives them */\n" \
            f"void {name}_start(const {name}_grid *, double t, const double *p, double *y);\n"
    indices = "".join(f", int {i}" for i in ("i", "j", "k")[:grid.axes])
    text += f"\n/* where a state of a cell is in y */\nint {name}_index(const {name}_grid *, int state{indices});\n"
    if m.parameters:
        text += f"\n/* p: np usual values */\nvoid {name}_defaults(const {name}_grid *, double *p);\n"
    if grid.fields:
        text += f"\n/* where a parameter is in p; the indices of the cell matter for fields only */\n" \
            f"int {name}_parameter(const {name}_grid *, int parameter{indices});\n"
    text += "\n"
    for kind, quantities in file.kinds():
        for what in ("names", "units"):
            text += f"extern const char *const {name}_{kind}_{what}[{len(quantities)}];\n"
    return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"
