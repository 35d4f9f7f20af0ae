"""Explicit, diagonally and fully implicit Runge-Kutta methods derived from their tableaux or nodes."""
from typing import NamedTuple

from . import check, collocation, dense, estimate, stability
from .linalg import apply, dot, identity, inverse, transpose
from .method import Method
from .real import EXACT, ONE, ZERO, Refused, snap
from .split import eigenvalues, split
from .trees import Conditions


QUICK = 8      # the trees of this order take no time; those of order 13, seconds


class Tableau(NamedTuple):
    """The coefficients that are used: the file's, those that the file rounds, or those of its nodes."""
    A: list
    b: list
    c: list


def derive(t):
    if t.family == "firk" and t.bhat:
        raise Refused("bhat: the error estimate of firk methods is derived, not given")
    used, tol = coefficients(t)
    check.row_sums(used.A, used.c, "tableau", "c", tol)
    method = Method(t, used, tol, s=t.s, conditions=Conditions(used.A), weights=used.b, embedded_weights=t.bhat)
    late = t.nodes and t.order > QUICK
    if late:
        quadrature_exactly(method)
    else:
        orders(method)
    method.P, method.Q = stability.rational(used.A, used.b, tol)
    method.r_infinity = stability.at_infinity(method.P, method.Q, tol)
    {"sdirk": diagonal, "firk": full, "collocation": boundary}.get(t.family, explicit)(method)
    if late:
        check.claims(t, method.properties)
        derived = method.embedded
        orders(method)
        method.embedded = derived or method.embedded
    return method


def quadrature_exactly(method):
    """A collocation method has the order of its quadrature: what the trees say of it takes long, and comes last."""
    t, (_, b, c), tol = method.table, method.coefficients, method.tol
    found = 0
    while abs(check.quadrature(b, c, found + 1)) <= tol:
        found += 1
    if found != t.order:
        raise Refused(f"order: {t.order} is stated, but the quadrature of these nodes has order {found}")


def coefficients(t):
    """and what they satisfy"""
    if t.nodes:
        return by_nodes(t), EXACT
    return (unrounded(t), EXACT) if t.collocation else (as_given(t), t.tol)


def by_nodes(t):
    return Tableau(*collocation.by_kind(t.nodes, t.s))


def as_given(t):
    return Tableau(t.A, t.b, [sum(row, ZERO) for row in t.A] if t.c is None else t.c)


def orders(method):
    t, b, tol = method.table, method.coefficients.b, method.tol
    check.order_exactly(method.conditions, b, t.order, "b", tol)
    for key, bhat, order in (("bhat", t.bhat, t.embedded), ("bhat2", t.bhat2, t.embedded2)):
        if bhat is not None:
            if not order:
                raise Refused(f"{key}: its order is not stated ('embedded' for bhat, 'embedded2' for bhat2)")
            check.sees_something(key, bhat, b, tol)
            check.order_exactly(method.conditions, bhat, order, key, tol)
    if t.bhat2 is None and t.embedded2:
        raise Refused("embedded2: an order is stated, but there is no row bhat2")
    if t.bhat is None and t.embedded and t.family != "firk":
        raise Refused("embedded: an order is stated, but there is no row bhat")
    if t.bhat2 is not None and t.bhat is None:
        raise Refused("bhat2: needs a row bhat")
    method.embedded, method.embedded2 = t.embedded, t.embedded2


def unrounded(t):
    """The tableau is printed rounded: check it; to be used is the collocation method with the nodes c itself."""
    if t.family != "firk" or t.c is None:
        raise Refused("collocation: is for firk tableaux with their column c")
    A, b = collocation.tableau(t.c)
    for i, (row, printed) in enumerate(zip(A + [b], t.A + [t.b]), 1):
        for j, (x, y) in enumerate(zip(row, printed), 1):
            check.equal(y, x, f"tableau: row {i if i <= len(t.A) else 'b'}, entry {j}", t.tol,
                        "should be that of the collocation method,")
    return Tableau(A, b, t.c)


