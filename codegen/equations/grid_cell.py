"""The inlined function of a cell, and how it is called in loops over the interior and for cells near boundaries."""
import re

from .body import Body
from .grid import INDICES
from .names import listed

NOT_COPIED = ("sum",)                        # arrays that cells near boundaries write directly


class Cell:
    """targets: what is computed; writes: the arrays in them, by name; alone: it writes to no neighbour"""

    def __init__(self, grid, name, targets, writes, alone=True):
        self.grid, self.name, self.writes = grid, name + "_at", writes
        body = Body(grid.g, targets, grid.variable)
        keys = grid.g.variables([t.node for t in body.targets])
        self.loads = [k for k in keys if not grid.is_number(k) and k[1] != "axis"]
        self.alone = alone and not any(any(k[3]) for k in self.loads)
        self.uses_numbers = any(grid.is_number(k) and k[1] != "w" for k in keys)
        self.weights = any(grid.is_number(k) and k[1] == "w" for k in keys)      # those of sums: the same for all cells
        self.axis_numbers = [k[2] for k in keys if k[1] == "axis"]
        self.reads = list(dict.fromkeys(grid.load(k)[1] for k in self.loads))
        self.body = body.text()
        self.lines = self._with_loads()
        self.uses_rows = re.search(r"\br\.", self.lines) is not None
        self.text = self._function()

    def reaches(self, array):
        """Whether it reads this array at neighbours"""
        return any(any(k[3]) for k in self.loads if self.grid.load(k)[1] == array)

    def _function(self):
        g = self.grid
        arguments = [f"const double *restrict {a}" for a in self.reads] + [f"double *restrict {a}" for a in self.writes]
        arguments += ["const double *w"] * self.weights + ["const int *place"] * ("J" in self.writes)
        arguments += [*["const rows r"] * self.uses_rows, f"const int {g.last}"] * self._uses_position()
        arguments += [f"const double at_{INDICES[a]}" for a in self.axis_numbers]
        arguments += ["const numbers p"] * self.uses_numbers
        start = f"INLINE void {self.name}("
        return "\n".join(listed(start, arguments, ")", len(start))) + "\n{\n" + self.lines + "}\n"

    def _with_loads(self):
        """The body, with loads where they are first used: compilers hold what is loaded long before in memory"""
        g, lines = self.grid, []
        address = {g.local(k): g.load(k)[0] for k in self.loads}
        for statement in stores_early(statements(self.body)):
            used = [w for w in dict.fromkeys(re.findall(r"(?<![\w.>])[A-Za-z_]\w*", statement)) if w in address]
            lines += listed("    const double ", [f"{w} = {address.pop(w)}" for w in used], ";", 8) if used else []
            lines.append(statement)
        return "".join(line + "\n" for line in lines)

    def _uses_position(self):
        return bool(self.reads) or any(a not in ("sum", "J") for a in self.writes)

    def call(self, near=False):
        """In the loops; or near boundaries, with what was copied there"""
        g = self.grid
        arguments = [a if not near or a in NOT_COPIED else f"near_{a}" for a in self.reads + self.writes]
        arguments += ["w"] * self.weights + ["in_order" if near else "place"] * ("J" in self.writes)
        position = ["patch" if near else "r"] * self.uses_rows + ["CENTRE" if near else g.last]
        arguments += position * self._uses_position()
        for a in self.axis_numbers:
            arguments.append((f"G->at[{g.axes}*m + {a}]" if g.axes > 1 else "G->at[m]") if near else INDICES[a])
        arguments += ["p"] * self.uses_numbers
        if near:
            start = f"        {self.name}("
            return "\n".join(listed(start, arguments, ");", len(start))) + "\n"
        return f"{self.name}({', '.join(arguments)});"


def statements(body):
    """The statements of a body, a block as one"""
    out, depth = [], 0
    for line in body.split("\n"):
        if depth == 0 and not line.startswith("     ") and line != "    }":
            out.append(line)
        else:
            out[-1] += "\n" + line
        depth += line.endswith("{") - (line.strip() == "}")
    return out


def stores_early(lines):
    """Statements with stores as soon as what they need is known, so that it need not be held"""
    defined, groups = {}, [[]]
    for line in lines:
        if line.startswith(("    const double ", "    double ")) or line.endswith("}"):
            defined |= dict.fromkeys(re.findall(r"(\w+)(?: = |\[\d+\];)", line), len(groups))
            groups.append([line])
        else:
            groups[max([0] + [defined[w] for w in re.findall(r"\w+", line) if w in defined])].append(line)
    return [line for group in groups for line in group]


def loops(grid, lines, whole=False):
    """Statements for all cells of the interior, or of the whole grid"""
    text, indent = "", "    "
    for a in range(grid.axes):
        inner = a == grid.axes - 1
        if inner and grid.needs_rows() and any(re.search(r"\br\b", line) for line in lines):
            text += f"{indent}const rows r = rows_at({', '.join(['G', *INDICES[:a]])});\n"
        i = INDICES[a]
        brace = " {" if len(lines) > 1 or not inner else ""
        low, high = ("0", f"G->n[{a}]") if whole else (f"G->low[{a}]", f"G->high[{a}]")
        text += f"{indent}for (int {i} = {low}; {i} < {high}; {i}++){brace}\n"
        indent += "    "
    text += "".join(f"{indent}{line}\n" for line in lines)
    for a in reversed(range(grid.axes)):
        indent = indent[4:]
        text += f"{indent}}}\n" if len(lines) > 1 or a < grid.axes - 1 else ""
    return text


def one_loop(cell):
    """The function of a cell that knows no neighbours, for all cells; one loop, unless it asks where it is"""
    grid, i, call = cell.grid, cell.grid.last, cell.call()
    if cell.axis_numbers:
        return loops(grid, [call], whole=True)
    rows = f"    const rows r = {{{'.field = G->cells' if grid.strided else '0'}}};\n" if ", r, " in call else ""
    return f"{rows}    for (int {i} = 0; {i} < G->cells; {i}++) {call}\n"
