"""Events of a model: triggers as guards, and which events of the equation file stand for them.

SBML executes all events whose triggers become true at one time one after the other (section 4.11 of Level 3 Version 2).
Events with the same guard are therefore one event of the equation file, which cascade.py composes.  Triggers that only
depend on what events set need no guard: they become true in the cascade of another event."""
from . import delays, terms
from .cascade import Cascade
from .terms import number

# What is written of a guard where the trigger becomes true or false; the second ones if all comparisons of the trigger
# hold where both sides are equal.
BECOMES = {True: ("> 0", ">= 0"), False: ("<= 0", "< 0")}


class Events:
    def __init__(self, derived):
        self.derived, self.document = derived, derived.document
        for event in self.document.events:
            event.trigger = self._written_out(derived.expanded(event.trigger))
            event.delay = derived.expanded(event.delay) if event.delay else None
            event.assignments = {id_: derived.expanded(term) for id_, term in event.assignments.items()}
        self.rank = {event.id: self._priority(event) for event in self.document.events}

    def _priority(self, event):
        """A number, -inf: none, or None: it changes with time"""
        if event.priority is None:
            return -float("inf")
        term = self.derived.expanded(event.priority)
        if not all(self.derived.is_static(name) for name in terms.names(term)) or terms.has(term, ("time",)):
            return None
        return terms.value(term, self.derived.number_at_start)

    @property
    def memory(self):
        """Names of memory variables that events with a delay need"""
        return [name for event in self.document.events if event.delay for name in delays.memory(event)]

    def written(self):
        """[(name, heading, lets, assignments)]; heading: the time, a number, or (guard, what stands behind it)"""
        out = [(event.id, event.time, *Cascade(self, event.id, [event], None).run())
               for event in self.document.events if event.time is not None]
        waiting = [event for event in self.document.events if not event.initial]
        out += [("at_start", 0, *Cascade(self, "start", waiting, None).run())] if waiting else []
        sources = [*self._triggers(), *self._executions(), *self._ends()]
        sources.sort(key=lambda source: -max(self.rank[event.id] or 0 for event in source[1]))
        return out + [(name, (guard, more), *cascade.run()) for name, _, guard, more, cascade in sources]

    def _triggers(self):
        groups = {}
        for event in self.document.events:
            guard = self.guard(event.trigger, event)
            if len(self._equal(event.trigger)) == 1:
                groups.setdefault(guard, []).append(event)
            else:                            # of those that change at events only there is no comparison
                yield from self._mixed(event)
        for guard, group in groups.items():
            yield group[0].id, group, guard, self._becomes(True, group), Cascade(self, group[0].id, group, guard)

    def _mixed(self, event):
        """A trigger with both kinds of comparisons, time >= 5 and x > 0, becomes true where one of them does, if that
        changes it"""
        atoms = [atom for atom in dict.fromkeys(terms.comparisons(event.trigger)) if not self._is_discrete(atom)]
        for k, atom in enumerate(atoms):
            name, guard = f"{event.id} {k + 1}", self.guard(atom, event)
            becomes = BECOMES[True][self._equal(atom) == {True}]
            yield name, [event], guard, becomes, Cascade(self, name, [event], guard, atom)

    def _becomes(self, true, group):
        equal = set().union(*(self._equal(event.trigger) for event in group))
        return BECOMES[true][equal == {True}]

    def _equal(self, condition):
        """Whether its comparisons of what changes between events hold where both sides are equal: a set"""
        kind, parts = condition[0], condition[1:]
        if self._is_discrete(condition):
            return set()
        if kind in terms.COMPARISONS:
            return {kind in ("<=", ">=")}
        return set().union(*map(self._equal, parts))

    def _executions(self):
        delayed = [event for event in self.document.events if event.delay]
        for event in delayed:
            if self.rank[event.id] is None and len(delayed) > 1:
                raise event.element.refusal("a priority that changes with time is not supported")
            for k in delays.slots(event):
                name, guard = f"{event.id} due {k}", delays.guard(event, k)
                yield name, [event], guard, "rises passes", Cascade(self, name, [delays.execution(event, k)], guard)

    def _ends(self):
        """Triggers of events with a delay that are not persistent, where they become false"""
        for event in self.document.events:
            if event.delay and not event.persistent and not self._is_discrete(event.trigger):
                name, guard = f"{event.id} ends", self.guard(event.trigger, event)
                yield name, [event], guard, self._becomes(False, [event]), Forgetting(event)

    def _is_discrete(self, condition):
        """Whether a condition changes at events only"""
        return not terms.has(condition, ("time",)) and not any(
            self.derived.moves(name) for name in terms.names(condition))

    def _written_out(self, condition):
        """An if with values that are conditions: its condition holds, and the value; or not, and the other value"""
        kind, parts = condition[0], condition[1:]
        if kind not in ("and", "or", "if") or self._is_discrete(condition):
            return condition
        parts = tuple(map(self._written_out, parts))
        if kind != "if":
            return (kind, *parts)
        holds, a, b = parts
        return ("or", ("and", holds, a), ("and", terms.negated(holds), b))

    def guard(self, condition, event):
        """A term that rises through zero where the condition becomes true"""
        kind, parts = condition[0], condition[1:]
        if self._is_discrete(condition):
            return ("if", condition, number(1), number(-1))
        if kind in (">", ">="):
            return ("-", *map(as_number, parts))
        if kind in ("<", "<="):
            return ("-", *map(as_number, reversed(parts)))
        if kind in ("and", "or"):
            return ("min" if kind == "and" else "max", *(self.guard(part, event) for part in parts))
        if kind == "not":
            return self.guard(terms.negated(parts[0]), event)
        raise event.element.refusal("this trigger is not supported: expected comparisons by < <= > >=, with and, or "
                                    "and not")


class Forgetting:
    """The end of a trigger: what waits is not executed"""

    def __init__(self, event):
        self.event = event

    def run(self):
        return [], [(delays.waits(self.event, k), terms.ZERO) for k in delays.slots(self.event)]


def as_number(term):
    return ("if", term, terms.ONE, terms.ZERO) if term[0] in terms.CONDITIONS else term
