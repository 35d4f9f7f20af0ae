"""The language of equation files: what is read, and how faults are reported, with line, column and a hint."""
import math
import re
import unittest

from codegen.equations import c_file, read
from codegen.equations.evaluate import evaluate, held
from codegen.equations.explain import explain
from codegen.equations.model import (CROSSES, FALLS, RISES, START_DEFAULT, START_FIRE, START_IGNORE, ZERO_FALSE,
                                     ZERO_TRUE)
from codegen.real import Refused

# (text, "LINE:COLUMN: the beginning of the sentence")
FAULTS = [
    ("state x\nx' = -x + X", "2:11: X is not declared; did you mean x?"),
    ("state x\nx' = -x + xx*", "2:14: expected an expression, found the end of the line"),
    ("state x\nx' = sqrt(x", "2:12: expected ')', found the end of the line"),
    ("state x\nx' = sqr(x)", "2:6: sqr is not a function; did you mean sqrt?"),
    ("state x\nx' = sqrt(x, x)", "2:6: sqrt needs 1 argument, not 2"),
    ("state x\nx' = sqrt", "2:6: sqrt is a function; its arguments are missing"),
    ("state x\nx' = 2 x", "2:8: expected an operator before 'x'; products are written with *"),
    ("state x\nx' = x ! 2", "2:8: '!' is not a character of equations"),
    ("state x \"no end\nx' = x", "1:9: this \" is not closed on its line"),
    ("state x, x\nx' = 1", "1:10: x is declared twice"),
    ("state sin\n", "1:7: sin is a word of the language; choose another name"),
    ("state x, z\nx' = 1", "1:10: there is no equation for z"),
    ("state x\nx' = 1\nx' = 2", "3:1: x' has a second equation"),
    ("state x\nx' = 1\n0 = x", "3:1: there are 2 equations for 1 unknowns: this one is too many"),
    ("state x\nalgebraic z\nx' = z\nz' = x", "4:1: z is algebraic"),
    ("parameter k\nstate x\nk' = x", "3:1: k is not a state"),
    ("state x\nstat z\nx' = 1", "2:1: 'stat' is neither a statement nor the beginning of an equation; did you mean s"),
    ("parameter k = x\nstate x", "1:15: x is not declared"),
    ("parameter j = 1, k = j\nstate x\nx' = k", "1:22: j may not occur here: the default of a parameter is a number"),
    ("state x = y, y\nx' = 1\ny' = 1", "1:11: y may not occur here: an initial value depends on parameters only"),
    ("state x\nx' = 1/0", "2:8: division by zero"),
    ("state x\nx' = 1e999", "2:6: 1e999 is too large a number"),
    ("state x\nx' = if(x, 1, 2)", "2:10: expected a comparison"),
    ("state x\nx' = if(x > 0, 1)", "2:17: expected ',' and the value where it does not"),
    ("mode a, b\nstate x\nx' = if(mode > a, 1, 2)", "3:14: modes are compared as in mode == a"),
    ("mode a, b\nstate x\nx' = a", "3:6: a is a mode; compare it"),
    ("state x\nlet f(u) = u\nx' = f(x, x)", "3:6: f has 1 arguments, not 2"),
    ("state x\nlet f(u) = f(u)\nx' = f(x)", "2:12: f uses itself"),
    ("state x\nlet a = b\nlet b = a\nx' = a", "2:9: b uses itself"),
    ("state A, B\nA + C -> B : 1", "2:5: C is not a species"),
    ("state A, B\nA -> B", "2:7: expected + or ':', found the end of the line"),
    ("state A, B\nA -> B : k = x", "2:14: x is not declared"),
    ("state v[1..3]\nv[4]' = 1", "2:3: v[4] does not exist: v goes from 1 to 3"),
    ("state v[1..3]\nv' = 1", "2:1: v is a vector: write v[k], 1 <= k <= 3"),
    ("state v[3..1]\nv' = 1", "1:7: a vector has 1 to"),
    ("state v[1..3] = (1, 2)\nv[k]' = 1 for k = 1..3", "1:7: 2 values for 3 components"),
    ("state x\nx[1]' = 1", "2:1: x is not a vector or a field"),
    ("state x\nx' = 1\nevent e when x\n", "3:15: expected rises, falls, crosses or a comparison"),
    ("state x\nx' = 1\nevent e at x\n", "3:12: x may not occur here: the times of events depend on parameters only"),
    ("state x\nx' = 1\nevent e at 1 + t\n", "3:16: t may not occur here: the times of events depend on parameters"),
    ("state x\nx' = 1\nevent e at 1, log(-1)\n", "3:15: this time is not a finite number"),
    ("state x\nx' = 1\nevent e at 1 every 2\n", "3:21: expected 'until' and the last time, found the end of the line"),
    ("state x\nx' = 1\nevent e at 1 every 0 - 2 until 9\n", "3:22: the step behind 'every' must be positive"),
    ("parameter T\nstate x\nx' = 1\nevent e at T every -2 until 9\n", "4:20: the step behind 'every' must be positive"),
    ("state x\nx' = 1\nevent e at 1, 3 every 2 until 2.5\n", "3:31: the last time, behind 'until', is before"),
    ("state x\nx' = 1\nevent e at 0 every 1e-9 until 1\n", "3:20: more than 1000000 times"),
    ("state x\nx' = 1\nevent e at 0 every 1 until 9e5, 0 every 1 until 9e5\n", "3:12: more than 1000000"),
    ("state x\nx' = 1\nevent e at 1 passes fires at start\n", "3:21: an event at given times is applied where"),
    ("state x\nx' = 1\nevent e when x falls fires at the start\n", "3:22: expected 'in MODE', 'terminal', 'passes',"),
    ("state x\nx' = 1\nevent e when x > 1 and x < 2\n", "3:20: an event has one comparison: instead of 'and', compare"),
    ("state x\nx' = 1\nevent e when x > 1 or x < 2\n", "3:20: an event has one comparison: instead of 'or', compare"),
    ("state x\nx' = 1\nevent e when x == 1\n", "3:16: expected rises, falls, crosses or a comparison (< <= > >=),"),
    ("state x\nx' = 1\nevent e when x > 1 fires at start\n", "3:20: an event with a comparison occurs where that bec"),
    ("state x\nx' = 1\nevent e when x > 1 rises\n", "3:20: expected 'in MODE', 'terminal', 'passes', 'fires at star"),
    ("state x\nx' = 1\nstop at\n", "3:8: expected an expression, found the end of the line"),
    ("state x\nx' = 1\nstop when x falls\n", "3:6: expected 'at' and times, found 'when'"),
    ("parameter T\nstate x\nx' = 1\nstop at 1, 2*T\n", "4:13: the times of stops are numbers; a time that depends on"),
    ("parameter T\nstate x\nx' = 1\nstop at 1 every T until 9\n", "4:17: the times of stops are numbers; a time that"),
    ("state x\nx' = 1\nstop at x\n", "3:9: x may not occur here: the times of stops are numbers"),
    ("state x\nx' = 1\nstop at 1 terminal\n", "3:11: expected the end of the statement, found 'terminal'"),
    ("state x\nx' = 1\nx := 2", "3:1: an assignment belongs to an event"),
    ("state x\nx' = 1\nevent e at 1\n  z := 2", "4:3: z is not a state, a memory variable or a running cost"),
    ("state x\nx' = 1\nevent e at 1\n  x := 2\n  x := 3", "5:3: x is assigned twice"),
    ("state x\nx' = 1\nevent e when x falls within u\n", "3:22: expected 'in MODE', 'terminal', 'passes', "
     "'fires at start' or 'ignored at start', found 'within'"),
    ("state x\nx' = 1\ncost q' = x\nevent e at 1\n  q := 2", "5:3: q is a running cost: an event adds to it"),
    ("table f smooth (1, 2)\nstate x", "1:9: expected linear, steps or cubic, found 'smooth'"),
    ("table f steps 1, 2\nstate x", "1:15: expected '(' and a row (PLACE, VALUE) of the table, found '1'"),
    ("table f steps (1, 2\nstate x", "2:1: expected an operator before 'state'"),
    ("table f steps (1, 1), (1, 2)\nstate x\nx' = f(t)", "1:24: the places in a table must increase"),
    ("table f linear (1, 1), (0, 2)\nstate x\nx' = f(t)", "1:25: the places in a table must increase; two rows with"),
    ("table f linear (1, 1), (1, 2), (1, 3)\nstate x\nx' = f(t)", "1:33: the places in a table must increase; two"),
    ("parameter k\ntable f steps (k, 1)\nstate x\nx' = f(t)", "2:16: k may not occur here: a place in"),
    ("table f steps (0, 1)\nstate x\nx' = f", "3:6: f needs its arguments in parentheses"),
    ("table f steps (0, 1)\nstate x\nx' = f(t, x)", "3:6: f has 1 arguments, not 2"),
    ("size N = 0\nstate x", "1:6: a size must be at least 1"),
    ("size N\ngrid i: M wall\nstate u[i]", "2:9: M is not a size"),
    ("size N\ngrid i: N walls\nstate u[i]", "2:11: expected periodic, zero or wall, found 'walls'; did you mean wall?"),
    ("size N\ngrid i: N wall\nstate u[j]", "3:7: a field is declared as u[i]"),
    ("size N\ngrid i: N wall\nstate u[i]\nu' = u[i*2]", "4:9: expected i, i + number or i - number"),
    ("size N\ngrid i: N wall\nstate u[i], x\nu' = u", "3:13: fields and single states in one model"),
    ("size N\ngrid i: N periodic\nstate u[i]\nboundary u: i low = 0\nu' = u", "4:13: the axis i is periodic"),
    ("", "1:1: the file declares no state"),
    ("state x\nx' = " + "(" * 150 + "x" + ")" * 150, "2:106: too many parentheses inside each other"),
    ("state x\nx' = " + "2^" * 150 + "x", "2:205: too many powers inside each other"),
    ("state x\nx' = 1\ncost q' = q", "3:11: q is a running cost, whose value equations and outputs cannot use"),
    ("state x\nx' = 1\ncost q' = x\noutput mean = q/10", "4:15: q is a running cost, whose value equations and"),
    ("state x\nx' = a\noutput a = x", "2:6: a is an output, which no other expression can use; give its expression"),
    ("state x\nx' = " + "9" * 5000, "2:6: " + "9" * 57 + "... is too large a number"),
    ("state x\nx' = " + "y" * 5000 + "(x)", "2:6: " + "y" * 57 + "... is not a function"),
    ("grid i: " + "9" * 5000 + " wall\nstate u[i]", "1:9: the number of cells must be a whole number"),
    ("state A, B\n1e400 A -> B : 1", "2:1: 1e400 is too large a number"),
    ("state A, B\n" + "9" * 5000 + " A -> B : 1", "2:1: " + "9" * 57 + "... is too large a number"),
    ("state x\nx' = " + "if(x > 0, " * 90 + "sin(" * 20 + "x" + ")" * 20 + ", 1)" * 90, "2:946: too many parentheses"),
    ("state x\nlet f0(a) = a\n" + "".join(f"let f{k + 1}(a) = {'(' * 90}sin(f{k}(a)){')' * 90}\n" for k in range(70))
     + "x' = f70(x)", ""),
    ("state x, y\nlet a0 = x\n" + "".join(f"let a{k + 1} = max({k}, max({k}.5, max({k}.7, sin(a{k}))))\n"
                                          for k in range(60)) + "x' = a30\ny' = a60",
     "64:6: more than 240 conditions are inside each other"),
    ("parameter a = 2*e\nstate x, e\nx' = 1", "2:10: e was used above as the number 2.71828; declare it before"),
    ("state x\nx' = e[2]", "2:6: e is not declared"),
    ("state x\nx' = piecewise(x)", "2:17: expected ',' and the condition for the value before it, found ')'"),
    ("state x\nx' = piecewise(x, x > 1)", "2:24: expected ',' and another value: the last one is that where no"),
    ("state x\nx' = piecewise(x, 1, 2)", "2:20: expected a comparison (< <= > >= == !=), found ','"),
    ("state x\nx' = heaviside(x, 1)", "2:6: heaviside needs 1 argument, not 2"),
    ("state A, B\n(x') A -> B : 1", "2:2: x is not declared"),
    ("state A, B\n(A') A -> B : 1", "2:2: A' may not occur here: a coefficient has no derivative in time"),
    ("state A, B\n(1 - 2) A -> B : 1", "2:9: the rate cannot depend on minus A: only products may be subtracted"),
    ("state A, B\n(1/0) A -> B : 1", "2:4: division by zero"),
    ("state A, B\n(2 A -> B : 1", "2:4: expected an operator before 'A'; products are written with *"),
    ("state x; x' = y; z' = 1", "1:15: y is not declared"),
    ("model while\nstate x\nx' = 1", "1:1: while is a word of C"),
]


