"""Collocation methods: their nodes, and the tableau and the dense output that nodes define.

Nodes are the zeros, all in [0, 1], of (Hairer, Wanner, Solving Ordinary Differential Equations II, 2nd ed., IV.5)

    gauss      d^s     / dx^s      [x^s     (x - 1)^s]            order 2s
    radau      d^(s-1) / dx^(s-1)  [x^(s-1) (x - 1)^s]            order 2s-1, the last node is 1
    lobatto    d^(s-2) / dx^(s-2)  [x^(s-1) (x - 1)^(s-1)]        order 2s-2, the first node is 0, the last 1

With the Lagrange polynomials l_j on c:  a_ij = integral of l_j from 0 to c_i,  b_j(theta) = that to theta."""
from decimal import Decimal
from math import comb, perm
from typing import NamedTuple

from .linalg import dot, identity, solve
from .real import EXACT, ONE, ZERO, snap
from .split import newton, starts


class Kind(NamedTuple):
    """What s is diminished by in the powers of x and x - 1 and in the derivative; the stages that there may be, such
    that the order is at most document.MAX_ORDER."""
    left: int
    right: int
    derived: int
    least: int
    most: int

    @property
    def singular(self):
        """A factor x is left: the first node is 0, and so is the first row of A."""
        return self.left < self.derived


KINDS = {"gauss": Kind(0, 0, 0, 1, 6), "radau": Kind(1, 0, 1, 1, 6), "lobatto": Kind(1, 1, 2, 2, 7)}


def nodes(kind, s):
    """Ascending; 0 and 1 are exact."""
    monic = polynomial(KINDS[kind], s)
    found = [newton(monic, Decimal(guess.real), ZERO)[0] for guess in starts([float(x) for x in monic])]
    return sorted(snap(x, EXACT) for x in found)


def polynomial(kind, s):
    """Its s + 1 coefficients, the leading one first and 1."""
    p, q, k = s - kind.left, s - kind.right, s - kind.derived
    # x^p (x - 1)^q = sum_j (-1)^j C(q, j) x^(p+q-j), derived k times
    whole = [(-1) ** j * comb(q, j) * perm(p + q - j, k) for j in range(s + 1)]
    return [ONE * x / whole[0] for x in whole]


def lagrange(c):
    """Coefficients of theta^k (rows k = 1 ..) of the integrals b_j of the Lagrange polynomials on c."""
    s = len(c)
    V = [[x ** k if k else ONE for k in range(s)] for x in c]
    return [[x / (k + 1) for x in row] for k, row in enumerate(solve(V, identity(s)))]


def tableau(c):
    """A, b"""
    B = lagrange(c)
    *A, b = [[dot(column, [x ** k for k in range(1, len(c) + 1)]) for column in zip(*B)] for x in c + [ONE]]
    return A, b
