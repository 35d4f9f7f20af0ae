"""Functions f(t, y, p) as their authors would write them, from public kinds of models, each with y0, p and an end.

Kinds: plain; where: conditions and loops over components; matmul: products of matrices; tables: np.interp."""
import functools
import math
from types import SimpleNamespace

import numpy as np

CASES = []


def case(y0, p, T, kind="plain"):
    def keep(f):
        CASES.append(SimpleNamespace(name=f.__name__, f=f, y0=np.array(y0, dtype=float), p=np.array(p, dtype=float),
                                     T=T, kind=kind))
        return f
    return keep


# ---- chemistry -----------------------------------------------------------------------------------------------------

@case([1.0, 1e-5, 0.1], [0.04, 1e2, 3e3], 1.0)
def robertson(t, y, p):
    k1, k2, k3 = p
    r = k1 * y[0], k2 * y[1] * y[2], k3 * y[1] ** 2
    return np.array([-r[0] + r[1], r[0] - r[1] - r[2], r[2]])


@case([1.0, 1.0], [1.0, 3.0], 2.0)
def brusselator(t, y, p):
    a, b = p
    u, v = y
    return [a + u * u * v - (b + 1) * u, b * u - u ** 2 * v]


@case([1.0, 2.0, 3.0], [7.0, 0.1, 0.2], 1.0)
def oregonator(t, y, p):
    s, q, w = p
    dydt = np.empty_like(y)
    dydt[0] = s * (y[1] + y[0] * (1 - q * y[0] - y[1]))
    dydt[1] = (y[2] - (1 + y[0]) * y[1]) / s
    dydt[2] = w * (y[0] - y[2])
    return dydt


@case([1.0, 0.1, 0.0], [10.0, 1.0, 0.5], 2.0)
def enzyme(t, y, p):
    substrate, enzyme_, complex_ = y
    bind, release, turn = p[0] * substrate * enzyme_, p[1] * complex_, p[2] * complex_
    return np.stack([release - bind, release + turn - bind, bind - release - turn])


@case([0.8, 350.0], [7.2e6, 60.0, 2.0], 0.2)
def stirred_tank(t, y, p):
    rate = p[0] * np.exp(-8750.0 / y[1]) * y[0] / 60
    return np.array([(1 - y[0]) - rate, (350 - y[1]) + 20 * rate + p[2] * (300 - y[1]) / p[1]])


@case([0.5, 0.1, 0.2, 0.3], [1.0, 2.0, 0.5], 1.0)
def stoichiometry(t, y, p):
    N = np.array([[-1, 0, 1], [1, -1, 0], [0, 1, -1], [0, 1, 0]])
    rates = np.array([p[0] * y[0], p[1] * y[1] * y[2], p[2] * np.sqrt(y[3])])
    return N @ rates


@case([0.9, 0.3], [2.0, 0.4, 4.0], 2.0)
def hill_repression(t, y, p):
    top, k, n = p
    return np.array([top / (1 + (y[1] / k) ** n) - y[0], y[0] - y[1]])


@case([0.2, 0.1, 0.3, 0.1, 0.4, 0.5], [10.0, 2.0, 1.0], 2.0)
def repressilator(t, y, p):
    m, protein = y[:3], y[3:]
    return np.concatenate([p[0] / (1 + np.roll(protein, 1) ** p[1]) - m, p[2] * (m - protein)])


# ---- ecology, epidemics --------------------------------------------------------------------------------------------

@case([10.0, 5.0], [1.1, 0.4, 0.1, 0.4], 3.0)
def lotka_volterra(t, y, p):
    prey, predator = y
    return [p[0] * prey - p[1] * prey * predator, p[2] * prey * predator - p[3] * predator]


@case([0.5, 0.3], [2.0, 0.5, 0.6, 0.3], 3.0)
def rosenzweig(t, y, p):
    eaten = p[1] * y[0] * y[1] / (1 + p[2] * y[0])
    return np.hstack([p[0] * y[0] * (1 - y[0]) - eaten, eaten - p[3] * y[1]])