def explicit(method):
    t, s, used = method.table, method.s, method.coefficients
    method.A, method.b, method.c, method.d = used.A, used.b, used.c, used.b
    if stiffly_accurate(method):
        method.properties.add("fsal")
    method.e = difference(t.bhat, used.b, method.tol)
    method.e2 = difference(t.bhat2, used.b, method.tol)
    if t.continuous:
        method.B = transpose(t.continuous)
    dense.add(method, identity(s), identity(s))


def difference(bhat, b, tol):
    return None if bhat is None else [snap(x - y, tol) for x, y in zip(bhat, b)]


def stiffly_accurate(method):
    """The last stage is the new solution."""
    used, tol = method.coefficients, method.tol
    return check.same_rows(used.A[-1], used.b, tol) and abs(used.c[-1] - 1) <= tol


def diagonal(method):
    t, (A, b, c) = method.table, method.coefficients
    first = 0 if A[0][0] else 1
    if first == method.s:
        raise Refused("tableau: the only stage is explicit")
    method.gamma = check.diagonal(A, "tableau", method.tol, first)
    method.s -= first
    method.A, method.b, method.c = [row[first:] for row in A[first:]], b[first:], c[first:]
    method.block, method.real = 1, [ONE / method.gamma]
    method.T = method.Ti = [[ONE]]
    column = explicit_first(method) if first else None
    implicit(method, column)
    if t.bhat is not None:
        change = [x - y for x, y in zip(t.bhat, b)]
        method.e = estimate.from_weights(method, change[first:])
        method.est0 = snap(change[0] - dot(method.e, column), method.tol) if first else ZERO


def explicit_first(method):
    """ESDIRK: the explicit stage is left out of the unknowns; returns its column."""
    if not stiffly_accurate(method):
        raise Refused("b: a method with an explicit first stage must be stiffly accurate: b is not the last row")
    method.properties |= {"explicit-first", "fsal"}
    method.b0 = method.coefficients.b[0]
    return [row[0] for row in method.coefficients.A[1:]]


def full(method):
    t = method.table
    method.A, method.b, method.c = method.coefficients
    method.block = method.s
    if not t.continuous:
        method.B = collocation.lagrange(method.c)
    method.real, method.pairs, method.T, method.Ti = split(inverse(method.A))
    implicit(method)
    estimate.add(method)
    if t.keys.get("embedded", method.embedded) != method.embedded:
        raise Refused(f"embedded: {t.embedded} is stated, but the derived estimate has order {method.embedded}")


def stable(method, poles):
    """poles: their real parts"""
    if all(re > 0 for re in poles) and stability.bounded_on_axis(method.P, method.Q, method.tol):
        method.properties.add("A-stable")
        if method.r_infinity == 0:
            method.properties.add("L-stable")


def implicit(method, column=None):
    """What sdirk and firk share: W, d, dense output, stability."""
    t, s = method.table, method.s
    method.W = [[snap(x, EXACT) for x in row] for row in inverse(method.A)]
    Wt = transpose(method.W)
    if stiffly_accurate(method):
        method.properties.add("stiffly-accurate")
        method.d = [ZERO] * (s - 1) + [ONE]
    else:
        method.d = [snap(x, method.tol) for x in apply(Wt, method.b)]
    if column:
        method.g = apply(method.W, column)
    if t.continuous:
        method.B = transpose(t.continuous)
    dense.add(method, method.coefficients.A[-s:], Wt)
    stable(method, method.real + [re for re, im in method.pairs])
    if method.r_infinity is not None and abs(method.r_infinity) < 1:
        method.properties.add("dae")


def boundary(method):
    """For boundary value problems: in stage slopes K, as A may be singular, its first row 0
    (mathematics, section 7.1)."""
    method.A, method.b, method.c = method.coefficients
    method.d = method.b
    if stiffly_accurate(method):
        method.properties.add("stiffly-accurate")
    first = 0 if any(method.A[0]) else 1
    if first and stiffly_accurate(method):
        method.properties.add("fsal")
    method.B = collocation.lagrange(method.c)
    dense.add(method, identity(method.s), identity(method.s))
    real, pairs = eigenvalues(inverse([row[first:] for row in method.A[first:]]))
    stable(method, real + [re for re, im in pairs])
