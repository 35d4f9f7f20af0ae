"""`kinks as events`: the branch that is held in memory is the branch of the condition, at the start and as its guard
goes up and down through zero."""
import math
import unittest

from codegen.equations import kinks, read
from codegen.equations.model import FALLS, RISES
from codegen.equations.nodes import HOLDS

from .test_graph import evaluate

# (right-hand side, the same in Python); y is moved
CONDITIONS = [
    ("if(y < 1, 2, 3)", lambda y: 2 if y < 1 else 3),
    ("if(y <= 1, 2, 3)", lambda y: 2 if y <= 1 else 3),
    ("if(y > 1, 2, 3)", lambda y: 2 if y > 1 else 3),
    ("if(y >= 1, 2, 3)", lambda y: 2 if y >= 1 else 3),
    ("if(1 > y, 2, 3)", lambda y: 2 if 1 > y else 3),
    ("if(not y < 1, 2, 3)", lambda y: 2 if not y < 1 else 3),
    ("if(y > -1 and y < 1, 2, 3)", lambda y: 2 if -1 < y < 1 else 3),
    ("if(y < -1 or y >= 1, 2, 3)", lambda y: 2 if y < -1 or y >= 1 else 3),
    ("abs(y)", abs),
    ("abs(y - 1)*y", lambda y: abs(y - 1) * y),
    ("min(y, 1)", lambda y: min(y, 1)),
    ("max(y, 1, -y)", lambda y: max(y, 1, -y)),
    ("y + if(y > 0, 0.3, -0.3)", lambda y: y + math.copysign(0.3, y)),
]
UP = [k / 4 + 1 / 8 for k in range(-8, 8)]                  # no condition changes there


