"""What several events do that are executed at one time: a sequence of assignments, each under its condition.

Section 4.11 of Level 3 Version 2.  Of the events that wait, the one with the highest priority is executed.  It uses the
values at the time when its trigger became true, or the present ones.  Then the triggers of all events are looked at:
those that have become true join the events that wait, and those that are not persistent and whose triggers are no
longer true leave them.  Names (let) stand for the values behind each event; they are formulas in those before all."""
from collections import Counter

from . import delays, terms
from .terms import TRUE, ZERO, product, quotient

RISING = {">": 1, ">=": 1, "<": -1, "<=": -1}             # of a - b
FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
BEFORE = {">": (">=", "<="), ">=": ("<", "<="), "<": (">=", "<="), "<=": (">", ">=")}    # that hold before it does
PLACE = ("==", ("number", 2.0), ("number", 3.0))          # of a condition that is put in later
MOST = 40                                    # executions that are written out
TIE = ("{} and {} become true together, have the same priority and depend on their order, which SBML leaves to chance: "
       "not supported")


def amount_name(id_):
    """The state of a species whose compartment changes its size; no identifier of SBML holds a blank"""
    return f"{id_} amount"


class Values:
    """The values behind some events: {identifier: term}, of a species in amounts its amount"""

    def __init__(self, of, tag):
        self.of, self.tag, self.made = of, tag, {}