@case([0.2, 0.3, 0.4], [1.0, 1.2, 0.8, 0.5], 3.0)
def competition(t, y, p):
    A = np.array([[1.0, 0.5, 0.3], [0.2, 1.0, 0.6], [0.4, 0.1, 1.0]])
    return p[:3] * y * (1 - p[3] * A.dot(y))


@case([0.99, 0.01, 0.0], [1.5, 0.5], 5.0)
def sir(t, y, p):
    s, i, _ = y
    infected = p[0] * s * i / np.sum(y)
    return np.array([-infected, infected - p[1] * i, p[1] * i])


@case([0.98, 0.01, 0.01, 0.0], [1.2, 0.3, 0.2, 0.4], 4.0)
def seasonal_seir(t, y, p):
    beta = p[0] * (1 + p[3] * np.cos(2 * np.pi * t))
    s, e, i, r = y
    return np.array([-beta * s * i, beta * s * i - p[1] * e, p[1] * e - p[2] * i, p[2] * i])


@case([0.9, 0.8, 0.1, 0.2, 0.0, 0.0], [2.0, 0.7], 2.0, "matmul")
def sir_by_age(t, y, p):
    contacts = np.array([[1.0, 0.4], [0.4, 0.7]])
    s, i, r = y.reshape(3, 2)
    new = p[0] * s * (contacts @ i)
    return np.concatenate((-new, new - p[1] * i, p[1] * i))


@case([0.4, 0.6], [0.3, 2.0], 3.0)
def allee(t, y, p):
    growth = y * (y - p[0]) * (1 - y)
    return growth + 0.1 * (y[::-1] - y) * p[1]


# ---- pharmacology --------------------------------------------------------------------------------------------------

@case([5.0, 0.0, 0.0], [1.0, 0.3, 0.2, 0.1], 4.0)
def two_compartments(t, y, p):
    gut, central, tissue = y
    ka, ke, k12, k21 = p
    dydt = np.zeros_like(y)
    dydt[0] = -ka * gut
    dydt[1] += ka * gut - (ke + k12) * central
    dydt[1] += k21 * tissue
    dydt[2] = k12 * central - k21 * tissue
    return dydt


@case([3.0, 1.0], [2.0, 0.5, 0.4, 0.7], 3.0)
def target_mediated(t, y, p):
    kon, koff, kint, kdeg = p
    drug, target = y
    bound = 0.5 * (drug + target + koff / kon - np.sqrt((drug + target + koff / kon) ** 2 - 4 * drug * target))
    return np.array([-kint * bound - 0.1 * drug, kdeg - kdeg * target - kint * bound])


@case([0.0, 1.0], [4.0, 1.0, 2.0], 3.0)
def emax_response(t, y, p):
    concentration = p[0] * t * np.exp(-p[1] * t)
    return [1 - y[0] * (1 + concentration ** 2 / (1 + concentration ** 2)), y[0] - p[2] * y[1] / (1 + y[1])]


@case([1.0, 0.2, 0.1, 0.1], [1.0, 0.5], 2.0)
def transit_chain(t, y, p):
    before = np.insert(y[:-1], 0, p[0])
    return p[1] * (before - y)


# ---- circuits, mechanics -------------------------------------------------------------------------------------------

@case([2.0, 0.1], [3.0], 2.0)
def van_der_pol(t, y, p):
    return np.array([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]])


@case([0.1, 0.0, 0.0], [2.0, 0.5, 0.3], 1.0)
def diode_circuit(t, y, p):
    v1, v2, i = y
    diode = 1e-3 * np.expm1(v1 / 0.1)
    return np.array([np.sin(p[0] * t) - v1 - diode - i, i - p[1] * v2, (v1 - v2) / p[2]])


