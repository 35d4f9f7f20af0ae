"""A long function as several: each computes a part of the statements, and a function with the same arguments calls
them one after the other.

Compilers take a time that grows faster than the length of a function without branches, as they keep hundreds of values
in registers and on the stack at once.  Here a piece loads the variables that it uses; temporaries that other pieces
use are passed in an array s.  What uses a temporary follows it as soon as possible, so that few are passed.  All
statements are those of the whole function, so that results have the same bits."""
import re
from dataclasses import dataclass

from .names import listed

PIECE = """#if defined __GNUC__
#define PIECE static __attribute__((noinline))
#else
#define PIECE static
#endif

"""
# Lines of a piece.  With 100, 50 and 30 of them the functions of saprc99 (211 reactions, gcc 12 -O1) take 1.15,
# 1.09 and 1.06 times as long as those that are not split; they compile in 7.2, 7.8 and 7.7 s instead of 15 s.
LENGTH = 30
WHOLE = 150                                  # temporaries of a function that is not split


@dataclass
class Unit:
    """Statements that stand together under a guard; makes, uses: temporaries; roots: nodes whose texts it contains"""
    guard: str
    lines: list
    makes: set
    uses: set
    roots: list


def is_long(body):
    """Whether a Body is split; arrays are passed to no other function, but elements of jets are"""
    return len(body.temporary) > WHOLE and not any(body.g.is_array(a) and not body.g.is_jet(a) for a in body.temporary)


def units_of(body, outside="    ", inside=" " * 8):
    """In the order of the whole function; outside, inside: indents of what has no guard, and of what has one"""
    units, members = [], [a for a in body.order if a in body.temporary]
    for condition, group in body.units((), members):
        if isinstance(condition, str):
            units += [_unit(body, condition, *unit, inside) for unit in body.units((condition,), group)]
        else:
            units.append(_unit(body, None, condition, group, outside))
    units = with_elements(body.g, units)
    for t in body.targets:
        lines = []
        body.assign(t, lines, inside if t.guard else outside)
        made = t.node in body.temporary
        units.append(Unit(t.guard, lines, set(), {t.node} if made else body.below[t.node], [] if made else [t.node]))
    return units


def with_elements(g, units):
    """Each jet and its elements as one unit: the array stays in one piece"""
    makers, out = {}, []
    for unit in units:
        jet = next((g.nodes[a][2] for a in unit.makes if g.is_of_jet(a)), None)
        if len(unit.makes) == 1 and jet in makers:
            makers[jet].lines += unit.lines
            makers[jet].makes |= unit.makes
        else:
            out.append(unit)
            makers |= {a: unit for a in unit.makes if g.is_jet(a)}
    return out


def _unit(body, guard, condition, members, indent):
    where, lines, uses = (guard,) if guard else (), [], set()
    body.unit(where, condition, members, lines, indent)
    conditions = {e[0] for a in members for e in body.context[a][len(where):]}
    for a in members:
        uses |= body.needs[a]
    for a in conditions:
        uses |= body.below[a]
    return Unit(guard, lines, set(members), uses - set(members), [*members, *conditions])


def soon(units):
    """The same with each as soon as what it uses is there"""
    users, waits, out, done = {}, [], [], set()
    makers = {a: k for k, unit in enumerate(units) for a in unit.makes}
    for k, unit in enumerate(units):
        below = {makers[a] for a in unit.uses}
        waits.append(len(below))
        for b in below:
            users.setdefault(b, []).append(k)
    for first in range(len(units)):
        stack = [first] * (first not in done)
        while stack:
            k = stack.pop()
            done.add(k)
            out.append(units[k])
            for user in reversed(users.get(k, ())):
                waits[user] -= 1
                if not waits[user]:
                    stack.append(user)
    return out


def cut(units):
    """Lists of units of some length"""
    out, length = [], LENGTH
    for unit in units:
        if length >= LENGTH:
            out.append([])
            length = 0
        out[-1].append(unit)
        length += len(unit.lines)
    return out


