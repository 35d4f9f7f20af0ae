"""Order conditions of Rosenbrock methods for problems of index 1."""
from functools import lru_cache

from .linalg import apply, dot, inverse
from .real import ONE
from .trees import forests

# Trees for y' = f(y,z), 0 = g(y,z).  A vertex is ("y", children) for f or ("z", children) for the inverse of
# g_z, which has two children or more (one that has a single child is that child).  The order counts y vertices.


@lru_cache(maxsize=None)
def of_kind(kind, n):
    """All trees with n y-vertices and a root of this kind."""
    if kind == "y":
        return tuple(("y", children) for children in forests(n - 1, n - 1, _any_kind))
    return tuple(("z", children) for children in forests(n, n - 1, _any_kind) if len(children) > 1)


def _any_kind(n):
    return of_kind("y", n) + of_kind("z", n)


def y_order(tree):
    return (tree[0] == "y") + sum(y_order(t) for t in tree[1])


def y_density(tree):
    value = y_order(tree) if tree[0] == "y" else 1
    for t in tree[1]:
        value *= y_density(t)
    return value


class Index1:
    """Elementary weights with z vertices: omega = beta^-1."""

    def __init__(self, alpha, beta):
        self.alpha, self.beta, self.omega = alpha, beta, inverse(beta)
        self.known = {}

    def weights(self, tree):
        if tree not in self.known:
            kind, children = tree
            if len(children) == 1:
                value = apply(self.beta, self.weights(children[0]))
            else:
                value = [ONE] * len(self.alpha)
                for t in children:
                    value = [x * y for x, y in zip(value, apply(self.alpha, self.weights(t)))]
                if kind == "z":
                    value = apply(self.omega, value)
            self.known[tree] = value
        return self.known[tree]

    def holds(self, b, kind, n, tol):
        for tree in of_kind(kind, n):
            phi = self.weights(tree)
            if abs(dot(b, phi) - ONE / y_density(tree)) > tol * max(ONE, sum(abs(x * y) for x, y in zip(b, phi))):
                return False
        return True

    def order(self, b, p, tol):
        """The largest order up to p: that of the y conditions, and one less of the z conditions."""
        for n in range(1, p + 1):
            if not self.holds(b, "y", n, tol) or not self.holds(b, "z", n - 1, tol):
                return n - 1
        return p