@case([0.7, 0.0, 0.2], [9.0, 14.3, -1.1], 0.5)
def chua(t, y, p):
    x, yy, z = y
    f = p[2] * x + 0.5 * (np.tanh(x + 1) - np.tanh(x - 1))
    return np.array([p[0] * (yy - x - f), x - yy + z, -p[1] * yy])


@case([0.5, 0.0], [9.81, 1.2, 0.1], 2.0)
def pendulum(t, y, p):
    theta, omega = y
    return np.array([omega, -p[0] / p[1] * np.sin(theta) - p[2] * omega])


@case([1.0, 0.5, 0.0, 0.1], [1.0, 1.5, 9.81], 1.0)
def double_pendulum(t, y, p):
    a, b, wa, wb = y
    c, s, m = np.cos(a - b), np.sin(a - b), p[0] + p[1]
    under = p[0] + p[1] * s ** 2
    pull = p[2] * (m * np.sin(a) - p[1] * np.sin(b) * c)
    return np.array([wa, wb, (-p[1] * s * (wa ** 2 * c + wb ** 2) - pull) / under,
                     (s * (m * wa ** 2 + p[1] * wb ** 2 * c) + p[2] * m * (np.sin(a) * c - np.sin(b))) / under])


@case([1.0, 0.0, 0.0, 1.1], [1.0, 0.01], 2.0)
def kepler(t, y, p):
    q, v = y[:2], y[2:]
    r = np.linalg.norm(q)
    return np.concatenate([v, -p[0] * q / r ** 3 * (1 + p[1] / r ** 2)])


@case([0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, -0.4, 0.2], [1.0, 0.5, 0.7], 1.0)
def three_bodies(t, y, p):
    q, v = y[:6].reshape(3, 2), y[6:].reshape(3, 2)
    a = np.zeros_like(q)
    for i in range(3):
        for j in range(3):
            if i != j:
                d = q[j] - q[i]
                a[i] += p[j] * d / (d @ d + 0.1) ** 1.5
    return np.concatenate([v.ravel(), a.ravel()])


@case([0.1, 0.2, 1.0], [1.0, 2.0, 3.0], 1.0)
def rigid_body(t, y, p):
    return np.cross(p * y, y) / p


@case([0.3, 0.0], [1.0, 0.5, 0.2], 3.0)
def duffing(t, y, p):
    x, v = y
    return np.array([v, -p[1] * v - x ** 3 + p[0] * x + p[2] * np.cos(1.2 * t)])


@case([0.0, 0.3, 0.0, 0.0, 0.1, 0.0], [20.0, 1.5], 1.0)
def spring_chain(t, y, p):
    x, v = np.split(y, 2)
    ends = np.pad(x, 1)
    return np.hstack([v, p[0] * np.diff(ends, 2) - p[1] * v])


@case([0.2, 0.9], [2.0, 0.6], 2.0)
def robot_arm(t, y, p):
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    torque = np.array([np.sin(y[1]) * p[0], -p[1] * y[0] * np.abs(np.cos(y[1]) + 2)])
    return np.linalg.solve(M, torque)


# ---- neurons, lasers, chaos ----------------------------------------------------------------------------------------

@case([-1.0, 1.0], [0.7, 0.8, 0.08, 0.5], 5.0)
def fitzhugh_nagumo(t, y, p):
    v, w = y
    return np.array([v - v ** 3 / 3 - w + p[3], p[2] * (v + p[0] - p[1] * w)])


@case([-60.0, 0.05, 0.6, 0.32], [120.0, 36.0, 0.3, 10.0], 1.0)
def hodgkin_huxley(t, y, p):
    def gate(alpha, beta, x):
        return alpha * (1 - x) - beta * x
    v, m, h, n = y
    u = v + 65
    current = p[0] * m ** 3 * h * (v - 50) + p[1] * n ** 4 * (v + 77) + p[2] * (v + 54.4)
    return np.array([p[3] - current,
                     gate(0.1 * (25 - u) / np.expm1((25 - u) / 10), 4 * np.exp(-u / 18), m),
                     gate(0.07 * np.exp(-u / 20), 1 / (1 + np.exp((30 - u) / 10)), h),
                     gate(0.01 * (10 - u) / np.expm1((10 - u) / 10), 0.125 * np.exp(-u / 80), n)])


