"""test_tracing.py - traced functions have the values of the functions, and the derivatives that mpmath finds."""
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir), HERE]

import mpmath                                   # noqa: E402
import numpy as np                              # noqa: E402

import costate                                  # noqa: E402
from cases import fails, run_all                       # noqa: E402
from costate._costate import ffi                # noqa: E402
from costate._library import pointer            # noqa: E402
from costate import _generator as codegen             # noqa: E402
from costate.tracing.elementwise import FORMULAS, OF_TRUTHS, OTHER_NAME, SAME_NAME, TRUTHS   # noqa: E402
from costate.tracing.evaluate import evaluated  # noqa: E402
from costate.tracing.numbers import Tracer, apply, as_node      # noqa: E402
from costate.tracing.refusals import Untraceable           # noqa: E402
from costate.tracing.trace import Shape, once, traced                 # noqa: E402
from traced_functions import CASES              # noqa: E402

warnings.simplefilter("error", costate.NotTraced)
mpmath.mp.dps = 60
STEP = mpmath.mpf(10) ** -15                    # of central differences with 60 digits: errors of 1e-30
VALUES, FIRST, SECOND, RUNS = 1e-14, 1e-12, 1e-12, 1e-10
POINTS = 3


class Big:
    """A number of mpmath as an entry of NumPy's arrays"""

    def __init__(self, value):
        self.value = value.value if isinstance(value, Big) else mpmath.mpf(value)

    def conjugate(self):
        return self


def big(value):
    return value.value if isinstance(value, Big) else mpmath.mpf(float(value))


def operator(name):
    def made(a, b):
        if isinstance(b, np.ndarray):
            return NotImplemented
        return as_big(getattr(operator_module, name)(a.value, big(b)))

    def turned(a, b):
        return as_big(getattr(operator_module, name)(big(b), a.value))
    return made, turned


def as_big(value):
    return value if isinstance(value, bool) else Big(value)


import operator as operator_module              # noqa: E402

for name_ in ("add", "sub", "mul", "truediv", "pow", "mod"):
    straight_, turned_ = operator(name_)
    setattr(Big, f"__{name_}__", straight_)
    setattr(Big, f"__r{name_}__", turned_)
for name_ in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Big, f"__{name_}__", operator(name_)[0])
Big.__neg__ = lambda a: Big(-a.value)
Big.__abs__ = lambda a: Big(abs(a.value))
Big.__hash__ = None
SAME = "exp log sqrt sin cos tan sinh cosh tanh expm1 log1p cbrt log10 floor".split()
OF_MPMATH = {**{name: name for name in SAME}, "arcsinh": "asinh", "arccos": "acos"}
for name_, of_ in OF_MPMATH.items():
    setattr(Big, name_, lambda a, of_=of_: Big(getattr(mpmath, of_)(a.value)))
Big.__floor__ = Big.floor
Big.log2 = lambda a: Big(mpmath.log(a.value, 2))
Big.exp2 = lambda a: Big(mpmath.mpf(2) ** a.value)
Big.arctan2 = lambda a, b: Big(mpmath.atan2(a.value, big(b)))
Big.hypot = lambda a, b: Big(mpmath.hypot(a.value, big(b)))


def of_nodes(g, roots, value_of):
    """Values of nodes with many digits: for what NumPy does not do with objects, as np.interp"""
    functions = {"fabs": abs, "log2": lambda x: mpmath.log(x, 2), **{name: getattr(mpmath, name) for name in (
        *SAME, "asin", "acos", "atan", "asinh", "ceil", "atan2", "hypot")}}
    holds = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
    known = {}
    for a in g.order(roots):
        key, x = g.nodes[a], [known[b] for b in g.children(a)]
        kind = key[0]
        if kind == "c":
            known[a] = mpmath.mpf(key[1])
        elif kind == "v":
            known[a] = value_of(key)
        elif kind == "arr":
            known[a] = x
        elif kind == "el":
            known[a] = x[0][key[1]]
        elif kind == "mv":
            (rows, columns, turned), (M, v) = key[1], x
            known[a] = [sum(M[i * columns + j] * v[i] for i in range(rows)) for j in range(columns)] if turned else \
                [sum(M[i * columns + j] * v[j] for j in range(columns)) for i in range(rows)]
        elif kind in ("f", "g"):
            known[a] = functions[key[1]](*x)
        elif kind == "cmp":
            known[a] = getattr(operator_module, holds[key[1]])(*x)
        elif kind in ("and", "or", "not"):
            known[a] = {"and": all, "or": any, "not": lambda x: not x[0]}[kind](x)
        elif kind == "sel":
            known[a] = x[1] if x[0] else x[2]
        elif kind == "neg":
            known[a] = -x[0]
        else:
            known[a] = {"+": operator_module.add, "-": operator_module.sub, "*": operator_module.mul,
                        "/": operator_module.truediv, "pow": operator_module.pow}[kind](*x)
    return [known[r] for r in roots]


