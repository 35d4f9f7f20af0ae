"""Files in SBML with faults: a sentence with the place, or an equation file that is right; never a traceback."""
import random
import re
import tempfile
import unittest
from pathlib import Path

from codegen import sbml
from codegen.equations import read
from codegen.real import Refused
from codegen.tests.sbml_text import (compartment, element, event, function, initial, model, parameters, reaction, rule,
                                     species)

FILES = 300
LOCAL = "<listOfLocalParameters>" + element("localParameter", id="k", value=7) + "</listOfLocalParameters>"
MODELS = (
    model(("FunctionDefinitions", function("f", "ab", "a + g(b)") + function("g", "a", "2*a*a")),
          ("Compartments", compartment(size=2) + compartment("D", constant="false")),
          ("Species", species("S", initialAmount=3) + species("P", "D", only="true", initialConcentration=2)),
          ("Parameters", parameters(k=2, b=3) + parameters("false", x=1, y=2, z=3)),
          ("InitialAssignments", initial("S", "k*b") + initial("b", "k + 1")),
          ("Rules", rule("rate", "D", "x") + rule("assignment", "x", "S*piecewise(1, time < 2, y > 1, 2, 3)") +
           rule("algebraic", None, "z + y*2 - x")),
          ("Reactions", reaction("R", {"S": 1}, {"P": 2}, "f(k, b)*S", LOCAL) +
           reaction("Q", {"P": 1}, {}, "exp(-k)*P")),
          ("Events", event("E", "S > 2 and x < 3", S="1", delay="k") + event("F", "time > b", begins="false", D="2"))),
    model(("Parameters", parameters(k=2) + parameters("false", x=1, y=2)),
          ("Rules", rule("rate", "x", "rateOf(y)*k") + rule("rate", "y", "-y + root(3, k)*log(2, k)")),
          ("Events", event("E", "x > k", priority="2", x="1", y="x") +
           event("F", "x > k", priority="1", persistent="false", at_trigger="false", y="x + 1"))))
WORDS = ("plus", "minus", "not", "piecewise", "ln", "foo", "and", "lt", "apply", "t", "inf", "-1", "", "1e400", "k",
         "S")

PARTS = (r"<\w+[^<>]*/>", r"<(\w+)[^<>]*>[^<>]*</\1>", r'(?<=")[^"]*(?=")', r"(?<=<)\w+", r' \w+="[^"]*"')


def faulty(chance, text):
    """The text with one to three faults: an element that is missing or twice, another word, a cut"""
    for _ in range(chance.choice((1, 1, 2, 3))):
        kind = chance.randrange(5)
        found = list(re.finditer(PARTS[kind], text))
        if not found:
            continue
        at = chance.choice(found)
        new = "" if kind == 4 else chance.choice(("", at[0]*2)) if kind < 2 else chance.choice(WORDS)
        text = text[:at.start()] + new + text[at.end():]
    return text[:chance.randrange(len(text))] if chance.random() < 0.05 else text


class Mutated(unittest.TestCase):
    def test_faults(self):
        chance, right, refused = random.Random(57), 0, 0
        with tempfile.TemporaryDirectory(prefix="costate-") as place:
            path = Path(place, "small.xml")
            for number in range(FILES):
                text = faulty(chance, chance.choice(MODELS))
                path.write_text(text, encoding="utf-8")
                with self.subTest(number=number, text=text):
                    try:
                        written = sbml.write(sbml.read(path)).text
                    except Refused as fault:
                        self.assertRegex(str(fault), r"small\.xml(:\d+)?: ")
                        refused += 1
                        continue
                    read.parse(written, "small.eq")
                    right += 1
        self.assertGreater(min(right, refused), FILES//10)


if __name__ == "__main__":
    unittest.main()
