"""The rate laws of the Kinetic PreProcessor and of WRF-Chem, and the SUN of the former, as nodes of a graph.

T is the temperature, C the factor CFACTOR of the concentrations, M the concentration of air.

    ARR(a, b, c), ARR_abc   a exp(-b/T) (T/300)^c        ARR_ab   a exp(-b/T)        ARR_ac   a (T/300)^c
    ARR2(a, b)              a exp(b/T)
    EP2(a0, c0, a2, c2, a3, c3)      k0 + k3/(1 + k3/k2),  k_i = a_i exp(-c_i/T),  k3 times M
    EP3(a1, c1, a2, c2)              k1 + M k2
    FALL(a0, b0, c0, a1, b1, c1, F)  k0/(1 + r) F^(1/(1 + (log10(r)/N)^2)),  r = k0/k1,  k_i = ARR(...),  k0 times M
                                     N = 1; M = 1e6 C
    k3rd_jpl(M, a0, n0, a1, n1, F)   the same with k_i = a_i (300/T)^n_i;  k3rd_iupac: N = 0.75 - 1.27 log10(F)

In WRF-Chem the last arguments of ARR, ARR2, EP2, EP3, FALL are T, or T and M, and ARR2(a, b, T) is a exp(-b/T).

    F2(a0, b0, c0, a1, b1, c1, F, N, T, M)         as FALL
    TROE(a0, n0, a1, n1, T, M)                     k3rd_jpl with F = 0.6
    TROEE(a, b, a0, n0, a1, n1, T, M)              a exp(-b/T) TROE(...)        THERMAL_T2(c, d, T)   T^2 c exp(-d/T)"""
import math
from collections import namedtuple

SUNRISE, SUNSET = 4.5, 19.5                  # hours
Law = namedtuple("Law", "law needs")         # needs: names that the law has besides its arguments, before them


def arrhenius(g, T, a, b=None, c=None):
    if b is not None:
        a = g.mul(a, g.f("exp", g.neg(g.div(b, T))))
    return a if c is None else g.mul(a, g.pow(g.div(T, g.c(300)), c))


def ep2(g, T, M, a0, c0, a2, c2, a3, c3):
    k0, k2, k3 = (arrhenius(g, T, a, c) for a, c in ((a0, c0), (a2, c2), (a3, c3)))
    k3 = g.mul(k3, M)
    return g.add(k0, g.div(k3, g.add(g.c(1), g.div(k3, k2))))


def ep3(g, T, M, a1, c1, a2, c2):
    return g.add(arrhenius(g, T, a1, c1), g.mul(arrhenius(g, T, a2, c2), M))


def fall_off(g, k0, k1, F, N=None):
    r = g.div(k0, k1)
    log = g.f("log10", r) if N is None else g.div(g.f("log10", r), N)
    power = g.div(g.c(1), g.add(g.c(1), g.mul(log, log)))
    return g.mul(g.div(k0, g.add(g.c(1), r)), g.pow(F, power))


def fall(g, T, M, a0, b0, c0, a1, b1, c1, F, N=None):
    return fall_off(g, g.mul(arrhenius(g, T, a0, b0, c0), M), arrhenius(g, T, a1, b1, c1), F, N)


def troe(g, T, M, a0, n0, a1, n1, F=None, N=None):
    k0, k1 = (g.mul(a, g.pow(g.div(g.c(300), T), n)) for a, n in ((a0, n0), (a1, n1)))
    return fall_off(g, g.mul(k0, M), k1, g.c(0.6) if F is None else F, N)


def iupac(g, T, M, a0, n0, a1, n1, F):
    return troe(g, T, M, a0, n0, a1, n1, F, g.sub(g.c(0.75), g.mul(g.c(1.27), g.f("log10", F))))


def air(law):
    """A law of M with CFACTOR in its place"""
    return lambda g, T, C, *a: law(g, T, g.mul(C, g.c(1e6)), *a)


def last(law, count):
    """A law of T, or of T and M, which are its last arguments"""
    return lambda g, *a: law(g, *a[-count:], *a[:-count])


def sun(g):
    """The intensity of the sun between 0 and 1, as a function of t in seconds: (1 + cos(pi s^2))/2 between sunrise and
    sunset, where s goes from -1 to 1; 0 at night"""
    hour = g.sub(g.div(g.v("t"), g.c(3600)), g.mul(g.c(24), g.f("floor", g.div(g.v("t"), g.c(86400)))))
    s = g.div(g.sub(g.mul(g.c(2), hour), g.c(SUNRISE + SUNSET)), g.c(SUNSET - SUNRISE))
    light = g.div(g.add(g.c(1), g.f("cos", g.mul(g.c(math.pi), g.mul(s, s)))), g.c(2))
    day = g.both(g.cmp(">=", hour, g.c(SUNRISE)), g.cmp("<=", hour, g.c(SUNSET)))
    return g.sel(day, light, g.c(0))


def arr2(g, T, a, b):
    return arrhenius(g, T, a, g.neg(b))


def arr_ac(g, T, a, c):
    return arrhenius(g, T, a, None, c)


def thermal(g, T, c, d):
    return g.mul(g.mul(g.mul(T, T), c), g.f("exp", g.neg(g.div(d, T))))


def troee(g, T, M, a, b, *more):
    return g.mul(arrhenius(g, T, a, b), troe(g, T, M, *more))


TEMP, BOTH = ("TEMP",), ("TEMP", "CFACTOR")
OTHERS = {"f2", "troe", "troee", "thermal_t2"}                 # of WRF-Chem: names that have other laws elsewhere
RATE_LAWS = {                                # name: {number of arguments: law}
    "arr": {3: Law(arrhenius, TEMP), 4: Law(last(arrhenius, 1), ())}, "arr_abc": {3: Law(arrhenius, TEMP)},
    "arr_ab": {2: Law(arrhenius, TEMP)}, "arr_ac": {2: Law(arr_ac, TEMP)},
    "arr2": {2: Law(arr2, TEMP), 3: Law(last(arrhenius, 1), ())},
    "ep2": {6: Law(air(ep2), BOTH), 8: Law(last(ep2, 2), ())},
    "ep3": {4: Law(air(ep3), BOTH), 6: Law(last(ep3, 2), ())},
    "fall": {7: Law(air(fall), BOTH), 9: Law(last(fall, 2), ())}, "f2": {10: Law(last(fall, 2), ())},
    "k3rd_jpl": {6: Law(troe, TEMP)}, "k3rd_iupac": {6: Law(iupac, TEMP)},
    "troe": {6: Law(last(troe, 2), ())}, "troee": {8: Law(last(troee, 2), ())},
    "thermal_t2": {3: Law(last(thermal, 1), ())},
}
