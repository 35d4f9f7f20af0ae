"""How long steps of an explicit method may be: h rho <= limit, rho the spectral radius (mathematics, section 3.5).

    real    the least r with |R(z)| = 1 on the rays at 135 to 180 degrees: z = r exp(i angle)
    waves   the largest r with log|R(z)| <= |z| / S for all |z| <= r at 90 to 135 degrees.  After span/h steps a mode
            with h rho = |z| has grown by no more than e if S = span rho; one number for each S = 10, 100 .. 1e8

The angle of an eigenvalue near the imaginary axis is not known well enough for a limit that depends on it (dopri5: 2.62
at 95 degrees, 1.45 at 90), hence two classes.  No limit is below LEAST: a method that amplifies all waves, as Euler's
does, would take endlessly many steps."""
import cmath
import functools
import math

from .scale import floats, polynomial

LEAST, MOST, STEP = 0.02, 60.0, 0.01
DECADES = 8
REAL, WAVES = range(135, 181, 5), range(90, 136, 5)


def limits(method):
    """[real] + waves of an explicit Runge-Kutta method; None for other families"""
    if method.table.family != "erk":
        return None
    R = tuple(floats(method.P))
    return [real(R)] + waves(R)


def growth(R, r, angle):
    """log|R|, R: its coefficients"""
    size = abs(polynomial(R, r * direction(angle)))
    return math.log(size) if size > 0 else -math.inf


@functools.lru_cache(maxsize=None)
def direction(angle):
    return cmath.exp(1j * math.radians(angle))


@functools.lru_cache(maxsize=None)
def sampled(R, angle):
    """Growth at STEP, 2 STEP .. up to where it exceeds what any limit allows."""
    values = [growth(R, STEP, angle)]
    while values[-1] <= len(values) * STEP / 10 + 1e-12 and len(values) * STEP < MOST:
        values.append(growth(R, (len(values) + 1) * STEP, angle))
    return values


def first(R, angle, allowed):
    """The first r at which growth(r) exceeds r * allowed, by steps of STEP and bisection."""
    def beyond(r):
        return growth(R, r, angle) > r * allowed + 1e-12
    steps = next(k for k, x in enumerate(sampled(R, angle), 1) if x > k * STEP * allowed + 1e-12)
    inside, outside = (steps - 1) * STEP, steps * STEP
    for _ in range(30):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
    return inside


@functools.lru_cache(maxsize=None)
def real(R):
    return min(first(R, angle, 0) for angle in REAL)


@functools.lru_cache(maxsize=None)
def waves(R):
    return [max(LEAST, min(first(R, angle, 10.0 ** -k) for angle in WAVES)) for k in range(1, DECADES + 1)]