class Kinks(unittest.TestCase):
    def follow(self, text, wanted, path):
        """y moves along a path; memory changes as the events say that are met"""
        model = read.parse(f"state y = {path[0]}\nkinks as events\ny' = {text}", "m.eq")
        g, values = model.graph, {("y", 0): path[0]}
        for q in model.memory:
            values["m", q.index] = evaluate(g, [q.value], dict(values))[0]
        guard = lambda e, y: evaluate(g, [e.guard], {**values, ("y", 0): y})[0]           # noqa: E731
        met = 0
        for before, y in zip(path[:1] + path, path):
            for e in model.events:
                low, high = guard(e, before), guard(e, y)
                if (e.direction == RISES and low < 0 < high) or (e.direction == FALLS and low > 0 > high):
                    met += 1
                    for (space, index), value in e.jumps.items():
                        values[space, index] = evaluate(g, [value], dict(values))[0]
            values["y", 0] = y
            self.assertAlmostEqual(evaluate(g, model.equations, values)[0], wanted(y), delta=1e-15,
                                   msg=f"{text} at y = {y}")
        return met

    def test_branches_follow_their_conditions(self):
        for text, wanted in CONDITIONS:
            for path in (UP, UP[::-1], UP + UP[::-1]):
                self.assertGreater(self.follow(text, wanted, path), 0, text)

    def at_start(self, text):
        """The values of memory at the start, where other variables are 0"""
        model = read.parse(text, "m.eq")
        values = {("t", 0): 0.0, ("p", 0): 0.0}
        return [evaluate(model.graph, [q.value], values)[0] for q in model.memory]

    def test_guards_that_are_zero_at_the_start(self):
        """They meet no event there: the side to which they move counts, and what is not known stays the condition."""
        for right, wanted in (("-1", kinks.BELOW), ("1", kinks.ABOVE), ("0", kinks.OPEN), ("-t", kinks.OPEN),
                              ("-1 + if(v > 0, 3, 0)", kinks.BELOW)):
            text = f"parameter k\nstate v = 0\nkinks as events\nv' = {right} + 0*abs(v)"
            for value in self.at_start(text.replace("0*abs", "k*abs")):
                self.assertEqual(value, wanted, right)
        self.assertEqual(self.at_start("state v = 0\nkinks as events\nv' = if(sin(t) > 0, 1, 2)"), [kinks.ABOVE])
        self.assertEqual(self.at_start("state v = 0\nkinks as events\n2*v' = abs(v) - 1"), [kinks.OPEN])

    def test_memory_decides_and_open_is_the_condition(self):
        for op in ("<", "<=", ">", ">="):
            model = read.parse(f"state y = 0\nkinks as events\ny' = if(y {op} 0, 1, 0)", "m.eq")
            for y in (-1.0, 0.0, 1.0):
                for moved in (-1e-3, 0, 1e-3):
                    at = {("y", 0): y, ("m", 0): kinks.OPEN + moved}
                    self.assertEqual(evaluate(model.graph, model.equations, at), [HOLDS[op](y, 0)], op)
                for branch, stands_for in ((kinks.BELOW, -1), (kinks.ABOVE, 1)):
                    at = {("y", 0): y, ("m", 0): branch}
                    self.assertEqual(evaluate(model.graph, model.equations, at), [HOLDS[op](stands_for, 0)], op)

    def test_conditions_in_conditions(self):
        for y, wanted in ((2, [kinks.ABOVE] * 2), (0.5, [kinks.ABOVE, kinks.BELOW]), (-2, [kinks.BELOW, kinks.ABOVE])):
            text = f"state y = {y}\nkinks as events\ny' = if(abs(y) > 1, -1, -2)"
            self.assertEqual(self.at_start(text), wanted)

    def test_initial_values_read_nothing_that_is_not_there(self):
        """States and memory have no values yet where NAME_start computes them"""
        for right in ("if(abs(sin(t)) < 0.25, 1, 0)", "if(y >= c, 2, 1)", "if(max(y, c) > min(t*k, y), abs(y - c), 1)",
                      "if(mode == b, abs(y), if(abs(y - 1) > c, y, floor(t)))"):
            m = read.parse(f"mode a, b\nparameter k = 1\nmemory c = k\nstate y = k\nkinks as events\ny' = {right}\n"
                           "event e at k every k until 9\n  c += 1", "m.eq")
            self.assertEqual([key for q in m.memory for key in m.graph.variables([q.value], "y", "m", "yp")], [], right)

    def test_events_move_guards(self):
        """A jump moves y beyond a kink without a crossing; a change of mode moves the guard."""
        m = read.parse("mode a, b\nstate y = -1\nkinks as events\ny' = abs(y) + if(y > if(mode == b, 3, 0), 1, 0)\n"
                       "event e at 1\n  y := -2*y\nevent f at 2\n  mode := b\nevent g at 3\n  mode := a", "m.eq")
        e, f, g = m.events[:3]
        at = lambda y: {("y", 0): y, ("mode", 0): 0}                                      # noqa: E731
        of = lambda event, k, y: evaluate(m.graph, [event.jumps["m", k]], at(y))[0]       # noqa: E731
        self.assertEqual([of(e, 0, y) for y in (1, -1, 0)], [kinks.BELOW, kinks.ABOVE, kinks.OPEN])
        self.assertEqual([of(f, 1, y) for y in (4, 2)], [kinks.ABOVE, kinks.BELOW])
        self.assertEqual([of(g, 1, y) for y in (4, 2, -1)], [kinks.ABOVE, kinks.ABOVE, kinks.BELOW])
        self.assertNotIn(("m", 0), f.jumps)

    def test_guards_that_jump_at_stops(self):
        """Two events at the stop, one for each direction of time, set the branch from the value behind it"""
        for op in ("<", "<="):
            m = read.parse(f"state y = 5\nkinks as events\ny' = if(y > if(t {op} 3, 10, 2), 5, 1) + abs(y)", "m.eq")
            self.assertEqual(m.stops, [3])
            forward, backward = m.events[-2:]
            self.assertEqual([(e.direction, list(e.jumps)) for e in (forward, backward)],
                             [(RISES, [("m", 0)]), (FALLS, [("m", 0)])])
            for y in (1, 5, 11):
                at = {("t", 0): 3.0, ("y", 0): y, ("m", 0): 0.5, ("m", 1): 0.5}
                found = [evaluate(m.graph, [e.jumps["m", 0]], at)[0] for e in (forward, backward)]
                self.assertEqual(found, [kinks.ABOVE if y > bound else kinks.BELOW for bound in (2, 10)])
                self.assertEqual(evaluate(m.graph, [forward.guard, backward.guard], {("t", 0): 3.5}), [0.5, 0.5])

    def test_what_no_state_moves_stays_a_condition(self):
        model = read.parse("parameter k = 1\nstate y\nkinks as events\ny' = if(k > 0, 1, 2) + if(y == 0, 0, 0*y)",
                           "m.eq")
        self.assertEqual((model.memory, model.events), ([], []))
