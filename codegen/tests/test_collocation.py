"""Methods by their nodes: published nodes and weights, printed tableaux, what a boundary value problem reads."""
import unittest
from decimal import Decimal

from codegen import collocation, emit, report
from codegen.linalg import apply, transpose
from codegen.real import EXACT, ONE, ZERO

from . import shipped

# On [-1, 1], the last digit rounded.  Gauss: Abramowitz, Stegun, Handbook of Mathematical Functions, table 25.4, to 15
# digits; all of them: J. Burkardt, QUADRULE, legendre_set, radau_set (with the end at the left, as Radau IA),
# lobatto_set.
PUBLISHED = {
    "gauss1": (("0", "2"),),
    "gauss2": (("0.577350269189625764509148780502", "1"),),
    "gauss4": (("0.339981043584856264802665759103", "0.652145154862546142626936050778"),
               ("0.861136311594052575223946488893", "0.347854845137453857373063949222")),
    "gauss5": (("0", "0.568888888888888888888888888889"),
               ("0.538469310105683091036314420700", "0.478628670499366468041291514836"),
               ("0.906179845938663992797626878299", "0.236926885056189087514264040720")),
    "radau2a4": (("-1", "0.125"),
                 ("-0.575318923521694112050483779752", "0.657688639960119487888578442146"),
                 ("0.181066271118530578270147495862", "0.776386937686343761560464613780"),
                 ("0.822824080974592105208907712461", "0.440924422353536750550956944074")),
    "radau2a7": (("-1", "0.0408163265306122448979591836735"),
                 ("-0.853891342639482229703747931639", "0.239227489225312405787077480770"),
                 ("-0.538467724060109001833766720231", "0.380949873644231153805938347876"),
                 ("-0.117343037543100264162786683611", "0.447109829014566469499348953642"),
                 ("0.326030619437691401805894055838", "0.424703779005955608398308039150"),
                 ("0.703842800663031416300046295008", "0.318204231467301481744870434470"),
                 ("0.941367145680430216055899446174", "0.148988471112020635866497560418")),
    "radau1a2": (("-1", "0.5"), ("0.333333333333333333333333333333", "1.5")),
    "lobatto3a2": (("1", "1"),),
    "lobatto3a3": (("0", "1.333333333333333333333333333333"), ("1", "0.333333333333333333333333333333")),
    "lobatto3a4": (("0.447213595499957939281834733746", "0.833333333333333333333333333333"),
                   ("1", "0.166666666666666666666666666667")),
    "lobatto3a5": (("0", "0.711111111111111111111111111111"),
                   ("0.654653670707977143798292456247", "0.544444444444444444444444444444"),
                   ("1", "0.1"))}
PUBLISHED |= {f"lobatto3c{s}": PUBLISHED[f"lobatto3a{s}"] for s in (2, 4, 5)}
DIGITS = Decimal("1e-29")
NAMES = sorted(path.stem for path in shipped.FILES if "nodes" in shipped.load(path).keys)


def on_unit_interval(name):
    """(c, b), ascending, of the published nodes and weights"""
    rows = [(Decimal(x), Decimal(w)) for x, w in PUBLISHED[name]]
    if name.startswith("radau2a"):
        rows = [(-x, w) for x, w in rows]
    elif not name.startswith("radau"):
        rows += [(-x, w) for x, w in rows if x]
    return sorted(((1 + x) / 2, w / 2) for x, w in rows)


