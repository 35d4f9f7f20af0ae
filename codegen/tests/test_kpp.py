"""Mechanisms in the format of the Kinetic PreProcessor: sections, includes, species, rate laws, faults."""
import math
import random
import tempfile
import unittest
from pathlib import Path

from codegen.equations import eq_file, kpp
from codegen.equations import read as equations
from codegen.equations.evaluate import evaluate, held
from codegen.real import Refused

from .shipped import ROOT

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


def constants(model):
    return {q.name: model.graph.const(q.value) for q in model.parameters}


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
        self.assertEqual(notes, ["#LOOKAT, #MONITOR: skipped, as equations do not depend on these"])
        self.assertEqual(constants(model)["TEMP"], 298.15)

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
        self.assertIn("species that occur in no reaction were left out: C", notes)

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
        found = constants(model)
        self.assertEqual(found["k_ra"], 0.3)
        self.assertEqual(found["f_2"], 1)
        self.assertTrue(math.isnan(found["photo"]) and math.isnan(found["rate_odd_1_x"]))
        self.assertEqual(rates(model, photo=5.0)[1], 10)
        self.assertIn("no value for photo, rate_odd_1_x: these parameters are NaN, and runs are refused", notes[-1])

    def test_a_rate_of_thousands_of_terms(self):
        model, _ = read(SPECIES + "#EQUATIONS\nA = B : " + " + ".join(["0.5*TEMP"]*3000) + ";")
        self.assertAlmostEqual(rates(model, TEMP=298.15)[0], 1500*298.15, delta=1e-6)


CODE = SPECIES + """#EQUATIONS
A = B : KRO2NO*RO2;
B = A : 2*X;
C = A : J(J_NO2, .FALSE.) + N;
A + C = B : j(j_no2,.false.)*M/FACTOR;
#INITVALUES
A = 1; M = 5;
"""


