"""Methods with coefficients in closed form for every degree (mathematics, eq. 4.4).

    R_s(z) = a_s + b_s p_s(w0 + w1 z),   p_j the Chebyshev (rkc2) or Legendre (rkl2) polynomial,  a_j = 1 - b_j p_j(w0)

whose stages have the stability polynomials a_j + b_j p_j(w0 + w1 z).  From the recurrence
p_j(x) = alpha_j x p_(j-1) - gamma_j p_(j-2):

    mu_j = alpha_j w0 b_j/b_(j-1),  nu_j = -gamma_j b_j/b_(j-2),  mut_j = alpha_j w1 b_j/b_(j-1),
    gat_j = -a_(j-1) mut_j,         mut_1 = b_1 w1

The estimate of both is that of Sommeijer, Shampine and Verwer, 0.8 (y - y+) + 0.4 h (f + f+): h^3 y'''/15 less 0.8
times the error of the method itself."""
from decimal import Decimal

from .degree import Degree

ESTIMATE = {"ey": Decimal("0.8"), "e0": Decimal("0.4"), "e1": Decimal("0.4")}


def rkc2(s, eps):
    """Sommeijer, Shampine, Verwer, J. Comput. Appl. Math. 88 (1998) 315-326, (2.4) - (2.9): w0 = 1 + eps/s^2,
    b_j = T_j''/T_j'^2 at w0, b_0 = b_1 = b_2."""
    w0 = 1 + eps / (s * s)
    T, T1, T2 = chebyshev(s, w0)
    w1 = T1[s] / T2[s]
    b = [T2[max(j, 2)] / T1[max(j, 2)] ** 2 for j in range(s + 1)]
    return shifted(s, T, b, w0, w1, lambda j: Decimal(2), lambda j: Decimal(1))


def chebyshev(s, x):
    """T_j, T_j' and T_j'' at x for j = 0 .. s."""
    one = Decimal(1)
    T, T1, T2 = [one, x], [0 * one, one], [0 * one, 0 * one]
    for _ in range(s - 1):
        T.append(2 * x * T[-1] - T[-2])
        T1.append(2 * x * T1[-1] - T1[-2] + 2 * T[-2])
        T2.append(2 * x * T2[-1] - T2[-2] + 4 * T1[-2])
    return T, T1, T2


def rkl2(s, eps):
    """Meyer, Balsara, Aslam, J. Comput. Phys. 257 (2014) 594-626, section 2.2: w0 = 1, w1 = 4/(s^2 + s - 2),
    b_j = (j^2 + j - 2)/(2 j (j + 1)), b_0 = b_1 = b_2 = 1/3.  There is no eps: the polynomial is damped by itself.

    The degree should be odd: of even degree R(-beta) is 1."""
    one = Decimal(1)
    b = [one * (k * k + k - 2) / (2 * k * (k + 1)) for k in (max(j, 2) for j in range(s + 1))]
    return shifted(s, [one] * (s + 1), b, 1 + eps, one * 4 / (s * s + s - 2),
                   lambda j: Decimal(2 * j - 1) / j, lambda j: Decimal(j - 1) / j)


def shifted(s, p, b, w0, w1, alpha, gamma):
    """The recurrence of the stages from the values p_j(w0), the weights b_j and the recurrence of p_j."""
    zero = Decimal(0)
    d = Degree(s, (w0 + 1) / w1, [1 + zero], [zero], [b[1] * w1], [zero], **ESTIMATE)
    for j in range(2, s + 1):
        ratio = alpha(j) * b[j] / b[j - 1]
        d.mu.append(ratio * w0)
        d.nu.append(-gamma(j) * b[j] / b[j - 2])
        d.mut.append(ratio * w1)
        d.gat.append(-(1 - b[j - 1] * p[j - 1]) * ratio * w1)
    return d
