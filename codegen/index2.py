"""Orders for Hessenberg problems of index 2, y' = f(y,z), 0 = g(y), of Runge-Kutta methods with a regular A.

Local errors by order conditions for trees (Hairer, Lubich, Roche, Lecture Notes in Mathematics 1409; Hairer, Wanner,
Solving ODEs II, VII.5).  A method's tree of n vertices is a vector over its stages; scaled so that it is c^n where
stages are exact, these vectors make others by

    increment    n A phi      of h f, phi a slope of order n, exactly c^(n-1)
    slope        the product of increments and values of z of orders n - 1 together
    value of z   omega q/n,   q a product of increments of orders n together, exactly c^n; omega = A^-1

and conditions are linear in them: b phi = 1/n, b omega z = 1.  Products are linear in each factor.  So a basis of all
vectors of an order, at most s + 1 of them, does for all its trees: with a first entry that holds what is exact, 1.

q of one increment, omega n A phi/n, is the slope phi: slopes are values of z, of the order less by one, but for those
that are a value of z alone, and these have df/dz in front: they are seen by y, but not in the manifold's directions."""
from .linalg import apply, dot, independent_rows, inverse, transpose
from .real import ONE


def span(vectors, tol):
    """a basis, each vector of it scaled by its largest entry"""
    return independent_rows(vectors, [[]] * len(vectors), tol)[0]


def times(M, factor, vector):
    return vector[:1] + [factor * x for x in apply(M, vector[1:])]


def products(vectors, others):
    return [[x * y for x, y in zip(v, w)] for v in vectors for w in others]


def holds(weights, wanted, vectors, tol):
    for first, *v in vectors:
        if abs(dot(weights, v) - wanted * first) > tol * max(ONE, sum(abs(x * y) for x, y in zip(weights, v))):
            return False
    return True


def local_orders(A, b, most, tol):
    """How far, up to most, conditions hold: of y along the manifold, of all of y, of z (to terms h^(n-1))."""
    omega = inverse(A)
    of_z = apply(transpose(omega), b)
    exact = [[ONE] * (len(A) + 1)]
    increments, monomials, values = [exact], [exact], []         # by order; monomials: products of increments
    orders = [0, 0, 1]                                           # the first term of z is its value at the start
    for n in range(1, most + 1):
        slopes = increments[n - 1] + [v for k in range(1, n - 1) for v in products(values[k], values[n - 1 - k])]
        q = [v for k in range(1, n) for v in products(increments[k], monomials[n - k])]
        values.append(span(slopes + [times(omega, ONE / n, v) for v in q], tol))
        increments.append(span([times(A, n, v) for v in values[-1]], tol))
        monomials.append(span(increments[-1] + q, tol))
        tests = ((b, ONE / n, slopes), (b, ONE / n, values[-1]), (of_z, ONE, values[-1]))
        orders = [n if held == n - 1 and holds(*test, tol) else held for held, test in zip(orders, tests)]
    return orders


def orders(A, b, most, tol):
    """Of convergence of y and z, for |R(infinity)| < 1: errors across the manifold, of order h^(n+1) of a step, are
    damped and not added, and z has 1/h of them (Solving ODEs II, VII.4)."""
    along, y, z = local_orders(A, b, most, tol)
    y_order = min(along, y + 1)
    return y_order, min(z, y_order, y)
