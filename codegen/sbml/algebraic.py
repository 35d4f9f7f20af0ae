"""Which unknowns the algebraic rules of a model determine.

Each rule 0 = F gets an unknown of its own, by a largest matching of rules and unknowns (augmenting paths).  A rule that
is linear in its unknown, F = a x + b, is solved: x = -b/a.  The others remain equations of algebraic variables."""
from . import terms
from .terms import ZERO, number, product, quotient


class Algebraic:
    """rules: {id: term} of rules that are solved; open: terms that are 0; unknowns: what these determine"""

    def __init__(self, document, is_free):
        self.document, self.rules, self.open, self.unknowns = document, {}, [], []
        candidates = [self._candidates(term, is_free) for term, _ in document.algebraic_rules]
        found = matched(candidates)
        for k, (term, element) in enumerate(document.algebraic_rules):
            if k not in found:
                raise element.refusal("this rule determines no unknown: what occurs in it is constant, or determined "
                                      "by reactions or other rules" + self._seen(candidates[k]))
            self._place(term, found[k])

    @staticmethod
    def _seen(candidates):
        return f" ({', '.join(candidates)})" if candidates else ""

    def _candidates(self, term, is_free):
        """The unknowns in a rule, and in rules and reactions that it uses"""
        out, seen, todo = [], set(), terms.names(term)
        while todo:
            id_ = todo.pop(0)
            if id_ in seen:
                continue
            seen.add(id_)
            if is_free(id_):
                out.append(id_)
            todo += terms.names(self._formula(id_) or ZERO)
        return sorted(out, key=self._is_boundary)

    def _is_boundary(self, id_):
        """A species at the boundary is the last choice"""
        species = self.document.species.get(id_)
        return species is not None and species.boundary

    def _formula(self, id_):
        reaction = self.document.reactions.get(id_)
        return reaction.law if reaction else self.document.assignment_rules.get(id_)

    def _depends(self, id_, unknown):
        """Whether an identifier depends on the unknown"""
        seen, todo = set(), [id_]
        while todo:
            name = todo.pop()
            if name == unknown:
                return True
            if name not in seen:
                seen.add(name)
                todo += terms.names(self._formula(name) or self.rules.get(name) or ZERO)
        return False

    def _place(self, term, unknown):
        """Solved unless a rule that is solved already makes the rest of the term depend on the unknown"""
        form = terms.linear(term, unknown, lambda id_: self._depends(id_, unknown))
        if form:
            self.rules[unknown] = quotient(product(number(-1), form[1]), form[0])
        else:
            self.open.append(term)
            self.unknowns.append(unknown)


def matched(candidates):
    """{k: unknown} with as many k as possible; candidates[k]: unknowns that k may have"""
    owner = {}

    def augment(k, seen):
        for x in candidates[k]:
            if x not in seen:
                seen.add(x)
                if x not in owner or augment(owner[x], seen):
                    owner[x] = k
                    return True
        return False
    for k in range(len(candidates)):
        augment(k, set())
    return {k: x for x, k in owner.items()}
