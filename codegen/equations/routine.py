"""A routine of byte code: one product of one map, as runs of equal operations on numbered registers.

Registers hold constants, then what is loaded, then results, which take the places of those that are no longer needed.
Operations that are ready at the same time and equal stand together as one run: the interpreter chooses the operation
once for all of them.  Each node is computed by the operation that the C of body.py has for it, with the same operands,
so that results have the same bits.

    shared   what several columns have in common; it is computed once
    parts    (guard, words, results, products): of one column; a part with a guard serves one gradient, and is left out
             where that is not requested; products: x y^T that are added to it after the results"""
import heapq

from .array_code import ArrayCode
from .arrays import collected
from .body import Target
from .nodes import LEAVES
from .operations import NUMBER, operation
from .syntax import Fault

MOST = 0xffff                                # registers, and operations of a run
GAP = 3                                      # values that are loaded without need rather than begin another load
SPACES = ("t", "y", "yp", "p", "m", "mode", "relation", "dt", "dy", "dyp", "dp", "dm", "et", "ey", "eyp", "ep", "em",
          "w")
GUARDS = {None: 0, "g->t": 1, "gy": 2, "gyp": 3, "gp": 4, "gm": 5}
OF_COLUMNS = {space for space in SPACES if space[0] in "de" and space != "mode"} | {"w"}


