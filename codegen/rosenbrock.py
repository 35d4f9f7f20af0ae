"""Rosenbrock methods derived from the original or the transformed coefficients (mathematics, eq. 6.1)."""
from dataclasses import dataclass, replace

from . import check, dense, stability
from .index1 import Index1
from .linalg import apply, inverse, multiply, transpose
from .method import Method
from .real import ONE, ZERO, Refused, snap
from .trees import Conditions
from .wtrees import WConditions


@dataclass(frozen=True)
class Forms:
    """The original and the transformed coefficients: those of the file, and the form derived from it."""
    diagonal: object                 # gamma
    inverse: list                    # of the matrix gamma
    alpha: list
    gamma: list
    b: list
    bhat: list
    a: list
    C: list
    m: list
    e: list                          # mhat - m


def derive(t):
    both = forms(t)
    s, tol, alpha, gamma, a = t.s, t.tol, both.alpha, both.gamma, both.a
    beta = [[x + y for x, y in zip(r, q)] for r, q in zip(alpha, gamma)]
    for key in ("alpha", "a"):
        check.row_sums(alpha, t.sums.get(key), key, "alpha", tol)
    for key in ("gamma", "c"):
        check.row_sums(gamma, t.sums.get(key), key, "gamma", tol)
    method = Method(t, both, tol, s=s, conditions=Conditions(alpha, beta), weights=both.b, gamma=both.diagonal)
    orders(method)
    method.c = [snap(sum(row, ZERO), tol) for row in alpha]
    method.gi = [snap(sum(row, ZERO), tol) for row in gamma]
    method.newf = [1] + [int(not (check.same_rows(a[i], a[i - 1], tol)
                                  and abs(method.c[i] - method.c[i - 1]) <= tol)) for i in range(1, s)]
    method.A, method.C, method.b, method.d, method.e = a, both.C, both.b, both.m, both.e
    continuous(method)
    dense.add(method, gamma, transpose(both.inverse))
    properties(method, beta)
    return method


def forms(t):
    stated = m_less_mhat(t)
    both = from_original(t, stated) if t.alpha else from_transformed(t, stated)
    return both if t.theta is None else with_theta(both, t.theta)


def with_theta(both, theta):
    """bhat = b + theta b Gamma, by which e = Gamma^-T (bhat - b) = theta b."""
    change = [theta * x for x in apply(transpose(both.gamma), both.b)]
    return replace(both, bhat=[x + y for x, y in zip(both.b, change)], e=[theta * x for x in both.b])


def m_less_mhat(t):
    """What the file states of the embedded solution: e, or by m and mhat, or twice."""
    if not t.mhat:
        return t.m_less_mhat
    derived = [x - y for x, y in zip(t.m, t.mhat)]
    for j, (x, y) in enumerate(zip(t.m_less_mhat or derived, derived), 1):
        check.equal(x, y, f"e: entry {j}", t.tol, "but m - mhat is")
    return derived


def from_original(t, stated):
    """a = alpha Gamma^-1, c = diag(1/gamma) - Gamma^-1, m = Gamma^-T b, e = Gamma^-T (bhat - b)."""
    gamma, inv = check.diagonal(t.gamma, "gamma", t.tol), inverse(t.gamma)
    back = transpose(inv)
    derived = (multiply(t.alpha, inv), off_diagonal(gamma, inv), apply(back, t.b),
               apply(back, [x - y for x, y in zip(t.bhat, t.b)]) if t.bhat else None)
    if t.a:
        agree((t.a, t.C, t.m, stated), derived, t.tol)
    return Forms(gamma, inv, t.alpha, t.gamma, t.b, t.bhat, *clean(derived, t.tol))


def from_transformed(t, stated):
    """Gamma^-1 = diag(1/gamma) - c, alpha = a Gamma, b = Gamma^T m, bhat = b + Gamma^T e."""
    if t.diagonal <= 0:
        raise Refused("gamma: should be positive")
    inv = [[(ONE / t.diagonal if i == j else ZERO) - x for j, x in enumerate(row)] for i, row in enumerate(t.C)]
    gamma = inverse(inv)
    forward = transpose(gamma)
    b, e = apply(forward, t.m), [-x for x in stated] if stated else None
    bhat = [x + y for x, y in zip(b, apply(forward, e))] if e else None
    return Forms(t.diagonal, inv, *clean((multiply(t.a, gamma), gamma, b, bhat), t.tol), t.a, t.C, t.m, e)


def off_diagonal(gamma, inv):
    return [[ZERO if i == j else -x for j, x in enumerate(row)] for i, row in enumerate(inv)]