class InlinedCode(unittest.TestCase):
    def test_plain_assignments(self):
        """sums over species, lines that are continued, comments; INIT before RCONST; each the last one before"""
        model, notes = read(CODE + "  #INLINE F90_INIT\n  TEMP = 270 ! K { \n FACTOR = 4._dp; X = 1; N = 0\n"
                            "#include <x.h>\n  #ENDINLINE\n#INLINE F90_GLOBAL\n REAL(dp) :: KRO2NO, RO2, M, X\n"
                            " REAL(dp), PARAMETER :: BOLTZ(2) = 1, R = 2.0_dp\n#ENDINLINE\n#INLINE F90_RCONST\n"
                            "  RO2 = C(ind_A) + & ! peroxy radicals\n    & C(ind_B)+0.5*C(ind_C)\n"
                            "  KRO2NO = 2.7D-12*EXP(360/TEMP)\n  X = X + R\n  X = 3*X\n#ENDINLINE\n")
        A, B, C = (("y", k) for k in range(3))
        at = values(model) | {A: 2.0, B: 3.0, C: 4.0, ("p", self.place(model, "rate_J_J_NO2_FALSE")): 7.0}
        found = evaluate(model.graph, [r.k for r in model.reactions], at)
        self.assertAlmostEqual(found[0] / (2.7e-12 * math.exp(360 / 270) * 7), 1, delta=1e-14)
        self.assertEqual(found[1:], [2 * 3 * (1 + 2), 7, 7 * 5 / 4])
        self.assertEqual({k: v for k, v in constants(model).items() if v == v and k[:2] not in ("f_", "k_")},
                         {"TEMP": 270, "X": 1, "R": 2, "N": 0, "M": 5, "FACTOR": 4})
        self.assertEqual(len(notes), 1, notes)

    @staticmethod
    def place(model, name):
        return [q.name for q in model.parameters].index(name)

    def test_other_languages(self):
        for language, code in (("C", "/* TEMP = 1; */ double X = 2, K[3];\nTEMP = 270; // K\nX = pow(X, 2.0);\n"),
                               ("F77", "C      TEMP = 1\n      TEMP = 200\n     & + 70\n      X = 2.D0*\n     1  2\n"),
                               ("MATLAB", "global TEMP X\n TEMP = 270; % TEMP = 1\n X = 2*...\n 2;\n")):
            model, notes = read(f"{SPECIES}#EQUATIONS\nA = B : X*TEMP;\n#INLINE {language}_INIT\n{code}#ENDINLINE")
            self.assertEqual(rates(model), [4 * 270], language)
            self.assertEqual([note for note in notes if "not read" in note], [], language)

    def test_the_language_of_the_mechanism(self):
        text = "#INLINE F90_INIT\nTEMP = 1\n#ENDINLINE\n#INLINE C_INIT\nTEMP = 2;\n#ENDINLINE\n"
        for language, wanted in (("", 1), ("C", 2), ("Fortran90", 1), ("matlab", 1)):
            language = language and f"#LANGUAGE {language}\n"
            self.assertEqual(constants(read(language + SPECIES + "#EQUATIONS\nA = B : 2*TEMP;\n" + text)[0])["TEMP"],
                             wanted)

    def test_functions_of_fortran(self):
        model, notes = read(SPECIES + "#EQUATIONS\nA = B : usr(TEMP, 2.0);\nB = A : two(3.) + odd(1.);\n"
                            "#INLINE F90_RATES\nREAL(kind=dp) FUNCTION usr( temp, c_m )\n"
                            "  REAL(kind=dp), INTENT(IN) :: temp, c_m\n  REAL(kind=dp) :: k0, k2\n"
                            "  REAL(kind=dp), parameter :: boltz = 1.5_dp\n  k0 = c_m*EXP(-100._dp/temp)\n"
                            "  k2 = boltz\n  k0 = k0/(1 + k0/k2)\n  usr = k0 + k2\nEND FUNCTION usr\n"
                            "FUNCTION two(x) RESULT(r)\n  REAL :: x, r\n  r = 2*x\nEND FUNCTION\n"
                            "REAL FUNCTION odd(x)\n IF (x > 0) THEN\n odd = 1\n ELSE\n odd = 2\n ENDIF\n"
                            "END FUNCTION odd\n#ENDINLINE\n#INLINE F90_INIT\nTEMP = 300\n#ENDINLINE")
        k0 = 2 * math.exp(-100 / 300)
        found = rates(model, rate_odd_1=5.0)
        self.assertAlmostEqual(found[0], k0 / (1 + k0 / 1.5) + 1.5, delta=1e-14)
        self.assertEqual(found[1], 11)
        self.assertIn("REAL FUNCTION odd(x) ... (7 lines)", notes[1])

    def test_what_is_not_read_has_no_value(self):
        """branches, loops, calls, arrays: named, and what they may change is to be set"""
        model, notes = read(SPECIES + "#EQUATIONS\nA = B : K1;\nB = C : K2;\nC = A : K3*TEMP;\nA = C : 1.0*K4;\n"
                            "#INLINE F90_RCONST\n  K1 = 1\n  IF (TEMP > 3) THEN\n    K1 = 2\n  END IF\n"
                            "  IF (TEMP > 4) K2 = 3\n  K3 = foo(1:2)\n  K4 = 1/2\n  CALL more(K1)\n#ENDINLINE\n"
                            "#INLINE F90_RCONST_USE\n  USE constants\n#ENDINLINE")
        unset = {name for name, value in constants(model).items() if math.isnan(value)}
        self.assertEqual(unset, {"K1", "K2", "K3", "K4", "TEMP"})
        for text in ("mech.def:12: IF (TEMP > 3) THEN ... (3 lines)", "mech.def:15: IF (TEMP > 4) K2 = 3",
                     "mech.def:16: k3 = foo(1:2)", "mech.def:17: k4 = 1/2", "mech.def:18: CALL more(K1)",
                     "mech.def:21: USE constants"):
            self.assertIn(text, notes[0])

    def test_modules(self):
        """USE NAME: constants, functions and subroutines without arguments of its file, and of modules that it uses"""
        first = ("! rates\nMODULE first\n  USE Second, ONLY: base\n  IMPLICIT NONE\n"
                 "  REAL(dp), PARAMETER :: half = 0.5\n  REAL(dp) :: M, k1\nCONTAINS\n"
                 "  SUBROUTINE set_all()\n    k1 = half*base(TEMP) &\n     + RO2\n"
                 "  END SUBROUTINE set_all\n  SUBROUTINE other(x)\n    k2 = x\n  END SUBROUTINE other\n"
                 "  FUNCTION hard(x) RESULT(k)\n    IF (x > 0) THEN\n      k = unseen\n    END IF\n"
                 "  END FUNCTION hard\nEND MODULE first\n")
        second = "module second\ncontains\n  real function base(T)\n    base = 2*exp(-100/T)\n  end function\n" \
            "end module\n"
        text = SPECIES + "#EQUATIONS\nA = B : k1;\nB = C : base(200.0);\nC = A : hard(1.0);\nA = C : k2;\n" \
            "#INLINE F90_RCONST_USE\n  USE first\n  USE third\n#ENDINLINE\n#INLINE F90_RCONST\n" \
            "  RO2 = C(ind_A) + C(ind_B)\n  CALL set_all\n  CALL other(1)\n#ENDINLINE"
        model, notes = read(text, first_F90=first, second_f90=second)
        self.assertEqual({name for name, value in constants(model).items() if math.isnan(value)},
                         {"TEMP", "k2", "rate_hard_1_0"})
        found = rates(model, TEMP=300.0, A=0.25, B=4.0, k2=7.0, rate_hard_1_0=9.0)
        self.assertAlmostEqual(found[0], math.exp(-100/300) + 4.25, delta=1e-15)
        self.assertEqual(found[1:], [2*math.exp(-0.5), 9, 7])
        self.assertIn("mech.def:12: USE third", notes[0])
        self.assertIn("mech.def:17: CALL other(1)", notes[0])
        self.assertNotIn("USE first", notes[0])

    def test_a_function_leaves_no_parameter_behind(self):
        """of a function that is read, nothing is to be set; of one that is not, only its value is"""
        model, _ = read(SPECIES + "#EQUATIONS\nA = B : right(1.5);\nB = C : wrong(2.5);\n#INLINE F90_RATES\n"
                        "REAL FUNCTION right(x)\n  s = SIGN(2.0, x - 3)\n  right = s*x\nEND FUNCTION\n"
                        "REAL FUNCTION wrong(x)\n  y = unset*x\n  wrong = sum(y(1:2))\nEND FUNCTION\n#ENDINLINE")
        self.assertEqual([q.name for q in model.parameters], ["k_1", "rate_wrong_2_5", "f_2"])
        self.assertEqual([q.index for q in model.parameters], [0, 1, 2])
        self.assertEqual(rates(model, f_2=2.0, rate_wrong_2_5=4.0), [-3, 8])

    def test_sign_of_fortran(self):
        """the modulus of the first argument with the sign of the second one"""
        model, _ = read(SPECIES + "#EQUATIONS\nA = B : DSIGN(-2.0, TEMP);\nB = C : SIGN(TEMP, -1.0);")
        self.assertEqual(rates(model, TEMP=3.0), [2, -3])
        self.assertEqual(rates(model, TEMP=-3.0), [-2, -3])

    def test_texts_missing_products_and_signs(self):
        """J('A -> B') is a rate to be set; a reaction may have no products, and a coefficient a sign of its own"""
        model, _ = read(SPECIES + "#EQUATIONS\nA = : J('A -> B; C:D', 2)*2;\nB = A + -0.5 C : 3;")
        self.assertEqual([[r.left, r.net] for r in model.reactions],
                         [[[(0, 1)], [(0, -1)]], [[(1, 1)], [(0, 1), (1, -1), (2, -0.5)]]])
        self.assertEqual([q.name for q in model.parameters], ["rate_J_A_B_C_D_2", "f_1", "k_2"])
        with self.assertRaisesRegex(Refused, "expected a species, found '='"):
            read(SPECIES + "#EQUATIONS\n = A : 1;")

    def test_initial_concentrations(self):
        """C(ind_A) before the run is a concentration, without CFACTOR; during it, it is not read"""
        model, notes = read(SPECIES + "#EQUATIONS\nA + B = C : 1;\n#INITVALUES\nCFACTOR = 10; ALL_SPEC = 2;\n"
                            "#INLINE F90_INIT\nC(ind_A) = 3\nVAR(ind_B) = 2*4.0\n#ENDINLINE\n"
                            "#INLINE F90_RCONST\nC(ind_C) = 5\n#ENDINLINE")
        self.assertEqual([model.graph.const(q.value) for q in model.states], [3, 8, 20])
        self.assertIn("c(ind_c) = 5", notes[0])


