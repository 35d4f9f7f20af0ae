"""Conditions on the time alone that change at times known now become stops (mathematics, section 15.5).

Expressions in t alone are followed as pieces alpha t + beta, with rational numbers; from these come the times at which
a comparison changes its truth value, abs the sign of its argument, floor and ceil their value.  Each is then replaced
by comparisons of t with these times themselves, which are right next to a stop: t*0.1 < 0.3 need not be.  A step sees
t on its own side of a stop.  What changes at infinitely many times, or at times that depend on parameters or states,
stays as it is, as do expressions in t that are not piecewise affine."""
import math
import sys
from fractions import Fraction

from .nodes import HOLDS, LEAVES

MOST_PIECES = 10_000                         # of an expression
SAME = 32 * sys.float_info.epsilon           # relative: times that differ by round-off
SWITCHES = ("fabs", "floor", "ceil")
BEFORE, BEHIND = ("<", "<="), (">=", ">")    # the end of a piece without it, and with it
ALWAYS = [(-math.inf, math.inf)]


def switches_to_stops(model):
    g = model.graph
    roots = [*model.equations, *model.cost_nodes, *(r.k for r in model.reactions),
             *(e.guard for e in model.events if e.guard is not None),
             *(what for what in model.boundaries.values() if not isinstance(what, str))]
    found = Switches(g, roots)
    atoms = found.needed(roots)
    if not atoms:
        return
    given = {t for e in model.events for t in e.times}
    ends = [piece[1] for a in atoms for piece in found.atoms[a][:-1]]
    times, new = distinct(ends, given, set(model.stops)), {}
    for a in atoms:
        new[a] = written(g, g.nodes[a], found.atoms[a],
                         [(times[end], (a, end) in found.closed) for _, end, _ in found.atoms[a][:-1]], new)
    rewritten = dict(zip(roots, g.rebuilt(roots, {}, new)))
    model.equations = [rewritten[a] for a in model.equations]
    model.cost_nodes = [rewritten[a] for a in model.cost_nodes]
    for r in model.reactions:
        r.k = rewritten[r.k]
    for e in model.events:
        e.guard = rewritten.get(e.guard, e.guard)
    model.boundaries = {key: rewritten.get(what, what) for key, what in model.boundaries.items()}
    model.stops = sorted({times[end] for end in ends} | {times[exact(t)] for t in model.stops})


def is_switch(g, op, x, y):
    """Whether a comparison is one of t with the time of a stop, as `side` writes it"""
    return op in ("<", "<=", ">", ">=") and g.nodes[x] == ("v", "t", 0, ()) and g.const(y) is not None


# ---- which times ----

