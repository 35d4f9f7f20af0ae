"""Models on grids: what is refused; and the C that is written, called without costate.

tests/models/grids.py checks the same models with costate: against differences, and in runs."""
import ctypes
import json
import math
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from codegen.equations import c_file, read
from codegen.real import Refused

from .shipped import ROOT, THOROUGH

COMPILER = os.environ.get("CC", "cc").split()
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-ffp-contract=off"]
OPTIMIZE = "-O1" if THOROUGH else "-O0"       # tests/models/grids.py compiles all of them with -O1 and these warnings

LINE = "size N\ngrid i: N wall\n"
FAULTS = [
    (LINE + "state u[i]\nu' = u\ncost q' = u", "5:11: a running cost of a model on a grid is a sum over its cells"),
    (LINE + "state u[i]\nu' = u\noutput q = t", "5:8: outputs of models on grids are not generated"),
    (LINE + "state u[i]\nu' = u\nmemory m", "5:8: memory variables of models on grids are not generated"),
    (LINE + "state u[i]\nu' = abs(u)\nkinks as events", "3:7: kinks on a grid do not become events"),
    (LINE + "parameter D[i]\nstate u[i] = D[i+1]\nu' = u", "4:14: an initial value depends on parameters of its own"),
    (LINE + "parameter D[i]\nstate u[i]\nboundary u: i low = D\nu' = u", "5:21: a value at a boundary depends on"),
    ("grid i: 0 wall\nstate u[i]\nu' = u", "1:9: the number of cells must be a whole number of at least 1"),
    ("grid i: 2.5 wall\nstate u[i]\nu' = u", "1:9: the number of cells must be a whole number of at least 1"),
]

double_p = ctypes.POINTER(ctypes.c_double)


class Point(ctypes.Structure):
    _fields_ = [("t", ctypes.c_double), ("y", double_p), ("p", double_p), ("yp", double_p), ("m", double_p),
                ("mode", ctypes.c_int)]


class Gradient(ctypes.Structure):
    _fields_ = [(name, double_p) for name in ("t", "y", "p", "yp", "m")]


class Map(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("value", "tangent", "adjoint", "tangent2", "adjoint_tangent",
                                                     "tangents", "adjoints", "prepare", "adjoint_tangent2")]


class Pattern(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("col", ctypes.POINTER(ctypes.c_int)), ("row", ctypes.POINTER(ctypes.c_int))]


class Problem(ctypes.Structure):                # its beginning
    _fields_ = [("n", ctypes.c_int), ("np", ctypes.c_int), ("nq", ctypes.c_int), ("ctx", ctypes.c_void_p), ("rhs", Map),
                ("cost", Map), ("jac", ctypes.c_void_p), ("mass", ctypes.c_void_p),
                ("pattern", ctypes.POINTER(Pattern))]


class Part(ctypes.Structure):
    _fields_ = [("matrix", ctypes.c_void_p), ("pattern", ctypes.POINTER(Pattern)), ("solver", ctypes.c_int),
                ("lines", ctypes.c_void_p), ("points", ctypes.c_int), ("stride", ctypes.c_int),
                ("periodic", ctypes.c_int), ("ctx", ctypes.c_void_p)]


def vector(values):
    return (ctypes.c_double * max(1, len(values)))(*values)


def close(a, b, least=1e-12):
    size = max([abs(v) for v in (*a, *b)] + [1e-30])
    return all(abs(u - v) <= least * size for u, v in zip(a, b))


