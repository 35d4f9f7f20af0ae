"""ROCK2 and ROCK4 from their stability polynomials w P: P is the recurrence, w the composition at its end.

With P_j(z) = p_j(a + D z)/p_j(a) and the ratios r_j = p_j(a)/p_(j-1)(a) the recurrence of p_j becomes

    g_j = mu_j g_(j-1) + nu_j g_(j-2) + h mut_j f_(j-1),
    mut_j = D/r_j,  nu_j = -beta_(j-1)/(r_j r_(j-1)),  mu_j = (a - alpha_(j-1))/r_j = 1 - nu_j"""
from decimal import Decimal, getcontext

from ..linalg import solve_vector
from ..real import Refused
from .degree import Degree, b_series, trees
from .orthogonal import ONE, ZERO, Polynomial


def rock(s, parameters):
    polynomial = Polynomial(s, parameters)
    d = Degree(s, polynomial.interval(), [], [], [], [], polynomial=polynomial)
    last = None
    for alpha, beta in zip(polynomial.alpha, polynomial.beta):
        nu = -beta / last if last else ZERO
        ratio = polynomial.a - alpha + nu
        if ratio <= 0:
            raise Refused("a is not right of the zeros of P: the recurrence is not that of a stable method")
        d.mut.append(polynomial.D / ratio)
        d.nu.append(nu / ratio)
        d.mu.append(1 - nu / ratio)
        d.gat.append(ZERO)
        last = ratio
    {2: finish2, 4: finish4}[polynomial.p](d)
    return d


def finish2(d):
    """w = 1 + 2 sigma z + tau z^2 by two stages: y+ = g + h ((sigma - v) F_1 + (sigma + v) F_2), a_21 = sigma,
    v = tau/sigma - sigma, and the estimate v h (F_2 - F_1), the difference to the solution of order 1 that has the
    stability polynomial (1 + sigma z)^2 P (Abdulle, Medovikov, section 4)."""
    _, twice, tau = d.polynomial.weight_coefficients()
    sigma = twice / 2
    v = tau / sigma - sigma
    d.A, d.b, d.e = [[], [sigma]], [sigma - v, sigma + v], [v, -v]


class Four:
    """The four stages of ROCK4's composition (A. Abdulle, SIAM J. Sci. Comput. 23 (2002) 2041-2054, section 4).

    Ten coefficients, eight order conditions of the composed method, four of which say that the stability polynomial is
    w P. The two that are free are used, as in the code rock4.f, for stages at equal distances: with S = sum_i b_i their
    times after g_m are 0, c_2, S/3, 2 S/3.  p maps trees to the elementary weights of g_m; u_i are the times of the
    stages, and

        X_i = sum_k a_ik c_k,   Q = sum_i b_i sum_k a_ik c_k^2

    follow from the conditions of [t t] kind one after the other; c_2 is such that the last one, [[[t]]], holds."""

    def __init__(self, p):
        self.p, self.S, t = p, 1 - p[()], ()
        self.rest = {tree: ONE / gamma - p[tree]
                     for tree, gamma in (((t,), 2), ((t, t), 3), (((t,),), 6), ((t, t, t), 4), (((t,), t), 8),
                                         (((t, t),), 12), ((((t,),),), 24))}

    def coefficients(self, c2):
        """(A, b, what is missing in the condition of [[[t]]])."""
        p, rest, t = self.p, self.rest, ()
        cP = p[t]
        c = [ZERO, c2, self.S / 3, 2 * self.S / 3]
        u = [cP + x for x in c]
        b = solve_vector([[x ** k if k else ONE for x in u] for k in range(4)],
                         [self.S, rest[(t,)], rest[(t, t)], rest[(t, t, t)]])
        sum_ = lambda *columns: sum(x * y * z for x, y, z in zip(*columns))      # noqa: E731
        ones, start = [ONE] * 4, [p[(t,)] + x * cP for x in c]                    # of [t]: start + X
        X3, X4 = solve_vector([[b[2], b[3]], [b[2] * u[2], b[3] * u[3]]],
                              [rest[((t,),)] - sum_(b, ones, start), rest[((t,), t)] - sum_(b, u, start)])
        X = [ZERO, ZERO, X3, X4]
        Q = rest[((t, t),)] - sum_(b, ones, [p[(t, t)] + cP * cP * x + 2 * cP * y for x, y in zip(c, X)])
        a43 = (Q - c2 * (b[2] * X3 + b[3] * X4)) / (b[3] * c[2] * (c[2] - c2))
        a32, a42 = X3 / c2, (X4 - a43 * c[2]) / c2
        A = [[], [c2], [c[2] - a32, a32], [c[3] - a42 - a43, a42, a43]]
        deep = [p[((t,),)] + sum(a * (start[k] + X[k]) for k, a in enumerate(row)) for row in A]
        return A, b, sum_(b, ones, deep) - rest[(((t,),),)]

    def solved(self):
        """Newton's method for c_2 from the values that it has for s = 5 .. 152, between -S/4 and -S/6."""
        c2, step = -self.S / 5, Decimal(10) ** (-getcontext().prec // 3)
        for _ in range(60):
            value = self.coefficients(c2)[2]
            change = value * step / (self.coefficients(c2 + step)[2] - value)
            c2 -= change
            if abs(change) < Decimal(10) ** (3 - getcontext().prec):
                return self.coefficients(c2)[:2]
        raise Refused("the order conditions of the last four stages were not solved")


def finish4(d):
    bare = Degree(d.s, d.beta, d.mu, d.nu, d.mut, d.gat)
    listed, _ = trees(4)
    d.A, d.b = Four(dict(zip(listed, b_series(bare, 4, ONE)[0][-1][1:]))).solved()
    embed4(d)


def embed4(d):
    """bhat_1 .. bhat_4 and bhat_5 of f(t + h, y+): order 3, and Rhat(-beta) = 0."""
    listed, places = trees(3)
    g, Y, end, _ = b_series(d, 3, ONE)
    rows, rhs = [], []
    for k, tree in enumerate(listed):
        row = []
        for stage in Y + [end]:
            product = ONE
            for place in places[k]:
                product *= stage[place + 1]
            row.append(product)
        rows.append(row)
        rhs.append(ONE / (1, 2, 6, 3)[k] - g[-1][k + 1] if len(tree) != 2 else ONE / 3 - g[-1][k + 1])
    rows.append(at_minus_beta(d))
    rhs.append(ONE)
    hat = solve_vector(rows, rhs)
    d.e, d.e1 = [x - y for x, y in zip(hat, d.b)], hat[4]


def at_minus_beta(d):
    """The row of sum_i bhat_i kappa_i = 1, where P(z) (1 + z sum_i bhat_i kappa_i/(-z)) = Rhat(z) at z = -beta."""
    z, F = -d.beta, []
    for row in d.A:
        F.append(1 + z * sum(a * x for a, x in zip(row, F)))
    return [d.beta * x for x in F] + [d.beta * (1 + z * sum(b * x for b, x in zip(d.b, F)))]
