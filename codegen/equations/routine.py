"""A routine of byte code: one product of one map, as runs of equal operations on numbered registers.

Registers hold constants, then what is loaded, then results, which take the places of those that are no longer needed.
Operations that are ready at the same time and equal stand together as one run: the interpreter chooses the operation
once for all of them.  Each node is computed by the operation that the C of body.py has for it, with the same operands,
so that results have the same bits.

    shared   what several columns have in common; it is computed once
    parts    (guard, words, results): of one column; a part with a guard serves one gradient, and is left out where
             that is not requested"""
import heapq

from .nodes import LEAVES
from .operations import NUMBER, operation
from .syntax import Fault

MOST = 0xffff                                # registers, and operations of a run
GAP = 3                                      # values that are loaded without need rather than begin another load
SPACES = ("t", "y", "yp", "p", "m", "mode", "relation", "dt", "dy", "dyp", "dp", "dm", "et", "ey", "eyp", "ep", "em",
          "w")
GUARDS = {None: 0, "g->t": 1, "gy": 2, "gyp": 3, "gp": 4, "gm": 5}
OF_COLUMNS = {space for space in SPACES if space[0] in "de" and space != "mode"} | {"w"}


class Routine:
    """graph, targets: as of a Body; given: {node: variable}: what several columns share, and what stands for it in
    targets.  Afterwards: registers, constants, loads (of the point, of a column), code (shared), parts."""

    def __init__(self, graph, targets, given=None):
        self.g, given = graph, given or {}
        roots = graph.printable([t.node for t in targets])
        self.same = {v: a for a, v in given.items()}          # of variables: the nodes that they stand for
        self.constants, self.place = [], {}
        shared = graph.order(given)
        order = [a for a in graph.order(roots) if a not in set(shared)]
        self._load(shared, order)
        guard = self._guards(order, targets, roots)
        guards = list(dict.fromkeys([None, *(t.guard for t in targets)]))
        runs = [self._runs([a for a in shared if graph.nodes[a][0] not in LEAVES])]
        for one in guards:
            runs.append(self._runs([a for a in order if guard.get(a) == (one,)]))
        results = [[(t, self._same(a)) for t, a in zip(targets, roots) if t.guard == one] for one in guards]
        self._lives(runs, results)
        self._number(runs)
        self.code = self._words(runs[0])
        self.parts = [(GUARDS[one], self._words(code), [(index_of(t), self.place[a]) for t, a in found])
                      for one, code, found in zip(guards, runs[1:], results) if code or found]

    def _same(self, a):
        return self.same.get(a, a)

    # ---- constants and loads ----

    def _load(self, shared, order):
        """Places of constants and variables"""
        leaves = dict.fromkeys(a for a in [*shared, *order] if self.g.nodes[a][0] in LEAVES and a not in self.same)
        for a in leaves:
            if self.g.nodes[a][0] == "c":
                self.place[a] = len(self.constants)
                self.constants.append(self.g.nodes[a][1])
        self.registers, self.loads = len(self.constants), []
        found = {}
        for a in leaves:
            key = self.g.nodes[a]
            if key[0] == "v":
                found.setdefault("relation" if key[1] == "whole" else key[1], []).append((key[2], a))
        for of_columns in (False, True):
            loads = []
            for space in SPACES:
                if (space in OF_COLUMNS) == of_columns:
                    self._ranges(SPACES.index(space), sorted(found.get(space, [])), loads)
            self.loads.append(loads)

    def _ranges(self, space, wanted, loads):
        """Ranges (space, first, count) of wanted, pairs (index, node)"""
        first = last = None
        for index, a in wanted:
            if last is None or index - last > GAP + 1:
                first = index
                loads.append([space, first, 0])
                start = self.registers
            last = index
            loads[-1][2] = index - first + 1
            self.place[a] = start + index - first
            self.registers = start + loads[-1][2]

    # ---- the order of operations ----

    def _guards(self, order, targets, roots):
        """{node: (guard,)}: where it is needed for one gradient alone; (None,): for several results"""
        found = {}

        def use(a, where):
            found[a] = where if found.get(a, where) == where else (None,)

        for t, a in zip(targets, roots):
            use(a, (t.guard,))
        for a in reversed(order):
            for b in self.g.children(a):
                use(b, found[a])
        return {a: where for a, where in found.items() if self.g.nodes[a][0] not in LEAVES}

    def _runs(self, nodes):
        """[(operation, nodes)] with all operands before their use: the operation that is ready most often comes next"""
        members = set(nodes)
        waits, users, ready = {}, {}, {}
        for a in nodes:
            below = {b for b in self.g.children(a) if b in members}
            waits[a] = len(below)
            for b in below:
                users.setdefault(b, []).append(a)
            if not below:
                ready.setdefault(self._operation(a)[0], []).append(a)
        runs = []
        while ready:
            op = max(ready, key=lambda name: len(ready[name]))
            run = ready[op]
            for a in run:                                  # it grows by those that become ready
                for b in users.get(a, ()):
                    waits[b] -= 1
                    if not waits[b]:
                        ready.setdefault(self._operation(b)[0], []).append(b)
            del ready[op]
            runs.append((op, run))
        return runs

    def _operation(self, a):
        op, operands = operation(self.g.nodes[a], self.g.children(a))
        return op, [self._same(b) for b in operands]

    # ---- registers ----

    def _lives(self, runs, results):
        """ending: the nodes that are used last by an operation, or by the results at the end of a part, by its number;
        kept: those of the shared part that columns use"""
        at, last = 0, {}
        for part, found in zip(runs, [[], *results]):
            for a in (a for _, run in part for a in run):
                last.update((b, at) for b in self._operation(a)[1])
                at += 1
            last.update((a, at) for _, a in found)
            at += 1
            if part is runs[0]:
                shared = at
        self.kept = {a for _, run in runs[0] for a in run if last.get(a, 0) >= shared}
        self.ending = {}
        for a, at in last.items():
            if self.g.nodes[a][0] not in LEAVES and a not in self.kept:
                self.ending.setdefault(at, []).append(a)

    def _number(self, runs):
        """Registers of results; what columns share keeps its register"""
        free, at = [], 0
        for part in runs:
            for a in (a for _, run in part for a in run):
                self._free(free, at)
                self.place[a] = heapq.heappop(free) if free else self._another()
                at += 1
            self._free(free, at)
            at += 1

    def _free(self, free, at):
        for b in self.ending.get(at, ()):
            heapq.heappush(free, self.place[b])

    def _another(self):
        self.registers += 1
        if self.registers > MOST:
            raise Fault(0, f"the model needs more than {MOST} values at once, which byte code does not serve: "
                        "compile it")
        return self.registers - 1

    def _words(self, runs):
        words = []
        for op, run in runs:
            for first in range(0, len(run), MOST):
                piece = run[first:first + MOST]
                words += [NUMBER[op], len(piece)]
                for a in piece:
                    words.append(self.place[a])
                    words += [self.place[b] for b in self._operation(a)[1]]
        return words


def index_of(target):
    """The number in brackets of what is assigned; *g->t is 0"""
    return int(target.lhs[target.lhs.index("[") + 1:-1]) if "[" in target.lhs else 0