class Compiled:
    """The maps of a traced function at a point."""

    def __init__(self, case):
        self.problem = costate.Problem(case.f, rtol=1e-8, atol=1e-10, trace=True)
        self.problem.built(0.0, case.y0, case.p, case.T)
        self.trace = self.problem._use.traces[case.y0.size, case.p.size]
        self.P, self.n, self.np = self.trace.engine.now().problem, case.y0.size, case.p.size
        self.keep = []

    def point(self, t, y, p, relations=True):
        x = ffi.new("costate_point *")
        y, p = (np.ascontiguousarray(a, dtype=float) for a in (y, p))
        values = ffi.new("int[]", max(self.P.nrelations, 1))
        x.t, x.y, x.p, x.relation = float(t), pointer(y), pointer(p), values
        self.keep += [y, p, values, x]
        guard = np.empty(1)
        for k in range(self.P.nrelations if relations else 0):
            self.P.relation[k].guard.value(x, pointer(guard), self.P.relation[k].ctx)
            of = self.P.relation[k]
            values[k] = int(np.floor(guard[0])) if of.whole else int(guard[0] > 0) - int(of.sign and guard[0] < 0)
        return x

    def value(self, x):
        out = np.empty(self.n)
        assert self.P.rhs.value(x, pointer(out), self.P.ctx) == 0
        return out

    def tangent(self, x, *d):
        out = np.empty(self.n)
        assert self.P.rhs.tangent(x, self.point(*d, False), pointer(out), self.P.ctx) == 0
        return out

    def tangent2(self, x, d, e):
        out = np.empty(self.n)
        assert self.P.rhs.tangent2(x, self.point(*d, False), self.point(*e, False), pointer(out), self.P.ctx) == 0
        return out

    def gradient(self, call):
        g, parts = ffi.new("costate_gradient *"), [np.zeros(1), np.zeros(self.n), np.zeros(self.np)]
        g.t, g.y, g.p = pointer(parts[0]), pointer(parts[1]), pointer(parts[2]) if self.np else ffi.NULL
        assert call(g) == 0
        return parts

    def adjoint(self, x, w):
        return self.gradient(lambda g: self.P.rhs.adjoint(x, pointer(w), g, self.P.ctx))

    def adjoint_tangent(self, x, d, w):
        return self.gradient(lambda g: self.P.rhs.adjoint_tangent(x, self.point(*d, False), pointer(w), g, self.P.ctx))


def exactly(case, compiled):
    """f with 60 digits: itself, for objects, or its nodes where NumPy does not compute with these"""
    def direct(t, y, p):
        return [big(v) for v in np.ravel(np.asarray(case.f(Big(t), objects(y), objects(p)), dtype=object))]

    def nodes(t, y, p):
        parts = {"t": [t], "y": y, "p": p}
        return of_nodes(compiled.trace.graph, compiled.trace.functions.rhs, lambda key: parts[key[1]][key[2]])
    try:
        direct(mpmath.mpf(0.25), [mpmath.mpf(v) for v in case.y0], [mpmath.mpf(v) for v in case.p])
        return direct, True
    except (TypeError, AttributeError, ValueError):
        return nodes, False


def objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = [Big(v) for v in values]
    return out


def moved(at, d, s):
    return tuple(a + s * e if np.ndim(e) == 0 else [x + s * u for x, u in zip(a, e)] for a, e in zip(at, d))


def compare(case, what, found, wanted, size, tol):
    gap = np.abs(np.asarray(found) - np.asarray(wanted)) / size
    assert np.all(gap <= tol), f"{case.name}: {what}: {np.max(gap):.1e} of its terms: {found} {wanted}"


