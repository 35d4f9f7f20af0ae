"""Conditions on the time alone: the times at which they change become stops, and expressions keep their values."""
import math
import random
import unittest

from codegen.equations import c_file, read
from codegen.equations.evaluate import evaluate
from codegen.real import Refused

# (right-hand side, its stops)
STOPS = [
    ("if(t < 5, 1, 2)", [5]),
    ("if(5 >= t, 1, 2)", [5]),
    ("if(not t > 5, 1, 2) + if(t != 5, 1, 2)", [5]),
    ("if(2*t - 1 > 8 - t, y, 2)", [3]),
    ("if(-t/4 < -3, 1, 2)", [12]),
    ("if(t > 1 and t < 2 or y > 0, 1, 2)", [1, 2]),
    ("if(y > 0, if(t < 1, 1, 0), if(t < 2, 1, 0))", [1, 2]),
    ("abs(t - 2)*y", [2]),
    ("min(t, 3) + max(y, t)", [3]),
    ("if(abs(t - 100) < 0.25, 1, 0)", [99.75, 100.25]),
    ("abs(abs(t - 3) - 1)", [2, 3, 4]),
    ("max(0, 1 - abs(t - 1), 1 - abs(t - 2))", [0, 1, 1.5, 2, 3]),
    ("if(if(t < 2, t, 4 - t) > 1, 1, 0)", [1, 3]),
    ("floor(min(max(t, 0), 4))", [1, 2, 3, 4]),
    ("ceil(max(min(-t, 2), -2))", [-1, 0, 1, 2]),
    ("if(t >= 0 and t < 4, floor(t), 7)", [0, 1, 2, 3, 4]),
    ("if(t < 1, 0, if(t < 3, ceil(2*t), y))", [1, 1.5, 2, 2.5, 3]),
    ("if(floor(min(max(t/3, 0), 4)) == 2, 1, 0)", [6, 9]),
    ("sum(k = 1..3, if(t >= 10*k and t < 10*k + 2, k, 0))", [10, 12, 20, 22, 30, 32]),
    # times that differ by round-off are one: 0.3/0.1 < 3
    ("if(0.1*t < 0.3, 1, 2) + if(t > 3, 1, 2) + if(t/3 < 1, 1, 2)", [3]),
    # a truth value that does not change needs no stop
    ("if(t - t > -1, 1, 2) + if(abs(t) >= 0, 1, 2) + if(max(t, 0) < -1, 1, 2)", []),
]
# what has no stops
OTHERS = ["if(t < k, 1, 2)", "if(y < 1, t, 2)", "if(sin(t) > 0, 1, 2)", "if(t^2 < 4, 1, 2)", "floor(k*t)", "abs(t - k)",
          "if(t == 3, 1, 2)", "if(exp(t) > 1, 1, 2)"]


def model(text, more=""):
    return read.parse(f"parameter k = 1\nstate y\ny' = {text}\n{more}", "m.eq")


def direct(text):
    """The right-hand side as it is written: nothing is rewritten in outputs"""
    m = read.parse(f"parameter k = 1\nstate y\ny' = 0\noutput f = {text}", "m.eq")
    return lambda t, y: evaluate(m.graph, m.output_nodes, {("t", 0): t, ("y", 0): y, ("p", 0): 1.0})[0]


def related(m, values):
    """values, with those of relations"""
    for k, r in enumerate(m.relations):
        u, = evaluate(m.graph, [r.guard], values)
        values["whole" if r.whole else "relation", k] = math.floor(u) if r.whole else (u > 0) - (u < 0)
    return values


