"""include "OTHER.eq" as PREFIX."""
import tempfile
import unittest
from pathlib import Path

from codegen.equations import read
from codegen.equations.evaluate import evaluate, held
from codegen.real import Refused

TANK = """model tank "a tank"                  # its name is not that of the whole
table rain linear "rain.csv"
parameter k = 2 {1/h}, n[1..2] = 3
state x = 1, y[1..2], A = 5
let f(a) = a*k*e
x' = -f(x) + rain(t); y[k]' = n[1]*x for k = 1..2
cost q' = x
output o = x/k
event hit at k
    x += k
A -> 0 : rate = 3
"""


class Included(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="costate-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "sub").mkdir()
        self.put("sub/tank.eq", TANK)
        self.put("sub/rain.csv", "0,1\n1,3\n")

    def put(self, name, text):
        (self.place / name).write_text(text, encoding="utf-8")

    def read(self, text):
        self.put("whole.eq", text)
        return read.read(self.place / "whole.eq")

    def refused(self, text, wanted):
        with self.assertRaisesRegex(Refused, wanted):
            self.read(text)

    def test_names_begin_with_the_prefix(self):
        m = self.read('include "sub/tank.eq" as one\nstate e = 7; e\' = one_x + two_y[2]\ninclude "sub/tank.eq" as two')
        tank = ["x", "y[1]", "y[2]", "A"]
        self.assertEqual(m.name, "whole")
        self.assertEqual([q.name for q in m.states], [*("one_" + k for k in tank), "e", *("two_" + k for k in tank)])
        self.assertEqual([q.name for q in m.parameters], [p + k for p in ("one_", "two_")
                                                          for k in ("k", "n[1]", "n[2]", "rate")])
        self.assertEqual([x.name for x in (*m.costs, *m.outputs, *m.events)],
                         ["one_q", "two_q", "one_o", "two_o", "one_hit", "two_hit"])
        self.assertEqual(m.stops, [0, 1])
        self.assertEqual(len(m.reactions), 2)

    def test_values_are_those_of_the_other_file(self):
        """also where this one gives its words another meaning: e is a number there and a state here"""
        alone = read.read(self.place / "sub/tank.eq")
        m = self.read('state e = 7, k; e\' = 1; k\' = 1\ninclude "sub/tank.eq" as a')
        at = {("y", 0): 0.5, ("y", 1): 0.25, ("y", 2): 0.125, ("y", 3): 4.0, ("t", 0): 0.5}
        at |= {("p", k): 1.5 + k for k in range(4)}
        moved = {(space, k + 2*(space == "y")): v for (space, k), v in at.items()} | {("y", 0): 9.0, ("y", 1): 11.0}
        self.assertEqual(evaluate(m.graph, m.kinetics()[2:], held(m, moved)),
                         evaluate(alone.graph, alone.kinetics(), held(alone, at)))

    def test_included_files_may_include_others(self):
        self.put("middle.eq", 'include "sub/tank.eq" as in\nstate v; v\' = in_x')
        m = self.read('include "middle.eq" as b')
        self.assertEqual([q.name for q in m.states], ["b_in_x", "b_in_y[1]", "b_in_y[2]", "b_in_A", "b_v"])
        self.put("circle.eq", 'include "circle.eq" as c\nstate x; x\' = 1')
        self.refused('include "circle.eq" as a', "circle.eq:1:9: files include each other more than 10 levels deep")

    def test_faults_name_the_file(self):
        self.put("wrong.eq", "state x\nx' = y\n")
        self.refused('include "wrong.eq" as a', r"wrong.eq:2:6: y is not declared")
        self.refused('state z; z\' = a_q\ninclude "sub/tank.eq" as a', r"whole.eq:1:15: a_q is a running cost")
        self.refused('state a_x; a_x\' = 1\ninclude "sub/tank.eq" as a', r"tank.eq:4:7: a_x is declared twice")
        self.refused('include "sub/tank.eq" as a\ninclude "sub/tank.eq" as a', r"tank.eq:2:7: a_rain is declared twice")
        self.refused('include "none.eq" as a', r"whole.eq:1:9: .*none.eq cannot be read: No such file")
        self.refused('include "sub/tank.eq"', r"whole.eq:1:22: expected 'as' and a prefix for its names")
        self.refused('include "sub/tank.eq" as 2', r"whole.eq:1:26: expected a prefix, found '2'")
        self.refused('include "sub/tank.eq" as a b', r"whole.eq:1:28: expected the end of the statement, found 'b'")
        self.refused('include tank.eq as a', r"whole.eq:1:")
        self.refused('include "sub/tank.eq" as a\nlet sign(x) = x', r"whole.eq:2:5: sign is a function, which included")

    def test_what_cannot_be_included(self):
        self.put("modes.eq", "mode u, v\nstate x\nx' = 1")
        self.refused('include "modes.eq" as a', r"whole.eq:1:9: .*modes.eq has modes \(u, v\): a model has one mode")
        self.put("field.eq", "size N\ngrid i: N wall\nstate u[i]\nu' = u")
        self.refused('include "field.eq" as a', r"whole.eq:1:9: .*field.eq has a grid, so that it cannot be included")
        self.put("rest.eq", "state x = 1\nx' = -x\nstart steady")
        self.refused('include "rest.eq" as a', r"whole.eq:1:9: .*rest.eq says where runs begin, which")
        self.put("words.eq", "state start\nstart' = 1")
        self.refused('include "words.eq" as a', r"whole.eq:1:9: start of .*words.eq is also a word of statements")

    def test_one_text(self):
        """what programs that keep models by their text receive: the same nodes"""
        text = 'include "sub/tank.eq" as one; state z {m} "a text"\nz\' = one_x + 2.5e-3^2 // a comment\n'
        m = self.read(text)
        whole = read.self_contained(text, self.place / "whole.eq")
        again = read.parse(whole, "elsewhere/whole.eq")
        self.assertEqual([m.graph.nodes, m.equations, [q.name for q in m.states], m.states[-1].text],
                         [again.graph.nodes, again.equations, [q.name for q in again.states], again.states[-1].text])


if __name__ == "__main__":
    unittest.main()
