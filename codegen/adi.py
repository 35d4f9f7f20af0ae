"""Stability of W-methods whose matrix W is not f_y: products of factors as in ADI splittings, and W of another size.

For y' = (z_1 + .. + z_d) y with h = 1 and 1 - gamma w = P = (1 - gamma z_1) .. (1 - gamma z_d) a step is y+ = R y,

    u_i = gamma (x Y_i + v sum_j c_ij u_j),   Y_i = 1 + sum_j a_ij u_j,   R = 1 + sum_i m_i u_i

with x = (z_1 + .. + z_d)/P and v = 1/P (mathematics, eq. 6.26): a polynomial in x and v, in doubles here.  On products
of wedges |arg(-z_k)| <= angle it is largest where all z_k are on their boundaries, by the maximum principle."""
import cmath
from itertools import combinations_with_replacement, islice, product
from math import degrees, exp, inf, log, pi

STABLE = 1 + 1e-9
NEAR, FAR = log(1e-2), log(1e5)      # of |z_k| on a grid
POINTS = {1: 200, 2: 40, 3: 16}      # in each direction, by the number of variables
BEST = 6                             # local maxima on the grid that are improved
STEP = 0.01                          # of the factors of J


class Response:
    """R of a method, as coefficients r[i][k] of x^i v^k."""

    def __init__(self, m):
        self.gamma, s = float(m.gamma), m.s
        A, C, d = ([[float(x) for x in row] for row in (m.A, m.C, [m.d])[k]] for k in range(3))
        u = []
        for i in range(s):
            Y, V = {(0, 0): 1.0}, {}
            for j in range(i):
                add(Y, u[j], A[i][j])
                add(V, u[j], C[i][j])
            u.append({})
            add(u[i], {(p + 1, q): x for (p, q), x in Y.items()}, self.gamma)
            add(u[i], {(p, q + 1): x for (p, q), x in V.items()}, self.gamma)
        R = {(0, 0): 1.0}
        for i in range(s):
            add(R, u[i], d[0][i])
        self.rows = [[R.get((p, q), 0.0) for q in range(s - p, -1, -1)] for p in range(s, -1, -1)]

    def at(self, x, v):
        total = 0j
        for row in self.rows:
            inner = 0j
            for r in row:
                inner = inner * v + r
            total = total * x + inner
        return total

    def of(self, *zs):
        P = 1
        for z in zs:
            P *= 1 - self.gamma * z
        return self.at(sum(zs) / P, 1 / P)

    def with_infinite(self, *zs):
        """The limit for one more factor, with z at infinity."""
        x = -1 / self.gamma
        for z in zs:
            x /= 1 - self.gamma * z
        return self.at(x, 0)


def add(to, of, factor):
    for key, x in of.items():
        to[key] = to.get(key, 0.0) + factor * x


def largest(R, factors, angle, enough=inf):
    """max |R| where |arg(-z_k)| <= angle for all factors, 0 and infinity included; angle 0: on the negative axes.  A
    value above `enough` is returned as soon as it is found.

    |R| does not change if factors are exchanged or all z_k are replaced by their conjugates: of the boundaries and
    points that this makes equal, one is searched."""
    worst = 1.0                      # at z = 0
    for infinite in (False, True):
        free = factors - infinite    # if two or more are infinite, R = 1
        choices = {tuple(sorted(s)) for s in product((1, -1), repeat=free) if sum(s) >= 0} if angle else {(1,) * free}
        for signs in choices:
            rays = [-cmath.exp(1j * sign * angle) for sign in signs]

            def size(logs):
                zs = [exp(x) * ray for x, ray in zip(logs, rays)]
                return abs(R.with_infinite(*zs) if infinite else R.of(*zs))
            worst = max(worst, highest(size, free, signs.count(-1), enough))
            if worst > enough:
                return worst
    return worst


def highest(size, n, m, enough):
    """The largest value on a grid in n variables, local maxima of which are improved; size is symmetric in the first m
    variables and in the others."""
    if n == 0:
        return size(())
    step, value = (FAR - NEAR) / (POINTS[n] - 1), {}
    for first, others in product(*(combinations_with_replacement(range(POINTS[n]), k) for k in (m, n - m))):
        value[first + others] = size([NEAR + k * step for k in first + others])
        if value[first + others] > enough:
            return value[first + others]

    def neighbours(place):
        for k, by in product(range(n), (1, -1)):
            near = place[:k] + (place[k] + by,) + place[k + 1:]
            yield (*sorted(near[:m]), *sorted(near[m:]))
    falling = sorted(value, key=lambda place: (value[place], place), reverse=True)
    peaks = (place for place in falling if all(value[place] >= value.get(near, 0) for near in neighbours(place)))
    best = islice(peaks, BEST)
    return max(improved(size, [NEAR + k * step for k in place], step) for place in best)


def improved(size, logs, step):
    """by a pattern search about a point of the grid"""
    best, logs = size(logs), list(logs)
    while step > 1e-3:
        moved = False
        for k, sign in product(range(len(logs)), (1, -1)):
            trial = [x + (sign * step if j == k else 0) for j, x in enumerate(logs)]
            if NEAR <= trial[k] <= FAR and size(trial) > best:
                best, logs, moved = size(trial), trial, True
        step = step if moved else step / 2
    return best


def wedge(R, factors):
    """The widest angle with |R| <= 1, in degrees, to 0.1; None where |R| > 1 on the negative real axes already"""
    if largest(R, factors, 0, STABLE) > STABLE:
        return None
    low, high = 0.0, pi / 2
    if largest(R, factors, high, STABLE) <= STABLE:
        return 90.0
    while high - low > pi / 3600:
        middle = (low + high) / 2
        low, high = (middle, high) if largest(R, factors, middle, STABLE) <= STABLE else (low, middle)
    return degrees(low)


def sizes(R):
    """(lo, hi): |R| <= 1 for y' = c w y with all w <= 0, w = -infinity included, if lo <= c <= hi"""
    ws = [-exp(NEAR + (FAR - NEAR) * k / 199) for k in range(200)]
    places = [(w / (1 - R.gamma * w), 1 / (1 - R.gamma * w)) for w in ws] + [(-1 / R.gamma, 0.0)]

    def stable(c):
        return all(abs(R.at(c * x, v)) <= STABLE for x, v in places)
    ends = []
    for step, end in ((-STEP, 0.0), (STEP, 20.0)):
        k = 0
        while (end - 1 - (k + 1) * step) * step >= -1e-12 and stable(1 + (k + 1) * step):
            k += 1
        ends.append(1 + k * step)
    return tuple(ends)
