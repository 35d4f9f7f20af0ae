"""Rooted trees and order conditions: one recursion for Runge-Kutta and Rosenbrock methods."""
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from operator import mul

from .document import MAX_ORDER
from .linalg import apply, dot
from .real import ONE

# A tree is the tuple of its root's subtrees, in a fixed order; () is the single vertex.


@lru_cache(maxsize=None)
def of_order(n):
    """All rooted trees with n vertices."""
    return tuple(forests(n - 1, n - 1, of_order))


def each_of_order(n):
    """One after the other, so that the many of a high order are not made if one of the first fails."""
    return of_order(n) if n <= MAX_ORDER else forests(n - 1, n - 1, of_order)


def forests(n, largest, kinds):
    """All multisets of trees of order n together, no tree of more than largest; kinds(k): the trees of order k."""
    if n == 0:
        yield ()
        return
    for size in range(min(n, largest), 0, -1):
        for count in range(1, n // size + 1):
            for chosen in _multisets(kinds(size), count):
                for rest in forests(n - count * size, size - 1, kinds):
                    yield chosen + rest


def _multisets(kinds, count, start=0):
    if count == 0:
        yield ()
        return
    for i in range(start, len(kinds)):
        for rest in _multisets(kinds, count - 1, i):
            yield (kinds[i],) + rest


@lru_cache(maxsize=None)
def order(tree):
    return 1 + sum(order(t) for t in tree)


@lru_cache(maxsize=None)
def density(tree):
    value = order(tree)
    for t in tree:
        value *= density(t)
    return value


@lru_cache(maxsize=None)
def symmetry(tree):
    value = 1
    for t in set(tree):
        for k in range(1, tree.count(t) + 1):
            value *= k * symmetry(t)
    return value


def name(tree):
    """t is the single vertex, [t1 t2 ..] the tree with these subtrees."""
    return "[" + "".join(name(t) for t in tree) + "]" if tree else "t"


@dataclass
class Failure:
    """An order condition that does not hold."""
    text: str             # of the tree
    order: int
    found: Decimal
    wanted: Decimal
    wanted_text: str

    @property
    def residual(self):
        return abs(self.found - self.wanted)


def beyond(residual, tol, b, phi):
    """Is the residual of sum b_i Phi_i more than tol, of terms beyond 1 more than tol times the sum of their sizes?
    That sum is formed for few of them: it takes longer than the residual."""
    return abs(residual) > tol and abs(residual) > tol * sum(map(abs, map(mul, b, phi)))


def shorter(A):
    """A matrix without the zeros at the ends of its rows: products with a lower triangle then take half the time."""
    return [row[:max((j for j, x in enumerate(row, 1) if x), default=0)] for row in A]


class Conditions:
    """The elementary weights of a method's stages.

    A vertex with one child brings the matrix beta, one with several brings alpha: for Runge-Kutta
    methods both are A, for Rosenbrock methods beta = alpha + Gamma."""

    trees, name = staticmethod(each_of_order), staticmethod(name)

    @staticmethod
    @lru_cache(maxsize=None)
    def wanted(tree):
        """b Phi(tree), in the precision of real.py, and as a text"""
        return ONE / density(tree), f"1/{density(tree)}"

    def __init__(self, alpha, beta=None):
        self.alpha, self.beta = alpha, alpha if beta is None else beta
        self.stages = len(alpha)
        self._alpha, self._beta = shorter(self.alpha), shorter(self.beta)
        self._weights, self._images = {}, {}

    def weights(self, tree):
        """Phi_i(tree) for all stages i."""
        if tree not in self._weights:
            self._weights[tree] = self._chain(tree[0]) if len(tree) == 1 else self._product(tree)
        return self._weights[tree]

    def _chain(self, child):
        """of the tree with this one child"""
        return self._image(child) if self.beta is self.alpha else apply(self._beta, self.weights(child))

    def _product(self, children):
        value = self._image(children[0]) if children else [ONE] * self.stages
        for t in children[1:]:
            value = list(map(mul, value, self._image(t)))
        return value

    def _image(self, tree):
        if tree not in self._images:
            self._images[tree] = apply(self._alpha, self.weights(tree))
        return self._images[tree]

    def failures(self, b, n, tol):
        """The conditions of order n that the weights b do not satisfy."""
        for tree in self.trees(n):
            phi = self.weights(tree)
            found, (wanted, text) = dot(b, phi), self.wanted(tree)
            if beyond(found - wanted, tol, b, phi):
                yield Failure(self.name(tree), n, found, wanted, text)

    def fails(self, b, n, tol):
        """Is there a condition of order n that does not hold?"""
        return next(self.failures(b, n, tol), None) is not None

    def order(self, b, tol, limit=12):
        """The order of the weights b, at most limit."""
        for n in range(1, limit + 1):
            if self.fails(b, n, tol):
                return n - 1
        return limit

    def continuous_failures(self, B, n, tol):
        """The same for continuous weights: B[k-1] are the coefficients of theta^k."""
        for tree in of_order(n):
            phi = self.weights(tree)
            for k, row in enumerate(B, 1):
                found, wanted = dot(row, phi), (ONE / density(tree) if k == n else 0 * ONE)
                if beyond(found - wanted, tol, row, phi):
                    yield Failure(f"{name(tree)} (coefficient of theta^{k})", n, found, wanted,
                                  f"1/{density(tree)}" if k == n else "0")
            if n > len(B):
                yield Failure(f"{name(tree)} (coefficient of theta^{n})", n, 0 * ONE, ONE / density(tree),
                              f"1/{density(tree)}")

    def continuous_order(self, B, tol, limit):
        for n in range(1, limit + 1):
            if next(self.continuous_failures(B, n, tol), None):
                return n - 1
        return limit

    def principal_error(self, b, p):
        """2-norm of the residuals of order p + 1, each divided by the symmetry of its tree."""
        total = 0 * ONE
        for tree in of_order(p + 1):
            total += ((dot(b, self.weights(tree)) - ONE / density(tree)) / symmetry(tree)) ** 2
        return total.sqrt()