class Cascade:
    """name: that of the first event; group: events whose triggers become true; guard: theirs, or None: at the start,
    where those are executed whose triggers are true; atom: the comparison in the trigger of the one event of the group
    that becomes true, if not all of it does"""

    def __init__(self, events, name, group, guard, atom=None):
        self.events, self.derived, self.document = events, events.derived, events.document
        self.name, self.group, self.guard, self.lets = name, group, guard, []
        self.before, self.meanings, self.count = Values({}, ""), {}, 0
        self.atom = atom
        # what was delayed has the guard of its time
        by_trigger = guard is not None and all(event in self.document.events for event in group)
        self.known = known_at_zero([atom] if atom else [event.trigger for event in group]) if by_trigger else {}

    def run(self):
        """([(name, term) of lets], [(identifier, term)])"""
        waiting = [(event, self.happens(event), self.before) for event in self.group]
        self.check_ties()
        waiting, values = self.without_delayed(waiting, self.before)
        while waiting:
            event, condition, seen = waiting.pop(self.next_of(waiting))
            last = not waiting and not self.followers(event) and not self.delayed_that_depend(event)
            after = self.executed(event, condition, seen, values, last)
            waiting = self.persisting(waiting, event, after) + self.set_off(event, condition, values, after)
            waiting, values = self.without_delayed(waiting, self.forgetting(event, after))
        return self.inlined(values.of)

    def happens(self, event):
        """The condition under which an event of the group is executed"""
        if self.atom:
            with_it, without = (self.with_atom(event.trigger, holds) for holds in (TRUE, terms.FALSE))
            return both(with_it, terms.settled(terms.negated(without)))
        if self.guard is not None:
            return TRUE
        if event.time is not None or not self.document.fresh:
            return event.trigger
        return ("and", event.trigger, ("!=", ("name", self.document.fresh), ZERO))

    def with_atom(self, trigger, holds):
        """The trigger where the atom holds, or before; and what else compares its sides is what it is then"""
        op, *sides = self.atom
        for comparison, known in self.known.items():
            before = BEFORE[op if list(comparison[1:]) == sides else FLIPPED[op]]
            was = TRUE if comparison[0] in before else terms.FALSE
            trigger = terms.replaced(trigger, comparison, known if holds == TRUE else was)
        return terms.settled(trigger)

    def inlined(self, of):
        """(lets, assignments) without names that nothing but an assignment uses"""
        meant, used = dict(self.lets), Counter()
        for term in [*meant.values(), *of.values()]:
            used.update(terms.names(term))
        assigned = {id_: meant[term[1]] if term[0] == "name" and term[1] in meant and used[term[1]] == 1 else term
                    for id_, term in of.items()}
        left = set().union(*map(terms.names, [*meant.values(), *assigned.values()]))
        return [(name, term) for name, term in self.lets if name in left], list(assigned.items())

    def counted(self, event):
        """The next number of what happens"""
        self.count += 1
        if self.count > MOST:
            raise event.element.refusal(f"it belongs to events that set off each other more than {MOST} times at one "
                                        "time, which is not supported")
        return f"{self.name} {self.count}"

    # ---- delays ----

    def without_delayed(self, waiting, values):
        """(those without a delay, the values behind the others, which are scheduled)"""
        for event, condition, seen in waiting:
            if event.delay:
                tag, before = self.counted(event), values
                assigned = {id_: self.inside(term, seen) for id_, term in event.assignments.items()}
                new = delays.scheduled(event, condition, self.inside(event.delay, seen), assigned,
                                       lambda name, before=before: self.after(name, before))
                values = self.extended(values, new, tag)
        return [each for each in waiting if not each[0].delay], values

    def delayed_that_depend(self, event):
        return [other for other in self.document.events if other.delay and not other.persistent and
                self.derived.depends(other.trigger, event.assignments)]

    def forgetting(self, event, values):
        """The values where delayed events whose triggers are no longer true are forgotten"""
        for other in self.delayed_that_depend(event):
            new = delays.forgotten(other, self.truth(other, values),
                                   lambda name, before=values: self.after(name, before))
            values = self.extended(values, new, self.counted(other))
        return values

    def extended(self, values, new, tag):
        """The values with others of memory variables of delays, which no formula of the file uses"""
        of = dict(values.of)
        of.update((name, self.named(f"{tag} {name}", term)) for name, term in new.items())
        return Values(of, tag)

    # ---- order ----

    def next_of(self, waiting):
        if len(waiting) == 1:
            return 0
        for event, *_ in waiting:
            if self.events.rank[event.id] is None:
                raise event.element.refusal("a priority that changes with time is not supported")
        return max(range(len(waiting)), key=lambda k: (self.events.rank[waiting[k][0].id], -k))

    def check_ties(self):
        """Refuses events of one trigger, delay and priority that do not leave each other alone"""
        rank = self.events.rank
        for k, a in enumerate(self.group):
            for b in self.group[:k]:
                if a.priority is not None and b.priority is not None and rank[a.id] == rank[b.id] and \
                        a.delay == b.delay and (self.disturbs(a, b) or self.disturbs(b, a)):
                    raise a.element.refusal(TIE.format(b.id, a.id))

    def disturbs(self, a, b):
        """Whether b does something else after a"""
        read = [] if b.at_trigger else list(b.assignments.values())
        read += [] if b.persistent else [b.trigger]
        return bool({*a.assignments} & {*b.assignments}) or any(self.derived.depends(term, a.assignments)
                                                                 for term in read)

    def followers(self, event):
        return [f for f in self.document.events if self.derived.depends(f.trigger, event.assignments)]

    # ---- one event ----

    def executed(self, event, condition, seen, values, last):
        """The values behind it; last: nothing follows, so that they need no names"""
        of, tag = dict(values.of), self.counted(event)
        for id_, term in event.assignments.items():
            new = self.inside(term, seen if event.at_trigger else values)
            stored = ("name", id_)
            if id_ in self.derived.amounts:
                size = self.derived.size(id_)[1]
                now = of[size] if event.time is not None and size in of else self.after(size, values)
                new, stored = product(new, now), ("name", amount_name(id_))
            old = values.of.get(id_, stored)
            new = chosen(condition, new, old)
            of[id_] = new if last or new[0] in terms.LEAVES else self.named(f"{tag} {id_}", new)
        return Values(of, tag)

    def persisting(self, waiting, event, after):
        """Those that still wait behind an event"""
        out = []
        for other, condition, seen in waiting:
            if not other.persistent and self.derived.depends(other.trigger, event.assignments):
                condition = both(condition, self.truth(other, after))
            if both(condition, self.meant(condition)) != terms.FALSE:
                out.append((other, condition, seen))
        return out

    def set_off(self, event, condition, values, after):
        """The events whose triggers become true by it"""
        out = []
        for follower in self.followers(event):
            was, is_ = self.truth(follower, values), self.truth(follower, after)
            becomes = both(terms.negated(was), is_)
            if both(both(condition, self.meant(condition)), becomes) != terms.FALSE:
                when = both(condition, becomes)
                out.append((follower, self.condition(f"{after.tag} {follower.id}", when), after))
        return out

    def truth(self, event, values):
        """Whether its trigger is true.  That of the group is just becoming true, where its guard is zero to round-off:
        later it is false where the guard has fallen below zero"""
        if event in self.group and self.guard is not None:
            if values is self.before:
                return TRUE
            later = folded((">=", self.inside(self.guard, values), ("min", self.guard, ZERO)))
            if not self.atom:
                return later
            return terms.replaced(self.inside(terms.replaced(event.trigger, self.atom, PLACE), values), PLACE, later)
        trigger = event.trigger
        for comparison, holds in self.known.items():
            if not self.derived.depends(comparison, values.of):
                trigger = terms.replaced(trigger, comparison, holds)
        return self.inside(terms.settled(trigger), values)

    def condition(self, name, term):
        if term == TRUE:
            return TRUE
        named = ("!=", self.named(name, ("if", term, terms.ONE, ZERO)), ZERO)
        self.meanings[named] = term
        return named

    def meant(self, condition):
        """What the names of conditions stand for"""
        found = [self.meanings.get(part) for part in conjunction(condition)]
        return ("and", TRUE, *(part for part in found if part))

    def named(self, name, term):
        self.lets.append((name, term))
        return ("name", name)

    # ---- formulas behind events ----

    def inside(self, term, values):
        """A term with the values behind events"""
        return folded(terms.substituted(term, lambda id_: self.after(id_, values)))

    def after(self, id_, values):
        """The value of an identifier behind events"""
        d = self.derived
        if not d.depends(("name", id_), values.of):
            return ("name", id_)
        if id_ not in values.made:
            if id_ in d.amounts and d.is_stored(id_):
                amount = values.of.get(id_, ("name", amount_name(id_)))
                values.made[id_] = quotient(amount, self.after(d.size(id_)[1], values))
            elif id_ in values.of:
                values.made[id_] = values.of[id_]
            else:
                values.made[id_] = self.named(f"{values.tag} {id_}", self.inside(d.formula(id_), values))
        return values.made[id_]