def clean(items, tol):
    """0 and 1 where theory has them."""
    def one(x):
        return None if x is None else [one(y) for y in x] if isinstance(x, list) else snap(x, tol)
    return [one(x) for x in items]


def agree(given, derived, tol):
    """The transformed form in the file against the one derived from the original form."""
    for key, G, H in zip("acm", given, derived):
        for i, (g, h) in enumerate(zip(G, H), 1):
            pairs = zip(g, h) if isinstance(g, list) else [(g, h)]
            for j, (x, y) in enumerate(pairs, 1):
                check.equal(x, y, f"{key}: " + (f"row {i}, entry {j}" if isinstance(g, list) else f"entry {i}"), tol,
                            "but alpha, gamma, b give")
    if given[3]:                                                 # m - mhat against mhat - m
        for i, (x, y) in enumerate(zip(given[3], derived[3]), 1):
            check.equal(x, -y, f"e: entry {i}", tol, "but bhat gives")


def orders(method):
    t, b, bhat = method.table, method.coefficients.b, method.coefficients.bhat
    check.order_exactly(method.conditions, b, t.order, "b", t.tol)
    if bhat and not t.embedded:
        raise Refused("bhat: its order is not stated (key embedded)")
    if bhat:
        key = "theta" if t.theta is not None else "bhat" if "alpha" in t.sums else "mhat" if t.mhat else "e"
        check.sees_something(key, bhat, b, t.tol)
        if t.theta is not None:
            by_theta(method, b)
        check.order_exactly(method.conditions, bhat, t.embedded, "bhat", t.tol)
        method.embedded_weights = bhat
    elif t.embedded:
        raise Refused("embedded: an order is stated, but there is no row bhat or e")
    method.embedded = t.embedded


def by_theta(method, b):
    """bhat = b + theta b Gamma has order p - 1 if b Gamma Phi = 0 for the trees of order up to p - 1: conditions of
    W-methods."""
    t, both = method.table, method.coefficients
    failure = WConditions(both.alpha, both.gamma).first_failure(b, t.order, t.tol)
    if failure:
        check.refuse(failure, "theta: is for methods that keep their order with any matrix; b", "b_i")
    if t.embedded != t.order - 1:
        raise Refused(f"embedded: {t.embedded} is stated, but b + theta b Gamma has order {t.order - 1}")


def continuous(method):
    """Continuous weights of the file: rows of b_j(theta), or, as RODAS prints them, d_2, d_3, ... with
    D = theta m + theta (1 - theta) (d_2 + theta d_3 + theta^2 d_4 ...)."""
    t = method.table
    if t.continuous:
        method.B = transpose(t.continuous)
    elif t.rodas:
        check.row_sums(t.rodas, t.sums["rodas"], "rodas", "sum", t.tol)
        rows = [method.coefficients.m] + [[ZERO] * method.s for _ in t.rodas]
        for k, d in enumerate(t.rodas):
            rows[k] = [x + y for x, y in zip(rows[k], d)]
            rows[k + 1] = [x - y for x, y in zip(rows[k + 1], d)]
        forward = transpose(method.coefficients.gamma)
        method.B = [apply(forward, row) for row in rows]


def properties(method, beta):
    t, both = method.table, method.coefficients
    method.P, method.Q = stability.rational(beta, both.b, t.tol)
    method.r_infinity = stability.at_infinity(method.P, method.Q, t.tol)
    if stability.bounded_on_axis(method.P, method.Q, t.tol):
        method.properties.add("A-stable")
        if method.r_infinity == 0:
            method.properties.add("L-stable")
    accurate = check.same_rows(beta[-1], both.b, t.tol) and abs(method.c[-1] - 1) <= t.tol
    if accurate:
        method.properties.add("stiffly-accurate")
    method.dae_order = Index1(both.alpha, beta).order(both.b, t.order, t.tol)
    if abs(method.r_infinity) < 1 and (accurate or method.dae_order == t.order):
        method.properties.add("dae")
    any_matrix(method)


def any_matrix(method):
    """W-methods keep order and embedded order with any matrix in place of the Jacobian."""
    t, both = method.table, method.coefficients
    conditions = WConditions(both.alpha, both.gamma)
    method.w_order = conditions.order(both.b, t.tol, t.order)
    if both.bhat:
        method.embedded_w_order = conditions.order(both.bhat, t.tol, t.embedded)
    if (method.w_order, method.embedded_w_order) == (t.order, method.embedded):
        method.properties.add("w-method")
    elif "w-method" in t.claims:
        key, weights, p = ("b", both.b, t.order) if method.w_order < t.order else ("bhat", both.bhat, t.embedded)
        check.refuse(conditions.first_failure(weights, p, t.tol), f"is: 'w-method' is claimed, but {key}", f"{key}_i")
