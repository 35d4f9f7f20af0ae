"""Equation files, numbers.hpp, lanes.hpp, SymPy's printer and the page that computes know the same mathematical
functions, which the document lists and the tests of each call; it also lists the reserved words.

    test_functions.py SOURCE     reports in the format of cmocka"""

import os
import re
import sys

sys.dont_write_bytecode = True
root = sys.argv[1]
sys.path[:0] = [root, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]     # tests has a codegen.py, too
from cases import run_all  # noqa: E402
from codegen.equations.declare import RESERVED  # noqa: E402
from codegen.equations.nodes import FUNCTIONS, FUNCTIONS_OF_TWO  # noqa: E402
from codegen.equations.scope import ALIASES, CONSTANTS, WRITTEN_OUT  # noqa: E402

IN_C = {"fabs": "abs"}                                          # in equation files
EQUATIONS = {IN_C.get(name, name) for name in FUNCTIONS | FUNCTIONS_OF_TWO} | {"pow", "min", "max"}
ONLY_CPP = {"exp2", "erfc", "trunc", "round", "fmod", "copysign", "fabs", "isfinite", "isnan", "isinf", "signbit"}
IN_CPP = {"min": "fmin", "max": "fmax"}
# SymPy has no such classes: it writes them as powers, quotients and sums of others.
POWERS = {"sqrt", "cbrt", "hypot", "pow", "log10", "log2", "log1p", "expm1"}


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def same(found, wanted, where):
    found, wanted = set(found), set(wanted)
    assert found == wanted, "%s lacks %s, and has %s" % (where, sorted(wanted - found), sorted(found - wanted))


def cpp():
    return {IN_CPP.get(name, name) for name in EQUATIONS} | ONLY_CPP


def test_document():
    block = re.search(r"and the functions\n\n((?:    .*\n)+)", read("docs/reference/equations.md"))[1]
    same(re.findall(r"[a-z]+\d*[a-z]*\d*", re.sub(r"\([^)]*\)", "", block)),
         EQUATIONS | {*ALIASES, *WRITTEN_OUT, "if", "piecewise", "sum"}, "equations.md")
    constants = re.search(r"The numbers (.*?), unless", read("docs/reference/equations.md"))[1]
    same(re.findall(r"`(\w+)`", constants), CONSTANTS, "equations.md")


def test_reserved_words():
    text = read("docs/reference/equations.md")
    sentence = re.search(r"Reserved words cannot be names: (.*?), and the functions", text, re.S)[1]
    same(re.findall(r"`(\w+)`", sentence), RESERVED - EQUATIONS - {*FUNCTIONS, *ALIASES} | {"min", "max"}, "it")


def test_numbers():
    text = read("include/costate/numbers.hpp")
    one = re.findall(r"^COSTATE_(?:FUNCTION|JUMPS|ASKS)\((\w+)", text, re.M)
    more = re.findall(r"^template<class N> if_number<N(?:, bool)?> (\w+)\(", text, re.M)
    same([*one, *more], cpp(), "numbers.hpp")
    two = re.findall(r"^COSTATE_WITH_DOUBLE\((\w+)\)", text, re.M) + ["pow"]
    same(two, {"atan2", "hypot", "fmax", "fmin", "fmod", "copysign", "pow"}, "a number and a double, numbers.hpp")


def test_lanes():
    same(re.findall(r"^COSTATE_LANEWISE\((\w+)\)", read("include/costate/lanes.hpp"), re.M), cpp(), "lanes.hpp")


def test_sympy():
    text = re.search(r"^FUNCTIONS = (\{.*?\}\})$", read("python/costate/_sympy.py"), re.M | re.S)[1]
    same(re.findall(r"\b[a-z]+\d*\b", " ".join(re.findall(r'"([^"]*)"', text))), EQUATIONS - POWERS, "_sympy.py")


def test_page():
    """it serves or refuses each by its name, from one table"""
    sys.path.insert(0, os.path.join(root, "docs", "site", "compute"))
    from table import table
    found = table()
    served = {name for name in found["derivatives"] if re.fullmatch(r"\w+", name)}
    same(served | set(found["withKinks"]) | set(found["aliases"]), EQUATIONS |
         {*ALIASES, *WRITTEN_OUT, "if", "piecewise", "fabs"}, "table.py")
    same(found["constants"], CONSTANTS, "table.py")
    assert not served & set(found["withKinks"])


def test_tests_call_each():
    for name, functions in (("tests/cpp/test_numbers.cpp", cpp() - {"isfinite", "isnan", "isinf", "signbit"}),
                            ("tests/cpp/test_lanes.cpp", cpp())):
        text = read(name)
        lost = [function for function in functions if not re.search(r"\b%s\(" % function, text)]
        assert not lost, "%s does not call %s" % (name, sorted(lost))
    listed = re.search(r'^SAME = """(.*?)"""', read("tests/models/random_files.py"), re.M | re.S)[1].split()
    same(listed, FUNCTIONS - {"fabs"}, "random_files.py")


run_all(globals())