def known_at_zero(triggers):
    """{comparison: TRUE or FALSE} of those of the two sides that events of one guard compare, where that is zero to
    round-off: equal, if all triggers hold then, else where they are going"""
    if not all(trigger[0] in RISING for trigger in triggers):
        return {}
    equal, (op, a, b) = all(trigger[0] in ("<=", ">=") for trigger in triggers), triggers[0]
    if RISING[op] == -1:
        a, b = b, a
    out = {}
    for above, below, holds in ((">", "<", not equal), (">=", "<=", True), ("<", ">", False), ("<=", ">=", equal)):
        out[above, a, b] = out[below, b, a] = TRUE if holds else terms.FALSE
    return out


def both(a, b):
    """a and b.  FALSE where one of their parts is false, or the opposite of another one"""
    parts = dict.fromkeys(folded(part) for part in [*conjunction(a), *conjunction(b)])
    parts.pop(TRUE, None)
    if terms.FALSE in parts or any(terms.negated(part) in parts for part in parts):
        return terms.FALSE
    return TRUE if not parts else next(iter(parts)) if len(parts) == 1 else ("and", *parts)


def conjunction(a):
    return [part for each in a[1:] for part in conjunction(each)] if a[0] == "and" else [a]


def chosen(condition, a, b):
    return a if condition == TRUE else ("if", condition, a, b)


def folded(term):
    """A condition of numbers is true or false"""
    if term[0] in terms.CONDITIONS and not terms.names(term) and not terms.has(term, ("time", "rate")):
        return TRUE if terms.value(term, None) else terms.FALSE
    return term
