"""One degree of a stabilised explicit method, its B-series and its stability polynomial.

    g_0 = y,  f_j = f(t + c_j h, g_j)
    g_j = eta_j y + mu_j g_(j-1) + nu_j g_(j-2) + h (mut_j f_(j-1) + gat_j f_0),   j = 1 .. m,  eta_j = 1 - mu_j - nu_j

and, of ROCK methods (m = s - 2, s - 4), a composition with an explicit method of r = 2 or 4 stages that starts at g_m:

    Y_i = g_m + h sum_(k<i) A_ik F_k,  F_i = f(t + (c_m + sum_k A_ik) h, Y_i),   y+ = g_m + h sum_i b_i F_i

Without it (r = 0) y+ = g_m.  The estimate is

    est = ey (y - y+) + h (e0 f_0 + sum_i e_i F_i + e1 f(t + h, y+))

f(t + h, y+) is f_0 of the next step.  So a step costs s = m + r evaluations of f."""
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from operator import mul

from ..trees import of_order


@dataclass
class Degree:
    s: int
    beta: object                     # the interval of stability is [-beta, 0]
    mu: list                         # of j = 1 .. m, here as in the lists below
    nu: list
    mut: list
    gat: list
    A: list = field(default_factory=list)        # rows of the strictly lower triangle; row 1 is empty
    b: list = field(default_factory=list)
    e: list = field(default_factory=list)
    ey: object = 0
    e0: object = 0
    e1: object = 0
    polynomial: object = None        # of ROCK methods: w P, whose conditions are proved

    @property
    def m(self):
        return len(self.mu)


def run(d, step, f, start):
    """The stages of a step in any linear space with a map f: (g_0 .. g_m), (Y_1 .. Y_r), y+, est.

    step(terms) is the sum of c x over the pairs (c, x)."""
    g, slopes = [start], [f(start)]
    for j in range(1, d.m + 1):
        terms = [(1 - d.mu[j - 1] - d.nu[j - 1], start), (d.mu[j - 1], g[-1]), (d.mut[j - 1], slopes[-1]),
                 (d.gat[j - 1], slopes[0])]
        if j > 1:
            terms.append((d.nu[j - 1], g[-2]))
        g.append(step(terms))
        if j < d.m:
            slopes.append(f(g[-1]))
    Y, F = [], []
    for row in d.A:
        Y.append(step([(1, g[-1])] + list(zip(row, F))))
        F.append(f(Y[-1]))
    end = step([(1, g[-1])] + list(zip(d.b, F)))
    est = step([(d.ey, start), (-d.ey, end), (d.e0, slopes[0]), (d.e1, f(end))] + list(zip(d.e, F)))
    return g, Y, end, est


@lru_cache(maxsize=None)
def trees(order):
    """The trees up to this order and, of each, the places of its root's subtrees."""
    listed = [t for n in range(1, order + 1) for t in of_order(n)]
    place = {t: k for k, t in enumerate(listed)}
    return tuple(listed), tuple(tuple(place[child] for child in t) for t in listed)


def b_series(d, order, one):
    """(stages g, stages Y, y+, est) as B-series: the coefficient of y, then those of all trees up to an order.

    f maps the coefficients to the products of those of the root's subtrees: exactly what Conditions of trees.py does
    for a tableau, but with a three-term recurrence in place of a matrix."""
    _, children = trees(order)

    def f(x):
        out = [one * 0]
        for places in children:
            product = one
            for k in places:
                product *= x[k + 1]
            out.append(product)
        return out

    def step(terms):
        terms = [(c, x) for c, x in terms if c]
        if not terms:
            return [one * 0] * (len(children) + 1)
        return list(map(sum, zip(*([c * v for v in x] for c, x in terms))))

    return run(d, step, f, [one] + [one * 0] * len(children))


def times(d, one):
    """c_0 .. c_m of the recurrence, then those of Y_1 .. Y_r."""
    g, Y, _, _ = b_series(d, 1, one)
    return [x[1] for x in g], [x[1] for x in Y]


def response(d, z):
    """R(z), and est for y = 1, by the recurrence itself."""
    return responses(d, [z])[0]


def responses(d, places):
    """The response at each of many z: stage by stage for all of them, which takes half the time."""
    last, g = [1] * len(places), [1 + (d.mut[0] + d.gat[0]) * z for z in places]
    for mu, nu, mut, gat in list(zip(d.mu, d.nu, d.mut, d.gat))[1:]:
        eta = 1 - mu - nu
        if eta or gat:
            last, g = g, [eta + (mu + mut * z) * x + nu * y + gat * z for z, x, y in zip(places, g, last)]
        else:
            last, g = g, [(mu + mut * z) * x + nu * y for z, x, y in zip(places, g, last)]
    return [composed(d, z, x) for z, x in zip(places, g)]


def composed(d, z, g):
    """The response, when the recurrence has come to g."""
    F = []
    for row in d.A:
        F.append(z * (g + sum(map(mul, row, F))))
    end = g + sum(map(mul, d.b, F))
    est = d.ey * (1 - end) + z * (d.e0 + d.e1 * end) + sum(map(mul, d.e, F))
    return end, est


def internal(d, z):
    """By how much independent errors of 1 in all stages change y+, for h f(y) = z y: the root of the sum of the squares
    of dy+/dg_j and dy+/dY_i.  The recurrence backwards: all stages at the price of one."""
    bars = [0.0] * len(d.A)
    for i in range(len(d.A) - 1, -1, -1):
        bars[i] = z * (d.b[i] + sum(d.A[k][i] * bars[k] for k in range(i + 1, len(d.A))))
    bar, following = 1.0 + sum(bars), 0.0
    total = sum(x * x for x in bars[1:]) + bar * bar           # Y_1 is g_m
    for j in range(d.m - 1, 0, -1):
        bar, following = (d.mu[j] + z * d.mut[j]) * bar + following, d.nu[j] * bar
        total += bar * bar
    return sqrt(total)
