"""Rosenbrock methods derived from the original or the transformed coefficients."""
from . import check, dense, stability
from .index1 import Index1, w_order
from .linalg import apply, inverse, multiply, transpose
from .method import Method
from .real import ONE, ZERO, Refused, snap
from .trees import Conditions


def derive(t):
    method = Method(t)
    forms(method)
    s = method.s
    beta = [[x + y for x, y in zip(r, q)] for r, q in zip(t.alpha, t.gamma)]
    for key in ("alpha", "a"):
        check.row_sums(t.alpha, t.sums.get(key), key, "alpha", t.tol)
    for key in ("gamma", "c"):
        check.row_sums(t.gamma, t.sums.get(key), key, "gamma", t.tol)
    method.conditions, method.weights = Conditions(t.alpha, beta), t.b
    orders(method)
    method.c = [snap(sum(row, ZERO), t.tol) for row in t.alpha]
    method.gi = [snap(sum(row, ZERO), t.tol) for row in t.gamma]
    method.newf = [1] + [int(not (check.same_rows(t.a[i], t.a[i - 1], t.tol)
                                  and abs(method.c[i] - method.c[i - 1]) <= t.tol)) for i in range(1, s)]
    method.A, method.C, method.b, method.d = t.a, t.C, t.b, t.m
    continuous(method)
    dense.add(method, t.gamma, transpose(method.inverse_gamma))
    properties(method, beta)
    return method


def forms(method):
    """Fill in the form that is not given: a = alpha Gamma^-1, c = diag(1/gamma) - Gamma^-1, m = Gamma^-T b."""
    t = method.table
    embedded(t)
    if t.alpha:
        method.gamma = check.diagonal(t.gamma, "gamma", t.tol)
        method.s, inv = len(t.alpha), inverse(t.gamma)
        back = transpose(inv)
        derived = (multiply(t.alpha, inv), off_diagonal(method.gamma, inv), apply(back, t.b),
                   apply(back, [x - y for x, y in zip(t.bhat, t.b)]) if t.bhat else None)
        given = (t.a, t.C, t.m, t.e)
        if t.a:
            agree(given, derived, t.tol)
        t.a, t.C, t.m, t.e = clean(derived, t.tol)
    else:
        method.gamma, method.s = t.diagonal, len(t.a)
        if method.gamma <= 0:
            raise Refused("gamma: should be positive")
        inv = [[(ONE / method.gamma if i == j else ZERO) - x for j, x in enumerate(row)] for i, row in enumerate(t.C)]
        t.gamma = inverse(inv)
        forward = transpose(t.gamma)
        t.alpha, t.b = multiply(t.a, t.gamma), apply(forward, t.m)
        if t.e:
            t.e = [-x for x in t.e]                              # the file has m - mhat
            t.bhat = [x + y for x, y in zip(t.b, apply(forward, t.e))]
        t.alpha, t.gamma, t.b, t.bhat = clean((t.alpha, t.gamma, t.b, t.bhat), t.tol)
    method.inverse_gamma, method.e = inv, t.e


def embedded(t):
    """e = m - mhat, where the file has both or one of them."""
    if t.mhat:
        derived = [x - y for x, y in zip(t.m, t.mhat)]
        for j, (x, y) in enumerate(zip(t.e or derived, derived), 1):
            check.equal(x, y, f"e: entry {j}", t.tol, "but m - mhat is")
        t.e = derived


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
    if given[3]:
        for i, (x, y) in enumerate(zip(given[3], derived[3]), 1):
            check.equal(x, -y, f"e: entry {i}", tol, "but bhat gives")


def orders(method):
    t = method.table
    check.order_exactly(method.conditions, t.b, t.order, "b", t.tol)
    if t.bhat and not t.embedded:
        raise Refused("bhat: its order is not stated (key embedded)")
    if t.bhat:
        check.sees_something("bhat" if "alpha" in t.sums else "mhat" if t.mhat else "e", t.bhat, t.b, t.tol)
        check.order_exactly(method.conditions, t.bhat, t.embedded, "bhat", t.tol)
        method.embedded_weights = t.bhat
    elif t.embedded:
        raise Refused("embedded: an order is stated, but there is no row bhat or e")
    method.embedded = t.embedded


def continuous(method):
    """Continuous weights of the file: rows of b_j(theta), or, as RODAS prints them, d_2, d_3, ... with
    D = theta m + theta (1 - theta) (d_2 + theta d_3 + theta^2 d_4 ...)."""
    t = method.table
    if t.continuous:
        method.B = transpose(t.continuous)
    elif t.rodas:
        check.row_sums(t.rodas, t.sums["rodas"], "rodas", "sum", t.tol)
        rows = [t.m] + [[ZERO] * method.s for _ in range(len(t.rodas) + 1)]
        for k, d in enumerate(t.rodas):
            rows[k] = [x + y for x, y in zip(rows[k], d)]
            rows[k + 1] = [x - y for x, y in zip(rows[k + 1], d)]
        forward = transpose(t.gamma)
        method.B = [apply(forward, row) for row in rows]


def properties(method, beta):
    t = method.table
    method.P, method.Q = stability.rational(beta, t.b, t.tol)
    method.r_infinity = stability.at_infinity(method.P, method.Q, t.tol)
    if stability.bounded_on_axis(method.P, method.Q, t.tol):
        method.properties.add("A-stable")
        if method.r_infinity == 0:
            method.properties.add("L-stable")
    accurate = check.same_rows(beta[-1], t.b, t.tol) and abs(method.c[-1] - 1) <= t.tol
    if accurate:
        method.properties.add("stiffly-accurate")
    method.dae_order = Index1(t.alpha, beta).order(t.b, t.order, t.tol)
    if abs(method.r_infinity) < 1 and (accurate or method.dae_order == t.order):
        method.properties.add("dae")
    method.w_order = w_order(t.alpha, t.gamma, t.b, t.order, t.tol)
    if method.w_order == t.order:
        method.properties.add("w-method")