class Switches:
    """atoms: {node of a comparison or a function: pieces (from, to, value)}; the value of a comparison is its truth, of
    abs whether the argument is negative.  closed: (node, end), where a piece contains its end"""

    def __init__(self, g, roots):
        self.g, self.atoms, self.closed, self.known = g, {}, set(), {}
        order = g.order(roots)
        alone = self._in_t_alone(order)
        candidates = [a for a in order if a in alone and
                      (g.nodes[a][0] == "cmp" or g.nodes[a][:1] == ("f",) and g.nodes[a][1] in SWITCHES)]
        if not candidates:
            return
        domains = self._domains(order, roots)
        for a in candidates:
            low, high = domains[a][0][0], domains[a][-1][1]
            pieces = [piece for piece in self._pieces(a, low, high, True)
                      if any(piece[0] < end and start < piece[1] for start, end in domains[a])]
            if all(value is not None for _, _, value in pieces) and len(pieces) <= MOST_PIECES:
                self.atoms[a] = joined(pieces)

    def needed(self, roots):
        """The atoms that stand for themselves and are not inside others, each behind those in its argument"""
        first = self.g.below(roots, self.atoms.keys())
        inside = [a for a in first if self.g.nodes[a][:2] == ("f", "fabs")]
        return [*self.needed([self.g.nodes[a][2] for a in inside]), *first] if inside else first

    def _in_t_alone(self, order):
        """The nodes that depend on t and on nothing else"""
        g, alone, constant = self.g, set(), set()
        for a in order:
            key, below = g.nodes[a], g.children(a)
            if key[0] == "c" or below and all(b in constant for b in below):
                constant.add(a)
            elif key[:2] == ("v", "t") or below and all(b in constant or b in alone for b in below):
                alone.add(a)
        return alone

    def _domains(self, order, roots):
        """{node: the intervals of t in which it is evaluated}, as far as conditions on t alone decide about that"""
        g, found = self.g, {a: ALWAYS for a in roots}
        for a in reversed(order):
            key, mine = g.nodes[a], found[a]
            for b in g.children(a):
                if g.nodes[b][0] in LEAVES:
                    found[b] = ALWAYS
                    continue
                part = mine
                if key[0] == "sel" and b != key[1] and key[2] != key[3]:
                    truth = self._pieces(key[1], *ALWAYS[0])
                    part = common(mine, [piece[:2] for piece in truth if piece[2] is not (b != key[2])])
                found[b] = part if b not in found else united(found[b], part)
        return {a: mine or ALWAYS for a, mine in found.items()}

    # ---- pieces ----

    def _pieces(self, root, low, high, switch=False):
        """[(from, to, value)] of a node between low and high.  The value of an expression is (alpha, beta), of a
        condition True or False; None: not known.  switch: what is kept of a function is what `atoms` holds."""
        g = self.g
        for a in g.order([root]):
            if (a, low, high) not in self.known:
                self.known[a, low, high] = joined(self._made(a, low, high))
        key = g.nodes[root]
        if not switch or key[0] != "f":
            return self.known[root, low, high]
        below = self.known[key[2], low, high]
        if key[1] == "fabs":
            return [(start, end, None if sign is None else sign < 0)
                    for piece in below for start, end, sign in self._signs(*piece)]
        return [(start, end, value if value is None else value[1])
                for start, end, value in self._stairs(root, below)]

    def _made(self, a, low, high):
        g, key = self.g, self.g.nodes[a]
        kind = key[0]
        if kind == "c":
            return [(low, high, (Fraction(0), exact(key[1])) if math.isfinite(key[1]) else None)]
        if kind == "v":
            return [(low, high, (Fraction(1), Fraction(0)) if key[1] == "t" else None)]
        parts = [self.known[b, low, high] for b in g.children(a)]
        if kind == "cmp":
            return [piece for start, end, sides in refined(parts) for piece in self._compared(a, start, end, sides)]
        if kind == "f" and key[1] == "fabs":
            return [(start, end, None if sign is None else (value[0]*sign, value[1]*sign))
                    for lower, upper, value in parts[0] for start, end, sign in self._signs(lower, upper, value)]
        if kind == "f" and key[1] in SWITCHES:
            return self._stairs(a, parts[0])
        return [(start, end, self._value(key, values)) for start, end, values in refined(parts)]

    def _value(self, key, values):
        kind = key[0]
        if kind == "not":
            return None if values[0] is None else not values[0]
        if kind in ("and", "or"):
            decides = kind == "or"
            return decides if decides in values else None if None in values else not decides
        if kind == "sel":
            chosen = values[1:] if values[0] is None else [values[1] if values[0] else values[2]]
            return chosen[0] if all(value == chosen[0] for value in chosen) else None
        if None in values:
            return None
        x, y = values[0], values[-1]
        if kind in "+-":
            sign = 1 if kind == "+" else -1
            return x[0] + sign*y[0], x[1] + sign*y[1]
        if kind == "neg":
            return -x[0], -x[1]
        if kind == "*" and not (x[0] and y[0]):
            return x[0]*y[1] + x[1]*y[0], x[1]*y[1]
        if kind == "/" and not y[0] and y[1]:
            return x[0]/y[1], x[1]/y[1]
        return None

    def _compared(self, a, start, end, sides):
        op = self.g.nodes[a][1]
        if None in sides:
            return [(start, end, None)]
        alpha, beta = (x - y for x, y in zip(*sides))
        if alpha and op in ("==", "!="):
            return [(start, end, None)]
        parts = cut(start, end, alpha, beta)
        made = [(low, high, HOLDS[op](at(alpha, beta, low, high), 0)) for low, high in parts]
        if len(made) == 2 and made[0][2] == HOLDS[op](0, 0):
            self.closed.add((a, made[0][1]))
        return made

    @staticmethod
    def _signs(start, end, value):
        """-1 where the value is negative, else 1"""
        if value is None:
            return [(start, end, None)]
        return [(low, high, -1 if at(*value, low, high) < 0 else 1) for low, high in cut(start, end, *value)]

    def _stairs(self, a, pieces):
        """floor or ceil of pieces; not known where they have infinitely many steps"""
        out, name = [], self.g.nodes[a][1]
        for start, end, value in pieces:
            if value is None or value[0] and not (math.isfinite(start) and math.isfinite(end)) or \
                    value[0] and abs(value[0]*(end - start)) > MOST_PIECES:
                out.append((start, end, None))
                continue
            alpha, beta = value
            round_ = math.floor if name == "floor" else math.ceil
            if not alpha:
                out.append((start, end, (Fraction(0), Fraction(round_(beta)))))
                continue
            first, last = sorted((alpha*start + beta, alpha*end + beta))
            inside = sorted((k - beta)/alpha for k in range(math.floor(first) + 1, math.ceil(last)))
            if (alpha > 0) == (name == "ceil"):
                self.closed.update((a, end) for end in inside)
            ends_ = [start, *inside, end]
            out += [(low, high, (Fraction(0), Fraction(round_(at(alpha, beta, low, high)))))
                    for low, high in zip(ends_, ends_[1:])]
        return out


