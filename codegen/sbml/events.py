"""Events of a model: their triggers as guards, what they assign, and those that others set off at once."""
from . import terms
from .terms import product

STRICT, LOOSE = ("<", ">", "!="), ("<=", ">=", "==")


def guard(condition):
    """A term that rises through zero where the condition becomes true; None: there is none"""
    kind, parts = condition[0], condition[1:]
    if kind in (">", ">="):
        return ("-", *parts)
    if kind in ("<", "<="):
        return ("-", *reversed(parts))
    if kind in ("and", "or"):
        guards = [guard(part) for part in parts]
        return None if None in guards else ("min" if kind == "and" else "max", *guards)
    if kind == "not":
        return guard(terms.negated(parts[0]))
    return None


class Events:
    def __init__(self, derived):
        self.derived, self.document = derived, derived.document
        for event in self.document.events:
            event.trigger = derived.expanded(event.trigger)
        self.events = self._in_order()

    def _in_order(self):
        """By priority, the highest first; those without one are last"""
        def priority(event):
            if event.priority is None:
                return float("inf")
            term = self.derived.expanded(event.priority)
            if not all(self.derived.is_static(name) for name in terms.names(term)) or terms.has(term, ("time",)):
                raise event.element.refusal("a priority that changes with time is not supported")
            return -terms.value(term, self.derived.number_at_start)
        return sorted(self.document.events, key=priority)

    def written(self, word):
        """Texts of all events: [(name, heading, [(target, term)])]"""
        return [each for event in self.events for each in self._event(event, word)]

    def jump(self, event):
        """{what is stored: term} in the values before the event"""
        return {id_: self.derived.expanded(term) for id_, term in event.assignments.items()}

    def _event(self, event, word):
        g = guard(event.trigger)
        if g is None:
            raise event.element.refusal("this trigger is not supported: expected comparisons by < <= > >=, with and, or "
                                        "and not")
        true_at_zero = terms.has(event.trigger, LOOSE) and not terms.has(event.trigger, STRICT)
        jump = self.jump(event)
        yield (word, g, "ignored at start" if true_at_zero else "", self.stored(jump))
        if not event.initial:
            begins = {id_: ("if", event.trigger, term, ("name", id_)) for id_, term in jump.items()}
            yield (word + "_start", None, "", self.stored(begins))

    def stored(self, jump):
        """[(id, term)] of states and memory variables: an amount is the concentration times the size after the event"""
        out = []
        for id_, term in jump.items():
            if id_ in self.derived.amounts:
                size = self.derived.size(id_)
                term = product(term, jump.get(size[1], size))
            out.append((id_, term))
        return out
