"""Units: texts, what is compared, what is not given."""
import unittest

from codegen.equations import read
from codegen.equations.explain import explain
from codegen.equations.units import ONE, NoUnit, unit
from codegen.real import Refused

SAME = [("mg/L", "g/m^3"), ("J", "kg m^2/s^2"), ("1/h", "h^-1"), ("1/h", "1/(60 min)"), ("cm3", "mL"),
        ("cm^-3", "1/mL"),
        ("mM", "mol/m3"), ("umol/(g min)", "µmol g-1 min**-1"), ("mg/L/h", "mg/(L h)"), ("%", "10 ppb/ppb * 0.001"),
        ("kg·m/s^2", "N"), ("V A", "W"), ("H2O/s", "H2O s^-1"), ("1", "-"), ("rad", "1"), ("L^0.5", "L^0.25 L^0.25"),
        ("Ohm", "V/A"), ("hPa", "100 Pa"), ("dam", "10 m"), ("cells_of_a/d", "cells_of_a/day"), ("F", "C/V"),
        ("S", "1/Ohm"), ("T", "kg/(A s2)"), ("1e6 eV", "MeV"), ("cal", "4.184 J"), ("kDa", "1000 Da"), ("week", "7 d"),
        ("yr", "365.25 d"), ("atm", "1.01325 bar"), ("deg", "1 deg"), ("ppm", "1e-6"), ("l", "L"), ("cd", "1 cd"),
        ("kBq", "1000/s"), ("ukat", "1e-6 mol/s"), ("Gy", "J/kg"), ("mSv", "1e-3 Gy"), ("Wb", "T m2"), ("lx", "lm/m2")]
DIFFERENT = [("mg", "g"), ("mg/L", "mg"), ("s", "min"), ("h", "H"), ("cells", "cell"), ("m", "mm"), ("%", "1"),
             ("K", "k"), ("x2^3", "x^2")]
NO_UNITS = [("mg//L", "a factor is missing before /"), ("(mg", "is not closed"), ("mg)", "a parenthesis too many"),
            ("°C", "is not a unit"), ("mg/", "missing at the end"), ("a, b", "is not a unit"), ("()", "at the end"),
            ("m^(1/0)", "power 1/0, which is out of range"), ("Pm^400", "out of range"), ("mg^300", "out of range"),
            ("0 m", "the factor 0")]


class Texts(unittest.TestCase):
    def test_same(self):
        for a, b in SAME:
            self.assertTrue(unit(a).same(unit(b)), (a, b))
            self.assertTrue(unit(str(unit(a))).same(unit(a)), a)

    def test_different(self):
        for a, b in DIFFERENT:
            self.assertFalse(unit(a).same(unit(b)), (a, b))

    def test_no_units(self):
        for text, reason in NO_UNITS:
            with self.assertRaises(NoUnit) as found:
                unit(text)
            self.assertIn(reason, str(found.exception))

    def test_products(self):
        self.assertEqual(str(unit("mg")/unit("L")*unit("1/h")), "mg/L/h")
        self.assertEqual(str(unit("mg")/unit("mg")), "1")
        self.assertTrue((unit("mg")/unit("mg")).same(ONE))


HEAD = "unit check on {h}\nparameter k = 1 {1/h}, K = 2 {mg/L}, V = 3 {L}, n = 2, w = 3 {1}, F = 2 {mg/h}\n" \
    "state x = 1 {mg}, c {mg/L}, z\nz' = 0\n"