class Faults(unittest.TestCase):
    def test_places_and_sentences(self):
        for text, wanted in FAULTS:
            with self.subTest(text=text[:60]), self.assertRaises(Refused) as caught:
                read.parse(text, "m.eq")
            said = str(caught.exception)
            self.assertTrue(said.startswith("m.eq:" + wanted), said)

    def test_refusals_are_short(self):
        """they quote at most 60 characters of a file"""
        for text, _ in FAULTS:
            with self.assertRaises(Refused) as caught:
                read.parse(text, "m.eq")
            sentence, shown, _ = str(caught.exception).split("\n")
            self.assertLessEqual(len(shown), 2 + 3 + 60)
            self.assertLessEqual(max(len(word) for word in re.split(r"[\s']", sentence)), 61)

    def test_the_caret_stands_below_the_fault(self):
        for text, wanted in FAULTS:
            with self.assertRaises(Refused) as caught:
                read.parse(text, "m.eq")
            place, shown, caret = str(caught.exception).split("\n")
            line, column = (int(x) for x in place.split(":")[1:3])
            whole = (text.split("\n") + [""])[line - 1]
            self.assertIn(shown[2:].removeprefix("..."), whole)
            self.assertEqual((shown + " ")[len(caret) - 1], (whole + " ")[column - 1])
            self.assertEqual(caret.strip(), "^")