class Grid:
    """A model on a grid of one size, at a random point, with random directions"""

    def __init__(self, library, name, *sizes):
        self.library, self.name = library, name
        self.grid = ctypes.c_void_p(self.function("new", ctypes.c_void_p)(*sizes))
        self.problem = self.function("problem", ctypes.POINTER(Problem))(self.grid).contents
        numbers = random.Random(5)
        draw = lambda n, low=-1, high=1: [numbers.uniform(low, high) for _ in range(n)]          # noqa: E731
        self.n, self.np, self.nq = self.problem.n, self.problem.np, self.problem.nq
        self.y, self.p = draw(self.n, 0.5, 2), draw(self.np, 0.5, 2)
        self.x = self.point(0.3, self.y, self.p)
        self.directions = [(draw(1)[0], draw(self.n), draw(self.np)) for _ in range(3)]
        self.dx, self.ex, self.fx = (self.point(*d) for d in self.directions)

    def function(self, what, result=None):
        f = getattr(self.library, f"{self.name}_{what}")
        f.restype = result
        return f

    @staticmethod
    def point(t=0.0, y=None, p=None):
        return Point(t, vector(y) if y is not None else None, vector(p) if p is not None else None, None, None, 0)

    def call(self, address, *arguments):
        arguments = [ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments]
        status = ctypes.CFUNCTYPE(ctypes.c_int)(address)(*arguments, ctypes.c_void_p(self.problem.ctx))
        assert status == 0, status

    def forward(self, what, *points, of="rhs"):
        out = vector([math.nan] * (self.n if of == "rhs" else self.nq))
        self.call(getattr(getattr(self.problem, of), what), *points, out)
        return list(out)[:self.n if of == "rhs" else self.nq]

    def backward(self, what, *points, w, wanted="typ", of="rhs"):
        """[t, y.., p..], of what is not wanted 0; to 1, because gradients are added"""
        t, y, p = vector([1.0]), vector([1.0] * self.n), vector([1.0] * self.np)
        g = Gradient(*(v if name in wanted else None for name, v in (("t", t), ("y", y), ("p", p))), None, None)
        self.call(getattr(getattr(self.problem, of), what), *points, vector(w), g)
        return [v - 1 for v in (*t, *list(y)[:self.n], *list(p)[:self.np])]

    def jacobian(self):
        """{(row, column): value} of the pattern"""
        S = self.problem.pattern.contents
        J = vector([math.nan] * S.col[self.n])
        self.call(self.problem.jac, self.x, J)
        return {(S.row[e], c): J[e] for c in range(self.n) for e in range(S.col[c], S.col[c + 1])}

    def parts(self):
        """[{(row, column): value}] of each part of the splitting; what is zero is left out"""
        count = ctypes.c_int()
        parts = self.function("parts", ctypes.POINTER(Part))(self.grid, ctypes.byref(count))
        return [{at: v for at, v in self.part(parts[k]).items() if v} for k in range(count.value)]

    def part(self, a):
        found = {}
        if a.matrix:
            S = a.pattern.contents
            A = vector([0.0] * S.col[self.n])
            self.call(a.matrix, self.x, A)
            return {(S.row[e], c): A[e] for c in range(self.n) for e in range(S.col[c], S.col[c + 1])}
        bands = [vector([0.0] * self.n) for _ in range(3)]
        self.call(a.lines, self.x, *bands)
        for i in range(self.n):
            k = i // a.stride % a.points
            for side, band in zip((-1, 0, 1), bands):
                assert a.periodic or 0 <= k + side < a.points or band[i] == 0, "a value leaves its line"
                at = i, i + ((k + side) % a.points - k) * a.stride
                found[at] = found.get(at, 0) + band[i]
        return found

    def along(self, gradient, direction):
        t, y, p = direction
        return sum(a * b for a, b in zip(gradient, (t, *y, *p)))