def check_products(case):
    compiled = Compiled(case)
    f, direct = exactly(case, compiled)
    random = np.random.default_rng(3)
    g, roots = compiled.trace.graph, compiled.trace.functions.rhs
    for k in range(POINTS):
        t = case.T * random.uniform(0.05, 0.95)
        y, p = (a * random.uniform(0.8, 1.2, a.shape) for a in (case.y0, case.p))
        x = compiled.point(t, y, p)
        _, bounds = evaluated(g, roots, compiled.trace.shape.value_of((t, y, p)))
        size = np.array(bounds) / 2.0 ** -53 + 1e-300             # the sum of all terms
        exact = (mpmath.mpf(t), [mpmath.mpf(v) for v in y], [mpmath.mpf(v) for v in p])
        value = np.array([float(v) for v in f(*exact)])
        compare(case, "value against f", compiled.value(x), np.ravel(case.f(t, y.copy(), p.copy())), size, VALUES)
        compare(case, "value", compiled.value(x), value, size, VALUES)
        d, e = ((random.normal(), random.normal(size=y.size) * np.abs(y), random.normal(size=p.size) * np.abs(p))
                for _ in range(2))

        def along(d, s):
            return f(*moved(exact, d, s))
        first = [(a - b) / (2 * STEP) for a, b in zip(along(d, STEP), along(d, -STEP))]
        first = np.array([float(v) for v in first])
        size_1 = size + np.abs(first)
        compare(case, "tangent", compiled.tangent(x, *d), first, size_1, FIRST)
        w = random.normal(size=y.size)
        parts = compiled.adjoint(x, w)
        compare(case, "adjoint", sum(np.sum(a * b) for a, b in zip(parts, d)), w @ first, np.sum(np.abs(w) * size_1),
                FIRST)
        both = [(a - b - c + d_) / (4 * STEP ** 2) for a, b, c, d_ in zip(
            *(f(*moved(moved(exact, d, i * STEP), e, j * STEP)) for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1))))]
        second = np.array([float(v) for v in both])
        size_2 = size_1 + np.abs(second)
        compare(case, "second tangent", compiled.tangent2(x, d, e), second, size_2, SECOND)
        parts = compiled.adjoint_tangent(x, d, w)
        compare(case, "tangent of the adjoint", sum(np.sum(a * b) for a, b in zip(parts, e)), w @ second,
                np.sum(np.abs(w) * size_2), SECOND)
    return direct


def test_products():
    direct = sum(check_products(case) for case in CASES)
    assert len(CASES) >= 60 and direct >= 50, f"{direct} of {len(CASES)} functions are computed by mpmath themselves"


def test_elementwise_functions():
    """each has NumPy's values on both sides of its conditions, and at them"""
    random = np.random.default_rng(2)
    assert {*SAME_NAME, *OTHER_NAME.values()} == codegen.equations("nodes").FUNCTIONS
    for name, formula in {**FORMULAS, **OF_TRUTHS}.items():
        real = getattr(np, name, None) or of_scipy(name)
        for k in range(40 if real else 0):
            count = formula.__code__.co_argcount - 1
            at = random.uniform(-3, 3, count) if k < 30 else random.integers(-1, 2, count).astype(float)
            if name in ("deg2rad", "radians", "rad2deg", "degrees", "logaddexp", "arctanh", "arcsin", "arccos"):
                at = at / 4
            check_function(name, real, at)


def check_function(name, real, at):
    tracer = Tracer(codegen.equations("graph").Graph())
    inputs = [tracer.variable("y", k) for k in range(len(at))]
    found = apply(name, *inputs)
    g, node = tracer.graph, as_node(tracer, found)
    with np.errstate(all="ignore"):
        wanted = float(real(*at))
    (value,), (bound,) = evaluated(g, [node], lambda key: at[key[2]])
    assert found.truth == (name in TRUTHS), name
    if not np.isfinite(wanted) or name in ("remainder", "fmod", "floor_divide") and 0 in at:
        return
    gap = abs(value - wanted)
    assert gap <= 8 * bound + 1e-15 * abs(wanted), f"{name}{tuple(at)}: {value} {wanted}"


def of_scipy(name):
    try:
        import scipy.special
    except ImportError:
        return None
    return getattr(scipy.special, name)


A = np.array([[0.0, 2.0, 1.0, 0.3], [1.0, 0.0, 0.0, 0.2], [3.0, 1.0, -1.0, 0.0], [0.1, 0.2, 0.3, 0.4]])
PLACES = np.array([0.0, 0.3, 0.7, 1.5])


def scattered(t, y, p):
    out = np.zeros_like(y)
    np.add.at(out, [0, 1, 1, 3], y)
    np.subtract.at(out, 3, p[0])
    np.multiply.at(out, [2, 3], p[1:3])
    return out