class Routine(ArrayCode):
    """graph, targets: as of a Body; given: {node: variable}: what several columns share, and what stands for it in
    targets.  Afterwards: registers, constants, loads (of the point, of a column), code (shared), parts."""

    def __init__(self, graph, targets, given=None):
        self.g, given = graph, given or {}
        roots = graph.printable([t.node for t in targets])
        targets = collected(graph, [Target(t.lhs, t.op, a, t.guard) for t, a in zip(targets, roots)])
        self.same = {v: a for a, v in given.items()}          # of variables: the nodes that they stand for
        self.constants, self.place, self.empty = [], {}, {}   # empty: places of arrays, by size
        shared = graph.order(given)
        earlier = set(shared)
        order = [a for a in graph.order([t.node for t in targets]) if a not in earlier]
        self._find_arrays([*shared, *order], targets)
        self._load([*shared, *order], [*given, *(t.node for t in targets)])
        guard = self._guards(order, targets)
        guards = list(dict.fromkeys([None, *(t.guard for t in targets)]))
        runs = [self._runs([a for a in shared if self._computes(a)])]
        for one in guards:
            runs.append(self._runs([a for a in order if guard.get(a) == (one,)]))
        results = [[t for t in targets if t.guard == one] for one in guards]
        self._lives(runs, results)
        self._number(runs)
        self.code = self._words(runs[0])
        self.parts = [part for one, code, found in zip(guards, runs[1:], results)
                      for part in self._parts(GUARDS[one], self._words(code), found)]

    def _parts(self, guard, code, targets):
        """One part, or several where results follow products"""
        parts = [(guard, code, [], [])]
        for t in targets:
            if t.block:
                parts[-1][3].append(self.outer_result(t))
                continue
            if parts[-1][3]:
                parts.append((guard, [], [], []))
            parts[-1][2].append((index_of(t), self._at(t.node)))
        return [part for part in parts if any(part[1:])]

    def _same(self, a):
        return self.same.get(a, a)

    # ---- constants and loads ----

    def _load(self, order, roots):
        """Places of constants and variables"""
        used = {*roots}.union(*(self.g.children(a) for a in order if self._computes(a)))
        leaves = [a for a in order if a in used and self.g.nodes[a][0] in LEAVES and a not in self.same]
        for a in leaves:
            if self.g.nodes[a][0] == "c":
                self.place[a] = len(self.constants)
                self.constants.append(self.g.nodes[a][1])
        for a in self.tables:
            self.place[a] = len(self.constants)
            self.constants += [self.g.const(b) for b in self.g.children(a)]
        self.registers, self.loads, self.intervals = len(self.constants), [], {}
        found = {}
        for a in leaves:
            key = self.g.nodes[a]
            if key[0] == "v":
                found.setdefault("relation" if key[1] == "whole" else key[1], []).append((key[2], a))
        for of_columns in (False, True):
            loads = []
            for space in SPACES:
                if (space in OF_COLUMNS) == of_columns:
                    self._ranges(space, sorted(found.get(space, [])), loads)
            self.loads.append(loads)

    def _ranges(self, space, wanted, loads):
        """Ranges (space, first, count) of wanted, pairs (index, node), and of variables that remain together"""
        parts = sorted([(index, index) for index, _ in wanted] + [part[1:] for part in self.together
                                                                  if part[0] == space])
        found = []
        for first, last in parts:
            if found and first - found[-1][1] <= GAP + 1:
                found[-1][1] = max(last, found[-1][1])
            else:
                found.append([first, last])
        self.intervals[space] = []
        for first, last in found:
            self.intervals[space].append((first, last, self.registers))
            loads.append([SPACES.index(space), first, last - first + 1])
            self.registers += last - first + 1
        places = iter(self.intervals[space])
        first, last, start = next(places, (0, -1, 0))
        for index, a in wanted:
            while index > last:
                first, last, start = next(places)
            self.place[a] = start + index - first

    # ---- the order of operations ----

    def _guards(self, order, targets):
        """{node: (guard,)}: where it is needed for one gradient alone; (None,): for several results"""
        found = {}

        def use(a, where):
            found[a] = where if found.get(a, where) == where else (None,)

        for t in targets:
            use(t.node, (t.guard,))
        for a in reversed(order):
            for b in self.g.children(a):
                use(b, found[a])
        return {a: where for a, where in found.items() if self._computes(a)}

    def _runs(self, nodes):
        """[(operation, nodes)] with all operands before their use: the operation that is ready most often comes next"""
        members = set(nodes)
        waits, users, ready = {}, {}, {}
        for a in nodes:
            below = {b for b in self._needs(a) if b in members}
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
        """(operation, operands); the words of arrays are in array_code.py"""
        return operation(self.g.nodes[a], self.g.children(a))

    # ---- registers ----

    def _lives(self, runs, results):
        """ending: the nodes that are used last by an operation, or by the results at the end of a part, by its number;
        kept: those of the shared part that columns use"""
        at, last = 0, {}
        for part, found in zip(runs, [[], *results]):
            for a in (a for _, run in part for a in run):
                last.update((b, at) for b in self._needs(a))
                at += 1
            for t in found:
                last.update((b, at) for b in (self._needs(t.node) if t.block else [self._source(t.node)]))
            at += 1
            if part is runs[0]:
                shared = at
        self.kept = {a for _, run in runs[0] for a in run if last.get(a, 0) >= shared}
        self.ending = {}
        for a, at in last.items():
            if self._computes(a) and a not in self.kept:
                self.ending.setdefault(at, []).append(a)

    def _number(self, runs):
        """Registers of results; what columns share keeps its register"""
        free, at = [], 0
        for part in runs:
            for a in (a for _, run in part for a in run):
                size = self._size(a)                       # an array does not overlap what it is computed from
                if size:
                    self.place[a] = self._place_array(size)
                self._free(free, at)
                if not size:
                    self.place[a] = heapq.heappop(free) if free else self._another()
                at += 1
            self._free(free, at)
            at += 1

    def _free(self, free, at):
        for b in self.ending.get(at, ()):
            if self._size(b):
                self.empty.setdefault(self._size(b), []).append(self.place[b])
            else:
                heapq.heappush(free, self.place[b])

    def _another(self, count=1):
        self.registers += count
        if self.registers > MOST:
            raise Fault(0, f"the model needs more than {MOST} values at once, which byte code does not serve: "
                        "compile it")
        return self.registers - count

    def _words(self, runs):
        words = []
        for op, run in runs:
            units = [unit for a in run for unit in self._units(a)]
            for first in range(0, len(units), MOST):
                piece = units[first:first + MOST]
                words += [NUMBER[op], len(piece)]
                for unit in piece:
                    words += unit
        return words

    def _units(self, a):
        """[words of an operation]"""
        if self.g.is_array(a):
            return self._array_words(a)
        return [[self.place[a], *(self._at(b) for b in self._operation(a)[1])]]


def index_of(target):
    """The number in brackets of what is assigned; *g->t is 0"""
    return int(target.lhs[target.lhs.index("[") + 1:-1]) if "[" in target.lhs else 0