MM = "state A {mM}, B {mM}\nparameter r = 1 {1/h}, q = 1 {1/mM/h}\nx' = F\nc' = 0\n"
# (statements, "LINE:COLUMN: the beginning of the sentence", or nothing)
CASES = [
    ("x' = -k*x\nc' = F/V - k*c", ""),
    ("x' = -x\nc' = 1", "5:1: the left side has the unit mg/h, the right side mg\n"),
    ("x' = k*x + c\nc' = 1", "5:10: the terms of this sum have the units mg/h and mg/L"),
    ("x' = k*x - w*F - c\nc' = 1", "5:16: the terms of this sum have the units mg/h and mg/L"),
    ("x' = F*exp(-k*t)\nc' = k*c^2/(K + c)", ""),
    ("x' = F*exp(-k)\nc' = 1", "5:8: the argument of exp has the unit 1/h, and should have none"),
    ("x' = F*w^n*w^2\nc' = log(x)", "6:6: the argument of log has the unit mg"),
    ("x' = F*log10(3)*exp(w)\nc' = 1", ""),
    # exponents that are parameters: not known
    ("x' = F\nc' = k*c*c^n/(K^n + c^n)", ""),
    ("x' = F\nc' = k*sqrt(c^2 + K^2)", ""),
    ("x' = F*cbrt(x^3)/x*sqrt(4)\nc' = k*c^-2*c^3", ""),
    ("x' = F\nc' = k*sqrt(c + K)", "6:1: the left side has the unit mg/L/h, the right side mg^(1/2)/L^(1/2)/h"),
    ("x' = F*pow(t*k, n)\nc' = k*pow(c, 3)/K^2", ""),
    ("x' = F\nc' = k*pow(c, 3)", "6:1: the left side"),
    ("x' = F*2^(k*t)\nc' = k*c*2^w*pow(2, n)", ""),
    ("x' = F*2^t\nc' = 0", "5:10: this exponent has the unit h, and should have none"),
    ("x' = F*w^-t\nc' = 0", "5:10: this exponent has the unit h"),
    ("x' = F\nc' = k*pow(c, K)", "6:15: this exponent has the unit mg/L"),
    ("let f(a) = w^a\nx' = F*f(t)\nc' = 0", "5:14: this exponent has the unit h"),
    # conditions
    ("x' = F\nc' = if(c > x, 1, 2)", "6:11: mg/L is compared with mg"),
    ("x' = F\nc' = if(not (c > K and t < 3 or x > c), 1, 2)", "6:35: mg is compared with mg/L"),
    ("x' = F\nc' = if(c > K, k*c, k*K)", ""),
    ("x' = F\nc' = if(c > K, k*c, K)", "6:6: one value has the unit mg/L/h, the other mg/L"),
    ("x' = F\nc' = piecewise(k*c, c > K, 0, c > 3, k*x)", "6:6: one value"),
    ("mode a, b\nx' = if(mode == a, F, x)\nc' = 0", "6:6: one value has the unit mg/h, the other mg"),
    ("x' = F\nc' = k*min(c, K, 3)", ""),
    ("x' = F\nc' = k*min(c, 3, V)", "6:8: the arguments of min have the units mg/L and L"),
    ("x' = abs(F)*sign(c)*heaviside(t - 3)*atan2(x, x)\nc' = k*mod(c, K)*floor(w)", ""),
    ("x' = F*atan2(x, c)\nc' = 0", "5:8: the arguments of atan2"),
    # names and macros
    ("let a = c/K\nlet f(a, b) = a*b/(1 + b)\nx' = F*a\nc' = f(k, c)", "8:1: the left side has the unit mg/L/h, the "
     "right side 1/h"),
    ("let f(a, b) = a + b\nx' = F\nc' = k*f(c, K) + k*f(K, c)", ""),
    ("let f(a, b) = a + b\nx' = F\nc' = k*f(c, x)", "5:17: the terms of this sum have the units mg/L and mg"),
    ("let d = c + x\nx' = F\nc' = d", "5:11: the terms"),
    # events
    ("x' = F\nc' = 0\nevent e at 3, 1/k\n    x += F", "8:10: x has the unit mg, this mg/h"),
    ("x' = F\nc' = 0\nevent e at 3, 1/k\n    x += 2", ""),
    ("x' = F\nc' = 0\nevent e at 1 every V until 9\n    x += 1", "7:20: t has the unit h, this time L"),
    ("x' = F\nc' = 0\nevent e when c - x rises\n    x := 0", "7:16: the terms of this sum have the units mg/L and mg"),
    ("mode a, b\nmemory m = K\nx' = F\nc' = 0\nevent e when c - K rises\n    mode := b", ""),
    # outputs, costs, initial values
    ("x' = F\nc' = 0\noutput o = x/V {g/m^3}", ""),
    ("x' = F\nc' = 0\noutput o = x/V {g}", "7:13: o has the unit g, this mg/L"),
    ("x' = F\nc' = 0\ncost q' = c {mg h/L}", ""),
    ("x' = F\nc' = 0\ncost q' = c {mg}", "7:11: q' has the unit mg/h, this mg/L"),
    ("state u = V {mg}\nx' = F\nc' = 0\nu' = 0", "5:11: u has the unit mg, this L"),
    # tables: of their values
    ("table a linear (0, K), (1, 3)\nx' = F\nc' = k*a(t)", ""),
    ("table a linear (0, 1), (1, 3)\nx' = F\nc' = k*a(t)", ""),
    ("table a linear (0, K), (1, V)\nx' = F\nc' = 0*a(t)", "5:28: the values of this table have the units mg/L and L"),
    ("table a linear (0, K), (1, 3)\nx' = F + a(t)\nc' = 0", "6:8: the terms"),
    # reactions, mass matrices, vectors
    (MM + "A -> B : r\nA + A -> B : q\n2 A -> B : q\nA -> (w) B : r\n0 -> A : 3", ""),
    (MM + "parameter P = 2 {1}, s = 1 {mM/h}\nP + A -> B : r\nP -> A : s", ""),
    (MM + "2 A -> B : r", "9:3: A' has the unit mM/h, and changes in mM^2/h by this reaction"),
    ("state A {mM}, B {uM}\nparameter r = 1 {1/h}\nx' = F\nc' = 0\nA -> B : r", "9:6: B' has the unit uM/h, and "
     "changes in mM/h by this reaction"),
    (MM + "A -> (V) B : r", "9:10: B' has the unit mM/h, and changes in L mM/h by this reaction"),
    ("2*x' + V*c' = F + F*t*k\n0 = c - x/V", ""),
    ("2*x' + c' = F\n0 = c - x/V", "5:6: the terms of this sum have the units mg/h and mg/L/h"),
    ("state v[1..3] = 1 {mg}\nx' = sum(j = 1..3, k*v[j])\nc' = 0\nv[j]' = -k*v[j]*j for j = 1..3", ""),
    ("state v[1..3] = 1 {mg}\nx' = F\nc' = 0\nv[j]' = -v[j] for j = 1..3", "8:1: the left side"),
    ("x' = F*sin(2*pi*k*t)\nc' = x'/V", ""),
    ("parameter bad = 1 {mg//L}\nx' = F\nc' = 0", "5:11: {mg//L}: a factor is missing before /"),
    ("unit check on {s}\nx' = F\nc' = 0", "5:1: t has the unit h elsewhere"),
    ("unit check off\nx' = F\nc' = 0", "5:1: expected unit check on"),
]


