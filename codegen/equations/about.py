"""What the C file of a model has, as JSON: for programs that load the compiled file."""
import json


def about(origin, name, kinds, functions, axes=(), sizes=None, start=None, functions_in_c=None,
          no_splitting=None):
    """kinds: [(kind, quantities)]; functions: of those that not every model has; axes: numbers of cells, or names of
    sizes; sizes: {name: usual value or None}, in the order of NAME_new's arguments; start: start_limit.data;
    functions_in_c: calls_text.data; no_splitting: of a model on a grid, why it has none.
    Memory variables that the file does not name are hidden."""
    found = dict(file=f"written by costate-model from {origin}", name=name, functions=functions, axes=list(axes),
                 sizes=sizes or {}, **start or {}, **functions_in_c or {})
    if no_splitting:
        found["no_splitting"] = no_splitting
    for kind, quantities in kinds:
        found[kind] = [dict(name=q.name, unit=q.unit, **{"hidden": True} if q.hidden else {}) for q in quantities]
    return json.dumps(found, indent=1) + "\n"