@unittest.skipUnless(shutil.which(COMPILER[0]), "there is no C compiler")
class Generated(unittest.TestCase):
    """sizes: of each model, of 2 to 6 cells an axis.  Those of MORE are compiled and tested here only if all are
    requested; tests/models/grids.py always compares the derivatives of all models with differences"""
    MORE = ("shallow_water", "source", "space", "still")
    SIZES = {"line": (6,), "plane": (4, 5), "corner": (3, 4), "walls": (4, 3), "space": (2, 3, 2), "torus": (3,),
             "alone": (), "still": (3,), "modes": (4,), "names": (3, 4), "front": (4,), "source": (5, 4), "heat": (6,),
             "brusselator": (4,), "shallow_water": (5, 6), "exchange": (3, 4), "beam": (6,), "box": (4, 2)}

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.place, cls.libraries = Path(directory.name), {}

    def grid(self, name, *sizes):
        if name not in self.libraries:
            self.libraries[name] = self.compiled(name)
        return Grid(self.libraries[name], name, *(sizes or self.SIZES[name]))

    def compiled(self, name):
        file, = [f for folder in ("models", "tests/models/grids") for f in (ROOT / folder).glob(name + ".eq")]
        code, header, _ = c_file.write(read.read(file), file.name)
        (self.place / f"{name}.c").write_text(code, encoding="utf-8")
        (self.place / f"{name}.h").write_text(header, encoding="utf-8")
        self.assertTrue(all(len(line) <= 120 for line in (code + header).split("\n")), f"{name}: a line is too long")
        command = [*COMPILER, *STRICT, OPTIMIZE, "-shared", "-fPIC", "-I", str(ROOT / "include"),
                   str(self.place / f"{name}.c"), "-o", str(self.place / f"{name}.so"), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return ctypes.CDLL(str(self.place / f"{name}.so"))

    def each(self):
        for name in [x for x in self.SIZES if THOROUGH or x not in self.MORE]:
            with self.subTest(name):
                yield self.grid(name)

    def test_jacobian(self):
        """The pattern is sorted; jac holds the tangents along all states, which are zero outside of the pattern."""
        for g in self.each():
            S = g.problem.pattern.contents
            rows = [list(S.row[S.col[c]:S.col[c + 1]]) for c in range(g.n)]
            self.assertTrue(all(r == sorted(set(r)) for r in rows))
            J = g.jacobian()
            for c in range(g.n):
                unit = g.point(y=[float(k == c) for k in range(g.n)])
                column = g.forward("tangent", g.x, unit)
                self.assertTrue(close([J.get((r, c), 0) for r in range(g.n)], column))

    def test_transposes(self):
        """Weights times a tangent, and the gradient times its direction, in first to third derivatives"""
        for g in self.each():
            for of in ["rhs"] + ["cost"] * (g.nq > 0):
                w = [math.cos(k) for k in range(g.n if of == "rhs" else g.nq)]
                dot = lambda a: sum(u * v for u, v in zip(w, a))           # noqa: B023, E731
                d, e, f = g.directions
                pairs = [(dot(g.forward("tangent", g.x, g.dx, of=of)),
                          g.along(g.backward("adjoint", g.x, w=w, of=of), d)),
                         (dot(g.forward("tangent2", g.x, g.dx, g.ex, of=of)),
                          g.along(g.backward("adjoint_tangent", g.x, g.dx, w=w, of=of), e)),
                         (g.along(g.backward("adjoint_tangent2", g.x, g.dx, g.ex, w=w, of=of), f),
                          g.along(g.backward("adjoint_tangent2", g.x, g.fx, g.dx, w=w, of=of), e))]
                for a, b in pairs:
                    self.assertAlmostEqual(a, b, delta=1e-11 * (1 + abs(a)) * g.n)

    def test_null(self):
        """Gradients that are not wanted are left out; directions that are NULL are zero."""
        for g in self.each():
            w = [math.cos(k) for k in range(g.n)]
            for what, points in (("adjoint", []), ("adjoint_tangent", [g.dx]), ("adjoint_tangent2", [g.dx, g.ex])):
                whole = g.backward(what, g.x, *points, w=w)
                parts = [g.backward(what, g.x, *points, w=w, wanted=one) for one in "typ"]
                self.assertTrue(close(whole, [sum(v) for v in zip(*parts)]))
            t, y, p = g.directions[0]
            no_y, no_p = [0.0] * g.n, [0.0] * g.np
            for less, more in ((g.point(y=y), g.point(0.0, y, no_p)), (g.point(0.0, None, p), g.point(0.0, no_y, p)),
                               (g.point(t), g.point(t, no_y, no_p)), (g.point(), g.point(0.0, no_y, no_p))):
                products = [(g.forward("tangent", g.x, d), g.forward("tangent2", g.x, d, g.ex),
                             g.backward("adjoint_tangent", g.x, d, w=w),
                             g.backward("adjoint_tangent2", g.x, g.ex, d, w=w)) for d in (less, more)]
                for a, b in zip(*products):
                    self.assertTrue(close(a, b))

    def test_side_by_side(self):
        """Two grids of different sizes do not know of each other; results repeat to the bit."""
        small, large = self.grid("plane", 3, 4), self.grid("plane", 6, 7)
        w = [math.cos(k) for k in range(large.n)]
        results = lambda: (large.forward("value", large.x), large.backward("adjoint", large.x, w=w),   # noqa: E731
                           large.jacobian())
        before = results()
        small.forward("value", small.x)
        small.jacobian()
        small.function("free")(small.grid)
        self.assertEqual(before, results())

    def test_sizes(self):
        """Too few cells for the neighbours that are read, and more unknowns than int can count"""
        for name, refused in {"line": [(1,), (0,), (-3,), (2**31 - 1,), (2**30,)], "heat": [(0,)],
                              "plane": [(2, 5), (3, 0), (30000, 30000)], "torus": [(2,), (20000,)],
                              "brusselator": [(2,), (2**31 - 1,)]}.items():
            self.grid(name)
            for sizes in refused:
                self.assertIsNone(getattr(self.libraries[name], f"{name}_new")(*sizes) or None, (name, sizes))

    # ---- the splitting ----

    def test_parts(self):
        """The sum of the parts is f_y, without what is local and depends on states."""
        count = {"corner": 2, "heat": 1, "exchange": 3, "beam": 1, "box": 2, "front": 1, "brusselator": 2}
        reacts = {"beam": {(1, 0): lambda u, v: -2 * u * v + 3, (1, 1): lambda u, v: -u * u},
                  "box": {(0, 0): lambda u, v: -v * v, (0, 1): lambda u, v: -2 * u * v},
                  "front": {(0, 0): lambda u: 1 - 3 * u * u},
                  "brusselator": {(0, 0): lambda u, v: 2 * u * v - 4.4, (0, 1): lambda u, v: u * u,
                                  (1, 0): lambda u, v: 3.4 - 2 * u * v, (1, 1): lambda u, v: -u * u}}
        for name, parts in count.items():
            g = self.grid(name)
            found, J = g.parts(), g.jacobian()
            self.assertEqual(len(found), parts, name)
            nf = 1 if name in ("corner", "heat", "front") else 2
            for (f, other), local in reacts.get(name, {}).items():
                for i in range(f, g.n, nf):                              # layout cells
                    J[i, i - f + other] = J.get((i, i - f + other), 0) - local(*g.y[i - f:i - f + nf])
            size = max(abs(v) for v in J.values())
            for at in {*J, *(at for part in found for at in part)}:
                self.assertAlmostEqual(sum(part.get(at, 0) for part in found), J.get(at, 0), delta=1e-14 * size)

    def test_parts_of_axes(self):
        """Rows of the part of an axis have the sum 0, except where values outside are read; growth is in the first."""
        g = self.grid("corner", 5, 4)
        first, second = g.parts()
        self.assertTrue(all(abs(i - j) == 4 or i == j for i, j in first))
        self.assertTrue(all(i // 4 == j // 4 for i, j in second))
        for part, cells in ((first, range(4, 16)), (second, range(20))):
            for i in cells:
                self.assertAlmostEqual(sum(v for (row, _), v in part.items() if row == i), 0, delta=1e-14)
        g = self.grid("box")
        self.assertAlmostEqual(g.parts()[0][1, 1], 0.7, delta=1e-14)
        blocks = self.grid("exchange").parts()[2]
        self.assertEqual({abs(i - j) for i, j in blocks}, {0, 12})              # layout fields

    # ---- values, by formulas ----

    def test_line(self):
        """line.eq: values in time for u, zero and a wall for v"""
        for n in (2, 3, 6):
            g = self.grid("line", n)
            (D, a, b), c, t = g.p[:3], g.p[3:], 0.3
            u = [a * math.exp(-b * t) + 1, *g.y[:n], a * a * b, a * a * b]         # i stands at i + 1
            v = [0, *g.y[n:], g.y[-1]]
            k = [None, *c, c[-1]]
            du, dv = [], []
            for i in range(1, n + 1):
                du.append(D * (u[i - 1] - 2 * u[i] + u[i + 2]) * u[i] - k[i] * v[i] * (v[i + 1] - v[i - 1]) / 2
                          + math.sin(t) * b)
                dv.append(k[i + 1] * (v[i - 1] - 2 * v[i] + v[i + 1]) - v[i + 1] * u[i - 1] * a + 0.01 * (i - 1)
                          + u[i] * (u[i + 1] - u[i - 1]) / 2 / (1 + v[i] ** 2))
            self.assertTrue(close(g.forward("value", g.x), du + dv))

    def test_plane(self):
        """walls.eq: zero along i, and walls along j, which mirror up to two cells"""
        n, m = 5, 4
        g = self.grid("walls", n, m)
        mirror = lambda j: -1 - j if j < 0 else 2 * m - 1 - j if j >= m else j                # noqa: E731
        u = lambda i, j: g.y[i * m + mirror(j)] if 0 <= i < n else 0                          # noqa: E731
        right = [u(i - 1, j) + u(i + 2, j) + u(i, j - 1) + u(i, j + 2) - 4 * u(i, j) + u(i, j) ** 3
                 for i in range(n) for j in range(m)]
        self.assertTrue(close(g.forward("value", g.x), right))

    def test_torus(self):
        """torus.eq: three axes that wrap"""
        n, m = 3, 4
        g = self.grid("torus", n)
        at = lambda f, i, j, k: g.y[2 * ((i % n * m + j % m) * n + k % n) + f]                # noqa: E731
        (alpha, beta), right = g.p, []
        for i, j, k in ((i, j, k) for i in range(n) for j in range(m) for k in range(n)):
            ways = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
            lap = [sum(at(f, i + a, j + b, k + c) for a, b, c in ways) - 6 * at(f, i, j, k) for f in (0, 1)]
            u, v = at(0, i, j, k), at(1, i, j, k)
            right += [alpha * lap[0] - u * v * v + at(1, i + 1, j - 1, k) + 0.3, beta * lap[1] + u * v * v]
        self.assertTrue(close(g.forward("value", g.x), right))

    def test_values_of_the_file(self):
        """Defaults, initial values, and where quantities are"""
        g = self.grid("plane", 4, 5)
        y, p = vector([math.nan] * g.n), vector([math.nan] * g.np)
        g.function("defaults")(g.grid, p)
        g.function("start")(g.grid, ctypes.c_double(0), p, y)
        index, parameter = g.function("index", ctypes.c_int), g.function("parameter", ctypes.c_int)
        self.assertEqual(p[parameter(g.grid, 0, 0, 0)], 0.2)
        self.assertEqual(p[parameter(g.grid, 1, 0, 0)], 0.4)                    # scalars come first
        self.assertAlmostEqual(p[parameter(g.grid, 2, 3, 4)], 0.9)
        self.assertAlmostEqual(y[index(g.grid, 0, 3, 1)], 1.3)
        self.assertAlmostEqual(y[index(g.grid, 1, 3, 1)], 0.3)
        places = sorted(index(g.grid, f, i, j) for f in range(3) for i in range(4) for j in range(5))
        self.assertEqual(places, list(range(g.n)))


class Text(unittest.TestCase):
    def test_refused(self):
        for text, start in FAULTS:
            with self.subTest(text), self.assertRaises(Refused) as caught:
                c_file.write(read.parse(text, "trial.eq"), "trial.eq")
            self.assertTrue(str(caught.exception).startswith("trial.eq:" + start), caught.exception)

    def test_without_splitting(self):
        """Why a model has none is in NAME.json."""
        plane = "size N\ngrid i: N wall, j: N periodic\nstate u[i,j], v[i,j]\nparameter k = 1\nv' = 0\n"
        for equation, why in (
                ("u' = u[i+1,j]*v", "the coupling of cells in the equation of u depends on states"),
                ("u' = if(t < 1, 1, 2)*u[i,j+1]", "the coupling of cells in the equation of u depends on t"),
                ("mode warm, cold\nu' = if(mode == warm, 1, 2)*u[i,j+1]",
                 "the coupling of cells in the equation of u depends on the mode"),
                ("u' = u[i+1,j-1]", "the equation of u reads u[i+1,j-1], which"),
                ("u' = u[i,j-2]", "the equation of u reads u[i,j-2], which"),
                ("u' = v[i+1,j]", "the equation of u reads v[i+1,j], which"),
                ("u' = -k*u", "its cells are not coupled"), ("u' = k*u[i+1,j]", None)):
            code, header, about = c_file.write(read.parse(plane + equation, "trial.eq"), "trial.eq")
            self.assertEqual("_splitting(" in header, why is None)
            self.assertEqual("parts" in json.loads(about)["functions"], why is None)
            self.assertTrue(json.loads(about).get("no_splitting", "").startswith(why or ""), about)
            self.assertEqual("costate_part" in code, why is None)
            self.assertEqual("There is no splitting for W-methods: " in header, why is not None)
            self.assertIn(why or "trial_splitting(", " ".join(header.split()))
        spread = "size N\ngrid i: N wall, j: N wall\nstate u[i,j], w[i,j]\nw' = u - 2*w\nu' = u[i+1,j] - w"
        for more, blocks in (("", True), (" + u^2", False)):
            code, *_ = c_file.write(read.parse(spread + more, "trial.eq"), "trial.eq")
            self.assertEqual("block_row" in code, blocks)
        bound = "size N\ngrid i: N wall\nstate u[i]\nalgebraic w[i]\nu' = u[i+1]\n0 = w - u\n"
        pressed = 'size N\ngrid i: N wall\nstate u[i]\nfunction f(x) derivatives 0\nu\' = f(u[i+1])\n'
        for model, why in ((bound, "it has constraints"), (pressed, "a function in C has no derivatives")):
            self.assertEqual(json.loads(c_file.write(read.parse(model, "t.eq"), "t.eq")[2])["no_splitting"], why)

    def test_unused_rows(self):
        """What reads fields of parameters alone needs no places of states."""
        for layout in ("cells", "fields"):
            code, *_ = c_file.write(read.parse("size N\ngrid i: N wall\nparameter k[i]\nstate u[i], v[i]\n"
                                               f"layout {layout}\nu' = k*u\nv' = k[i+1]*v[i-1]", "t.eq"), "t.eq")
            self.assertNotIn("rows r", code.split("INLINE void jac_at(")[1].split(")")[0])
            self.assertEqual("rows r" in code.split("INLINE void value_at(")[1].split(")")[0], layout == "fields")

    def test_form_of_gradients(self):
        """Diffusion is gathered, because it is linear; what is dear is not computed once per neighbour."""
        both = "size N\ngrid i: N periodic\nstate u[i], v[i]\n"
        linear = "u' = u[i-1] - 2*u + u[i+1] + v\nv' = v[i-1] - 2*v + v[i+1] - u^3\n"
        costly = "let r = exp(u)*sqrt(1 + v^2)/(1 + u^2)\nu' = r*(u[i-1] + v[i+1])\nv' = u - r*(v[i-1] - v[i+1])^2\n"
        for equations, stores in ((linear, 2), (costly, 5)):
            code, *_ = c_file.write(read.parse(both + equations, "trial.eq"), "trial.eq")
            body = code.split("INLINE void adjoint_at(")[1].split("\n}\n")[0]
            self.assertEqual(body.count("gy["), stores)


if __name__ == "__main__":
    unittest.main()
