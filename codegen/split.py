"""Eigenvalues of W = A^-1 and the real block-diagonal split Ti W T, to 1e-40 and better."""
from decimal import Decimal

from .linalg import characteristic, inverse, largest, multiply, solve, zeros
from .real import EXACT, ONE, ZERO, Refused


def eigenvalues(W):
    """The real ones, ascending, and the pairs (re, im > 0), by growing imaginary part."""
    monic = characteristic(W)                 # det(I - zW): its reversal has the eigenvalues as roots
    real, pairs = [], []
    for guess in starts([float(c) for c in monic]):
        re, im = newton(monic, Decimal(guess.real), Decimal(guess.imag))
        if abs(im) <= Decimal("1e-60") * (1 + abs(re)):
            real.append(newton(monic, re, ZERO)[0])
        elif im > 0:
            pairs.append((re, im))
    return sorted(real), sorted(pairs, key=lambda pair: pair[1])


def starts(p):
    """All roots of a monic polynomial (leading coefficient first) in double precision (Durand and Kerner)."""
    n = len(p) - 1
    radius = 1 + max((abs(c) for c in p[1:]), default=0)
    z = [radius * (0.4 + 0.9j) ** k for k in range(n)]
    for _ in range(1000):
        change = 0.0
        for i in range(n):
            value, divisor = complex(0), complex(1)
            for c in p:
                value = value * z[i] + c
            for j in range(n):
                if j != i:
                    divisor *= z[i] - z[j]
            step = value / divisor
            z[i] -= step
            change = max(change, abs(step) / (1 + abs(z[i])))
        if change < 1e-14:
            break
    return z


def newton(p, x, y):
    """Newton's iteration for a root x + iy of p (leading coefficient first)."""
    for _ in range(100):
        f, df = (ZERO, ZERO), (ZERO, ZERO)
        for c in p:
            df = (df[0] * x - df[1] * y + f[0], df[0] * y + df[1] * x + f[1])
            f = (f[0] * x - f[1] * y + c, f[0] * y + f[1] * x)
        size = df[0] ** 2 + df[1] ** 2
        if not size:
            raise Refused("A has a multiple eigenvalue: its split is not supported")
        step = ((f[0] * df[0] + f[1] * df[1]) / size, (f[1] * df[0] - f[0] * df[1]) / size)
        x, y = x - step[0], y - step[1]
        if abs(step[0]) + abs(step[1]) <= Decimal("1e-90") * (1 + abs(x) + abs(y)):
            break
    return x, y


def split(W):
    """real, pairs, T, Ti with Ti W T = diag(real, [re -im; im re], ...)."""
    real, pairs = eigenvalues(W)
    n = len(W)
    if len(real) + 2 * len(pairs) != n:
        raise Refused("the eigenvalues of A^-1 could not be separated")
    columns = [eigenvector(W, re, ZERO)[0] for re in real]
    for re, im in pairs:
        u, v = eigenvector(W, re, im)
        columns += [u, [-x for x in v]]
    T = [[column[i] for column in columns] for i in range(n)]
    Ti = inverse(T)
    residual = largest([[x - y for x, y in zip(r, s)]
                        for r, s in zip(multiply(multiply(Ti, W), T), blocks(real, pairs))])
    if residual > EXACT:
        raise Refused(f"the split of A^-1 has a residual of {residual:.1e}")
    return real, pairs, T, Ti


def blocks(real, pairs):
    n = len(real) + 2 * len(pairs)
    B = zeros(n, n)
    for k, re in enumerate(real):
        B[k][k] = re
    for k, (re, im) in enumerate(pairs):
        i = len(real) + 2 * k
        B[i][i], B[i][i + 1], B[i + 1][i], B[i + 1][i + 1] = re, -im, im, re
    return B


def eigenvector(W, re, im):
    """u + iv for the eigenvalue re + i im, with last entry 1."""
    n = len(W)
    S = [[W[i][j] - (re if i == j else ZERO) for j in range(n)] for i in range(n)]
    I = [[im if i == j else ZERO for j in range(n)] for i in range(n)]
    # (S - i im)(u + iv) = 0:  S u + im v = 0,  S v - im u = 0;  u_n = 1, v_n = 0
    if not im:
        u = solve([row[:-1] for row in S], [[-row[-1]] for row in S]) if n > 1 else []
        return [x for x, in u] + [ONE], [ZERO] * n
    rows = [a[:-1] + b[:-1] for a, b in zip(S, I)] + [[-x for x in b[:-1]] + a[:-1] for a, b in zip(S, I)]
    rhs = [[-a[-1]] for a in S] + [[b[-1]] for b in I]
    w = [x for x, in solve(rows, rhs)]
    return w[:n - 1] + [ONE], w[n - 1:] + [ZERO]