class EquationFile(unittest.TestCase):
    def test_it_is_the_mechanism(self):
        """the same states, parameters, values, rates and equations, to the last bit"""
        for name, text in (("smog", None), ("code", CODE + "#INLINE F90_RCONST\n RO2 = C(ind_A) + C(ind_B)\n"
                                            " KRO2NO = MAX(2.7D-12*EXP(360/TEMP), 1.0)**1.5\n X = -SUN*C(ind_C)\n"
                                            "#ENDINLINE"),
                           ("hard", "#DEFVAR\nE = I; if = I; t = I; sin = I; x_ = I; X1 = I; k1 = I; nan = I; U = I;\n"
                            "#EQUATIONS\nE + if = t - 0.5sin : 3.;\n1.5 sin = 2 sin : SUN*TIME*2.;\n"
                            "E - x_ = X1 : TEMP;\nif = PROD : -1E-300;\nk1 = 1.2k1 + 0.1 nan : TEMP**(-TEMP);\n"
                            "nan = PROD : 1.;\nhv = E : " + "+".join(f"{k}.*EXP({k}/TEMP)*TEMP" for k in range(40))
                            + ";")):
            model = kpp.read(SMOG)[0] if text is None else read(text)[0]
            again = equations.parse(eq_file.write(model, "mech.def"), "mech.eq")
            self.assertEqual([model.graph.const(q.value) for q in model.states],
                             [again.graph.const(q.value) for q in again.states])
            self.assertEqual([repr(model.graph.const(q.value)) for q in model.parameters],
                             [repr(again.graph.const(q.value)) for q in again.parameters])
            for t in (0.0, 4e4):
                set_ = {("p", k): 1.0 + 0.1 * k for k in range(len(model.parameters))}
                set_ |= {("y", k): 0.3 + 0.07 * k for k in range(len(model.states))}
                self.assertEqual(evaluate(model.graph, model.kinetics(), values(model, t) | set_),
                                 evaluate(again.graph, again.kinetics(), held(again, values(again, t) | set_)), name)

    def test_names_are_those_of_the_mechanism(self):
        text = eq_file.write(read(CODE + "#INLINE F90_RCONST\n RO2 = C(ind_A) + C(ind_B)\n KRO2NO = TEMP*2.\n"
                                  "#ENDINLINE")[0], "mech.def")
        for line in ("let RO2 = A + B", "A -> B : KRO2NO*RO2*f_1", 'parameter TEMP = nan "temperature in K, to be set"',
                     'parameter rate_J_J_NO2_FALSE = nan "to be set: J(J_NO2, .FALSE.)"', "state A = 1"):
            self.assertIn(line + "\n", text)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 120)


