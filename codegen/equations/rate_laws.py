"""The rate laws of the Kinetic PreProcessor, and its SUN, as nodes of a graph.

T is the temperature, C the factor CFACTOR of the concentrations.

    ARR(a, b, c), ARR_abc   a exp(-b/T) (T/300)^c        ARR_ab   a exp(-b/T)        ARR_ac   a (T/300)^c
    ARR2(a, b)              a exp(b/T)
    EP2(a0, c0, a2, c2, a3, c3)      k0 + k3/(1 + k3/k2),  k_i = a_i exp(-c_i/T),  k3 times 1e6 C
    EP3(a1, c1, a2, c2)              k1 + 1e6 C k2
    FALL(a0, b0, c0, a1, b1, c1, F)  k0/(1 + r) F^(1/(1 + log10(r)^2)),  r = k0/k1,  k_i = ARR(...),  k0 times 1e6 C"""
import math

SUNRISE, SUNSET = 4.5, 19.5                  # hours


def arrhenius(g, T, a, b=None, c=None):
    if b is not None:
        a = g.mul(a, g.f("exp", g.neg(g.div(b, T))))
    return a if c is None else g.mul(a, g.pow(g.div(T, g.c(300)), c))


def ep2(g, T, C, a0, c0, a2, c2, a3, c3):
    k0, k2, k3 = (arrhenius(g, T, a, c) for a, c in ((a0, c0), (a2, c2), (a3, c3)))
    k3 = g.mul(k3, g.mul(C, g.c(1e6)))
    return g.add(k0, g.div(k3, g.add(g.c(1), g.div(k3, k2))))


def ep3(g, T, C, a1, c1, a2, c2):
    return g.add(arrhenius(g, T, a1, c1), g.mul(arrhenius(g, T, a2, c2), g.mul(C, g.c(1e6))))


def fall(g, T, C, a0, b0, c0, a1, b1, c1, F):
    k0 = g.mul(arrhenius(g, T, a0, b0, c0), g.mul(C, g.c(1e6)))
    r = g.div(k0, arrhenius(g, T, a1, b1, c1))
    log = g.f("log10", r)
    power = g.div(g.c(1), g.add(g.c(1), g.mul(log, log)))
    return g.mul(g.div(k0, g.add(g.c(1), r)), g.pow(F, power))


def sun(g):
    """The intensity of the sun between 0 and 1, as a function of t in seconds: (1 + cos(pi s |s|))/2 between sunrise
    and sunset, where s goes from -1 to 1; 0 at night"""
    hour = g.sub(g.div(g.v("t"), g.c(3600)), g.mul(g.c(24), g.f("floor", g.div(g.v("t"), g.c(86400)))))
    s = g.div(g.sub(g.mul(g.c(2), hour), g.c(SUNRISE + SUNSET)), g.c(SUNSET - SUNRISE))
    light = g.div(g.add(g.c(1), g.f("cos", g.mul(g.c(math.pi), g.mul(s, g.f("fabs", s))))), g.c(2))
    day = g.both(g.cmp(">=", hour, g.c(SUNRISE)), g.cmp("<=", hour, g.c(SUNSET)))
    return g.sel(day, light, g.c(0))


RATE_LAWS = {                                # name: (law, number of arguments)
    "arr": (lambda g, T, C, a, b, c: arrhenius(g, T, a, b, c), 3),
    "arr_abc": (lambda g, T, C, a, b, c: arrhenius(g, T, a, b, c), 3),
    "arr_ab": (lambda g, T, C, a, b: arrhenius(g, T, a, b), 2),
    "arr_ac": (lambda g, T, C, a, c: arrhenius(g, T, a, None, c), 2),
    "arr2": (lambda g, T, C, a, b: arrhenius(g, T, a, g.neg(b)), 2),
    "ep2": (ep2, 6), "ep3": (ep3, 4), "fall": (fall, 7),
}