@case([-20.0, 0.1], [4.4, 8.0, 2.0, 90.0], 2.0)
def morris_lecar(t, y, p):
    v, w = y
    open_ = 0.5 * (1 + np.tanh((v + 1.2) / 18))
    steady, rate = (1 + np.tanh((v - 2) / 30)) / 2, np.cosh((v - 2) / 60)
    return np.array([(p[3] - p[0] * open_ * (v - 120) - p[1] * w * (v + 84) - p[2] * (v + 60)) / 20,
                     0.04 * (steady - w) * rate])


@case([0.3, 0.1, 0.6, 0.2, 0.5], [1.0, 0.8], 2.0)
def kuramoto(t, y, p):
    omega = np.linspace(0.5, 1.5, 5)
    return omega + p[0] / 5 * np.sum(np.sin(y[None, :] - y[:, None] + 0.1 * p[1]), axis=1)


@case([0.1, 1.0], [2.0, 0.1, 1e-3], 2.0)
def laser(t, y, p):
    photons, inversion = y
    return [photons * (inversion - 1) + p[2], p[1] * (p[0] - inversion * (1 + photons))]


@case([1.0, 0.5, 0.2], [10.0, 28.0, 8 / 3], 0.5)
def lorenz(t, y, p):
    x, yy, z = y
    return (p[0] * (yy - x), x * (p[1] - z) - yy, x * yy - p[2] * z)


@case([0.3, 1.2, 0.8, 0.5, 0.1, 0.7], [8.0], 0.3)
def lorenz96(t, y, p):
    return (np.roll(y, -1) - np.roll(y, 2)) * np.roll(y, 1) - y + p


@case([1.0, 0.2, 0.3], [0.2, 0.2, 5.7], 1.0)
def roessler(t, y, p):
    return np.array((-y[1] - y[2], y[0] + p[0] * y[1], p[1] + y[2] * (y[0] - p[2])))


# ---- climate, traffic, partial differential equations by lines -----------------------------------------------------

@case([280.0, 270.0], [0.6, 5.67e-8, 1361.0], 3.0)
def energy_balance(t, y, p):
    albedo = 0.45 - 0.25 * np.tanh((y - 272) / 23)
    absorbed = p[2] / 4 * np.array([1.1, 0.8]) * (1 - albedo)
    return (absorbed - p[0] * p[1] * y ** 4 + 3.0 * (y.mean() - y)) / 10


@case([10.0, 35.0], [2.0, 0.3, 1.5], 2.0)
def stommel(t, y, p):
    dT, dS = y / 10
    flow = np.abs(p[0] * dT - p[1] * dS)
    return 10 * np.array([p[2] - dT - flow * dT, 0.5 - flow * dS])


@case([1.0, 2.0, 3.5, 5.0, 0.5, 0.4, 0.3, 0.6], [1.0, 2.0], 1.0)
def optimal_velocity(t, y, p):
    x, v = y[:4], y[4:]
    gap = np.append(np.diff(x), 2.0)
    return np.r_[v, p[0] * (np.tanh(gap - p[1]) + np.tanh(p[1]) - v)] if isinstance(y, np.ndarray) else \
        np.concatenate([v, p[0] * (np.tanh(gap - p[1]) + np.tanh(p[1]) - v)])


@case(np.sin(np.linspace(0.3, 3, 8)), [0.5, 0.1], 0.5)
def heat(t, y, p):
    u = np.concatenate(([0.0], y, [p[1]]))
    return p[0] * 9 ** 2 * (u[2:] - 2 * u[1:-1] + u[:-2])


