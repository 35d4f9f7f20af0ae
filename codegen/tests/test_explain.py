"""What costate-model says that it has understood; linear conservation laws."""
import unittest

from codegen.equations import kpp, read
from codegen.equations.conservation import conservation_laws
from codegen.equations.explain import explain
from codegen.equations.stiffness import stiffness

from .test_kpp import SMOG

try:
    import scipy
except ImportError:
    scipy = None


def laws(text):
    """{name: number} of each law"""
    m = read.parse(text, "m.eq")
    return [{m.states[i].name: number for i, number in law.items()} for law in conservation_laws(m)]


class Conservation(unittest.TestCase):
    def test_reactions(self):
        self.assertEqual(laws("state S, E, C, P\nS + E <-> C : 1, 2\nC -> P + E : 3"),
                         [{"S": 1, "C": 1, "P": 1}, {"E": 1, "C": 1}])
        self.assertEqual(laws("state A, B\n2 A -> 3 B : 1"), [{"A": 3, "B": 2}])
        self.assertEqual(laws("state A, B\nA -> 0.1 B : 1"), [{"A": 1, "B": 10}])
        self.assertEqual(laws("state A, B\nA -> B : 1\nB -> 0 : 1"), [])
        self.assertEqual(laws("state A, B\nA -> B + A : 1"), [{"A": 1}])

    def test_equations(self):
        """products are expanded: what is subtracted here is added there in another form"""
        self.assertEqual(laws("parameter b, k\nstate S, I, R\nS' = -b*S*I/(1 + I)\nI' = b*S*I/(1 + I) - k*(I - R)\n"
                              "R' = k*I - k*R"), [{"S": 1, "I": 1, "R": 1}])
        self.assertEqual(laws("state x, y\nx' = (x + y)^2 - 1\ny' = 2*(1 - x*y*2 - x^2 - y^2)"), [{"x": 2, "y": 1}])
        self.assertEqual(laws("state x, y, z\nx' = y/4\ny' = -x\nz' = 2*x - 3*y"), [{"x": 12, "y": 2, "z": 1}])
        self.assertEqual(laws("state x, y\nx' = sin(y)\ny' = -sin(x)"), [])
        self.assertEqual(laws("state x\nx' = 0"), [{"x": 1}])
        self.assertEqual(laws("state a, b, c, d\na' = -a\nb' = a - t*b\nc' = t*b\nd' = t*b - a"),
                         [{"a": 1, "c": 1, "d": -1}, {"b": 1, "d": 1}])

    def test_only_what_holds_for_all_parameters(self):
        self.assertEqual(laws("parameter a = 1\nstate x, y\nx' = a*x\ny' = -x"), [])

    def test_mass_matrices(self):
        """w^T M y; constraints alone are no laws"""
        self.assertEqual(laws("state x, y\nalgebraic z\n2*x' + y' = z\ny' = -z\n0 = z - x"), [{"x": 1, "y": 1}])

    def test_reactions_with_equations(self):
        self.assertEqual(laws("state A, B, C\nA -> B : 1\nB' = -t\nC' = t"), [{"A": 1, "B": 1, "C": 1}])

    def test_not_of_residuals(self):
        self.assertEqual(laws("state x, y\n(1 + x^2)*x' = -y\ny' = y"), [])

    def test_how_far_they_are_expanded(self):
        """products of 240 terms, not of 650; sixth powers, not seventh ones"""
        for terms, found in ((15, [{"x": 1, "y": 1}]), (25, [])):
            many = " + ".join(f"x*sin({k}.5*t)" for k in range(terms))
            self.assertEqual(laws(f"state x, y\nx' = ({many})*({many} + t)\ny' = -({many})^2 - t*({many})"), found)
        for power, found in ((6, [{"x": 1, "y": 1}]), (7, [])):
            self.assertEqual(laws(f"state x, y\nx' = (1 + y)^{power}\ny' = -(1 + y)^3*(1 + y)^{power - 3}"), found)


TEXT = """model m "a model"
parameter k = 0.5 {1/s} "a rate", K = nan
state x = 2*k {mol}, y
memory d = 3
mode on, off
x' = if(mode == off, -k*x, 0) + if(x > K, 1, 0)
y' = k*x
cost q' = x^2
output o = x/y {1} "a ratio"
stop at 2, 5
event tick at 0 every 2 until 8
    x += d
event low when x - 1 falls in off terminal
    d := 4; mode := on; q += x
event late at k
    y := 0
"""
SAYS = """model m: a model
    a right-hand side, 2 equations

states: 2
    name  starts at  unit  meaning
    x     2*k        mol
    y     0

parameters: 2
    name  default    unit  meaning
    k     0.5        1/s   a rate
    K     to be set

memory variables: 1
    name  starts at  unit  meaning
    d     3

running costs: 1
    name  derivative  unit  meaning
    q     x^2

outputs: 1
    name  expression  unit  meaning
    o     x/y         1     a ratio

modes
    on, off

events
    tick: at 0 every 2 until 8
        x := x + d
    low: when x - 1 falls through 0 in off, the run ends
        d := 4
        q += x
        mode := on
    late: when t - k crosses 0
        y := 0

relations: a step ends where they change
    relation_1: sign(x - K)

stops: known times at which the equations are not smooth
    2, 5
"""


