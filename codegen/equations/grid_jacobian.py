"""The Jacobian of a model on a grid, in the pattern that NAME_new builds."""
from .body import Target
from .functions import STATES
from .grid_cell import loops
from .grid_functions import Functions


class RightHandSide(Functions):
    """entries: (equation, variable, node); by_columns: each cell computes the columns of its states"""

    def __init__(self, grid, products, diagonal):
        super().__init__(grid, products)
        self.entries, self.by_columns = products.jacobian(diagonal)
        if not self.entries:                             # a pattern has at least the diagonal
            self.entries, self.by_columns = products.jacobian(range(grid.nf))
        before, self.has_jacobian = len(self.text), not products.lacks(1, [a for _, _, a in self.entries])
        self._jacobian()
        if not self.has_jacobian:                        # its pattern remains
            del self.text[before:]

    def _jacobian(self):
        targets = lambda nodes: [Target(f"J[place[{n}]]", "=", a) for n, a in enumerate(nodes)]        # noqa: E731
        rows = [a for _, _, a in self.entries]
        columns = self.products.shifted_entries(self.entries) if self.by_columns else rows
        cell = self._cell("jac", targets(columns), ["J"])
        near_cell = self._cell("jac_near", targets(rows), ["J"]) if self.by_columns else cell
        self.spread |= self.by_columns
        place = f"const int *const place = G->place + ENTRIES*({self.grid.cell(self.grid.here)});"
        lines = self.printer.prelude(cell, "jac") + loops(self.grid, [place, cell.call()])
        last = "G->listed" if self.by_columns else "G->edges"
        clear = f"    for (int l = 0; l < ENTRIES*{last}; l++) if (G->edge_place[l] >= 0) J[G->edge_place[l]] = 0;\n"
        after = ["const int *const place = G->edge_place + ENTRIES*m;",
                 "for (int l = 0; l < ENTRIES; l++) if (place[l] >= 0) J[place[l]] += near_J[l];"]
        lines += self._edges("jac", "jac", near_cell, after, last=last, begin=clear, spaces=STATES)
        self._print("jac", "jac", lines)
