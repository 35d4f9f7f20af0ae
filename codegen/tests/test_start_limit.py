"""`start steady` and `start periodic` in equation files: what becomes of them as data, and what is refused."""
import json
import unittest

from codegen.equations import byte_code, c_file, read
from codegen.real import Refused

MODEL = """parameter k = 1, dose = 0, lag = 2, w[1..2] = 1
state y = 1
event given at 5
    y := 2
event later at lag
    y += dose
event low when y - 0.1 falls
    y := 1
y' = w[2]*dose - k*y
"""


def parsed(statement, text=MODEL):
    return read.parse(text + statement + "\n", "m.eq")


def data(statement):
    model = parsed(statement)
    in_c, in_code = (json.loads(text).get("start") for text in (c_file.write(model, "m.eq")[2],
                                                               byte_code.says(model, "m.eq")))
    assert in_c == in_code, (in_c, in_code)
    return in_c


class StartLimits(unittest.TestCase):
    def test_none(self):
        self.assertIsNone(data(""))
        self.assertNotIn("start_steady", "".join(c_file.write(parsed(""), "m.eq")))

    def test_steady(self):
        """events at given times, numbers or not, belong to the run"""
        found = data("start steady with w[2] = 3, dose = -0.5")
        names = [q.name for q in parsed("").parameters]
        self.assertEqual(found["kind"], "steady")
        self.assertEqual(dict(zip(found["fixed"], found["values"])), {names.index("dose"): -0.5,
                                                                      names.index("w[2]"): 3})
        self.assertEqual([parsed("").events[k].name for k in found["events"]], ["low"])
        self.assertEqual(data("start steady")["fixed"], [])

    def test_before_its_parameters_are_declared(self):
        model = read.parse("start steady with k = 2\nparameter k = 1\nstate y = 1\ny' = -k*y\n", "m.eq")
        self.assertEqual(model.start_limit.fixed, [(0, 2.0)])

    def test_periodic(self):
        self.assertEqual(data("start periodic 2*12"), dict(kind="periodic", period=24.0, near=False))
        self.assertEqual(data("start periodic near 7.5"), dict(kind="periodic", period=7.5, near=True))

    def test_texts(self):
        code, header, _ = c_file.write(parsed("start steady with k = 3"), "m.eq")
        self.assertIn("#include <costate/steady.h>", header)
        problem = code[code.index("m_start_problem(void)"):]
        self.assertIn(".nevents = 1, .event = events_at_rest", problem[:problem.index("}")] + problem[:900])
        code, header, _ = c_file.write(parsed("start periodic near 3"), "m.eq")
        self.assertIn("or a guess of it", header)
        self.assertIn("options = {.period = 0}", code)
        self.assertIn("options = {.period = 3.0}", c_file.write(parsed("start periodic 3"), "m.eq")[0])

    def test_a_state_may_be_called_start(self):
        model = read.parse("state start = 1\nstart' = -start\n", "m.eq")
        self.assertIsNone(model.start_limit)

    def test_refused(self):
        for statement, place, what in (
                ("start at 3", "7", "expected steady or periodic"),
                ("start steady with m = 1", "19", "m is not a parameter"),
                ("start steady with doze = 1", "19", "dose"),
                ("start steady with k = dose", "23", "is a number"),
                ("start steady with k = 1/0", "25", "division by zero"),
                ("start steady with k = 1, k = 2", "26", "k has two values"),
                ("start steady with w[1,2] = 1", "19", "one index"),
                ("start periodic -1", "16", "positive"),
                ("start periodic k", "16", "is a number"),
                ("start periodic 2 with k = 1", "18", "with"),
                ("start steady\nstart steady", "1", "declared twice")):
            with self.assertRaises(Refused) as refused:
                parsed(statement)
            text = str(refused.exception)
            line = MODEL.count("\n") + 1 + statement.count("\n")
            self.assertIn(f"m.eq:{line}:{place}", text)
            self.assertIn(what, text)

    def test_grids(self):
        text = "grid i: 8\nstate u[i] = 1\nu[i]' = u[i + 1] - u[i]\nstart steady\n"
        with self.assertRaises(Refused) as refused:
            read.parse(text, "m.eq")
        self.assertIn("m.eq:4:1", str(refused.exception))
        self.assertIn("grids", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