def slots(pieces):
    """({temporary that several pieces use: its place in s}, how long s is)"""
    last = {a: k for k, piece in enumerate(pieces) for unit in piece for a in unit.uses}
    place, free, ending, count = {}, [], {}, 0
    for k, piece in enumerate(pieces):
        for a in sorted(a for unit in piece for a in unit.makes if last.get(a, k) > k):
            if free:
                place[a] = free.pop()
            else:
                place[a], count = count, count + 1
            ending.setdefault(last[a], []).append(place[a])
        free += ending.get(k, [])
    return place, count


def section(units, indent, text, kept):
    """Statements; then temporaries that are kept for others, {node: where}, and results, as a compiler reads again what
    it has loaded where nothing is written between"""
    lines = [line for unit in units if unit.makes for line in unit.lines]
    made = sorted(a for unit in units for a in unit.makes)
    lines += [f"{indent}{kept[a]} = {text[a][0]};" for a in made if a in kept]
    lines += [line for unit in units if not unit.makes for line in unit.lines]
    return "".join(line + "\n" for line in lines)


def taken(nodes, indent, text, kept):
    """Declarations of temporaries that other pieces have kept"""
    texts = [f"{text[a][0]} = {kept[a]}" for a in sorted(nodes)]
    lines = listed(indent + "const double ", texts, ";", len(indent) + 4) if texts else []
    return "".join(line + "\n" for line in lines)


class Pieces:
    """The functions of one Body.  arguments: of the function that calls them; of: what Names.loads loads"""

    def __init__(self, name, arguments, body, names, of="xde"):
        self.arguments, self.body, self.names, self.of = arguments, body, names, of
        pieces = cut(soon(units_of(body)))
        place, self.count = slots(pieces)
        self.kept = {a: f"s[{k}]" for a, k in place.items()}
        self.guards = {a: unit.guard for piece in pieces for unit in piece for a in unit.makes}
        self.lengths, self.functions = [], []
        self.calls = [self._function(f"{name}_part{k + 1}", piece) for k, piece in enumerate(pieces)]

    def _function(self, name, piece):
        """The call of a piece, whose function is added to functions"""
        guards = sorted({None, *(unit.guard for unit in piece)}, key=str)
        made = {a for unit in piece for a in unit.makes}
        loads = self.names.loads(self.body.g, [a for unit in piece for a in unit.roots], self.of,
                                 given=self.body.temporary)
        self.lengths += loads.lengths
        texts, passed = (self.body.texts, self.kept), {a for unit in piece for a in unit.uses} - made
        text = opened(guards) + loads.text
        for guard in sorted(guards, key=bool):
            indent = " " * (8 if guard else 4)
            inside = taken([a for a in passed if self.guards[a] == guard], indent, *texts) \
                + section([unit for unit in piece if unit.guard == guard], indent, *texts)
            text += f"    if ({guard}) {{\n{inside}    }}\n" if guard else inside
        arguments = [a for a in [*self.arguments, "double *s"] if re.search(rf"(?<![\w>.]){word(a)}\b", text)]
        self.functions.append("\n".join(listed(f"PIECE void {name}(", arguments, ")", 8)) + "\n{\n" + text + "}\n")
        return f"{name}({', '.join(map(word, arguments))});"

    def array(self, *others):
        """The declaration of s; others: further Pieces that use it"""
        count = max(pieces.count for pieces in (self, *others))
        return f"    double s[{count}];\n" if count else ""

    def text(self, indent="    "):
        """The statements that call them; s is declared before"""
        return "".join(f"{indent}{call}\n" for call in self.calls)


def opened(guards, indent="    "):
    """Declarations of the arrays of gradients that are added to"""
    arrays = dict.fromkeys(guard for guard in guards if guard and "->" not in guard)
    return "".join(f"{indent}double *restrict {a} = g->{a[1:]};\n" for a in arrays)


def word(argument):
    """The name of an argument"""
    return argument.split()[-1].lstrip("*")
