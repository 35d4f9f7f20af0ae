"""Stability functions for pictures: log |R(z)|, and a window that shows where it is not positive.

Of log |R(z)| the set {f <= 0} is the region of absolute stability, of log |R(z)| - Re z the complement of the order
star (G. Wanner, E. Hairer, S. P. Norsett, BIT 18 (1978) 475-489)."""
import math

FAR = 30.0                           # logarithms are cut off there


def logarithm(R):
    """log |R| by a function R that may fail to have a value"""
    def value(z):
        try:
            return max(-FAR, min(FAR, math.log(abs(R(z)))))
        except ZeroDivisionError:
            return FAR
        except ValueError:           # R(z) = 0
            return -FAR
        except OverflowError:
            return FAR
    return value


def polynomial(p):
    """of ascending coefficients"""
    reverse = [float(x) for x in p][::-1]

    def value(z):
        total = 0j
        for x in reverse:
            total = total * z + x
        return total
    return value


def rational(P, Q):
    p, q = polynomial(P), polynomial(Q)
    return lambda z: p(z) / q(z)


def window(f, bounded, largest=64.0, cells=48):
    """(half a side, centre on the real axis) of a square about all of {f <= 0} where that is bounded, else of {f > 0}:
    the first that it does not reach the edge of, made smaller.  10, 0 where neither is bounded, as of Gauss methods."""
    side = 4.0
    while side <= largest:
        dx = 2 * side / cells
        found = [complex((i + 0.5) * dx - side, (k + 0.5) * dx) for k in range(cells // 2) for i in range(cells)]
        found = [z for z in found if (f(z) <= 0) == bounded]
        left, right = min([0.0, *(z.real for z in found)]), max([0.0, *(z.real for z in found)])
        top = max([0.0, *(z.imag for z in found)])
        if found and max(-left, right, top) < side - dx:
            return round_up(1.15 * max((right - left) / 2, top) + dx), (left + right) / 2
        side *= 2
    return 10.0, 0.0


def round_up(x):
    power = 10 ** math.floor(math.log10(x))
    return next(k * power for k in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if k * power >= x)
