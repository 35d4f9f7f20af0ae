"""Linear algebra of small dense matrices of 100-digit numbers: lists of rows."""
from decimal import Decimal

from .real import ONE, ZERO, Refused

NEGLIGIBLE = Decimal("1e-80")


def zeros(m, n):
    return [[ZERO] * n for _ in range(m)]


def identity(n):
    return [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]


def dot(x, y):
    return sum((a * b for a, b in zip(x, y) if a and b), ZERO)


def apply(A, x):
    return [dot(row, x) for row in A]


def transpose(A):
    return [list(column) for column in zip(*A)]


def multiply(A, B):
    columns = transpose(B)
    return [[dot(row, column) for column in columns] for row in A]


def largest(A):
    return max((abs(x) for row in A for x in row), default=ZERO)


def solve(A, B):
    """X with A X = B for right-hand sides in the columns of B; more rows than columns if they are consistent."""
    m, n, scale = len(A), len(A[0]), largest(A)
    rows = [list(a) + list(b) for a, b in zip(A, B)]
    for k in range(n):
        p = max(range(k, m), key=lambda i: abs(rows[i][k]))
        if abs(rows[p][k]) <= NEGLIGIBLE * scale:
            raise Refused("a matrix of the table that must be regular is singular")
        rows[k], rows[p] = rows[p], rows[k]
        pivot = rows[k][k]
        for i in range(k + 1, m):
            factor = rows[i][k] / pivot
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    for k in range(n - 1, -1, -1):
        pivot = rows[k][k]
        rows[k] = [x / pivot for x in rows[k]]
        for i in range(k):
            factor = rows[i][k]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows[:n]]


def solve_vector(A, b):
    return [x for x, in solve(A, [[x] for x in b])]


def inverse(A):
    return solve(A, identity(len(A)))


def characteristic(A):
    """Coefficients c_0 .. c_n, c_0 = 1, of det(I - z A) = sum c_k z^k (Faddeev and LeVerrier)."""
    n = len(A)
    M, c = identity(n), [ONE]
    for k in range(1, n + 1):
        M = multiply(A, M)
        c.append(-sum((M[i][i] for i in range(n)), ZERO) / k)
        for i in range(n):
            M[i][i] += c[k]
    return c


def independent_rows(rows, rhs, tol):
    """Rows spanning those given, with their right-hand sides, or None where the system has no solution."""
    work = [list(r) + list(s) for r, s in zip(rows, rhs)]
    n, done = len(rows[0]), []
    while work:
        size, i, k = max((abs(row[k]), i, k) for i, row in enumerate(work) for k in range(n))
        if size <= tol:
            break
        pivot = work.pop(i)
        pivot = [x / pivot[k] for x in pivot]
        done.append(pivot)
        work = [[x - row[k] * y for x, y in zip(row, pivot)] if row[k] else row for row in work]
    if any(abs(x) > tol for row in work for x in row[n:]):
        return None
    return [row[:n] for row in done], [row[n:] for row in done]