def exact(x):
    """The number that was written: 1/10 for 0.1"""
    return Fraction(repr(x))


def at(alpha, beta, low, high):
    """alpha t + beta at a time between low and high"""
    if not alpha:
        return beta
    if math.isfinite(low) and math.isfinite(high):
        t = (low + high)/2
    else:
        t = high - 1 if math.isfinite(high) else low + 1 if math.isfinite(low) else Fraction(0)
    return alpha*t + beta


def cut(start, end, alpha, beta):
    """The interval in two where alpha t + beta changes its sign inside"""
    root = -beta/alpha if alpha else None
    return [(start, root), (root, end)] if root is not None and start < root < end else [(start, end)]


def refined(parts):
    """(from, to, values) of several lists of pieces of the same interval"""
    places, start = [0]*len(parts), parts[0][0][0]
    while True:
        here = [part[k] for part, k in zip(parts, places)]
        end = min(piece[1] for piece in here)
        yield start, end, [piece[2] for piece in here]
        places = [k + (piece[1] == end) for k, piece in zip(places, here)]
        if places[0] == len(parts[0]):
            return
        start = end


def joined(pieces):
    """Neighbours with the same value become one piece; gaps belong to the piece behind them"""
    out = []
    for start, end, value in pieces:
        if out and out[-1][2] == value:
            out[-1] = (out[-1][0], end, value)
        else:
            out.append((out[-1][1] if out else start, end, value))
    return out


def common(a, b):
    """What two lists of intervals have in common"""
    both = [(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b]
    return [x for x in both if x[0] < x[1]]


def united(a, b):
    out = []
    for low, high in sorted([*a, *b]):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


# ---- what is written ----

def distinct(found, given, stops):
    """{time: stop}: times that differ by round-off are one stop: the time of an event, a stop of the file, or the one
    with the fewest digits"""
    out, group = {}, []

    def close():
        floats = {float(t) for t in group} | {t for t in given | stops if t in map(float, group)}
        best = min(floats, key=lambda t: (t not in given, t not in stops, len(repr(t)), t))
        out.update(dict.fromkeys(group, best))
    for t in sorted({*found, *map(exact, given | stops)}):
        if group and t - group[-1] > SAME*abs(t):
            close()
            group = []
        group.append(t)
    if group:
        close()
    return out


def written(g, key, pieces, ends, new):
    """An atom as comparisons of t with stops.  ends: of the pieces but the last, (time, whether the piece contains it);
    new: atoms that were written before"""
    if key[0] == "cmp":
        return truth(g, pieces, ends)
    if key[1] == "fabs":
        x, = g.rebuilt([key[2]], {}, new)
        return g.sel(truth(g, pieces, ends), g.neg(x), x)
    return chosen(g, pieces, ends)


def side(g, end, ops):
    """ops: of a piece without its end, and with it"""
    time, closed = end
    return g.cmp(ops[closed], g.v("t"), g.c(time))


def chosen(g, pieces, ends):
    """The value of the piece in which t is, by halves"""
    if len(pieces) == 1:
        return g.c(float(pieces[0][2]))
    k = len(pieces)//2
    return g.sel(side(g, ends[k - 1], BEFORE), chosen(g, pieces[:k], ends[:k - 1]), chosen(g, pieces[k:], ends[k:]))


def truth(g, pieces, ends):
    """The condition that t is in a piece that is True"""
    found = []
    for k, (_, _, value) in enumerate(pieces):
        if value:
            sides = [side(g, end, BEHIND) for end in ends[max(k - 1, 0):k]]
            sides += [side(g, end, BEFORE) for end in ends[k:k + 1]]
            found.append(g.extreme(g.both, sides or [g.cmp("<", g.c(0), g.c(1))]))
    return g.extreme(g.either, found or [g.cmp("<", g.c(1), g.c(0))])