class Explanation(unittest.TestCase):
    def test_all_of_it(self):
        said = explain(read.parse(TEXT, "m.eq"), "m.eq")
        self.assertEqual(said.split("\n\neigenvalues")[0] + "\n", SAYS)

    def test_laws_and_forms(self):
        said = explain(read.parse("state A, B\nA -> 2 B : 1", "m.eq"), "m.eq")
        self.assertIn("a right-hand side, 2 equations, 1 reaction\n", said)
        self.assertIn("for all values of parameters\n    2 A + B\n", said)
        said = explain(read.parse("state A, B\nA' = t\nB' = t\n", "m.eq"), "m.eq")
        self.assertIn("\n    A - B\n", said)
        self.assertIn("a residual", explain(read.parse("state A\nA*A' = t", "m.eq"), "m.eq"))
        self.assertIn("a mass matrix", explain(read.parse("state A\n2*A' = t", "m.eq"), "m.eq"))

    def test_where_runs_begin(self):
        for start, wanted in (("steady", "in a steady state"), ("periodic 2", "on a periodic orbit")):
            m = read.parse(f"state x = 1\nx' = -x\nstart {start}", "m.eq")
            self.assertIn(f"\nruns begin {wanted}\n", explain(m, "m.eq"))

    def test_times(self):
        """eight, or all of them by their step"""
        for given, wanted in (("1, 2, 4, 7, 8, 9, 10, 12", "1, 2, 4, 7, 8, 9, 10, 12"), ("1, 2.5, 4", "1, 2.5, 4"),
                              ("1, 2, 4, 7, 8, 9, 10, 12, 20", "1, 2, 4, 7, 8, 9, 10, 12, ... (9 times)"),
                              ("0.1 every 0.1 until 2", "0.1 every 0.1 until 2")):
            said = explain(read.parse(f"state x\nx' = 1\nstop at {given}", "m.eq"), "m.eq")
            self.assertIn(f"\n    {wanted}\n", said)

    def test_long_expressions_are_cut(self):
        """what is shared many times would be longer than memory"""
        deep = "let a0 = x\n" + "".join(f"let a{k + 1} = sin(a{k})*exp(a{k}) + a{k}\n" for k in range(60))
        said = explain(read.parse(f"state x\n{deep}x' = 1\noutput o = a60", "m.eq"), "m.eq")
        self.assertRegex(said, r"o     .{69}\.\.\.\n")

    def test_grids_and_mechanisms(self):
        said = explain(read.parse("size N = 9\ngrid i: N wall\nstate u[i] = i/N\nu' = u[i-1] - u", "m.eq"), "m.eq")
        self.assertIn("    u[i]  i/N", said)
        self.assertIn("parameters: ", explain(kpp.read(SMOG)[0], "smog.def"))


@unittest.skipUnless(scipy, "eigenvalues are found by SciPy")
class Stiffness(unittest.TestCase):
    def of(self, text):
        return stiffness(read.parse(text, "m.eq"))

    def test_right_hand_sides(self):
        """-3, -1000; -0.5 +- sqrt(4 - 0.25) i; 2 at y = 1"""
        self.assertEqual(self.of("state x, y\nx' = -3*x\ny' = -1000*y + x"), ["decaying: 2, rates 3 to 1e+03"])
        self.assertEqual(self.of("state x, y\nx' = y\ny' = -4*x - y"),
                         ["decaying: 2, rates 0.5", "oscillating: 1, angular frequencies 1.94"])
        self.assertEqual(self.of("parameter k = 1\nstate x = k, y\nx' = k*x^2\ny' = t"),
                         ["growing: 1, rates 2", "zero: 1"])
        self.assertEqual(self.of("state A, B, C\nA <-> B : 0.3, 0.7\nB <-> C : 1.1, 1.3")[-1], "zero: 1")

    def test_where_it_starts(self):
        """memory variables, relations and modes have the values of the start"""
        self.assertEqual(self.of("memory m = 7\nmode slow, fast\nstate x = 2\nevent e at 1\n    mode := fast\n"
                                 "x' = -m*x*if(mode == slow, 1, 100)*if(x > 1, 2, 50)"), ["decaying: 1, rates 14"])

    def test_mass_matrices_and_residuals(self):
        """2 x' = -5 x; z = x; and (1 + x^2) x' + 4 x = 0 at x = 1"""
        self.assertEqual(self.of("state x\nalgebraic z\n2*x' = -5*z\n0 = z - x"),
                         ["decaying: 1, rates 2.5", "infinite (constraints): 1"])
        self.assertEqual(self.of("state x = 1\nalgebraic z = 4\n(1 + x^2)*x' = -z\n0 = z - 4*x"),
                         ["decaying: 1, rates 2", "infinite (constraints): 1"])
        # of index 2: along y = x/3, z is eliminated by 3.5 x' - 1.5 y' = 3 x' = -3.7 x
        self.assertEqual(self.of("state x, y\nalgebraic z\nx' = -x + 0.3*y + 1.5*z\ny' = 0.7*x - y + 3.5*z\n"
                                 "0 = x - 3*y"), ["decaying: 1, rates 1.23", "infinite (constraints): 2"])

    def test_what_is_not_known(self):
        self.assertEqual(self.of("parameter k = nan, l = 1\nstate x\nx' = -k*x"), ["not known without values of k"])
        self.assertEqual(self.of("state x\nx' = sqrt(x)"), ["not known: the Jacobian is not finite there"])
        self.assertEqual(self.of("state x\nalgebraic z\nx' = -x\n0 = x"),
                         ["not known: J - lambda M is singular for all lambda"])
        self.assertEqual(self.of("state x = 1e200\nx' = exp(x)"), ["not known: the Jacobian is not finite there"])
        self.assertEqual(self.of("state x[1..501]\nx[k]' = -x[k] for k = 1..501"),
                         ["not computed for more than 500 states"])
        self.assertEqual(self.of("size N = 9\ngrid i: N wall\nstate u[i] = i/N\nu' = u[i-1] - u"),
                         ["not computed on grids"])


if __name__ == "__main__":
    unittest.main()
