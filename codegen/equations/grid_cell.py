"""The inlined function of a cell, and how it is called in the loops over the interior and for cells near boundaries."""
from .body import Body
from .grid import INDICES
from .names import listed

DIRECTION_OF = {"y": "x", "dy": "dx", "ey": "ex"}


class Cell:
    """targets: what is computed; writes: the arrays in them, by name"""

    def __init__(self, grid, name, targets, writes):
        self.grid, self.name, self.writes = grid, name + "_at", writes
        body = Body(grid.g, targets, grid.variable, prefix="u_")
        self.nodes = [t.node for t in body.targets]
        keys = grid.g.variables(self.nodes)
        self.loads = [k for k in keys if not grid.is_number(k) and k[1] != "axis"]
        self.uses_numbers = any(grid.is_number(k) for k in keys)
        self.axis_numbers = [k[2] for k in keys if k[1] == "axis"]
        self.reads = list(dict.fromkeys(grid.load(k)[1] for k in self.loads))
        self.body = body.text()
        self.text = self._function()

    def reaches(self, array):
        """Whether it reads this array at neighbours"""
        return any(any(k[3]) for k in self.loads if self.grid.load(k)[1] == array)

    def _function(self):
        g = self.grid
        arguments = [f"const double *restrict {a}" for a in self.reads] + [f"double *restrict {a}" for a in self.writes]
        arguments += [*["const rows r"] * g.needs_rows(), f"const int {g.last}"] * self._uses_position()
        arguments += [f"const double at_{INDICES[a]}" for a in self.axis_numbers] + ["const numbers s"] * self.uses_numbers
        start = f"INLINE void {self.name}("
        head = "\n".join(listed(start, arguments, ")", len(start)))
        loads = []
        for array in self.reads:
            these = [k for k in self.loads if g.load(k)[1] == array]
            loads += listed("    const double ", [f"{g.local(k)} = {g.load(k)[0]}" for k in these], ";", 8)
        return head + "\n{\n" + "".join(line + "\n" for line in loads) + self.body + "\n}\n"

    def _uses_position(self):
        return bool(self.reads) or any(a not in ("sum", "e") for a in self.writes)

    def call(self, near=False):
        """In the loops, or with what a cell near a boundary has collected"""
        g = self.grid
        arrays = [a if not near or a in ("sum", "e") else f"near_{a}" for a in self.reads + self.writes]
        position = ["patch" if near else "r"] * g.needs_rows() + ["CENTRE" if near else g.last]
        arguments = arrays + position * self._uses_position()
        for a in self.axis_numbers:
            arguments.append(f"G->at[{g.axes}*m + {a}]" if near and g.axes > 1 else "G->at[m]" if near else INDICES[a])
        return f"{self.name}({', '.join(arguments + ['s'] * self.uses_numbers)});"


def loops(grid, statements):
    """Statements for all cells of the interior"""
    text, indent = "", "    "
    for a in range(grid.axes):
        if a == grid.axes - 1 and grid.needs_rows():
            text += f"{indent}const rows r = rows_at({', '.join(['G', *INDICES[:grid.axes - 1]])});\n"
        i = INDICES[a]
        brace = " {" if len(statements) > 1 or a < grid.axes - 1 else ""
        text += f"{indent}for (int {i} = G->low[{a}]; {i} < G->high[{a}]; {i}++){brace}\n"
        indent += "    "
    text += "".join(f"{indent}{line}\n" for line in statements)
    for a in reversed(range(grid.axes)):
        indent = indent[4:]
        if len(statements) > 1 or a < grid.axes - 1:
            text += f"{indent}}}\n"
    return text