ARRAYS = [
    lambda t, y, p: np.linalg.solve(A, y), lambda t, y, p: np.linalg.solve(A, np.outer(y, p)).ravel(),
    lambda t, y, p: np.interp(y, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0], left=-1.0, right=7.0),
    lambda t, y, p: np.interp(y, [0.0, 1.0], p[:2]), lambda t, y, p: np.interp([0.2, 0.7], [0.0, 1.0], y[:2]),
    lambda t, y, p: np.piecewise(y, [y > 0.2, y > 0.6], [lambda x: 2 * x, 5.0, -1.0]),
    lambda t, y, p: np.select([y > 0.6, y > 0.2], [2 * y, p], 9.0),
    lambda t, y, p: np.var(np.outer(y, p), axis=1) + np.outer(y, p).std(axis=0, ddof=1),
    lambda t, y, p: np.mean(np.outer(y, p), axis=0) + np.outer(y, p).sum(axis=1, keepdims=True).ravel(),
    lambda t, y, p: np.max(np.outer(y, p), axis=0) - np.outer(y, p).min(axis=1), lambda t, y, p: np.ptp(y) * y,
    lambda t, y, p: np.einsum("ij,j", A, y) + np.einsum("ii->i", np.outer(y, p)) + np.einsum("i,jk,k->i", y, A, p),
    lambda t, y, p: np.einsum("ij,jk,kl->il", A, np.outer(y, p), A)[1], lambda t, y, p: np.average(y, weights=p) * y,
    lambda t, y, p: np.linalg.norm(np.outer(y, p), axis=0) + np.linalg.norm(y, 1) + np.linalg.norm(p, np.inf),
    lambda t, y, p: np.add.accumulate(y) + np.multiply.outer(y, p)[0] + np.maximum.reduce(np.stack([y, p])),
    lambda t, y, p: np.polyval(y, p) + np.polyval([1.0, 0.5], y), lambda t, y, p: np.any(y > 0.5) * y + np.all(p > 0),
    lambda t, y, p: np.clip(y, 0.3, p) + np.clip(y, None, 0.6) + y.clip(0.4), lambda t, y, p: y % 0.3 + p // 0.2,
    lambda t, y, p: np.where((y > 0.5) ^ (p > 0.5), y, ~(y > 0.2) | (p < 0.1)),
    lambda t, y, p: np.sinc(y) + np.fix(3 * p),
    lambda t, y, p: np.gradient(y) + np.gradient(p, 0.1, edge_order=2), lambda t, y, p: np.gradient(y, PLACES),
    lambda t, y, p: np.gradient(np.outer(y, p), 0.5, PLACES)[1][2], lambda t, y, p: np.vander(y, 3) @ p[:3],
    lambda t, y, p: np.gradient(np.outer(y, p), axis=0)[1] + np.gradient(y, PLACES, edge_order=2),
    lambda t, y, p: np.linalg.det(np.outer(y, p) + A) * y + np.linalg.det(y.reshape(2, 2)), scattered,
    lambda t, y, p: np.minimum.reduce(np.stack([y, p])) + np.add.reduce(np.outer(y, p), axis=1) + np.add.reduce(y),
    lambda t, y, p: np.maximum.accumulate(y) + np.trapz(y, PLACES) * p,
]
LAYERS = np.random.default_rng(8).normal(size=(2, 5, 4))
PRODUCTS = [
    lambda t, y, p: LAYERS[0].T @ (LAYERS[0] @ y), lambda t, y, p: (LAYERS @ y).ravel(),
    lambda t, y, p: y @ A + p @ A.T,
    lambda t, y, p: np.matmul(LAYERS, np.outer(y, p))[1, 2],
    lambda t, y, p: np.matmul(np.stack([y, p]), LAYERS[0].T)[1],
    lambda t, y, p: np.matmul(y, np.swapaxes(LAYERS, 1, 2))[1], lambda t, y, p: np.outer(y, p) @ np.outer(p, y) @ y,
    lambda t, y, p: np.dot(A, y) + np.dot(y, 2.0) + np.dot(y, p), lambda t, y, p: np.dot(LAYERS, y)[1],
    lambda t, y, p: np.dot(np.outer(y, p), np.stack([A, A.T]))[1, 0], lambda t, y, p: np.inner(LAYERS, y)[0],
    lambda t, y, p: np.inner(np.outer(y, p), A)[:, 2], lambda t, y, p: np.vdot(np.outer(y, p), A) * y,
    lambda t, y, p: np.tensordot(LAYERS, np.outer(y, p), 1)[1, 2], lambda t, y, p: np.tensordot(y, p, 0)[1],
    lambda t, y, p: np.tensordot(A, np.outer(y, p), ([0, 1], [1, 0])) * y, lambda t, y, p: np.einsum("i,j", y, p)[0],
    lambda t, y, p: np.tensordot(LAYERS, y, (-1, 0)).ravel(), lambda t, y, p: np.einsum("kij,j,k->i", LAYERS, y, p[:2]),
    lambda t, y, p: np.einsum("bij,bj->bi", LAYERS, np.stack([y, p])).ravel(),
    lambda t, y, p: np.einsum("ij,ij->i", A, np.outer(y, p)) + np.einsum("ij,kj->ik", A, np.outer(y, p))[1],
    lambda t, y, p: np.einsum("ij,jk->k", A, np.outer(y, p)) + np.einsum("ij,k->k", A, y),
    lambda t, y, p: np.dot([[1.0, 2.0], [3.0, 4.0]], y[:2]).sum() * y, lambda t, y, p: np.zeros((4, 0)) @ y[:0] + y,
    lambda t, y, p: A @ np.where(y > 0.5, y, p) + (y > 0.4) @ A,
]