class Collocation(unittest.TestCase):
    def close(self, xs, ys, bound=EXACT):
        for x, y in zip(xs, ys, strict=True):
            self.assertLess(abs(x - y), bound)

    def test_published(self):
        for name in PUBLISHED:
            self.assertIn("nodes", shipped.load(name).keys)
            c, b = zip(*on_unit_interval(name))
            self.close(shipped.method(name).c, c, DIGITS)
            self.close(shipped.method(name).b, b, DIGITS)

    def test_tableaux_that_are_printed(self):
        for name, kind, s in (("gauss3", "gauss", 3), ("radau2a1", "radau", 1), ("radau2a2", "radau", 2),
                              ("radau2a", "radau", 3), ("radau2a5", "radau", 5), ("radau1a", "radau1a", 3),
                              ("lobatto3c", "lobatto3c", 3)):
            m, (A, b, c) = shipped.method(name), collocation.by_kind(kind, s)
            self.close(m.c, c)
            self.close(m.b, b)
            for row, derived in zip(m.A, A, strict=True):
                self.close(row, derived)

    def test_gauss_of_two_stages(self):
        """Solving ODEs II, table IV.5.1"""
        r, m = Decimal(3).sqrt() / 6, shipped.method("gauss2")
        self.close(m.A[0] + m.A[1], [ONE / 4, ONE / 4 - r, ONE / 4 + r, ONE / 4])

    def test_radau_1a_and_lobatto_3c(self):
        """Solving ODEs II, tables IV.5.3, IV.5.11, IV.5.12; of four stages: nodepy, LobattoIIIC4, too"""
        r, four = Decimal(5).sqrt(), shipped.method("lobatto3c4").A
        self.close(sum(shipped.method("radau1a2").A, []), [ONE / 4, -ONE / 4, ONE / 4, 5 * ONE / 12])
        self.close(sum(shipped.method("lobatto3c2").A, []), [x / 2 for x in (ONE, -ONE, ONE, ONE)])
        self.close(sum(four, []), [x / 60 for x in (
            5 * ONE, -5 * r, 5 * r, -5 * ONE,
            5 * ONE, 15 * ONE, 10 - 7 * r, r,
            5 * ONE, 10 + 7 * r, 15 * ONE, -r,
            5 * ONE, 25 * ONE, 25 * ONE, 5 * ONE)])

    def test_simplifying_assumptions(self):
        """Those that A is not made from, Solving ODEs II, IV.5: Radau IA has C(s-1), Lobatto IIIC D(s-1), a_sj = b_j"""
        for s in range(2, 8):
            A, b, c = collocation.by_kind("radau1a", s)
            for k in range(1, s):
                self.close(apply(A, [collocation.power(x, k - 1) for x in c]), [x ** k / k for x in c])
            A, b, c = collocation.by_kind("lobatto3c", s)
            self.close(A[-1], b)
            for k in range(1, s):
                self.close(apply(transpose(A), [w * collocation.power(x, k - 1) for w, x in zip(b, c)]),
                           [w * (1 - x ** k) / k for w, x in zip(b, c)])

    def test_radau_1a_of_one_stage(self):
        """Its node is 0, but its row 1: the stage is no value at its node, and y' = f(t) would be seen at t alone."""
        c = collocation.nodes("radau1a", 1)
        self.assertEqual((c, collocation.by_columns([ONE], c)), ([0], [[1]]))

    def test_lobatto_3a(self):
        """Solving ODEs II, tables IV.5.7, IV.5.8; of five stages: BoundaryValueDiffEq.jl, LobattoIIIa5"""
        r, q = Decimal(5).sqrt(), Decimal(21).sqrt()
        self.close(shipped.method("lobatto3a3").A[1], [ONE * 5 / 24, ONE / 3, -ONE / 24])
        four = shipped.method("lobatto3a4").A
        self.close(four[1], [x / 120 for x in (11 + r, 25 - r, 25 - 13 * r, r - 1)])
        self.close(four[2], [x / 120 for x in (11 - r, 25 + 13 * r, 25 + r, -r - 1)])
        five = shipped.method("lobatto3a5").A
        self.close(five[1], [(119 + 3 * q) / 1960, (343 - 9 * q) / 2520, (392 - 96 * q) / 2205, (343 - 69 * q) / 2520,
                             (3 * q - 21) / 1960])
        self.close(five[2], [ONE * 13 / 320, (392 + 105 * q) / 2880, ONE * 8 / 45, (392 - 105 * q) / 2880,
                             ONE * 3 / 320])
        self.close(five[3], [(119 - 3 * q) / 1960, (343 + 69 * q) / 2520, (392 + 96 * q) / 2205, (343 + 9 * q) / 2520,
                             (-3 * q - 21) / 1960])

    def test_for_boundary_values(self):
        for s in (2, 3, 4, 5):
            m = shipped.method(f"lobatto3a{s}")
            self.assertEqual((m.s, m.table.order, m.dense, m.degree, m.embedded, m.block), (s, 2 * s - 2, s, s, 0, 0))
            self.assertEqual((m.A[0], m.A[-1], m.d, m.c[0], m.c[-1]), ([ZERO] * s, m.b, m.b, 0, 1))
            self.assertEqual((m.W, m.T, m.e, m.real, m.pairs), (None, None, None, [], []))
            self.assertEqual((m.properties, abs(m.r_infinity)), ({"A-stable", "stiffly-accurate", "fsal"}, 1))
            self.assertIn(".family = COSTATE_COLLOCATION", emit.descriptor(m))
            self.assertIn("integrals of the Lagrange polynomials", report.report(m))

    def test_dense_output_passes_the_stages(self):
        """u(c_i) = y + h sum_j a_ij K_j, and u' is K_i there"""
        for name in NAMES:
            m = shipped.method(name)
            if collocation.KINDS[m.table.nodes].other:
                continue
            rows = m.D                                       # firk: of Z = h A K
            if m.table.family == "firk":
                rows = transpose([apply(transpose(m.A), row) for row in transpose(m.D)])
            for i, c in enumerate(m.c):
                powers = [c ** k if k else ONE for k in range(m.degree + 1)]
                self.close([sum(x * y for x, y in zip(row, powers[1:])) for row in rows], m.A[i])
                self.close([sum(k * x * y for k, (x, y) in enumerate(zip(row, powers), 1)) for row in rows],
                           [ONE if i == j else ZERO for j in range(m.s)])


if __name__ == "__main__":
    unittest.main()
