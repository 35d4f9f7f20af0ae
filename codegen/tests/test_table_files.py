"""Tables from files, and cubic splines through tables."""
import tempfile
import unittest
from pathlib import Path

from codegen.equations import read
from codegen.equations.evaluate import evaluate, held
from codegen.equations.table_file import inlined
from codegen.real import Refused

PLACES, VALUES = [0.0, 1.0, 2.5, 3.0, 7.0], [1.0, -2.0, 0.5, 4.0, 3.0]


def spline(argument, rows=tuple(zip(PLACES, VALUES))):
    """A model with y' = f(argument), where f is a cubic table with parameters as values"""
    parameters = ", ".join(f"p{k} = {v}" for k, (_, v) in enumerate(rows))
    table = ", ".join(f"({x}, p{k})" for k, (x, _) in enumerate(rows))
    return read.parse(f"parameter {parameters}\ntable f cubic {table}\nstate y = 1, z\ny' = f({argument})\nz' = 1",
                      "m.eq")


def along(model, values, t=0.0, y=0.0, direction=None):
    """The first equation there; or its derivatives along t of order `direction`"""
    g, roots = model.graph, model.equations[:1]
    for _ in range(direction or 0):
        roots = g.tangent(roots, {g.v("t"): g.c(1)})
    given = {("p", k): v for k, v in enumerate(values)} | {("t", 0): t, ("y", 0): y, ("y", 1): 0.0}
    return evaluate(g, roots, held(model, given))[0]


class Cubic(unittest.TestCase):
    def test_it_is_the_natural_spline(self):
        """through the values, with two continuous derivatives, of which the second is 0 at the ends"""
        m, eps = spline("t"), 1e-9
        for k, (x, v) in enumerate(zip(PLACES, VALUES)):
            self.assertAlmostEqual(along(m, VALUES, x), v, delta=1e-14)
            for order in (1, 2) if 0 < k < len(PLACES) - 1 else ():
                below, above = (along(m, VALUES, x + s*eps, direction=order) for s in (-1, 1))
                self.assertAlmostEqual(below, above, delta=1e-7)
        for x in (eps, PLACES[-1] - eps):
            self.assertAlmostEqual(along(m, VALUES, x, direction=2), 0, delta=1e-7)
        self.assertNotAlmostEqual(along(m, VALUES, 2.4, direction=3), along(m, VALUES, 2.6, direction=3), delta=1)
        self.assertEqual(along(m, VALUES, 5, direction=4), 0)

    def test_outside_it_is_constant(self):
        m = spline("t")
        self.assertEqual([along(m, VALUES, t) for t in (-3.0, 7.0, 9.0)], [1, 3, 3])

    def test_values_are_parameters(self):
        """it is linear in them: its derivative with respect to one is the spline of a unit vector"""
        m = spline("t")
        g, t = m.graph, 2.7
        for k in range(len(VALUES)):
            slope = g.tangent(m.equations[:1], {g.v("p", k): g.c(1)})
            given = {("p", j): v for j, v in enumerate(VALUES)} | {("t", 0): t, ("y", 0): 0.0}
            unit = [float(j == k) for j in range(len(VALUES))]
            self.assertAlmostEqual(evaluate(g, slope, held(m, given))[0], along(m, unit, t), delta=1e-15)

    def test_two_rows_are_a_line(self):
        m = spline("t", ((1.0, 5.0), (3.0, 9.0)))
        for t, wanted in ((0.0, 5), (1.5, 6), (2.0, 7), (4.0, 9)):
            self.assertEqual(along(m, (5.0, 9.0), t), wanted)

    def test_places_are_stops_or_relations(self):
        self.assertEqual(spline("t").stops, PLACES)
        self.assertEqual(spline("t/2 - 1").stops, [2*x + 2 for x in PLACES])
        m = spline("y")
        self.assertEqual((m.stops, len(m.relations)), ([], len(PLACES)))
        self.assertAlmostEqual(along(m, VALUES, y=2.5), 0.5, delta=1e-14)