class Checks(unittest.TestCase):
    def test_all(self):
        for text, wanted in CASES:
            with self.subTest(text=text):
                try:
                    read.parse(HEAD + text, "m.eq")
                    said = ""
                except Refused as fault:
                    said = str(fault)
                self.assertTrue(said.startswith("m.eq:" + wanted) if wanted else not said, said)

    def test_only_where_it_is_asked_for(self):
        read.parse(HEAD.split("\n", 1)[1] + "x' = -x\nc' = x", "m.eq")

    def test_unit_of_time(self):
        """from the first equation that gives one"""
        text = "unit check on\nparameter k = 1 {1/min}, n = 2\nstate a {mg}, x {mg}, y {mg}\na' = n\nx' = -k*x\n"
        self.assertIn("\nunits: checked, t has the unit min\n", explain(read.parse(text + "y' = k*x", "m.eq"), "m.eq"))
        with self.assertRaises(Refused) as found:
            read.parse(text + "y' = k*k*x", "m.eq")
        self.assertIn("(t is taken to have the unit min, from the equation of x; unit check on {h} would say",
                      str(found.exception))
        with self.assertRaises(Refused) as found:          # the unit of r is not known as t is sought
            read.parse("unit check on\nstate a {mg}, x {mg}\nparameter k = 1 {1/min}\nlet r = a*t\na' = r\nx' = -k*x",
                       "m.eq")
        self.assertIn("m.eq:5:1: the left side has the unit mg/min, the right side mg min", str(found.exception))
        said = explain(read.parse("unit check on\nstate x\nx' = -x", "m.eq"), "m.eq")
        self.assertIn("units: checked, t has the unit that is not given\n", said)

    def test_grids(self):
        text = "unit check on {s}\nsize N = 9\ngrid i: N wall\nparameter D = 1 {m^2/s}, L = 1 {m}, b = 2 {K}\n" \
            "state u[i] = b*i/N {K}\nboundary u: i low = b\n"
        read.parse(text + "let h = L/N\nu' = D*(u[i-1] - 2*u + u[i+1])/h^2\ncost q' = sum(u*h) {K m s}", "m.eq")
        for more, wanted in (("u' = D*(u[i-1] - u)", "the left side has the unit K/s, the right side K m^2/s"),
                             ("u' = 0\nboundary u: i high = D", "u has the unit K, this m^2/s")):
            with self.assertRaises(Refused) as found:
                read.parse(text + more, "m.eq")
            self.assertIn(wanted, str(found.exception))


if __name__ == "__main__":
    unittest.main()
