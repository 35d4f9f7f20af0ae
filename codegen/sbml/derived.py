"""What each identifier of a Document is in the equations, its initial value, and its derivative in time.

A species in a compartment of constant size is a state in the unit of its identifier: an amount, or a concentration.
Where the size of the compartment changes, the state is the amount n, and the identifier is n/size, so that what
enters or leaves and what the compartment does are kept apart:  n' = sum over reactions of stoichiometry times rate."""
from . import terms
from .algebraic import Algebraic
from .kinds import ALGEBRAIC, CONSTANT, MEMORY, PARAMETER, REACTION, RULE, STATE
from .starts import Starts
from .terms import ZERO, number, product, quotient, total

MINUS = number(-1)


class Derived(Starts):
    """kind: {id: one of those above}; amounts: species whose state is their amount; rules: {id: term} of assignment
    rules and of algebraic rules that are solved; open: the other algebraic rules, terms that are 0.

    given: identifiers that stay parameters: of a constant its value, of a state or memory variable its initial value"""

    def __init__(self, document, given=()):
        self.document, self.given, self.kind, self.amounts = document, set(given), {}, set()
        d = document
        for id_ in self.given:
            if d.declared(id_) is None:
                raise d.refusal(id_, "the model has no parameter, compartment, species or species reference of this id")
            if id_ in d.assignment_rules:
                raise d.refusal(id_, "an assignment rule determines it: it cannot be a parameter")
        self.assigned = {id_ for event in d.events for id_ in event.assignments}
        self.flux = {}                       # {species: [(reference, reaction)]}
        for reaction in d.reactions.values():
            for reference in reaction.references:
                self.flux.setdefault(reference.species, []).append((reference, reaction))
        solution = Algebraic(d, self.is_free)
        self.rules = {**d.assignment_rules, **solution.rules}
        self.open, self.unknowns = solution.open, solution.unknowns
        for group in (d.parameters, d.compartments, d.references, d.species):
            for id_ in group:
                self.kind[id_] = self._kind(id_)
        self.kind.update((id_, REACTION) for id_ in d.reactions)
        self.amounts = {id_ for id_ in d.species if self._is_amount(id_)}
        for id_ in self.amounts & {id_ for id_ in d.species if self.kind[id_] in (CONSTANT, PARAMETER)}:
            self.kind[id_] = RULE            # its amount does not change
        self._expanding, self._starting, self._starts = [], [], {}
        self.rules = {id_: self.expanded(term) for id_, term in self.rules.items()}
        self.open = [self.expanded(term) for term in self.open]
        self.laws = {id_: ZERO if r.law is None else self.expanded(r.law) for id_, r in d.reactions.items()}
        self.initial = {id_: self.expanded(term) for id_, term in d.initial.items()}

    # ---- what it is ----

    def changes_by_reactions(self, id_):
        species = self.document.species.get(id_)
        return species is not None and not species.boundary and not species.constant and id_ in self.flux

    def is_free(self, id_):
        """Whether an algebraic rule may determine it"""
        d, declared = self.document, self.document.declared(id_)
        return declared is not None and not declared.constant and id_ not in d.assignment_rules and \
            id_ not in d.rate_rules and not self.changes_by_reactions(id_)

    def _kind(self, id_):
        d = self.document
        if id_ in self.rules:
            return RULE
        if id_ in self.unknowns:
            return ALGEBRAIC
        if id_ in d.rate_rules or self.changes_by_reactions(id_):
            return STATE
        if id_ in self.assigned:
            return MEMORY
        if id_ in self.given:
            return PARAMETER
        return CONSTANT if id_ in d.initial or id_ in d.references or not self._is_plain(id_) else PARAMETER

    def _is_plain(self, id_):
        """Whether the number in the file is the value of the identifier"""
        s = self.document.species.get(id_)
        return s is None or s.value is None or s.is_concentration != self.means_amount(id_)

    def means_amount(self, id_):
        s = self.document.species[id_]
        return s.only_substance or self.document.compartments[s.compartment].dimensions == 0

    def varies(self, compartment):
        return self.kind[compartment] in (RULE, STATE, ALGEBRAIC, MEMORY)

    def _is_amount(self, id_):
        s = self.document.species[id_]
        if self.means_amount(id_) or not self.varies(s.compartment) or self.kind[id_] in (RULE, ALGEBRAIC):
            return False
        return id_ not in self.document.rate_rules or s.compartment in self.assigned

    def size(self, id_):
        return ("name", self.document.species[id_].compartment)

    # ---- what it depends on ----

    def is_stored(self, id_):
        """Whether a state or memory variable holds it"""
        return self.kind[id_] in (STATE, MEMORY, ALGEBRAIC)

    def formula(self, id_):
        """The term that an identifier stands for; None: a state, memory variable or constant"""
        if id_ in self.amounts and not self.is_stored(id_):
            return quotient(self.amount_at_start(id_), self.size(id_))
        return self.definition(id_)

    def parts(self, id_):
        """What an identifier depends on directly"""
        size = [self.size(id_)[1]] if id_ in self.amounts else []
        return size + terms.names(self.formula(id_) or ZERO) if id_ in self.kind else []

    def reached(self, term):
        """Identifiers that a term depends on, also through rules"""
        seen, todo = {}, terms.names(term)
        while todo:
            id_ = todo.pop()
            if id_ not in seen:
                seen[id_] = True
                todo += self.parts(id_)
        return seen

    def depends(self, term, ids):
        return any(id_ in ids for id_ in self.reached(term))

    def moves(self, id_):
        """Whether it changes between events"""
        reached = self.reached(("name", id_))
        return any(self.kind.get(x) in (STATE, ALGEBRAIC) for x in reached) or any(
            terms.has(self.formula(x) or ZERO, ("time",)) for x in reached if x in self.kind)

    # ---- derivatives in time ----

    def rate(self, id_):
        """The derivative of the state of an identifier: of the amount, for those in amounts"""
        d = self.document
        if id_ in d.rate_rules:
            term = self.expanded(d.rate_rules[id_])
            if id_ not in self.amounts:
                return term
            return total([product(term, self.size(id_)), product(("name", id_), self.rate_of(self.size(id_)[1]))])
        if self.kind[id_] != STATE:
            return ZERO
        species = d.species[id_]
        parts = [product(MINUS if reference.sign < 0 else terms.ONE, self.stoichiometry(reference),
                         ("name", reaction.id)) for reference, reaction in self.flux[id_] if reaction.law is not None]
        sum_ = total(parts)
        if species.conversion:
            sum_ = product(("name", species.conversion), sum_)
        if id_ in self.amounts or self.means_amount(id_):
            return sum_
        return quotient(sum_, self.size(id_))

    def stoichiometry(self, reference):
        if reference.term is not None:
            return self.expanded(reference.term)
        id_ = reference.id
        if reference.element.get("id") and (self.kind[id_] != CONSTANT or id_ in self.document.initial):
            return ("name", id_)
        if reference.value is None:
            raise reference.element.refusal("its stoichiometry is missing")
        return number(reference.value)

    def rate_of(self, id_):
        """The derivative of what an identifier means: the csymbol rateOf"""
        if id_ in self._expanding:
            raise self.document.refusal(id_, "its derivative in time depends on itself")
        kind = self.kind.get(id_)
        if id_ in self.amounts:
            size = self.size(id_)
            content = ("-", self.rate(id_), product(("name", id_), self.rate_of(size[1])))
            return quotient(content, size)
        if kind in (RULE, ALGEBRAIC, REACTION, None):
            raise self.document.refusal(id_, "its derivative in time is not supported: a rule determines it")
        self._expanding.append(id_)
        term = self.rate(id_)
        self._expanding.pop()
        return term

    def expanded(self, term):
        """The term with derivatives in time written out"""
        if term[0] == "rate":
            return self.rate_of(term[1])
        return term if term[0] in terms.LEAVES else (term[0], *map(self.expanded, term[1:]))
