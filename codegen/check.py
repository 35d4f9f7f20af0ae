"""What a table must satisfy: sums, exact orders, claims. Every refusal names row, tree and residual."""
from .linalg import dot
from .real import ONE, ZERO, Refused, short, tiny


def equal(x, y, place, tol, why="should be"):
    """Two numbers that the source gives twice."""
    gap = abs(x - y)
    if gap > tol and gap > tol * abs(y):
        raise Refused(f"{place} = {short(x)}, {why} {short(y)}, residual {tiny(abs(x - y))}")


def row_sums(A, sums, key, symbol, tol):
    """The printed column of row sums is the checksum of the rows."""
    if sums is None:
        return
    for i, (row, printed) in enumerate(zip(A, sums), 1):
        found, scale = sum(row, ZERO), max(ONE, sum(map(abs, row)))
        if abs(found - printed) > tol * scale:
            raise Refused(f"{key}: row {i}: sum of the entries = {short(found)}, but {symbol}_{i} = {short(printed)}, "
                          f"residual {tiny(abs(found - printed))}")


def diagonal(A, key, tol, first=0):
    """The common diagonal entry gamma of rows first .. s."""
    gamma = A[first][first]
    if gamma <= 0:
        raise Refused(f"{key}: row {first + 1}: the diagonal entry is {short(gamma)}, should be positive")
    for i in range(first, len(A)):
        equal(A[i][i], gamma, f"{key}: row {i + 1}: diagonal entry", tol, "should be that of the other rows,")
    return gamma


def refuse(failure, key, symbol):
    raise Refused(f"{key}: tree {failure.text} of order {failure.order}: sum {symbol} Phi_i = {short(failure.found)}, "
                  f"should be {failure.wanted_text}, residual {tiny(failure.residual)}")


def order_exactly(conditions, b, p, key, tol):
    """Order p holds and p + 1 fails."""
    for n in range(1, p + 1):
        for failure in conditions.failures(b, n, tol):
            refuse(failure, key, f"{key}_i")
    if not conditions.fails(b, p + 1, tol):
        raise Refused(f"{key}: order {p} is stated, but all conditions of order {p + 1} hold as well")


def continuous_order_exactly(conditions, B, b, q, tol):
    """The same for continuous weights, which must end in b."""
    for j, weight in enumerate(b):
        equal(sum((row[j] for row in B), ZERO), weight, f"continuous: row {j + 1}: value at theta = 1", tol,
              "should be the weight of the update,")
    for n in range(1, q + 1):
        for failure in conditions.continuous_failures(B, n, tol):
            refuse(failure, "continuous", "b_i(theta)")
    if next(conditions.continuous_failures(B, q + 1, tol), None) is None:
        raise Refused(f"continuous: order {q} is stated, but all conditions of order {q + 1} hold as well")


def sees_something(key, bhat, b, tol):
    """Weights that are those of the method give an estimate that is 0 whatever happens."""
    if bhat is not None and max(abs(x - y) for x, y in zip(bhat, b)) <= tol:
        raise Refused(f"{key}: every entry is that of the method's own weights: "
                      "an estimate with them would always be 0")


def claims(table, found):
    for claim in table.claims:
        if claim not in found:
            raise Refused(f"is: '{claim}' is claimed, but not found")


def same_rows(x, y, tol):
    return all(abs(a - b) <= tol * max(ONE, abs(b)) for a, b in zip(x, y))


def quadrature(b, c, k):
    """sum b_i c_i^(k-1) - 1/k"""
    return dot(b, [x ** (k - 1) if k > 1 else ONE for x in c]) - ONE / k