@case(1 + 0.5 * np.sin(2 * np.pi * np.arange(8) / 8), [0.05], 0.2)
def burgers(t, y, p):
    h = 1 / len(y)
    flux = 0.5 * y ** 2
    return -(flux - np.roll(flux, 1)) / h + p[0] * (np.roll(y, 1) - 2 * y + np.roll(y, -1)) / h ** 2


@case(np.r_[1 + 0.1 * np.cos(np.arange(6)), 0.2 * np.sin(np.arange(6))], [0.1, 0.05, 0.04, 0.06], 1.0)
def gray_scott(t, y, p):
    u, v = y.reshape(2, -1)

    def laplace(x):
        return np.roll(x, 1) + np.roll(x, -1) - 2 * x
    reaction = u * v ** 2
    return np.ravel([p[0] * laplace(u) - reaction + p[2] * (1 - u), p[1] * laplace(v) + reaction - (p[2] + p[3]) * v]) \
        if isinstance(y, np.ndarray) else np.concatenate([p[0] * laplace(u) - reaction + p[2] * (1 - u),
                                                          p[1] * laplace(v) + reaction - (p[2] + p[3]) * v])


@case(np.linspace(0.1, 0.9, 9), [0.4, 0.7], 0.3)
def plane_diffusion(t, y, p):
    u = np.pad(y.reshape(3, 3), 1, mode="edge")
    laplace = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return (p[0] * laplace + p[1] * u[1:-1, 1:-1] * (1 - u[1:-1, 1:-1])).flatten()


@case([0.5, 0.2, 0.8], [0.3, 1.5], 1.0)
def special_functions(t, y, p):
    return np.array([np.arctan2(y[0], y[1]) - np.log1p(y[2] ** 2) + np.cbrt(p[0] + y[0]),
                     np.hypot(y[0], p[1]) - np.arcsinh(y[1]) + np.log10(1 + y[2]) + np.exp2(-y[1]),
                     np.arccos(y[1] / 2) - np.sinh(y[0] / 3) + np.log2(2 + p[0]) + np.sinc(y[2] / 2)])


# ---- conditions, and loops over components -------------------------------------------------------------------------

@case([0.5, 0.1], [2.0, 1.0], 2.0, "where")
def stick_slip(t, y, p):
    x, v = y
    friction = np.where(v > 0.3, p[1], 0.5 * p[1] + v)
    return np.array([v, p[0] * (t - x) - friction])


@case([0.4, 0.2], [1.0, 3.0], 3.0, "where")
def thermostat(t, y, p):
    heating = np.where(y[0] < 0.6, p[1], 0.0)
    return np.array([heating - p[0] * y[0], y[0] - y[1]])


@case([0.2, 0.4, 0.6], [1.5, 0.7], 2.0, "where")
def dose_at_times(t, y, p):
    dose = p[0] * ((t > 0.5) & (t < 1.0)) + np.where(t >= 1.5, p[1], 0.0)
    out = []
    for k in range(len(y)):
        out.append((dose if k == 0 else y[k - 1]) - y[k])
    return np.array(out)


@case([-0.3, 0.5], [1.0, 2.0], 1.0, "where")
def relu_kinetics(t, y, p):
    return np.maximum(0, y[::-1]) * p - y + np.minimum(p[0], 0.5)


@case([0.5, 0.6], [0.8, 1.0], 1.0, "where")
def clipped_growth(t, y, p):
    return np.clip(p[0] * y, 0.0, 0.45) - 0.1 * p[1] * y


@case([0.3, -0.4], [1.0, 0.5], 1.0, "where")
def coulomb_friction(t, y, p):
    x, v = y
    return np.array([v, -p[0] * x - p[1] * np.sign(v)])


