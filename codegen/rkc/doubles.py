"""The coefficients as C gets them.

mu_j and nu_j are rounded to multiples of 2^-52, and eta_j = 1 - mu_j - nu_j is then a double, too: the three add up to
1 exactly. Rounded one by one they move R(-beta) of ROCK4 by 0.05 for degree 152, where the last four stages multiply
what reaches them by w(-beta) = 4e13; so by 1e-12."""
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

UNIT = Fraction(1, 2 ** 52)


def doubles(d):
    """The degree with floats; its beta is not above the exact one."""
    beta = float(d.beta)
    if Fraction(beta) > Fraction(d.beta):
        beta *= 1 - 2.0 ** -52
    mu, nu = [[float(round(Fraction(x) / UNIT) * UNIT) for x in row] for row in (d.mu, d.nu)]
    if not any(eta(d)):
        mu = [1 - x for x in nu]
    return replace(d, beta=beta, mu=mu, nu=nu, mut=floats(d.mut), gat=floats(d.gat), A=[floats(row) for row in d.A],
                   b=floats(d.b), e=floats(d.e), ey=float(d.ey), e0=float(d.e0), e1=float(d.e1))


def eta(d):
    """The weights of y; 0 for ROCK methods, up to the last digits of nu."""
    return [x if abs(x) > Decimal("1e-20") else 0 for x in (1 - m - n for m, n in zip(d.mu, d.nu))]


def floats(row):
    return [float(x) for x in row]


def exactly(d):
    """Doubles as numbers of the working precision, which holds their digits."""
    rows = {key: [Decimal(x) for x in getattr(d, key)] for key in ("mu", "nu", "mut", "gat", "b", "e")}
    return replace(d, beta=Decimal(d.beta), A=[[Decimal(x) for x in row] for row in d.A], ey=Decimal(d.ey),
                   e0=Decimal(d.e0), e1=Decimal(d.e1), **rows)