class Switches(unittest.TestCase):
    def test_stops(self):
        for text, wanted in STOPS:
            self.assertEqual(model(text).stops, wanted, text)

    def test_values_stay(self):
        """Between the stops; and one digit beside a stop they are those of its side, whatever rounding does there"""
        draw = random.Random(52)
        for text, stops in STOPS:
            m, f = model(text), direct(text)
            found = lambda t, y: evaluate(m.graph, m.equations,                                    # noqa: E731
                                          related(m, {("t", 0): t, ("y", 0): y}))[0]               # noqa: B023
            for y in (-0.7, 0.7):
                for t in [draw.uniform(-5, 105) for _ in range(30)] + [draw.uniform(0, 5) for _ in range(30)]:
                    self.assertAlmostEqual(found(t, y), f(t, y), delta=1e-13, msg=f"{text} at {t}")
                for T in stops:
                    for way in (-1, 1):
                        self.assertAlmostEqual(found(math.nextafter(T, way*math.inf), y), f(T + way*1e-9, y),
                                               delta=1e-8, msg=f"{text} beside {T}")

    def test_what_has_no_stops(self):
        for text in OTHERS:
            m = model(text)
            self.assertEqual((m.stops, m.events, m.memory), ([], [], []), text)

    def test_stops_of_the_file_and_of_events_are_met(self):
        """A stop that differs from them by round-off is theirs"""
        near = math.nextafter(3, 4)
        m = model("if(0.1*t < 0.3, 1, 2)", f"stop at {near!r}")
        self.assertEqual(m.stops, [near])
        self.assertEqual(model("if(t < 3, 1, 2)", f"event e at {near!r}\n  y := 0").stops, [near])
        self.assertEqual(model("if(t < 3, 1, 2)", "stop at 7, 1 every 0.5 until 2\nstop at 3").stops, [1, 1.5, 2, 3, 7])

    def test_everything_that_steps_evaluate(self):
        m = model("1", "cost q' = if(t < 2, 1, 0)\nevent e when y - if(t < 3, 1, 2) rises\n  y := if(t < 4, 0, 1)\n"
                  "output z = if(t < 5, 1, 2)")
        self.assertEqual(m.stops, [2, 3])
        self.assertEqual(read.parse("state A, B\nA -> B : if(t < 6, 1, 2)", "m.eq").stops, [6])
        self.assertEqual(read.parse("state x\n(1 + x)*x' = if(t < 7, 1, 2)", "m.eq").stops, [7])
        m = read.parse("size N = 4\ngrid i: N wall\nstate u[i]\nboundary u: i low = if(t < 8, 1, 0)\n"
                       "u' = u[i-1] - u + if(t < 9, 1, 0) + floor(t)\ncost q' = sum(abs(t - 10))", "m.eq")
        self.assertEqual((m.stops, m.memory), ([8, 9, 10], []))
        self.assertIn(".nstops = 3, .stops = stops", c_file.write(m, "m.eq")[0])

    def test_they_are_no_kinks(self):
        for text, stops in STOPS:
            if "y" not in text:
                m = model(text, "kinks as events")
                self.assertEqual((m.stops, m.relations), (stops, []), text)
        self.assertEqual(len(model("if(y < t, 1, 2) + abs(t - 2)", "kinks as events").relations), 1)

    def test_stairs_without_end(self):
        """They are relations with whole numbers"""
        for text, guard in (("floor(t)", lambda t: t), ("ceil(t)", lambda t: -t),
                            ("floor((t - 3)/24)", lambda t: (t - 3)/24), ("floor(1 - 4*t)", lambda t: 1 - 4*t)):
            m = model(text)
            self.assertEqual(([r.whole for r in m.relations], m.stops, m.events), ([True], [], []))
            for t in (-2.5, 0, 3, 100):
                found, = evaluate(m.graph, [m.relations[0].guard], {("t", 0): t})
                self.assertAlmostEqual(found, guard(t), delta=1e-13)

    def test_kinks_as_branches(self):
        m = model("floor(t) + if(t < 2, 1, 0) + if(y < floor(t), 1, 0)", "kinks as branches")
        self.assertEqual((m.stops, m.relations, m.events), ([2], [], []))
        with self.assertRaises(Refused) as caught:
            model("1", "kinks as leaves")
        self.assertIn("m.eq:4:1: expected kinks as events or kinks as branches", str(caught.exception))

    def test_hidden_names_give_way(self):
        m = read.parse("parameter T = 1\nstate f_next\nf_next' = 1\nevent f at T every 1 until 5\n  f_next := 0",
                       "m.eq")
        self.assertEqual([q.name for q in m.memory], ["f_next_"])

    def test_tables(self):
        """Their places are stops where the argument depends on t alone; rows with the same place are a step"""
        head = "parameter k = 3\nstate y\ntable s steps (0, 5), (1, k), (2.5, 7)\n" \
               "table l linear (0, 5), (1, 6), (1, 8), (3, k), (4, k)\n"
        for text, stops in (("s(t)", [1, 2.5]), ("l(t)", [0, 1, 3]), ("s(2*t - 1)", [1, 1.75]),
                            ("l(1 - t)", [-2, 0, 1]), ("s(t - k) + l(y)", []), ("l(min(t, 2))", [0, 1, 2])):
            self.assertEqual(read.parse(f"{head}y' = {text}", "m.eq").stops, stops, text)
        m = read.parse(f"{head}y' = s(y)\noutput f = l(y)", "m.eq")
        for y, step, line in ((-1, 5, 5), (0, 5, 5), (0.5, 5, 5.5), (math.nextafter(1, 0), 5, 6), (1, 3, 8),
                              (2, 3, 5.5), (2.5, 7, 4.25), (3, 7, 3), (9, 7, 3)):
            found = evaluate(m.graph, m.equations + m.output_nodes, related(m, {("y", 0): y, ("p", 0): 3.0}))
            self.assertEqual(found, [step, line], y)
        m = read.parse("state y\ntable f linear (1, 2)\ntable g linear (1, 2), (1, 3)\ny' = f(t) + g(t)", "m.eq")
        self.assertEqual(m.stops, [1])
        rows = ", ".join(f"({k}, {k*k})" for k in range(300))
        m = read.parse(f"state y\ntable f steps {rows}\ny' = f(t)", "m.eq")
        self.assertEqual(m.stops, list(range(1, 300)))
        self.assertEqual([evaluate(m.graph, m.equations, {("t", 0): k + 0.5})[0] for k in range(300)],
                         [k*k for k in range(300)])

    def test_many_pulses(self):
        m = model("sum(k = 0..999, if(t >= 2*k and t < 2*k + 1, k + 1, 0))")
        self.assertEqual(m.stops, list(range(2000)))


if __name__ == "__main__":
    unittest.main()