@case([0.1, 0.7, 0.2], [0.6, 2.0], 1.5, "where")
def step_ramp(t, y, p):
    force = np.piecewise(t, [t < 0.3, t >= 0.7], [0.0, lambda t: 2.0, lambda t: t])
    return np.array([p[0] * force - y[0], y[0] - p[1] * y[1], np.heaviside(t - 1.0, 0.5) - y[2]])


@case([0.5, 0.2, 0.9, 0.1], [1.0, 0.4], 1.0, "where")
def upwind(t, y, p):
    speed = y - p[1]
    left, right = y - np.roll(y, 1), np.roll(y, -1) - y
    return -p[0] * np.where(speed > 0, speed * left, speed * right)


@case([0.3, 0.6], [0.5, 1.0], 1.0, "where")
def three_regimes(t, y, p):
    rate = np.select([y < 0.2, y < 0.5], [y, 0.2 + 0 * y], default=y ** 2)
    return p * rate - 0.3 * y


@case([0.1, 0.2, 0.3], [4.0, 1.0], 1.0, "where")
def loop_of_tanks(t, y, p):
    dydt = np.zeros_like(y)
    for k in range(3):
        outflow = p[1] * np.sqrt(np.maximum(y[k], 1e-6))
        dydt[k] -= outflow
        if k + 1 < len(y):
            dydt[k + 1] += outflow
    dydt[0] += p[0] * np.abs(np.sin(t))
    return dydt


@case([0.4, 0.5], [1.0], 2.0, "where")
def square_wave(t, y, p):
    on = np.floor(2 * t) % 2
    return np.array([p[0] * on - y[0], y[0] - y[1]])


@case([1.0, 0.2, 0.7], [0.5, 1.0], 1.0, "where")
def largest_wins(t, y, p):
    best = np.max(y)
    return p[0] * (best - y) - p[1] * np.min(y) * y + (y > 0.5) * 0.1


# ---- products of matrices ------------------------------------------------------------------------------------------

W_HIDDEN = np.random.default_rng(5).normal(size=(4, 3))


@case([0.3, -0.5, 0.8], np.random.default_rng(6).normal(size=16) * 0.5, 2.0, "matmul")
def neural(t, y, p):
    W = p[:12].reshape(3, 4)
    return W @ np.tanh(W_HIDDEN @ y + p[12:]) - y


@case([0.3, -0.5], np.random.default_rng(7).normal(size=6), 1.0, "matmul")
def softplus_layer(t, y, p):
    return np.log1p(np.exp(p[:4].reshape(2, 2).dot(y) + p[4:])) - y


@case([1.0, 0.5, 0.2, 0.1], [0.3, 0.9], 1.0, "matmul")
def riccati(t, y, p):
    X, A, B = y.reshape(2, 2), np.array([[0.0, 1.0], [-1.0, -0.4]]), np.diag([0.0, 1.0])
    return (A.T @ X + X @ A - p[0] * X @ B @ X + p[1] * np.eye(2)).ravel()


@case([0.5, 0.2, 0.3], [1.0, 0.4], 1.0, "matmul")
def quadratic_form(t, y, p):
    T = np.arange(27.0).reshape(3, 3, 3) / 27
    return p[0] * np.einsum("ijk,j,k->i", T, y, y) - p[1] * y * np.inner(y, y)


@case([0.5, 0.2, 0.3, 0.6], [1.0, 0.4], 1.0, "matmul")
def outer_products(t, y, p):
    M = np.outer(y[:2], y[2:]) + p[0] * np.eye(2)
    return np.concatenate([M @ y[:2], np.tensordot(M, y[2:], axes=1) * p[1]]) - y


@case([0.5, 0.1, 0.7], [0.5, 0.3], 1.0, "matmul")
def markov_chain(t, y, p):
    Q = np.array([[-1.0, 0.6, 0.4], [0.5, -1.2, 0.7], [0.3, 0.2, -0.5]])
    return y @ (p[0] * Q) + p[1] * np.vdot(y, y) * (1 / 3 - y)