class RateLaws(unittest.TestCase):
    def test_identical_unknown_laws_are_one_parameter(self):
        model, _ = read(SPECIES + "#EQUATIONS\nA + hv = B : PHOT(3);\nB = C : PHOT( 3 )*2;\nC = A : phot(4);")
        self.assertEqual([q.name for q in model.parameters], ["rate_PHOT_3", "f_1", "f_2", "rate_phot_4", "f_3"])

    def test_rate_constants_of_other_reactions(self):
        model, _ = read(SPECIES + "#EQUATIONS\nA = B : 3;\nB = C : 2*RCONST(1);")
        self.assertEqual(rates(model), [3, 6])

    def test_laws_with_arguments_of_their_own(self):
        """those of WRF-Chem have T and M last, and ARR2 another sign; k3rd_jpl has M first"""
        T, M = 280.0, 2e19
        k0, k1 = 1e-30 * (300 / T) ** 3 * M, 3e-11 * (300 / T)
        r = k0 / k1
        troe = k0 / (1 + r) * 0.6 ** (1 / (1 + math.log10(r) ** 2))
        nu = 0.75 - 1.27 * math.log10(0.5)
        for text, wanted in (
                ("ARR(2., 300., 1.5, TEMP)", 2 * math.exp(-300 / T) * (T / 300) ** 1.5),
                ("ARR2(2., 300., TEMP)", 2 * math.exp(-300 / T)), ("THERMAL_T2(2., 300., TEMP)",
                                                                   T * T * 2 * math.exp(-300 / T)),
                ("TROE(1e-30, 3., 3e-11, 1., TEMP, 2e19)", troe), ("k3rd_jpl(2e19, 1e-30, 3., 3e-11, 1., 0.6)", troe),
                ("TROEE(5., 10., 1e-30, 3., 3e-11, 1., TEMP, 2e19)", 5 * math.exp(-10 / T) * troe),
                ("k3rd_iupac(2e19, 1e-30, 3., 3e-11, 1., 0.5)",
                 k0 / (1 + r) * 0.5 ** (1 / (1 + (math.log10(r) / nu) ** 2))),
                ("F2(1e-30, 0., -3., 3e-11, 0., -1., 0.5, 2., TEMP, 2e19)",
                 k0 / (1 + r) * 0.5 ** (1 / (1 + (math.log10(r) / 2) ** 2))),
                ("FALL(1e-30, 0., -3., 3e-11, 0., -1., 0.6, TEMP, 2e19)", troe),
                ("EP2(1., 10., 2., 20., 3e-19, 30., TEMP, 2e19)", math.exp(-10 / T) + 6 * math.exp(-30 / T) / (
                    1 + 3 * math.exp(-30 / T) / math.exp(-20 / T))),
                ("EP3(1., 10., 3e-19, 30., TEMP, 2e19)", math.exp(-10 / T) + 6 * math.exp(-30 / T))):
            self.assertAlmostEqual(self.rate(text) / wanted, 1, delta=1e-13, msg=text)

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
                (SPECIES + "#EQUATIONS\nA = B : ARR(1, 2);", "6:9: ARR has 3 or 4 arguments, not 2"),
                (SPECIES + "#EQUATIONS\nA = B : 1/3;", "6:10: the quotient of two whole numbers is rounded in Fortran"),
                (SPECIES + "#EQUATIONS\nA = B : RCONST(1);", "6:9: RCONST(1) is not the rate constant of a reaction b"),
                (SPECIES + "#EQUATIONS\nA = B : C(ind_D);", "6:9: D is not a species of this mechanism"),
                (SPECIES + "#EQUATIONS\n1e999 A = B : 1;", "6:1: 1e999 is too large a number"),
                (SPECIES + "#EQUATIONS\nA = B : " + "(" * 150 + "1" + ")" * 150 + ";", "6:109: too many parentheses"),
                (SPECIES + "#EQUATIONS\nA = B : 1;\n#INITVALUES\nD = 1;", "8:1: D is not declared in #DEFVAR or #DEF"),
                (SPECIES + "#INLINE F90_INIT\nTEMP = 1\n#EQUATIONS\nA = B : 1;", "5:1: #INLINE without #ENDINLINE"),
                (SPECIES + "#EQUATIONS\nA = B : (1 + 2;", "6:15: expected ')'"),
                (SPECIES + "#EQUATIONS\nA = B : 1/0;", "6:10: division by zero"),
                (SPECIES + "#INITVALUES\nA = TEMP;\n#EQUATIONS\nA = B : 1;", "6:1: the initial value of A must be a"),
                ("#INCLUDE none.spc\n", "1:10: the file none.spc does not exist"),
                ("#MODEL none\n", "1:8: there is no none.def")):
            with self.subTest(text=text[-30:]), self.assertRaises(Refused) as caught:
                read(text)
            said = str(caught.exception)
            self.assertIn("mech.def:" + wanted, said)

    def test_accidents(self):
        """whatever happens to a mechanism, it is read, or refused in a sentence with line and column"""
        whole = CODE + "#INLINE F90_INIT\nTEMP = 270; X = 1/2\n#ENDINLINE\n#INLINE F90_RATES\n" \
            "REAL FUNCTION f(x)\n f = EXP(x)**2\nEND FUNCTION\n#ENDINLINE\n#INLINE C_INIT\nif (a) { x = 1; }\n" \
            "#ENDINLINE\n#EQUATIONS\n<R 1> A + hv = 2B : f(TEMP)*ARR(1., 2., 3.)*C(ind_A) + RCONST(1);"
        pieces = "( ) [ ] { } ; : = + - * / ** , < > # & ! % . ' \" 1e999 -1 C(ind_ TEMP SUN \n \0 é 1/2 IF( END"
        counts = {"read": 0, "refused": 0}
        for number in range(150):
            draw, text = random.Random(number), whole
            for _ in range(draw.randint(1, 3)):
                at = draw.randrange(len(text))
                to = at + draw.choice((0, 1, 1, 5, 30))
                text = text[:at] + draw.choice((draw.choice(pieces.split(" ")), text[at:to] * 2, "")) + text[to:]
            try:
                model, _ = read(text)
                eq_file.write(model, "mech.def")
                counts["read"] += 1
            except Refused as fault:
                self.assertRegex(str(fault), r"mech\.def:(\d+:\d+: [^\n]{8,}\n  .*\n +\^$| there is no reaction)",
                                 number)
                counts["refused"] += 1
        self.assertGreater(min(counts.values()), 25, counts)

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
