"""Linear algebra of small dense matrices of 100-digit numbers: lists of rows."""
from decimal import Decimal
from itertools import repeat
from operator import mul, sub

from .real import ONE, ZERO, Refused

NEGLIGIBLE = Decimal("1e-80")


def zeros(m, n):
    return [[ZERO] * n for _ in range(m)]


def identity(n):
    return [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]


def dot(x, y):
    return sum(map(mul, x, y), ZERO)


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
                rows[i][k + 1:] = less(rows[i][k + 1:], factor, rows[k][k + 1:])
    for k in range(n - 1, -1, -1):
        pivot = rows[k][k]
        rows[k][n:] = [x / pivot for x in rows[k][n:]]
        for i in range(k):
            factor = rows[i][k]
            if factor:
                rows[i][n:] = less(rows[i][n:], factor, rows[k][n:])
    return [row[n:] for row in rows[:n]]


def less(x, factor, y):
    """x - factor y"""
    return list(map(sub, x, map(mul, repeat(factor), y)))


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
    columns, found, right = list(range(len(rows[0]))), [], []    # columns: those that are left in work
    while work and columns:
        n = len(columns)
        size, i = max((max(map(abs, row[:n])), i) for i, row in enumerate(work))
        if size <= tol:
            break
        pivot = work.pop(i)
        k = max(k for k in range(n) if abs(pivot[k]) == size)
        pivot = [x / pivot[k] for x in pivot]
        entries = dict(zip(columns, pivot))
        found.append([entries.get(j, ZERO) for j in range(len(rows[0]))])
        right.append(pivot[n:])
        del columns[k], pivot[k]
        factors = [row.pop(k) for row in work]
        work = [less(row, x, pivot) if x else row for row, x in zip(work, factors)]
    if any(abs(x) > tol for row in work for x in row[len(columns):]):
        return None
    return found, right
