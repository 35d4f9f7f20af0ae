"""Methods by their nodes: the nodes, and the tableau and the dense output that they define.

Nodes are the zeros, all in [0, 1], of (Hairer, Wanner, Solving Ordinary Differential Equations II, 2nd ed., IV.5)

    gauss      d^s     / dx^s      [x^s     (x - 1)^s]            order 2s
    radau      d^(s-1) / dx^(s-1)  [x^(s-1) (x - 1)^s]            order 2s-1, the last node is 1
    radau1a    d^(s-1) / dx^(s-1)  [x^s     (x - 1)^(s-1)]        order 2s-1, the first node is 0
    lobatto    d^(s-2) / dx^(s-2)  [x^(s-1) (x - 1)^(s-1)]        order 2s-2, the first node is 0, the last 1
    lobatto3c  as lobatto

With the Lagrange polynomials l_j on c:  a_ij = integral of l_j from 0 to c_i,  b_j(theta) = that to theta: collocation.
Two kinds have these b and another A, for which b and c leave one that satisfies

    radau1a    sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k,  k = 1 .. s        D(s)
    lobatto3c  a_i1 = b_1,  sum_j a_ij c_j^(k-1) = c_i^k / k,   k = 1 .. s-1      C(s-1)"""
from decimal import Decimal
from math import comb, perm
from typing import NamedTuple

from .linalg import dot, identity, solve
from .real import EXACT, ONE, ZERO, snap
from .split import newton, starts


class Kind(NamedTuple):
    """What s is diminished by in the powers of x and x - 1 and in the derivative; the stages that there may be, such
    that the order is at most document.MAX_ORDER; what A satisfies where it is not that of collocation."""
    left: int
    right: int
    derived: int
    least: int
    most: int
    other: str = ""

    @property
    def singular(self):
        """Collocation with a factor x left: the first node is 0, and so is the first row of A."""
        return not self.other and self.left < self.derived


# Radau IA of one stage has c_1 = 0 and a_11 = 1, which is not C(1): its node is not the sum of its row.
KINDS = {"gauss": Kind(0, 0, 0, 1, 6), "radau": Kind(1, 0, 1, 1, 7), "radau1a": Kind(0, 1, 1, 2, 7, "D(s)"),
         "lobatto": Kind(1, 1, 2, 2, 7), "lobatto3c": Kind(1, 1, 2, 2, 7, "C(s-1)")}


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
    V = [[power(x, k) for k in range(s)] for x in c]
    return [[x / (k + 1) for x in row] for k, row in enumerate(solve(V, identity(s)))]


def by_kind(kind, s):
    """A, b, c"""
    c = nodes(kind, s)
    A, b = tableau(c)
    other = {"D(s)": by_columns, "C(s-1)": by_first_column}.get(KINDS[kind].other)
    return other(b, c) if other else A, b, c


def by_columns(b, c):
    """D(s)"""
    powers = range(1, len(c) + 1)
    return solve([[w * power(x, k - 1) for w, x in zip(b, c)] for k in powers],
                 [[w * (ONE - x ** k) / k for w, x in zip(b, c)] for k in powers])


def by_first_column(b, c):
    """a_i1 = b_1 and C(s-1); c_1 = 0 is in the condition for k = 1 alone."""
    powers = range(1, len(c))
    rest = solve([[power(x, k - 1) for x in c[1:]] for k in powers],
                 [[x ** k / k - (b[0] if k == 1 else ZERO) for x in c] for k in powers])
    return [[b[0], *column] for column in zip(*rest)]


def power(x, k):
    """x^k, with 0^0 = 1"""
    return x ** k if k else ONE


def tableau(c):
    """A, b of collocation"""
    B = lagrange(c)
    *A, b = [[dot(column, [x ** k for k in range(1, len(c) + 1)]) for column in zip(*B)] for x in c + [ONE]]
    return A, b