class Files(unittest.TestCase):
    def model(self, content, table):
        with tempfile.TemporaryDirectory(prefix="costate-") as place:
            Path(place, "rain.csv").write_bytes(content.encode() if isinstance(content, str) else content)
            file = Path(place, "m.eq")
            file.write_text(f"table rain {table}\nstate x\nx' = rain(t)\n", encoding="utf-8")
            return read.read(file)

    def value(self, m, t):
        return evaluate(m.graph, m.equations, {("t", 0): t, ("y", 0): 0.0})[0]

    def test_separators_headings_and_columns(self):
        for content in ("0,1,5\n2,3,-7\n", "hour;rain;wind\n0;1;5\n2; 3;-7\n", "# measured\n\n0 1 5\n  2\t3  -7e0\n",
                        '"hour","rain","wind"\n0,1,5 # first\n+2,3.,-7\n', "\ufeff0,1,5\r\n2,3,-.7d1\r\n"):
            m = self.model(content, 'linear "rain.csv"')
            self.assertEqual([self.value(m, t) for t in (0, 1, 2)], [1, 2, 3], content)
            self.assertEqual(m.stops, [0, 2])
            self.assertEqual(self.value(self.model(content, 'steps "rain.csv" column 3'), 2.5), -7, content)
        self.assertEqual(self.value(self.model("0,1\n1,2\n2,5", 'cubic "rain.csv"'), 1), 2)

    def test_files_become_rows(self):
        """in the text of an equation file, whose comments and other texts stay as they are"""
        with tempfile.TemporaryDirectory(prefix="costate-") as place:
            Path(place, "a.csv").write_text("0,1,5\n2,-3,7\n", encoding="utf-8")
            text = '# table no linear "a.csv"\nmodel m "table x"; table f linear "a.csv" # rain\n' \
                'table g steps "a.csv" column 3; state table = 1\ntable\' = f(t)*g(t)\ntable h cubic (0, 1), (1, 2)\n'
            self.assertEqual(inlined(text, Path(place, "m.eq")),
                             text.replace('"a.csv" # rain', "(0, 1), (2, -3) # rain")
                             .replace('"a.csv" column 3', "(0, 5), (2, 7)"))
            with self.assertRaisesRegex(Refused, "m.eq:2:16: .*b.csv cannot be read"):
                inlined('state x\ntable f linear "b.csv"', Path(place, "m.eq"))

    def test_faults(self):
        for content, table, wanted in (
                ("0,1\n1,x\n", 'linear "rain.csv"', r"m.eq:1:19: .*rain.csv, line 2: expected numbers, found x"),
                ("0,1\nx,y\n", 'linear "rain.csv"', r"m.eq:1:19: .*rain.csv, line 2: expected numbers, found x"),
                ("0,1\n1\n", 'linear "rain.csv"', r"m.eq:1:19: .*rain.csv, line 2: there is no column 2"),
                ("0,1\n1,2\n", 'linear "rain.csv" column 3', r"line 1: there is no column 3"),
                ("0,1\n", 'linear "rain.csv" column 1', r"m.eq:1:37: values stand in column 2 or one behind it"),
                ("0,1\n", 'linear "rain.csv" column x', r"m.eq:1:37: expected the number of a column, found 'x'"),
                ("0,1\n", 'linear "rain.csv" column 2.5', r"m.eq:1:37: values stand in column 2 or one behind it"),
                ("a,b\n", 'linear "rain.csv"', r"m.eq:1:19: .*rain.csv has no rows of numbers"),
                ("0,1e999\n", 'linear "rain.csv"', r"m.eq:1:19: 1e999 is too large a number"),
                ("0,1\n0,2\n", 'steps "rain.csv"', r"the places in a table must increase"),
                ("0,1\n0,2\n", 'cubic "rain.csv"', r"the places in a table must increase"),
                ("0,1\n", 'linear "snow.csv"', r"m.eq:1:19: .*snow.csv cannot be read: No such file"),
                (b"\xff\xfe\xff", 'linear "rain.csv"', r"m.eq:1:19: .*rain.csv cannot be read: it is no text"),
                ("0,1\n", 'linear "rain.csv" (1, 2)', r"expected the end of the statement")):
            with self.assertRaisesRegex(Refused, wanted):
                self.model(content, table)


if __name__ == "__main__":
    unittest.main()