class Language(unittest.TestCase):
    def model(self, text):
        return read.parse(text, "m.eq")

    def value(self, text, **names):
        """The number that an expression of constants has"""
        m = self.model(f"parameter a = {text}\nstate x\nx' = a")
        return m.graph.const(m.parameters[0].value)

    def test_numbers_and_precedence(self):
        for text, wanted in (("2 + 3*4", 14), ("-2^2", -4), ("2^3^2", 512), ("2**-1", 0.5), ("6/3/2", 1), ("1d3", 1000),
                             (".5e1", 5), ("8 - 3 - 2", 3), ("--3", 3), ("max(1, 3, 2)", 3), ("min(4, 3)", 3),
                             ("abs(-2)", 2), ("ln(1)", 0), ("sum(k = 1..4, k^2)", 30), ("pow(2, 5)", 32),
                             ("if(1 < 2 and not 3 < 2, 5, 6)", 5), ("if(1 > 2 or (2 > 3), 5, 6)", 6)):
            self.assertEqual(self.value(text), wanted, text)

    def test_comments_and_separators(self):
        """# and // to the end of the line; a semicolon ends a statement, also that of an event"""
        m = self.model("parameter a = 6 // 2; b = 1\nstate x = 1; state y # ; z\nx' = a; y' = 2;\n;\n"
                       "event e at 1; x += 1; y := 2\n// x' = 3")
        self.assertEqual([m.graph.const(f) for f in m.equations], [None, 2])
        self.assertEqual(m.graph.const(m.parameters[0].value), 6)
        self.assertEqual(sorted(m.events[0].jumps), [("y", 0), ("y", 1)])

    def test_constants(self):
        """pi and e, unless the file declares them; not first the one and then the other"""
        self.assertEqual(self.value("cos(pi)*log(e)"), -1)
        m = self.model("state e = 2, x\nlet f(pi) = pi*e\ne' = sum(pi = 1..2, pi)\nx' = f(3)")
        self.assertEqual(m.graph.const(m.equations[0]), 3)
        self.assertEqual(m.equations[1], m.graph.mul(m.graph.c(3), m.state(0)))

    def test_piecewise_is_if(self):
        """the value of the first condition that holds; the last one where none does"""
        for x, wanted in ((0.5, 1), (1.5, 2), (2.5, 3), (1, 2)):
            self.assertEqual(self.value(f"piecewise(1, {x} < 1, 2, {x} < 2 and not {x} < 0, 3)"), wanted)
        one = self.model("state x\nx' = piecewise(x, t < 1, 2*x, x > 3, 5)")
        other = self.model("state x\nx' = if(t < 1, x, if(x > 3, 2*x, 5))")
        self.assertEqual(one.graph.nodes, other.graph.nodes)

    def test_heaviside(self):
        for x, wanted in ((-0.1, 0), (0, 1), (0.1, 1)):
            self.assertEqual(self.value(f"heaviside({x})"), wanted)

    def test_coefficients_may_be_expressions(self):
        """exponents on the left; numbers remain reactions, others become parts of equations"""
        m = self.model("parameter n = 2\nstate A, B, C\n"
                       "(3 - 1) A -> (1/2)*B + 3C : 5\n(n) A + B -> (t) B - (n*A) C : n")
        self.assertEqual([(r.left, r.net) for r in m.reactions], [([(0, 2)], [(0, -2), (1, 0.5), (2, 3)])])
        at = {("y", 0): 3.0, ("y", 1): 5.0, ("y", 2): 7.0, ("p", 0): 2.0, ("t", 0): 11.0}
        first, second = 5*3**2, 2*3**2*5
        self.assertEqual(evaluate(m.graph, m.kinetics(), at),
                         [-2*first - 2*second, first/2 - second + 11*second, 3*first - 2*3*second])

    def test_reactions_of_a_residual(self):
        """F = y' - f also for what reactions add to f"""
        for count in ("", "(k)"):
            m = self.model(f"parameter k = 1\nstate A, B, C\n(1 + C^2)*C' = 0\nA -> {count} B : 10")
            at = {("y", 0): 2.0, ("y", 1): 1.0, ("y", 2): 1.0, ("p", 0): 1.0, ("t", 0): 0.0}
            at |= {("yp", 0): -20.0, ("yp", 1): 20.0, ("yp", 2): 0.0}
            self.assertTrue(m.implicit)
            self.assertEqual(evaluate(m.graph, m.kinetics(), at), [0, 0, 0])

    def test_mass_matrix_from_left_sides(self):
        m = self.model("state x, y\nalgebraic z\n2*x' + y' = z\ny' - x'/4 = 1 + x\n0 = x + y + z")
        self.assertEqual(m.mass, {(0, 0): 2, (0, 1): 1, (1, 0): -0.25, (1, 1): 1})
        self.assertFalse(m.implicit)
        self.assertEqual([q.order for q in m.states], [0, 0, 1])

    def test_identity_is_no_mass_matrix(self):
        self.assertEqual(self.model("state x\nx' - 2*x = 3").mass, {})

    def test_residual_where_derivatives_are_not_linear(self):
        self.assertTrue(self.model("state x\nx*x' = 1").implicit)
        self.assertTrue(self.model("state x\nx'^2 = x").implicit)

    def test_reactions(self):
        m = self.model("state A, B\nparameter F = 2\n2 A + F <-> B : k = 3, 5\n")
        self.assertEqual([(r.left, r.net) for r in m.reactions], [([(0, 2.0)], [(0, -2.0), (1, 1.0)]),
                                                                  ([(1, 1.0)], [(0, 2.0), (1, -1.0)])])
        self.assertEqual([q.name for q in m.parameters], ["F", "k"])

    def test_events(self):
        m = self.model("state x\nx' = 1\nmode a, b\nmemory c\nevent e when x - 1 rises in b terminal passes\n"
                       "  x := 0\n  c += 1\n  mode := a\nevent f at 1 every 0.5 until 2.9\nevent g when x falls")
        e, f, g = m.events
        self.assertEqual((e.direction, e.active, e.mode, e.terminal, e.passes), (RISES, 1, 0, True, True))
        self.assertEqual(sorted(e.jumps), [("m", 0), ("y", 0)])
        self.assertEqual(f.times, [1, 1.5, 2, 2.5])
        self.assertEqual(g.direction, FALLS)

    def test_at_the_start(self):
        m = self.model("mode a, b\nstate x\nx' = 1\nevent e when x falls in b fires at start\n  mode := a\n"
                       "event f when x rises passes ignored at start terminal\nevent g when x crosses")
        self.assertEqual([e.at_start for e in m.events], [START_FIRE, START_IGNORE, START_DEFAULT])
        self.assertEqual((m.events[0].active, m.events[1].passes, m.events[1].terminal), (1, True, True))
        text = c_file.write(m, "m.eq")[0]
        for word in ("FIRE", "IGNORE"):
            self.assertEqual(text.count(f".at_start = COSTATE_START_{word}"), 1)

    def test_conditions(self):
        m = self.model("state x, y\nx' = 1\ny' = 2\nevent a when x > y^2\n  x := 0\nevent b when x <= 2*y terminal\n"
                       "event c when x < 1 passes\nevent d when 3 >= x")
        self.assertEqual([(e.direction, e.at_start, e.passes) for e in m.events],
                         [(RISES, ZERO_FALSE, True), (FALLS, ZERO_TRUE, True), (FALLS, ZERO_FALSE, True),
                          (RISES, ZERO_TRUE, True)])
        self.assertTrue(m.events[1].terminal)
        values = evaluate(m.graph, [e.guard for e in m.events], {("y", 0): 5.0, ("y", 1): 2.0})
        self.assertEqual([float(x) for x in values], [1, 1, 4, -2])
        self.assertEqual(re.findall(r"\.at_start = COSTATE_ZERO_(\w+)", c_file.write(m, "m.eq")[0]),
                         ["FALSE", "TRUE", "FALSE", "TRUE"])
        shown = explain(m, "m.eq")
        for event in ("a: when x - y^2 > 0\n", "b: when x - 2*y <= 0, the run ends\n", "c: when x - 1 < 0\n",
                      "d: when 3 - x >= 0\n"):
            self.assertIn(event, shown + "\n")

    def test_stops(self):
        m = self.model("let day = 24\nstate x\nx' = 1\nstop at 5, 0 every day/2 until 3*day, 1\nstop at 5, 7")
        self.assertEqual(m.stops, [0, 1, 5, 7, 12, 24, 36, 48, 60, 72])
        self.assertIn(".nstops = 10, .stops = stops", c_file.write(m, "m.eq")[0])

    def test_times_are_sorted(self):
        m = self.model("state x\nx' = 1\nevent f at 8, 2 every 4 until 11, 0\n  x := 0")
        self.assertEqual(m.events[0].times, [0, 2, 6, 8, 10])

    def test_times_that_depend_on_parameters(self):
        """They are guards, beside the event at the given times"""
        m = self.model("mode a, b\nparameter T = 1, D = 2\nstate x\nx' = 1\n"
                       "event f at 3, T, 1 every D until 9 in b terminal\n  x += T\n  mode := a\n"
                       "event last when x falls")
        self.assertEqual([e.name for e in m.events], ["f", "f_2", "f_3", "f_4", "f_5", "f_6", "last"])
        f, once, up, up_a, down, down_a, _ = m.events
        self.assertEqual((f.times, f.guard), ([3], None))
        self.assertEqual((once.direction, once.at_start, once.active, once.mode, once.terminal, len(once.jumps)),
                         (CROSSES, START_FIRE, 1, 0, True, 1))
        for e, other, direction in ((up, up_a, RISES), (down, down_a, FALLS)):
            self.assertEqual((e.direction, e.active, e.mode, e.terminal, len(e.jumps)), (direction, 1, 0, True, 2))
            self.assertEqual((other.direction, other.active, other.mode, other.terminal, list(other.jumps)),
                             (direction, 0, None, False, [("m", 0)]))
        at = {("t", 0): 3.5, ("p", 0): 1.25, ("p", 1): 2.0, ("m", 0): 1.5, ("y", 0): 0.0}
        guards = evaluate(m.graph, [e.guard for e in (once, up, down)], at)
        self.assertEqual(guards, [2.25, 3.5 - 5, 3.5 - 3])
        self.assertEqual([evaluate(m.graph, [e.jumps["m", 0]], at) for e in (up, down)], [[2.5], [0.5]])
        at["m", 0] = 4.5                     # behind the last time
        self.assertEqual(evaluate(m.graph, [up.guard, down.guard], at), [-1, 3.5 - 9])
        at["m", 0] = -0.5                    # before the first one
        self.assertEqual(evaluate(m.graph, [up.guard, down.guard], at), [2.5, 1])
        at["p", 1] = 0.0
        self.assertTrue(all(math.isnan(x) for x in evaluate(m.graph, [up.guard, down.guard], at)))

    def test_the_next_time_at_the_start(self):
        m = self.model("parameter T = 1, D = 2, E = 7.5\nstate x\nx' = 1\nevent f at T every D until E\n  x += 1")
        q, = m.memory
        for t, wanted in ((-3, -0.5), (0, -0.5), (1, 0), (1 - 1e-9, -0.5), (1 + 1e-9, 0.5), (1 + 2e-16, 0), (2, 0.5),
                          (5, 2), (6, 2.5), (7, 3), (8, 3.5), (20, 3.5)):
            at = {("t", 0): t, ("p", 0): 1.0, ("p", 1): 2.0, ("p", 2): 7.5}
            self.assertEqual(evaluate(m.graph, [q.value], at), [wanted], t)
        self.assertEqual({key[1] for key in m.graph.variables([q.value])}, {"t", "p"})

    def test_times_until_the_last_one(self):
        """The last time counts although 0.3/0.1 < 3; a time behind it does not."""
        for text, count in (("0 every 0.1 until 0.3", 4), ("0 every 0.1 until 0.2999", 3), ("1 every 0.1 until 1.6", 7),
                            ("0 every 0.1 until 70000.3", 700004)):
            m = self.model(f"state x\nx' = 1\nevent f at {text}\n  x := 0")
            self.assertEqual(len(m.events[0].times), count, text)

    def test_units_and_descriptions(self):
        m = self.model('parameter k = 2 {1/s} "a rate"\nstate x {mol/L}\nx\' = k')
        self.assertEqual((m.parameters[0].unit, m.parameters[0].text, m.states[0].unit), ("1/s", "a rate", "mol/L"))

    def test_lines_go_on_inside_parentheses_and_after_commas(self):
        m = self.model("state x,\n  y\nx' = (1 +\n  2)\ny' = max(x,\n  y)")
        self.assertEqual(len(m.states), 2)

    def test_keywords_may_be_names(self):
        m = self.model("state size, event\nsize' = event\nevent' = -size")
        self.assertEqual([q.name for q in m.states], ["size", "event"])

    def test_long_chains_of_conditions(self):
        for text, wanted in (("if(" + " and ".join(["1 < 2"] * 3000) + ", 5, 6)", 5), ("max(" + ", ".join(
                str(k) for k in range(3000)) + ")", 2999), ("if(" + "not " * 3001 + "1 < 2, 5, 6)", 6)):
            self.assertEqual(self.value(text), wanted)

    def test_what_would_take_for_ever(self):
        """macros that call two others, forty times; selections in both branches of the next one"""
        double = "".join(f"let f{k + 1}(a) = f{k}(a) + f{k}(a + 1)\n" for k in range(40))
        m = self.model(f"state x\nlet f0(a) = a + sin(a)\n{double}x' = f40(x)")
        self.assertLess(len(m.graph.nodes), 20_000)
        chain = "".join(f"let a{k + 1} = if(x > {k}, a{k} + 1, 2*a{k})\n" for k in range(40))
        m = self.model(f"state x\nlet a0 = x\n{chain}x' = a40")
        x = m.graph.v("y", 0)
        gradient = m.graph.adjoint(m.equations, [m.graph.c(1)], [x])
        self.assertEqual(evaluate(m.graph, gradient, held(m, {("y", 0): 0.5})), [2**39])

    def test_ways_through_conditions_have_a_limit(self):
        """each selection is used in other branches of others: 2^30 ways"""
        tree = "".join(f"let a{k + 1} = if(x > {k}, if(x > {k}.5, a{k}, 1), if(x < -{k}.5, 2*a{k}, 2))\n"
                       for k in range(30))
        m = self.model(f"state x\nlet a0 = x\n{tree}x' = a30")
        with self.assertRaises(Refused) as caught:
            c_file.write(m, "m.eq")
        self.assertIn("m.eq:33:6: the conditions here, inside each other, have too many", str(caught.exception))

    def test_long_sums(self):
        self.assertEqual(self.value(" + ".join(["1"] * 3000)), 3000)


if __name__ == "__main__":
    unittest.main()
