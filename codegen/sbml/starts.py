"""Initial values as terms in parameters and constants, so that gradients with respect to these go through them.

All are values at the time 0 of SBML: initial assignments, rules and reactions are evaluated there, with the initial
values of what they use.  Values that others use have a name (let_name)."""
import math

from . import terms
from .kinds import CONSTANT, PARAMETER
from .terms import ZERO, number, product, quotient


class Starts:
    """Part of Derived."""

    def definition(self, id_):
        """The term of an identifier that stands for a formula, at all times; None: it does not"""
        if id_ in self.laws:
            return self.laws[id_]
        return self.rules.get(id_)

    def is_static(self, id_):
        """Whether it depends on parameters only"""
        kind = self.kind[id_]
        return kind in (PARAMETER, CONSTANT)

    def start(self, id_):
        """The initial value of an identifier as a term in parameters and constants"""
        if self.is_static(id_):
            return ("name", id_)
        if id_ in self.given:
            return ("name", start_name(id_))
        if id_ not in self._starts:
            self._starts[id_] = self.started(self.start_definition(id_), id_)
        term = self._starts[id_]
        return term if term[0] in terms.LEAVES else ("name", let_name(id_))

    def start_definition(self, id_):
        """... before the names in it are replaced by initial values"""
        d = self.document
        if id_ in self.initial:
            return self.initial[id_]
        definition = self.definition(id_)
        if definition is not None:
            return definition
        declared = d.declared(id_)
        value = declared.value
        if value is None:
            return terms.ONE if id_ in d.compartments else ZERO
        if self._is_plain(id_):
            return number(value)
        scaled = product if d.species[id_].is_concentration else quotient
        return scaled(number(value), self.size(id_))

    def started(self, term, of=None):
        """The term at the start"""
        if of is not None:
            if of in self._starting:
                cycle = " -> ".join([*self._starting[self._starting.index(of):], of])
                raise self.document.refusal(of, f"its initial value depends on itself: {cycle}")
            self._starting.append(of)
        out = terms.substituted(term, self.start, ZERO)
        if of is not None:
            self._starting.pop()
        return out

    def constant(self, id_):
        """The term of a constant, in parameters and other constants"""
        return self.started(self.start_definition(id_), id_)

    def starts(self):
        """{id: term} of the initial values that others refer to by let_name"""
        return {id_: term for id_, term in self._starts.items() if term[0] not in terms.LEAVES}

    def amount_at_start(self, id_):
        return product(self.start(id_), self.start(self.size(id_)[1]))

    def number_at_start(self, id_):
        """The initial value with the numbers of the file; NaN: not known"""
        of, known = {start_name(x): x for x in self.given} | {let_name(x): x for x in self.kind}, {}

        def value(name):
            x = of.get(name, name)
            if x not in known:
                known[x] = math.nan          # where it depends on itself
                declared = self.document.declared(x)
                if self.kind[x] == PARAMETER and declared.value is None and x not in self.initial:
                    known[x] = 1.0 if x in self.document.compartments else 0.0 if x in self.document.species else \
                        math.nan
                else:
                    known[x] = terms.value(self.start_definition(x), value)
            return known[x]
        return value(id_)


def start_name(id_):
    """The parameter that is the initial value of an identifier.  No identifier of SBML holds a blank; in the equation
    file it is an underscore"""
    return f"{id_} 0"


def let_name(id_):
    """The name of an initial value that other initial values use"""
    return f"{id_} start"