@case([0.4, 0.3, 0.2], [2.0, 0.7], 1.0, "matmul")
def implicit_step(t, y, p):
    A = np.array([[4.0, -1.0, 0.2], [-1.0, 4.0, -1.0], [0.1, -1.0, 4.0]])
    return np.linalg.solve(A, p[0] * y ** 2 + np.cumsum(y)) - p[1] * y


# ---- tables --------------------------------------------------------------------------------------------------------

HOURS, LIGHT = np.array([0.0, 0.5, 1.0, 1.7, 2.0]), np.array([0.1, 0.9, 1.0, 0.2, 0.4])


@case([0.3, 0.2], [1.0, 0.4], 1.9, "tables")
def light_table(t, y, p):
    return np.array([p[0] * np.interp(t, HOURS, LIGHT) * (1 - y[0]), y[0] - p[1] * y[1]])


@case([0.15, 0.2], [1.0, 0.4], 1.0, "tables")
def rate_table(t, y, p):
    return np.interp(y, [0.0, 0.2, 0.6], [1.0, 0.4, 0.3]) * p[0] - p[1] * y


@case([0.3], [1.0, 2.0, 0.5, 0.7], 1.4, "tables")
def control_in_table(t, y, p):
    return np.interp(t, np.linspace(0, 1.5, 4), p) - y


@case([0.3, 0.4], [1.5], 1.0, "tables")
def clipped_table(t, y, p):
    return [np.interp(p[0] * t, [0.2, 0.8], [0.0, 1.0], left=-0.5, right=2.0) - y[0], y[0] - y[1]]


@case([0.3, 0.4], [0.8], 1.0, "tables")
def table_of_two(t, y, p):
    x = np.interp(y[0], [0, 0.25, 0.5, 1], [0, 0.5, 0.6, 1])
    return np.array([p[0] - x, x * np.interp(t, [0, 0.4], [1, 0.2]) - y[1]])


@case([0.3], [1.0, 0.4], 1.0, "tables")
def steps_table(t, y, p):
    levels = [0.2, 0.7, 0.1]
    u = sum(level * ((t >= 0.3 * k) & (t < 0.3 * (k + 1))) for k, level in enumerate(levels))
    return p[0] * u - p[1] * y


# ---- in other forms ------------------------------------------------------------------------------------------------

def scaled(factor, t, y, p):
    return factor * p[0] * np.cos(y)


case([0.3, 0.5], [0.7], 1.0)(functools.update_wrapper(functools.partial(scaled, 2.0), scaled))


class Oscillator:
    def __init__(self, damping):
        self.damping = damping

    def rhs(self, t, y, p):
        return np.array([y[1], -p[0] * y[0] - self.damping * y[1]])

    def __call__(self, t, y, p):
        return self.rhs(t, y, p)


@case([1.0, 0.2], [4.0], 1.0)
def method_of_an_object(t, y, p):
    return OSCILLATOR.rhs(t, y, p)


OSCILLATOR = Oscillator(0.3)


@case([0.5, 0.3], [1.5, math.pi], 1.0)
def single_precision(t, y, p):
    k = np.float32(0.1)
    return y * k - np.array([1, 2], dtype=np.int32) * p[0] * y ** 2 + np.array([0.3, 0.7], dtype=np.float32) * np.sin(y)


@case([0.5, 0.3, 0.2], [1.5, 0.4], 1.0)
def in_place(t, y, p):
    y = y.copy()
    y += 1
    y[1:] *= p[0]
    view = y[::2]
    view -= 0.5
    return np.asarray(-p[1] * y) * 1.0


@case([0.5, 0.3, 0.2], [1.5, 0.4], 1.0)
def changes_its_argument(t, y, p):
    y[0] *= 2
    p[1] = p[0] + 1
    return -p[1] * y + np.std(y) + np.prod(y)