def test_functions_of_arrays():
    """have NumPy's values, also at the places of tables and where conditions change"""
    random = np.random.default_rng(4)
    points = [(0.3, random.uniform(-0.2, 1.2, 4), random.uniform(0.01, 1, 4)) for _ in range(20)]
    points += [(0.3, np.array([0.0, 0.5, 1.0, 1.5]), np.array([0.25, 0.5, 0.75, 1.0]))]
    for f in [*ARRAYS, *PRODUCTS]:
        graph, rows = codegen.equations("graph").Graph(), np.size(f(*points[0]))
        traced(graph, f, Shape(4, 4, 0), rows, points)          # raises where a value differs


def test_products_of_matrices_are_nodes():
    """where a matrix has more than twelve entries; numbers whose types do not fit are NumPy's error"""
    def kinds(f):
        graph, at = codegen.equations("graph").Graph(), (0.3, np.linspace(0.1, 1, 4), np.linspace(0.2, 0.9, 4))
        traced(graph, f, Shape(4, 4, 0), np.size(f(*at)), [at])
        return {key[0] for key in graph.nodes}
    for f in PRODUCTS[:4]:
        assert "mv" in kinds(f)
    assert "mv" not in kinds(lambda t, y, p: A[:3] @ y)
    for f in (lambda t, y, p: A[:, :3] @ y, lambda t, y, p: np.einsum("ij,j", A, y[:3]),
              lambda t, y, p: np.tensordot(A, y, ([0, 1], [0])), lambda t, y, p: np.matmul(y, t)):
        fails(ValueError, "", f, 0.3, np.ones(4), np.ones(4))
        fails(Untraceable, "ValueError", kinds_of_error, f)


def kinds_of_error(f):
    once(codegen.equations("graph").Graph(), f, Shape(4, 4, 0), 4, None, None)


def test_kinds():
    counts = {kind: sum(case.kind == kind for case in CASES) for kind in ("where", "matmul", "tables")}
    assert counts["where"] >= 12 and counts["matmul"] >= 8 and counts["tables"] >= 6, counts


def test_runs():
    """The gradient of a run is its tangents; where callbacks have complex steps, both runs have the same gradient"""
    compared = 0
    for case in CASES:
        method = dict(method="radau2a5", rtol=1e-7, atol=1e-9)
        run = costate.Problem(case.f, trace=True, **method).integrate((0, case.T), case.y0, case.p)
        assert run.derivatives == "exact"
        w, dy0, dp = np.ones(case.y0.size), np.cos(np.arange(case.y0.size)), np.sin(1 + np.arange(case.p.size))
        by_y, by_p = run.adjoint(w)
        product, tangent = by_y @ dy0 + by_p @ dp, w @ run.tangent(dy0, dp)
        size = np.abs(by_y * dy0).sum() + np.abs(by_p * dp).sum()
        assert abs(product - tangent) <= RUNS * size, f"{case.name}: {product} {tangent}"
        if case.kind in ("where", "tables") or case.name in ("stommel", "robot_arm"):
            continue
        other = costate.Problem(case.f, trace=False, **method).integrate((0, case.T), case.y0, case.p)
        if len(run.steps[0]) != len(other.steps[0]) or other.derivatives != "complex step":
            continue
        compared += 1
        gap = max(np.max(np.abs(a - b)) for a, b in zip(other.adjoint(w), (by_y, by_p)))
        most = max(np.max(np.abs(by_y)), np.max(np.abs(by_p)))
        assert gap <= RUNS * most, f"{case.name}: {gap / most:.1e}"
    assert compared >= 30, compared


if __name__ == "__main__":
    run_all(globals())
