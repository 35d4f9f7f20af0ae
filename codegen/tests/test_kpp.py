"""Mechanisms in the format of the Kinetic PreProcessor: sections, includes, species, rate laws, faults."""
import math
import tempfile
import unittest
from pathlib import Path

from codegen.equations import kpp
from codegen.real import Refused

from .shipped import ROOT
from .test_graph import evaluate

SMOG = Path(ROOT) / "models" / "smog" / "smog.def"
SPECIES = "#DEFVAR\nA = IGNORE; B = IGNORE; C = IGNORE;\n#DEFFIX\nM = IGNORE;\n"


def read(text, **others):
    """(model, notes) of a file with this text, and further files beside it"""
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        for name, content in others.items():
            Path(place, name.replace("_", ".", 1)).write_text(content, encoding="utf-8")
        file = Path(place, "mech.def")
        file.write_text(text, encoding="utf-8")
        return kpp.read(file)


def values(model, t=0.0, **changed):
    """Those of all variables at the start"""
    out = {("p", q.index): model.graph.const(q.value) for q in model.parameters}
    out |= {("y", q.index): model.graph.const(q.value) for q in model.states}
    names = {q.name: ("p", q.index) for q in model.parameters} | {q.name: ("y", q.index) for q in model.states}
    return out | {("t", 0): t} | {names[name]: value for name, value in changed.items()}


def rates(model, t=0.0, **changed):
    return evaluate(model.graph, [r.k for r in model.reactions], values(model, t, **changed))


class Mechanism(unittest.TestCase):
    def test_the_mechanism_of_the_repository(self):
        model, notes = kpp.read(SMOG)
        self.assertEqual((len(model.states), len(model.reactions)), (13, 23))
        self.assertEqual([q.name for q in model.states[:4]], ["NO", "NO2", "O3", "O"])
        self.assertEqual(model.graph.const(model.states[2].value), 0.03 * 2.46e13)
        self.assertEqual(notes, ["#LOOKAT was skipped", "#MONITOR was skipped"])

    def test_net_changes(self):
        model, _ = read(SPECIES + "#EQUATIONS\n<1> A + B = 2A + .5 C - B : 3;\n2C = PROD : 1;\nhv = A : 2;\n"
                        "A + M = m : 5;\n#INITVALUES\nM = 2;")
        self.assertEqual([(r.left, r.net) for r in model.reactions],
                         [([(0, 1.0), (1, 1.0)], [(0, 1.0), (1, -2.0), (2, 0.5)]), ([(2, 2.0)], [(2, -2.0)]),
                          ([], [(0, 1.0)]), ([(0, 1.0)], [(0, -1.0)])])
        self.assertEqual(rates(model), [3, 1, 2, 10])               # the last one: 5 times M

    def test_names_ignore_case(self):
        model, _ = read("#DEFVAR\nNo2 = IGNORE;\n#EQUATIONS\nNO2 = no2 : K1;\n")
        self.assertEqual([q.name for q in model.states], ["No2"])

    def test_includes_and_inlined_code(self):
        model, notes = read("#INCLUDE atoms\n#INCLUDE s.spc\n#INLINE F90_INIT\n x = 1; #DEFVAR Z = Z;\n#ENDINLINE\n"
                            "#EQUATIONS\nA = B : 1; { B = A : 2; }\n// A = C : 1;\n", s_spc=SPECIES)
        self.assertEqual(len(model.reactions), 1)
        self.assertIn("#INLINE was skipped", notes)
        self.assertIn("the species C occurs in no reaction and was left out", notes)

    def test_set_fixed(self):
        model, _ = read(SPECIES + "#SETFIX B;\n#EQUATIONS\nA + B = C : 1;\n#INITVALUES\nFIX_SPEC = 7;")
        self.assertEqual([q.name for q in model.states], ["A", "C"])
        self.assertEqual(rates(model), [7])

    def test_initial_values(self):
        model, _ = read(SPECIES + "#EQUATIONS\nA + B = C : 1;\n#INITVALUES\nCFACTOR = 10; A = 2; VAR_SPEC = 0.5;")
        self.assertEqual([model.graph.const(q.value) for q in model.states], [20, 5, 5])

    def test_parameters_of_rates(self):
        """a number is k_LABEL, an expression has the factor f_LABEL, other names become parameters with a note"""
        model, notes = read(SPECIES + "#EQUATIONS\n<r a> A = B : 3.e-1_dp;\nB = C : 2.D0*photo;\nC = A : odd(1, x);")
        found = {q.name: model.graph.const(q.value) for q in model.parameters}
        self.assertEqual(found["k_ra"], 0.3)
        self.assertEqual(found["f_2"], 1)
        self.assertEqual(found["photo"], 0)
        self.assertEqual(rates(model, photo=5.0)[1], 10)
        self.assertTrue(any("the rate law odd is not known" in note for note in notes), notes)

    def test_a_rate_of_thousands_of_terms(self):
        model, _ = read(SPECIES + "#EQUATIONS\nA = B : " + " + ".join(["0.5*TEMP"]*3000) + ";")
        self.assertAlmostEqual(rates(model)[0], 1500*298.15, delta=1e-6)


