"""The statements of a C function that computes nodes of a graph: temporaries, real branches, assignments.

A node becomes a temporary if it is used more than once.  Where it is only used under a condition - of a gradient that
is not requested, or of a branch that is expensive - it is computed under that condition."""
import textwrap
from dataclasses import dataclass

from .array_text import ArrayText
from .arrays import ARRAYS, collected
from .nodes import CONDITIONS, LEAVES

COLUMNS = 118
LONGEST_INLINE = 90                          # characters of an expression before a part of it becomes a temporary
DEAR = 20                                    # additions: a branch that costs more is worth a jump
SUM, PRODUCT, SIGN, ATOM = 1, 2, 3, 4        # how tightly a text binds
CHOICE = 0


@dataclass
class Target:
    """lhs op node; guard: C text of a condition, or None; of a whole outer product: block, where its elements lie in
    the array lhs, and sign"""
    lhs: str
    op: str
    node: int
    guard: str = None
    block: object = None
    sign: int = 1


class Body(ArrayText):
    """name: text of a variable by its key; named: names that temporaries may take, by node; prefix: of the others;
    keep: nodes that are temporaries in any case"""

    def __init__(self, graph, targets, name, named=None, prefix="s", indent="    ", keep=()):
        self.g, self.name = graph, name
        roots = graph.with_jets([*graph.printable([t.node for t in targets]), *keep, *(named or {})])
        roots, rest = roots[:len(targets)], roots[len(targets):]
        self.keep, names = rest[:len(keep)], rest[len(keep):]
        self.targets = collected(graph, [Target(t.lhs, t.op, a, t.guard) for t, a in zip(targets, roots)])
        self.named, self.prefix, self.indent = dict(zip(names, (named or {}).values())), prefix, indent
        self.count, self.texts, self.printed = 0, {}, set()
        self.order = graph.order([*(t.node for t in self.targets), *self.keep])
        self._find_contexts()
        self._drop_cheap_branches()
        self._choose_temporaries()

    def text(self):
        lines = []
        self._level((), [a for a in self.order if a in self.temporary], lines, self.indent)
        return "\n".join(lines)

    # ---- where a node is needed ----

    def _find_contexts(self):
        """context[a]: the conditions, from the outermost in, that hold wherever a is used; uses[a]: how often it is"""
        self.context, self.uses = {}, {}

        def use(a, where):
            self.uses[a] = self.uses.get(a, 0) + 1
            self.context[a] = _common(self.context[a], where) if a in self.context else where

        for a in self.keep:
            use(a, ())
        for t in self.targets:
            use(t.node, (t.guard,) if t.guard else ())
        for a in reversed(self.order):
            key, where = self.g.nodes[a], self.context[a]
            if key[0] == "sel":
                use(key[1], where)
                use(key[2], where + ((key[1], True),))
                use(key[3], where + ((key[1], False),))
            else:
                for b in self.g.children(a):
                    use(b, where)
        for a in self.order:                               # one call in C computes all elements of a jet
            if self.g.is_of_jet(a):
                self.context[a] = self.context[self.g.nodes[a][2]]

    def _drop_cheap_branches(self):
        cost = {}
        for a, where in self.context.items():
            for k in range(len(where)):
                cost[where[:k + 1]] = cost.get(where[:k + 1], 0) + self.g.operation_cost(a)
        for a, where in self.context.items():
            self.context[a] = tuple(e for k, e in enumerate(where)
                                    if isinstance(e, str) or cost[where[:k + 1]] > DEAR)

    def _choose_temporaries(self):
        self.temporary, lengths = set(), {}
        for a in self.order:
            key = self.g.nodes[a]
            if key[0] in LEAVES:
                lengths[a] = 8
                continue
            if self.g.is_of_jet(a):
                self.temporary.add(a)
                lengths[a] = 4
                continue
            if key[0] in ARRAYS or key[0] == "el" and a not in self.keep:
                lengths[a] = 8
                continue
            lengths[a] = 4 + sum(lengths[b] for b in self.g.children(a))
            if key[0] in CONDITIONS:
                continue
            if self.uses[a] > 1 or lengths[a] > LONGEST_INLINE or a in self.keep:
                self.temporary.add(a)
                lengths[a] = 4
        self.temporary |= self._arrays()
        self.needs = {}
        below = {}
        for a in self.order:                               # the temporaries that a's text names
            found = set()
            for b in self.g.children(a):
                found |= {b} if b in self.temporary else below[b]
            below[a] = found
            if a in self.temporary:
                self.needs[a] = found
        self.below = below

    # ---- statements, level by level ----

    def _level(self, where, members, lines, indent):
        """Temporaries whose context begins with `where`, as soon as what they need is there; then the targets there."""
        for condition, inside in self.units(where, members):
            self.unit(where, condition, inside, lines, indent)
        for t in self.targets:
            guard = (t.guard,) if t.guard else ()
            if guard == where:
                self.assign(t, lines, indent)
        if not where:
            self._guards_without_temporaries(members, lines, indent)

    def units(self, where, members):
        """What stands at this level, in its order: (None, [a temporary]), or a block as (condition, its members)"""
        waiting, done, units = list(members), set(), []
        inside = set(members)
        while waiting:
            left = []
            for a in waiting:
                if self.context[a] == where and not (self.needs[a] & inside) - done:
                    units.append((None, [a]))
                    done.add(a)
                else:
                    left.append(a)
            waiting = left
            if waiting:
                units.append(self._block(where, waiting, inside, done))
                done |= set(units[-1][1])
                waiting = [a for a in waiting if a not in done]
        return units

    def unit(self, where, condition, members, lines, indent):
        """Adds the statements of one of units(where)"""
        if condition is None:
            self._temporary(members[0], lines, indent)
        else:
            self._branch(where + (condition,), members, lines, indent)

    def _block(self, where, waiting, inside, done):
        """(condition, members): those under one condition that can be computed now; the largest such block"""
        depth, found = len(where), {}
        for a in waiting:
            if self.context[a] == where:
                continue
            e = self.context[a][depth]
            tested = set() if isinstance(e, str) else self.below[e[0]] & inside
            batch = found.setdefault(e, [])
            if not (self.needs[a] & inside | tested) - done - set(batch):
                batch.append(a)
        # gradients that may not be requested come last: nothing else needs what is computed for them
        return max(found.items(), key=lambda item: (bool(item[1]) and not isinstance(item[0], str), len(item[1])))

    def _branch(self, where, members, lines, indent):
        condition = where[-1]
        test = condition
        if isinstance(condition, str):
            self.printed.add(condition)
        else:                                              # selections use them outside of this block
            new = [a for a in members if a not in self.texts and not self.g.is_table(a)]
            for a in new:
                self._take_name(a)
            declared = [f"{self.texts[a][0]}{self._size(a)}" if self.g.is_array(a) else f"{self.texts[a][0]} = 0"
                        for a in new]
            if new:
                self._wrap(f"{indent}double {', '.join(declared)};", lines, indent)
            test = self._condition_text(condition[0])
            test = test if condition[1] else f"!({test})"
        lines.append(f"{indent}if ({test}) {{")
        self._level(where, members, lines, indent + "    ")
        lines.append(f"{indent}}}")

    def _guards_without_temporaries(self, members, lines, indent):
        for guard in dict.fromkeys(t.guard for t in self.targets if t.guard):
            if guard in self.printed:
                continue
            one = [t for t in self.targets if t.guard == guard]
            if len(one) == 1:
                self.assign(one[0], lines, indent, f"if ({guard}) ")
                continue
            lines.append(f"{indent}if ({guard}) {{")
            for t in one:
                self.assign(t, lines, indent + "    ")
            lines.append(f"{indent}}}")

    def _temporary(self, a, lines, indent):
        if self.g.is_array(a):
            return self._array(a, lines, indent)
        text = self._text(a)[0]
        if a in self.texts:                                # declared before
            self._wrap(f"{indent}{self.texts[a][0]} = {text};", lines, indent)
            return
        self._take_name(a)
        self._wrap(f"{indent}const double {self.texts[a][0]} = {text};", lines, indent)

    def _take_name(self, a):
        self.texts[a] = (self._fresh(a), ATOM)

    def _fresh(self, a):
        if a in self.named:
            return self.named[a]
        self.count += 1
        return f"{self.prefix}{self.count}"

    def assign(self, t, lines, indent, before=""):
        if t.block:
            text = self._outer(t.node, t.sign, f"{t.lhs} + {t.block.first}", t.block.by_row, t.block.by_column)
            self._wrap(f"{indent}{before}{text};", lines, indent)
            return
        text, op = self._inline(t.node)[0], t.op
        if op == "+=" and self.g.nodes[t.node][0] == "neg" and t.node not in self.temporary:
            text, op = self._inline(self.g.nodes[t.node][1], PRODUCT)[0], "-="
        self._wrap(f"{indent}{before}{t.lhs} {op} {text};", lines, indent)

    @staticmethod
    def _wrap(line, lines, indent):
        if len(line) <= COLUMNS:
            lines.append(line)
            return
        lines.extend(textwrap.wrap(line, COLUMNS, subsequent_indent=indent + "    ", break_long_words=False,
                                   break_on_hyphens=False, drop_whitespace=True, initial_indent=""))

    # ---- expressions ----

    def _inline(self, a, least=CHOICE):
        """The text of a node, in parentheses if it binds less tightly than `least`"""
        text, binds = self.texts[a] if a in self.texts else self._text(a)
        return (f"({text})", ATOM) if binds < least else (text, binds)

    def _text(self, a):
        key = self.g.nodes[a]
        kind = key[0]
        inline = lambda b, least: self._inline(b, least)[0]        # noqa: E731
        if kind == "c":
            return constant(key[1]), ATOM if key[1] >= 0 else SIGN
        if kind == "v":
            return self.name(key), ATOM
        if kind in "+-":
            return f"{inline(key[1], SUM)} {kind} {inline(key[2], PRODUCT)}", SUM
        if kind in "*/":
            return f"{inline(key[1], PRODUCT)}{' / ' if kind == '/' else '*'}{inline(key[2], SIGN)}", PRODUCT
        if kind == "neg":
            inner = inline(key[1], PRODUCT if self.g.nodes[key[1]][0] in "*/" else ATOM)
            return f"-({inner})" if inner.startswith("-") else f"-{inner}", PRODUCT            # -- is an operator of C
        if kind == "pow":
            return f"pow({inline(key[1], CHOICE)}, {inline(key[2], CHOICE)})", ATOM
        if kind == "f":
            return f"{key[1]}({inline(key[2], CHOICE)})", ATOM
        if kind == "g":
            return f"{key[1]}({inline(key[2], CHOICE)}, {inline(key[3], CHOICE)})", ATOM
        if kind == "el":
            return f"{self.texts[key[2]][0]}[{key[1]}]", ATOM
        if kind == "sel":
            return f"{self._condition_text(key[1])} ? {inline(key[2], SUM)} : {inline(key[3], SUM)}", CHOICE
        return self._condition_text(a), CHOICE

    def _condition_text(self, a):
        key = self.g.nodes[a]
        if key[0] == "cmp":
            x, y = (self._side(b) for b in key[2:])
            return f"{x} {key[1]} {y}"
        if key[0] == "not":
            return f"!({self._condition_text(key[1])})"
        return f" {'&&' if key[0] == 'and' else '||'} ".join(f"({self._condition_text(b)})" for b in key[1:])

    def _side(self, a):
        """Modes and other whole numbers are compared as they are"""
        text = self._inline(a, SUM)[0]
        return text[:-2] if self.g.nodes[a][0] == "c" and text.endswith(".0") else text


def constant(value):
    if value != value or value in (float("inf"), float("-inf")):
        return "NAN" if value != value else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _common(a, b):
    k = 0
    while k < min(len(a), len(b)) and a[k] == b[k]:
        k += 1
    return a[:k]
