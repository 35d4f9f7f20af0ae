"""Order conditions of Rosenbrock methods with any matrix W in place of the Jacobian, by trees of two colours.

A vertex is ("f", children), any number of them, or ("W", (child,)): W is linear and constant, so that a vertex of W has
exactly one child.  A child of f brings alpha, that of W brings Gamma:

    Phi("f", children) = product of alpha Phi(child),   Phi("W", (child,)) = Gamma Phi(child)

A method has order p with any W if b Phi = 1/density for all trees without W and 0 for all others, of order up to p
(E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.7)."""
from functools import lru_cache

from .linalg import apply
from .real import ONE, ZERO
from .trees import Conditions, forests, shorter


@lru_cache(maxsize=None)
def of_order(n):
    """All trees with n vertices."""
    of_f = tuple(("f", children) for children in forests(n - 1, n - 1, of_order))
    return of_f + tuple(("W", (child,)) for child in (of_order(n - 1) if n > 1 else ()))


@lru_cache(maxsize=None)
def order(tree):
    return 1 + sum(order(t) for t in tree[1])


@lru_cache(maxsize=None)
def has_w(tree):
    return tree[0] == "W" or any(has_w(t) for t in tree[1])


@lru_cache(maxsize=None)
def density(tree):
    value = order(tree)
    for t in tree[1]:
        value *= density(t)
    return value


def name(tree):
    """As in trees.py; W(t1) is a vertex of W with the subtree t1."""
    kind, children = tree
    if kind == "W":
        return f"W({name(children[0])})"
    return "[" + "".join(name(t) for t in children) + "]" if children else "t"


class WConditions(Conditions):
    """Those of a method alpha, Gamma."""

    trees, name = staticmethod(of_order), staticmethod(name)

    @staticmethod
    @lru_cache(maxsize=None)
    def wanted(tree):
        return (ZERO, "0") if has_w(tree) else (ONE / density(tree), f"1/{density(tree)}")

    def __init__(self, alpha, gamma):
        super().__init__(alpha)
        self._gamma = shorter(gamma)

    def weights(self, tree):
        if tree not in self._weights:
            kind, children = tree
            self._weights[tree] = (apply(self._gamma, self.weights(children[0])) if kind == "W"
                                   else self._product(children))
        return self._weights[tree]

    def first_failure(self, b, p, tol):
        """of order up to p; None where all hold"""
        return next((x for n in range(1, p + 1) for x in self.failures(b, n, tol)), None)