class RateLaws(unittest.TestCase):
    def rate(self, text, t=0.0, T=280.0, cfactor=""):
        model, _ = read(SPECIES + f"#EQUATIONS\nA = B : {text} + 0*TEMP + 1e-300*TEMP;\n#INITVALUES\n{cfactor}")
        return rates(model, t, TEMP=T)[0]

    def test_formulas(self):
        T, C = 280.0, 2e13
        arr = lambda a, b, c: a * math.exp(-b / T) * (T / 300) ** c            # noqa: E731
        k0, k1 = arr(1e-30, 10, -3) * C * 1e6, arr(3e-11, 20, -1)
        k3 = arr(5e-32, 30, 0) * C * 1e6
        for text, wanted in (
                ("ARR(2., 300., 1.5)", arr(2, 300, 1.5)), ("ARR_abc(2., 300., 1.5)", arr(2, 300, 1.5)),
                ("ARR_ab(2., 300.)", arr(2, 300, 0)), ("ARR_ac(2., 1.5)", arr(2, 0, 1.5)),
                ("ARR2(2., 300.)", 2 * math.exp(300 / T)),
                ("EP2(1e-14, -460., 2e-12, -100., 5e-32, 30.)",
                 arr(1e-14, -460, 0) + k3 / (1 + k3 / arr(2e-12, -100, 0))),
                ("EP3(1e-13, 5., 2e-33, -40.)", arr(1e-13, 5, 0) + arr(2e-33, -40, 0) * 1e6 * C),
                ("FALL(1e-30, 10., -3., 3e-11, 20., -1., 0.6)",
                 k0 / (1 + k0 / k1) * 0.6 ** (1 / (1 + math.log10(k0 / k1) ** 2))),
                ("2.*EXP(-100./TEMP)*(TEMP/300.)**2", 2 * math.exp(-100 / T) * (T / 300) ** 2),
                ("MAX(1., MIN(3., 2.))", 2), ("LOG10(100.) + ABS(-1.) + SQRT(4.)", 5)):
            self.assertAlmostEqual(self.rate(text, cfactor="CFACTOR = 2e13;") / wanted, 1, delta=1e-13, msg=text)

    def test_sun(self):
        """0 at night, 1 at noon, the same on both sides of it, each day"""
        for hour, wanted in ((0, 0), (4.4, 0), (12, 1), (19.6, 0), (36, 1)):
            self.assertAlmostEqual(self.rate("SUN", t=3600.0 * hour), wanted, delta=1e-12)
        for hours in (1.0, 3.0, 7.0):
            s = 2 * hours / 15
            wanted = (1 + math.cos(math.pi * s * s)) / 2
            self.assertAlmostEqual(self.rate("SUN", t=3600 * (12 + hours)), wanted, delta=1e-12)
            self.assertAlmostEqual(self.rate("SUN", t=3600 * (12 - hours)), wanted, delta=1e-12)


class Faults(unittest.TestCase):
    def test_places_and_sentences(self):
        for text, wanted in (
                (SPECIES + "#EQUATIONS\nA + D = B : 1;", "6:5: D is not declared in #DEFVAR or #DEFFIX"),
                (SPECIES + "#EQUATIONS\nA = B;", "6:6: expected + or ':', found the end of the line"),
                (SPECIES + "#EQUATIONS\nA = B : ;", "6:9: expected a rate constant"),
                (SPECIES + "#EQUATIONS\nA = B : ARR(1, 2);", "6:9: ARR has 3 arguments, not 2"),
                (SPECIES + "#EQUATIONS\nA = B : (1 + 2;", "6:15: expected ')'"),
                (SPECIES + "#EQUATIONS\nA = B : 1/0;", "6:10: division by zero"),
                (SPECIES + "#INITVALUES\nA = TEMP;\n#EQUATIONS\nA = B : 1;", "6:1: the initial value of A must be a"),
                ("#INCLUDE none.spc\n", "1:10: the file none.spc does not exist"),
                ("#MODEL none\n", "1:8: there is no none.def")):
            with self.subTest(text=text[-30:]), self.assertRaises(Refused) as caught:
                read(text)
            said = str(caught.exception)
            self.assertIn("mech.def:" + wanted, said)

    def test_without_reactions(self):
        with self.assertRaises(Refused) as caught:
            read(SPECIES)
        self.assertIn("there is no reaction", str(caught.exception))

    def test_files_that_include_each_other(self):
        with self.assertRaises(Refused) as caught:
            read("#INCLUDE mech.def\n")
        self.assertIn("more than 10 levels deep", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
