"""SBML becomes an equation file: names, meanings, and what is refused with its place."""
import math
import tempfile
import unittest
from pathlib import Path

from codegen import sbml
from codegen.equations import read
from codegen.real import Refused
from codegen.sbml import terms
from codegen.sbml.derived import Derived
from codegen.sbml.document import Event
from codegen.sbml.events import Events
from codegen.sbml.export import export
from codegen.tests.sbml_text import (compartment, element, event, function, initial, model, parameters, reaction, rule,
                                     species)


VESSEL = ("Compartments", compartment(size=2))
DECAY = model(VESSEL, ("Species", species("S", initialConcentration=3)), ("Parameters", parameters(k=0.5)),
              ("Reactions", reaction("R", {"S": 1}, {}, "C*k*S")))


def at_time(term, t, values):
    return terms.value(terms.substituted(term, lambda name: ("name", name), ("number", float(t))), values.get)


class Sbml(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="costate-")
        self.addCleanup(place.cleanup)
        self.file = Path(place.name, "small.xml")

    def document(self, text):
        self.file.write_text(text, encoding="utf-8")
        return sbml.read(self.file)

    def written(self, text, **more):
        """The Equations, whose text the reader of equation files accepts"""
        found = sbml.write(self.document(text), **more)
        read.parse(found.text, "small.eq")
        return found

    def refused(self, text, *words, **more):
        with self.assertRaises(Refused, msg=f"{words}, {more}") as caught:
            self.written(text, **more)
        for word in words:
            self.assertIn(word, str(caught.exception))

    # ---- names and meanings ----

    def test_statements(self):
        text = self.written(DECAY).text
        for line in ("model small", "parameter k = 0.5", "parameter C = 2", "state S = 3", "let R = C*k*S",
                     "S' = -R/C"):
            self.assertIn(f"\n{line}\n", text)

    def test_reserved_words(self):
        found = self.written(model(("Parameters", parameters(t=2, x=1, x_=5) + parameters("false", exp=3)),
                                   ("Rules", rule("rate", "exp", "t + time"))))
        self.assertEqual([found.names[x].name for x in ("t", "x", "x_", "exp")], ["t_", "x", "x_", "exp_"])
        self.assertIn("exp_' = t_ + t\n", found.text)
        self.assertIn("t is t_, exp is exp_", found.text)

    def test_names_that_are_made(self):
        """An identifier of the file may be what a made name would be"""
        found = self.written(model(VESSEL, ("Species", species("S", initialConcentration=1)),
                                   ("Parameters", parameters(S_0=7, R_k=8, k=9)),
                                   ("Reactions", reaction("R", {"S": 1}, {}, "k*S*R_k", "<listOfLocalParameters>" +
                                    element("localParameter", id="k", value=4) + "</listOfLocalParameters>"))),
                             given=["S"])
        self.assertEqual(found.names["S"].start, "S_0_")
        self.assertIn("let R = R_k_*S*R_k\n", found.text)
        self.assertIn("parameter R_k_ = 4\n", found.text)

    def test_units(self):
        text = self.written(model(("Compartments", compartment(units="litre")),
                                  ("Species", species("S", initialAmount=1, substanceUnits="mole") +
                                   species("N", only="true", initialAmount=1, substanceUnits="mole")),
                                  ("Parameters", element("parameter", id="k", value=1, units="per_second", name="rate",
                                                         constant="true")),
                                  ("Reactions", reaction("R", {"S": 1}, {"N": 1}, "k*S")))).text
        self.assertIn('parameter k = 1 {per_second} "rate"\n', text)
        self.assertRegex(text, r"state S = \S+ {mole/litre}\n")
        self.assertIn("state N = 1 {mole}\n", text)

    def test_package_in_vain(self):
        """A package that is declared as required, and not used, changes nothing"""
        declared = 'xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1" comp:required="true"'
        one = ("Parameters", parameters("false", x=1))
        self.assertEqual(self.written(model(one, packages=declared)).text, self.written(model(one)).text)

    def test_pieces_that_exclude_each_other(self):
        """... need no otherwise"""
        both = '<math xmlns="http://www.w3.org/1998/Math/MathML"><piecewise>%s<piece><cn>2</cn>' \
               "<apply><leq/><ci>x</ci><cn>0</cn></apply></piece></piecewise></math>"
        one = "<piece><cn>1</cn><apply><gt/><ci>x</ci><cn>0</cn></apply></piece>"
        rule_of_y = '<assignmentRule variable="y">%s</assignmentRule>'
        values = ("Parameters", parameters("false", x=1, y=1))
        found = self.written(model(values, ("Rules", rule_of_y % (both % one))))
        self.assertIn("let y = if(x > 0, 1, 2)\n", found.text)
        self.assertRaises(Refused, self.written, model(values, ("Rules", rule_of_y % (both % ""))))

    def test_parentheses(self):
        """An apply around an apply is what is in it"""
        twice = '<math xmlns="http://www.w3.org/1998/Math/MathML"><apply><apply><plus/><ci>x</ci><cn>2</cn></apply>' \
                "</apply></math>"
        found = self.written(model(("Parameters", parameters("false", x=1, y=1)),
                                   ("Rules", f'<assignmentRule variable="y">{twice}</assignmentRule>')))
        self.assertIn("let y = x + 2\n", found.text)

    def test_numbers(self):
        one, text = ("Parameters", parameters("false", x=1)), {}
        for formula in ("avogadro*x", "factorial(170)*x", "x + 2 - 3 + (-4) - (x - 5)", "-(x**2) + (-x)**2"):
            text[formula] = self.written(model(one, ("Rules", rule("rate", "x", formula)))).text
        self.assertIn("x' = 6.02214179e+23*x\n", text["avogadro*x"])
        self.assertIn("x' = 7.257415615307999e+306*x\n", text["factorial(170)*x"])
        self.assertIn("x' = x + 2 - 3 - 4 - (x - 5)\n", text["x + 2 - 3 + (-4) - (x - 5)"])
        self.assertIn("x' = -x^2 + (-x)^2\n", text["-(x**2) + (-x)**2"])
        self.refused(model(one, ("Rules", rule("rate", "x", "factorial(171)"))), "the factorial is supported")

    def test_places_of_delays(self):
        """One where the trigger becomes true once"""
        def places(trigger):
            text = self.written(model(("Parameters", parameters("false", x=1)), ("Rules", rule("rate", "x", "1")),
                                      ("Events", event("E", trigger, delay="2", x="0")))).text
            return text.count("event E_due_")
        self.assertEqual([places("time > 1"), places("x > 1"), places("time - 1 > x")], [1, 4, 4])

    def test_given_extra_outputs(self):
        text = model(VESSEL, ("Species", species("S", initialAmount=6)), ("Parameters", parameters(k=0.5, q=1)),
                     ("InitialAssignments", initial("q", "k + 2")),
                     ("Reactions", reaction("R", {"S": 1}, {}, "C*k*S")))
        plain = self.written(text)
        self.assertEqual([plain.names[x].kind for x in ("S", "k", "q", "R")],
                         ["state", "parameter", "constant", "reaction"])
        self.assertIn("let q = k + 2\n", plain.text)
        found = self.written(text, given=["S", "q"], extra={"noise": 0.1}, outputs=[("seen", "noise*S^2 + q")],
                             defaults={"k": 4})
        self.assertEqual((found.names["q"].kind, found.names["S"].start), ("parameter", "S_0"))
        for line in ("parameter q = 2.5", "parameter S_0 = 3", "state S = S_0", "parameter noise = 0.1",
                     "parameter k = 4", "output seen = noise*S^2 + q"):
            self.assertIn(f"\n{line}\n", found.text)
        self.assertEqual(found.parameters, ["k", "q", "C", "S_0", "noise"])
        self.assertIn("parameter other = nan\n", self.written(text, extra=["other"]).text)

    def test_formulas_as_text(self):
        values = {"a": 2.0, "b": -3.0}
        for text, expected in (("a + b*2 - -a", -2), ("a^2/b", -4/3), ("-a^2", -4), ("pow(a, 3)", 8), ("log(a, 10)",
                               math.log10(2)), ("ln(a) + log10(100)", math.log(2) + 2), ("min(a, b, 5)", -3),
                               ("piecewise(1, a > 3, 2, b < 0, 3)", 2), ("piecewise(7, a > 1 && b < 0, 0)", 7),
                               ("sqrt(abs(b)) + pi", math.sqrt(3) + math.pi), ("a if b else a", None),
                               ("!(a > 3) + -!!a", 0), ("!b == false", 1),
                               ("if(a, b)", None), ("sec(a)*cos(a) + arccot(4)", 1 + math.atan(0.25)), ("~a", None),
                               ("a > 1 || b > 1 && b > 2", 0), ("a > 1 || (b > 1 && b > 2)", 1),
                               ("b > 1 && b > 2 || a > 1 || b > 1", 1), ("(a > 1 && b > 1) || b < 0", 1),
                               ("foo(a)", None), ("a +", None), ("true", 1), ("a != b", 1),
                               ("exp(a, b)", None), ("a.b", None)):
            if expected is None:
                self.assertRaises(Refused, sbml.formula, text)
            else:
                self.assertAlmostEqual(terms.value(sbml.formula(text), values.get), expected, 14, text)

    # ---- refusals ----

    def test_files_that_are_no_models(self):
        self.refused("<sbml", "small.xml:1: this is not well-formed XML")
        self.refused("<a/>", "small.xml:1: a: this is not an SBML file")
        self.refused(DECAY.replace('level="3"', 'level="1"'), "small.xml:2: sbml: level 1 of SBML is not read")
        self.refused('<!DOCTYPE a [<!ENTITY b "c">]>' + DECAY.split("\n", 1)[1], "a document type declaration")
        self.refused(DECAY.replace("<math ", "<math>" * 300 + "<math "), "more than 200 elements inside each other")
        self.assertRaises(Refused, sbml.read, self.file.with_name("absent.xml"))

    def test_what_is_not_supported(self):
        """... is refused by its element and identifier"""
        declared = 'xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1" comp:required="true"'
        package = declared + ' comp:used="1"'
        one = ("Parameters", parameters("false", x=1))
        for text, *words in (
                (model(one, ("Submodels", "<comp:submodel/>"), packages=package), "the package comp"),
                (model(one, ("Constraints", "<constraint/>")), "listOfConstraints: this element is not supported"),
                (model(one, ("Rules", rule("rate", "x", "delay(x, 1)"))), "csymbol", "delay"),
                (model(one, ("Rules", rule("rate", "x", "factorial(x)"))), "factorial: "),
                (model(one, ("Rules", rule("rate", "x", "x/infinity"))), "infinity"),
                (model(one, ("Rules", rule("rate", "x", "piecewise(x, x > 1)"))), "piecewise without otherwise"),
                (model(one, ("Rules", rule("rate", "x", "sinc(x)"))), "sinc: this operator of MathML is not supported"),
                (model(one, ("Events", event("E", "x == 2", x="1")), ("Rules", rule("rate", "x", "1"))), "event E: ",
                 "comparisons"),
                (DECAY.replace('reversible="false"', 'fast="true"'), "reaction R: fast reactions")):
            self.refused(text, *words)

    def test_wrong_models(self):
        one = ("Parameters", parameters("false", x=1, y=2))
        for text, *words in (
                (DECAY.replace('species="S"', 'species="Q"'), "small.xml:14: speciesReference Q: ",
                 "'Q' of reaction R"),
                (DECAY.replace("<ci>k</ci>", "<ci>kk</ci>"), "reaction R: kk is not declared"),
                (DECAY.replace('compartment="C"', 'compartment="D"'), "species S: its compartment 'D'"),
                (DECAY.replace('id="k"', 'id="S"'), "S is declared twice; first in line 8"),
                (DECAY.replace('value="0.5"', 'value="half"'), "parameter k: value='half' is not a number"),
                (model(one, ("Rules", rule("assignment", "x", "y") + rule("assignment", "y", "x + 1"))),
                 "this assignment depends on itself: x -> y -> x"),
                (model(one, ("InitialAssignments", initial("x", "y") + initial("y", "x"))),
                 "this assignment depends on itself: x -> y -> x"),
                (model(one, ("InitialAssignments", initial("x", "y") + initial("y", "x")),
                       ("Rules", rule("rate", "x", "1") + rule("rate", "y", "1"))),
                 "its initial value depends on itself: x -> y -> x"),
                (model(one, ("Rules", rule("assignment", "z", "y"))), "'z' is not a parameter"),
                (model(one, ("Rules", rule("assignment", "x", "1") + rule("rate", "x", "1"))), "x has a second rule"),
                (model(one, ("Rules", rule("algebraic", None, "x - y") * 3)), "determines no unknown"),
                (model(one, ("FunctionDefinitions", function("f", "a", "g(a)") + function("g", "a", "f(a)")),
                       ("Rules", rule("rate", "x", "f(x)"))), "functionDefinition f: this function uses itself"),
                (model(one, ("FunctionDefinitions", function("f", "a", "a")), ("Rules", rule("rate", "x", "f(x, y)"))),
                 "the function f has 1 arguments, not 2"),
                (model(one, ("Rules", rule("rate", "x", "rateOf(y)") + rule("assignment", "y", "2*x"))),
                 "its derivative in time is not supported: a rule determines it"),
                (model(one, ("Rules", rule("rate", "x", "rateOf(y)") + rule("rate", "y", "rateOf(x)"))),
                 "its derivative in time depends on itself")):
            self.refused(text, *words)
        self.refused(DECAY, "K: ", given=["K"])
        self.refused(DECAY, "seen uses Q", outputs=[("seen", "Q")])
        self.refused(DECAY, "the model already has this identifier", extra=["k"])

    def test_packages_that_are_not_used(self):
        package = 'xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1" comp:required="true"'
        self.written(model(("Parameters", parameters(x=1)), packages=package))

    def test_pieces_that_are_exhaustive(self):
        """... need no otherwise"""
        one = ("Parameters", parameters("false", x=1, y=1))
        for formula, right in (("piecewise(1, x > 0, 2, x <= 0)", "if(x > 0, 1, 2)"),
                               ("piecewise(1, x < y, 2, y == 3, 4, x >= y)", "if(x < y, 1, if(y == 3, 2, 4))"),
                               ("piecewise(1, time < 2, 2, time >= 2 and time < 5, 4, time >= 5)",
                                "if(t < 2, 1, if((t >= 2) and (t < 5), 2, 4))"),
                               ("piecewise(1, time < 2, 2, time > 2)", None),
                               ("piecewise(1, time < 2, 2, x > 2)", None),
                               ("piecewise(1, time <= 2, 2, time >= 3)", None), ("piecewise(1, x + 1)", None),
                               ("piecewise(1, time < 2, 2, time == 2)", None)):
            text = model(one, ("Rules", rule("rate", "x", formula)))
            if right:
                self.assertIn(f"x' = {right}\n", self.written(text).text)
            else:
                self.refused(text, "piecewise without otherwise")

    def test_algebraic_rules(self):
        """Solved where they are linear; each has an unknown of its own; species at the boundary are the last choice"""
        def text(*rules, **constants):
            return self.written(model(("Parameters", parameters("false", x=1, y=2, z=3) + parameters(**constants)),
                                      ("Rules", "".join(rule("algebraic", None, each) for each in rules) +
                                       rule("rate", "z", "1")))).text
        self.assertIn("let x = -(z*k - 4)/k\n", text("k*x + (z*k - 4)", "y - 1", k=2))
        found = text("x + y - z", "x - z*2")                 # x belongs to the second one, and y to the first
        self.assertIn("let y = -(x - z)\nlet x = z*2\n", found)
        found = text("x + y - z", "x - y*2")                 # y depends on x already
        self.assertIn("let y = -(x - z)\n", found)
        self.assertIn("0 = x - y*2\n", found)
        self.assertIn("0 = x*x - z\n", text("x*x - z", "y - 1"))
        found = self.written(model(VESSEL, ("Species", species("B", initialAmount=2, boundary="true") +
                                            species("S", initialAmount=4)),
                                   ("Rules", rule("algebraic", None, "B - S")))).text
        self.assertIn("let S = B\n", found)

    def test_conversion_factors(self):
        text = self.written(model(VESSEL, ("Species", species("P", initialAmount=1, conversionFactor="c")),
                                  ("Parameters", parameters(c=2)),
                                  ("Reactions", reaction("R", {}, {"P": 3}, "1")))).text
        self.assertIn("P' = c*3*R/C\n", text)

    def test_triggers_at_the_start(self):
        """x >= 1 is true where its guard is zero, x > 1 is not; of k, which is constant between events, that does not
        matter"""
        for trigger, when, ends in (("x >= 1", "x >= 1", "x < 1"), ("x > 1", "x > 1", "x <= 1"),
                                    ("x < 1", "1 > x", "1 <= x"), ("not (x < 1)", "x >= 1", "x < 1"),
                                    ("x >= 1 and time >= 2", "min(x - 1, t - 2) >= 0", "min(x - 1, t - 2) < 0"),
                                    ("x > 1 or k >= 2", "max(x - 1, if(k >= 2, 1, -1)) > 0",
                                     "max(x - 1, if(k >= 2, 1, -1)) <= 0")):
            text = self.written(model(("Parameters", parameters("false", x=1, k=1)), ("Rules", rule("rate", "x", "1")),
                                      ("Events", event("E", trigger, x="x/2")))).text
            self.assertIn(f"event E when {when}\n", text)
            self.assertNotIn("let E", text)
            text = self.written(model(("Parameters", parameters("false", x=1, k=1)), ("Rules", rule("rate", "x", "1")),
                                      ("Events", event("E", trigger, x="x/2", delay="1", persistent="false")))).text
            self.assertIn(f"event E_ends when {ends}\n", text)

    def test_triggers_with_both_kinds(self):
        """of comparisons: each is a guard, and the event is executed where the other ones hold and it makes a
        difference"""
        def of(trigger):
            return self.written(model(("Parameters", parameters("false", x=1, y=1)), ("Rules", rule("rate", "x", "1")),
                                      ("Events", event("E", trigger, y="7")))).text
        text = of("x >= 1 and time > 2")
        self.assertIn("event E_1 when x >= 1\n    y := if(t > 2, 7, y)\n", text)
        self.assertIn("event E_2 when t > 2\n    y := if(x >= 1, 7, y)\n", text)
        text = of("x >= 1 or time > 2")
        self.assertIn("event E_1 when x >= 1\n    y := if(t <= 2, 7, y)\n", text)
        self.assertIn("event E_2 when t > 2\n    y := if(x < 1, 7, y)\n", text)
        text = of("x >= 1 and (x > 1 or time > 2)")
        self.assertIn("event E_1 when x >= 1\n    y := if(t > 2, 7, y)\n", text)
        self.assertIn("event E_2 when x > 1\n    y := if(t <= 2, 7, y)\n", text)
        text = of("piecewise(time > 2, x >= 1, time > 4)")
        for when in ("x >= 1", "t > 2", "1 > x", "t > 4"):
            self.assertIn(f" when {when}\n    y := if(", text)
        text = self.written(model(("Parameters", parameters("false", x=1)), ("Rules", rule("rate", "x", "1")), (
            "Events", event("E", "x >= 1 and time > 2", x="x/2", delay="1", persistent="false")))).text
        self.assertIn("event E_ends when min(x - 1, t - 2) <= 0\n", text)

    def test_comparisons_of_what_is_at_zero(self):
        """Where x > 1 becomes true x is 1 to round-off: x <= 1 is false, until x is set; of an event that was delayed
        nothing is known"""
        def of(trigger, other, **more):
            return self.written(model(("Parameters", parameters("false", x=0, y=1)), ("Rules", rule("rate", "x", "1")),
                                      ("Events", event("E", trigger, **more) + event("F", other, y="y + 1")))).text
        self.assertIn("event E when x > 1\n    x := 0\n    y := y + 1\n", of("x > 1", "x <= 1", x="0"))
        for trigger, other, happens in (("x >= 1", "x <= 1", False), ("x >= 1", "x < 1", True),
                                        ("x < 1", "x >= 1", True), ("x <= 1", "x >= 1", False),
                                        ("1 < x", "1 >= x", True)):
            text = of(trigger, other, x="0" if ">" in trigger or trigger[0] == "1" else "5")
            self.assertEqual("y := y + 1\n" in text.split("event E")[1].split("event F")[0], happens, (trigger, other))
        self.assertIn("if((x > 1) and", of("x > 1", "x <= 1", x="0", delay="1"))

    def test_long_lines(self):
        long = "parameter_with_a_long_name_" + "x"*40
        text = self.written(model(("Parameters", parameters(**{long: 2}) + parameters("false", x=1)), ("Rules", rule(
            "rate", "x", f"{long}*{long}/({long} + max({long}, x*{long}))")))).text
        self.assertLess(max(map(len, text.splitlines())), 121)
        self.assertIn(f"{long}*\n    {long}", text)

    def test_events_without_priorities(self):
        """... are executed in the order of the file"""
        both = event("E", "time > 1", x="2") + event("F", "time > 1", x="3*x", at_trigger="false")
        text = self.written(model(("Parameters", parameters("false", x=1)), ("Events", both))).text
        self.assertIn("event E when t > 1\n    x := 3*2\n", text)

    def jump(self, text, name, t=0.0, **values):
        """{quantity: value} behind an event of the equation file, computed from the values before it"""
        derived = Derived(self.document(text) if isinstance(text, str) else text)
        for written, _, lets, assigned in Events(derived).written():
            if written == name:
                for key, term in lets:
                    values[key] = at_time(term, t, values)
                return {key: at_time(term, t, values) for key, term in assigned}
        return None

    def test_cascades(self):
        """Priorities, values at the time of the trigger, persistence, and events that set off others"""
        one = ("Parameters", parameters("false", x=1, y=2, z=3))
        same = "time > 1"

        def both(first, second):
            return model(one, ("Events", event("E", same, priority="1", **first) +
                               event("F", same, priority="2", **second)))

        def behind(text, **values):
            return self.jump(text, "E", 1, **{**dict(x=1.0, y=2.0, z=3.0), **values})
        self.assertEqual(behind(both(dict(y="x"), dict(x="7"))), {"x": 7, "y": 1})
        self.assertEqual(behind(both(dict(y="x", at_trigger="false"), dict(x="7"))), {"x": 7, "y": 7})
        self.assertEqual(behind(both(dict(x="5"), dict(x="7"))), {"x": 5})
        same = "time > 1 and x < 3"
        ends = dict(y="9", persistent="false")
        self.assertEqual(behind(both(ends, dict(x="7"))), {"x": 7, "y": 2})
        self.assertEqual(behind(both(ends, dict(x="2"))), {"x": 2, "y": 9})
        self.assertEqual(behind(both(dict(y="9"), dict(x="7"))), {"x": 7, "y": 9})
        early = self.jump(both(ends, dict(x="2")), "E", 1 - 1e-15, x=1.0, y=2.0, z=3.0)      # up to round-off
        self.assertEqual(early, {"x": 2, "y": 9})
        chain = event("E", "time > 1", x="z*2") + event("F", "x > 5", y="x + 1") + event("G", "y > 6", z="y*2")
        text = model(one, ("Events", chain))
        self.assertEqual(behind(text), {"x": 6, "y": 7, "z": 14})
        self.assertEqual(behind(text, x=6.0), {"x": 6, "y": 2, "z": 3})          # F's trigger was true before
        self.assertEqual(behind(text, y=7.0), {"x": 6, "y": 7, "z": 3})          # G's trigger was
        self.assertEqual(behind(text, z=2.0), {"x": 4, "y": 2, "z": 2})
        self.assertNotIn("0 == 0", self.written(text).text)
        self.assertIsNone(self.jump(text, "F"))               # its trigger never moves by itself

    def test_events_at_the_start(self):
        text = model(("Parameters", parameters("false", x=1, y=2)), ("Rules", rule("rate", "x", "1")),
                     ("Events", event("E", "x > 0.5", begins="false", y="x + 3") + event("F", "x > 1.5", y="0")))
        self.assertEqual(self.jump(text, "at_start", x=1.0, y=2.0), {"y": 4})
        self.assertEqual(self.jump(text, "at_start", x=0.25, y=2.0), {"y": 2})
        self.assertEqual(self.jump(text, "F", x=1.5, y=2.0), {"y": 0})
        both = event("E", "x > 2", begins="false", priority="2", x="7") + event("F", "x > 2", begins="false", y="x")
        text = model(("Parameters", parameters("false", x=3, y=2)), ("Rules", rule("rate", "x", "1")), ("Events", both))
        self.assertEqual(self.jump(text, "at_start", x=3.0, y=2.0), {"x": 7, "y": 3})
        self.assertNotIn("0 == 0", self.written(text).text)

    def test_changes_at_known_times(self):
        """They come first, set concentrations in the new size, and set off events of the file"""
        text = model(("Compartments", compartment(size=2, constant="false")),
                     ("Species", species("S", initialConcentration=3)), ("Parameters", parameters(on=1) +
                                                                         parameters("false", z=1)),
                     ("Events", event("F", "S > 5", z="C", at_trigger="false") + event("G", "time > 3", C="2*C",
                                                                                              S="S")))
        found = self.document(text)
        found.events.insert(0, Event("change", found.element, ("!=", ("name", "on"), terms.ZERO), {
            "C": ("number", 4.0), "S": ("+", ("name", "S"), ("name", "C"))}, time=2.5))
        before = {"S amount": 6.0, "S": 3.0, "C": 2.0, "z": 1.0}
        self.assertEqual(self.jump(found, "change", 2.5, **before, on=1.0), {"C": 4, "S": 20, "z": 1})
        self.assertEqual(self.jump(found, "change", 2.5, **{**before, "S": 4.0}, on=1.0), {"C": 4, "S": 24, "z": 4})
        self.assertEqual(self.jump(found, "change", 2.5, **before, on=0.0), {"C": 2, "S": 6, "z": 1})
        self.assertEqual(self.jump(found, "G", 3, **before, on=1.0), {"C": 4, "S": 6, "z": 1})
        text = sbml.write(found).text
        self.assertIn("\nevent change at 2.5\n", text)
        self.assertLess(text.index("event change"), text.index("event G"))
        read.parse(text, "small.eq")

    def test_runs_that_continue_others(self):
        """Triggers that were true before do not become true at their start"""
        found = self.document(model(("Parameters", parameters(new=1) + parameters("false", x=1, y=2)),
                                    ("Rules", rule("rate", "x", "1")),
                                    ("Events", event("E", "x > 0.5", begins="false", y="x + 3"))))
        found.fresh = "new"
        self.assertEqual(self.jump(found, "at_start", x=1.0, y=2.0, new=1.0), {"y": 4})
        self.assertEqual(self.jump(found, "at_start", x=1.0, y=2.0, new=0.0), {"y": 2})

    def test_waiting_executions(self):
        """The first free place is taken; without one the time is NaN"""
        text = model(("Parameters", parameters("false", x=1, y=2)), ("Rules", rule("rate", "x", "1")),
                     ("Events", event("E", "x > 5", delay="x", y="x + 1", persistent="false")))
        free = {name: 0.0 for k in range(1, 5) for name in (f"E waits {k}", f"E due {k}", f"E {k} y")}
        first = self.jump(text, "E", 3, x=5.0, y=2.0, **free)
        self.assertEqual(first, {**free, "E waits 1": 1, "E due 1": 8, "E 1 y": 6})
        second = self.jump(text, "E", 4, x=6.0, y=2.0, **first)
        self.assertEqual(second, {**first, "E waits 2": 1, "E due 2": 10, "E 2 y": 7})
        full = {**free, **{f"E waits {k}": 1.0 for k in range(1, 5)}}
        self.assertTrue(math.isnan(self.jump(text, "E", 4, x=6.0, y=2.0, **full)["E due 4"]))
        self.assertEqual(self.jump(text, "E due 2", 10, x=12.0, y=2.0, **second), {"y": 7, "E waits 2": 0})
        self.assertEqual(self.jump(text, "E ends", 10, x=12.0, y=2.0, **second),
                         {f"E waits {k}": 0 for k in range(1, 5)})

    def test_export_refuses(self):
        for text, word in (("state x = 1\n2*x' = 1", "a mass matrix"), ("state x\nx*x' = 1", "a residual"),
                           ("state x\nx' = erf(x)", "no function erf"), ("mode a, b\nstate x\nx' = 1", "modes"),
                           ("state x\nx' = -x\nstart steady", "steady state"),
                           ("state x\nx' = 1\nevent E when x - 1 rises terminal", "ends a run")):
            with self.assertRaises(Refused, msg=text) as caught:
                export(read.parse(text + "\n", "m.eq"), "m.eq")
            self.assertIn(word, str(caught.exception))

    def test_order_left_to_chance(self):
        def two(**more):
            one = event("E", "time > 1", priority="3", x="1")
            return model(("Parameters", parameters("false", x=1, y=2)),
                         ("Events", one + event("F", "time > 1", priority="3", **more)))
        self.refused(two(x="2"), "event F: E and F become true together, have the same priority")
        self.assertIn("event E when t > 1\n", self.written(two(y="x")).text)      # x at the time of the trigger
        self.refused(two(y="x", at_trigger="false"), "which SBML leaves to chance")
        endless = event("E", "x < 1", x="x + 4") + event("F", "x > 3", x="x - 4") + event("G", "time > 1", x="x - 2")
        self.refused(model(("Parameters", parameters("false", x=1)), ("Events", endless)),
                     "set off each other more than 40 times")


if __name__ == "__main__":
    unittest.main()
