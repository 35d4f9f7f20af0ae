"""The stability function R(z) = P(z)/Q(z) on the imaginary axis and at infinity."""
from fractions import Fraction

from .linalg import NEGLIGIBLE, apply, characteristic, dot
from .real import ONE, ZERO, snap


def rational(beta, b, tol):
    """Coefficients of P and Q, ascending, for y+ = R(h lambda) y."""
    n = len(b)
    moments, x = [ONE], [ONE] * n
    for _ in range(n):
        moments.append(dot(b, x))
        x = apply(beta, x)
    Q = characteristic(beta)
    P = [dot(Q[:k + 1], moments[k::-1]) for k in range(n + 1)]
    return trim(P, tol), trim(Q, NEGLIGIBLE)


def trim(p, tol):
    """A polynomial without the leading coefficients that vanish."""
    p = list(p)
    bound = tol * max(abs(x) for x in p)
    while len(p) > 1 and abs(p[-1]) <= bound:
        p.pop()
    return p


def at_infinity(P, Q, tol):
    """R(infinity), None where it is unbounded."""
    if len(P) > len(Q):
        return None
    return snap(P[-1] / Q[-1], tol) if len(P) == len(Q) else ZERO


def error_constant(P, Q, p):
    """C in exp(z) - R(z) = C z^(p+1) + ..."""
    total, factorial = ZERO, ONE
    exponential = []
    for k in range(p + 2):
        exponential.append(ONE / factorial)
        factorial *= k + 1
    for j, q in enumerate(Q[:p + 2]):
        total += q * exponential[p + 1 - j]
    return total - (P[p + 1] if len(P) > p + 1 else ZERO)


def bounded_on_axis(P, Q, tol):
    """Whether |R(iy)| <= 1 for all real y: E(y) = |Q(iy)|^2 - |P(iy)|^2 is nowhere negative (Sturm, exact)."""
    E = [q - p for p, q in _pad(modulus(P), modulus(Q))]
    bound = tol * max(abs(x) for x in modulus(Q))
    E = [Fraction(x) if abs(x) > bound else Fraction(0) for x in E]      # a polynomial in x = y^2
    while E and E[0] == 0:
        E.pop(0)                                                        # x^k > 0
    while E and E[-1] == 0:
        E.pop()
    return not E or (E[-1] > 0 and E[0] > 0 and positive_roots(E) == 0)


def modulus(p):
    """|p(iy)|^2 as a polynomial in y^2."""
    n = len(p)
    out = [ZERO] * n
    for i in range(n):
        for j in range(n):
            if (i + j) % 2 == 0:
                out[(i + j) // 2] += p[i] * p[j] * (-1) ** ((i - j) // 2 % 2)
    return out


def _pad(p, q):
    n = max(len(p), len(q))
    return zip(p + [ZERO] * (n - len(p)), q + [ZERO] * (n - len(q)))


def positive_roots(p):
    """The number of distinct positive roots of a polynomial with p(0) != 0, by Sturm's theorem."""
    chain, following = [p], [k * x for k, x in enumerate(p)][1:]
    while following:
        chain.append(following)
        following = [-x for x in remainder(chain[-2], chain[-1])]
    return sign_changes(q[0] for q in chain) - sign_changes(q[-1] for q in chain)


def remainder(p, q):
    p = list(p)
    while len(p) >= len(q):
        factor = p[-1] / q[-1]
        for k in range(1, len(q) + 1):
            p[-k] -= factor * q[-k]
        p.pop()
    while p and p[-1] == 0:
        p.pop()
    return p


def sign_changes(values):
    signs = [v > 0 for v in values if v != 0]
    return sum(a != b for a, b in zip(signs, signs[1:]))
