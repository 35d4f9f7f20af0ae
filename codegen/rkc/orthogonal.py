"""The stability polynomials of ROCK methods, R_s = w P_(s-p) with w of degree p and order p = 2 or 4.

In x on [-1, 1] w is positive and has complex zeros only, alpha_i +- i beta_i, and P_(s-p) is orthogonal to all
polynomials of lower degree with the weight w(x)^2/sqrt(1 - x^2), so that R_s has nearly equal extrema there
(A. Abdulle, A. Medovikov, Numer. Math. 90 (2001) 1-18, theorem 1).  z = (x - a)/D, and R_s(z = 0) = 1.

The parameters are given as s^2 (alpha_i - 1), s^2 beta_i, s^2 (a - 1), which tend to limits; D follows from R' = 1."""
from decimal import Decimal, getcontext

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
ONE, ZERO = Decimal(1), Decimal(0)


def cosine(x):
    """cos(x) for 0 <= x <= pi."""
    total = term = ONE
    k = 0
    while abs(term) > Decimal(10) ** (-getcontext().prec - 3):
        k += 2
        term *= -x * x / (k * (k - 1))
        total += term
    return total


def chebyshev_nodes(n):
    """The zeros of T_n: cos((2 k - 1) pi/(2 n)), by the recurrence of cosines in k (its errors grow like n^2)."""
    if n == 1:
        return [ZERO]
    step, x = 2 * cosine(PI / n), [cosine(PI / (2 * n)), cosine(3 * PI / (2 * n))]
    while len(x) < n:
        x.append(step * x[-1] - x[-2])
    return x


class Polynomial:
    """w P of degree s in x."""

    def __init__(self, s, parameters):
        scaled = [x / (s * s) for x in parameters]
        self.s, self.p = s, len(parameters) - 1
        self.pairs = [(1 + scaled[k], scaled[k + 1]) for k in range(0, self.p, 2)]
        self.a = 1 + scaled[-1]
        self.alpha, self.beta = self.recurrence(s - self.p)
        self.at_a = self.product(self.a, self.p)
        self.D = self.at_a[0] / self.at_a[1]

    def weight(self, x):
        value = ONE
        for re, im in self.pairs:
            value *= (x - re) ** 2 + im * im
        return value

    def recurrence(self, m):
        """p_(j+1) = (x - alpha_j) p_j - beta_j p_(j-1) for j = 0 .. m - 1, by Stieltjes' procedure.

        The integrals are sums over the zeros of T_n, exact for polynomials of degree 2 n - 1 over sqrt(1 - x^2); here
        they have degree 2 p + 2 m - 1 at most."""
        nodes = chebyshev_nodes(m + self.p + 1)
        weights = [self.weight(x) ** 2 for x in nodes]
        before, now, old = [ZERO] * len(nodes), [ONE] * len(nodes), None
        alpha, beta = [], []
        for _ in range(m):
            density = [w * y * y for w, y in zip(weights, now)]
            norm = sum(density)
            alpha.append(sum(x * y for x, y in zip(nodes, density)) / norm)
            beta.append(norm / old if old else ZERO)
            old = norm
            before, now = now, [(x - alpha[-1]) * y - beta[-1] * v for x, y, v in zip(nodes, now, before)]
        return alpha, beta

    def product(self, x, order):
        """The Taylor coefficients of 2^m w P_m at x up to an order; P_m with leading coefficient 1."""
        before, now = [ZERO] * (order + 1), [ONE] + [ZERO] * order
        for alpha, beta in zip(self.alpha, self.beta):
            before, now = now, [2 * ((x - alpha) * now[k] + (now[k - 1] if k else 0)) - 4 * beta * before[k]
                                for k in range(order + 1)]
        for re, im in self.pairs:
            factor = ((x - re) ** 2 + im * im, 2 * (x - re), ONE)
            now = [sum(factor[i] * now[k - i] for i in range(min(k, 2) + 1)) for k in range(order + 1)]
        return now

    def taylor(self, x, order):
        """Those of R_s(x)."""
        return [c / self.at_a[0] for c in self.product(x, order)]

    def order_conditions(self):
        """R^(k)(z = 0) - 1 for k = 2 .. p."""
        found, factorial = [], 1
        for k in range(2, self.p + 1):
            factorial *= k
            found.append(factorial * self.at_a[k] * self.D ** k / self.at_a[0] - 1)
        return found

    def extremum(self, x):
        """The extremum next to x: (its place, R there)."""
        for _ in range(60):
            _, slope, half = self.taylor(x, 2)
            change = slope / (2 * half)
            x -= change
            if abs(change) < Decimal(10) ** (-getcontext().prec // 2 - 8) / self.s ** 2:
                break
        return x, self.taylor(x, 0)[0]

    def first_extrema(self, count):
        """The extrema from the first maximum that is larger than 1/2, seen from z = 0, as far as there are."""
        found, step, x = [], ONE / (10 * self.s ** 2), self.a
        value, slope = self.taylor(x, 1)
        while len(found) < count and x - step > -1:
            value, following = self.taylor(x - step, 1)
            if slope * following <= 0 and (found or value > Decimal("0.5")):
                found.append(self.extremum(x - step / 2))
            x, slope = x - step, following
            step = ONE * (1 + len(found)) / (10 * self.s ** 2)
        return found

    def interval(self):
        """beta: x = -1 is z = -beta."""
        return (1 + self.a) / self.D

    def weight_coefficients(self):
        """w as a polynomial in z, with w(0) = 1."""
        coefficients = [ONE]
        for re, im in self.pairs:
            c0, c1, c2 = (self.a - re) ** 2 + im * im, 2 * self.D * (self.a - re), self.D ** 2
            longer = [ZERO] * (len(coefficients) + 2)
            for k, x in enumerate(coefficients):
                for i, c in enumerate((ONE, c1 / c0, c2 / c0)):
                    longer[k + i] += x * c
            coefficients = longer
        return coefficients
