"""function NAME(...) from "FILE" derivatives K: what is read, what is refused, what is said about it."""
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from codegen import command
from codegen.equations import byte_code, c_file, calls_text, explain, pieces, read
from codegen.equations.calls import Calls
from codegen.real import Refused
from codegen.sbml.export import export

RHO = 'function rho(T, x) from "rho.h" derivatives 2\n'
STATE = "state y = 1, z = 2\ny' = -y*rho(y, t)\nz' = y\n"


class InC(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="costate-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.put("rho.h", "")

    def put(self, name, text):
        (self.place / name).parent.mkdir(exist_ok=True)
        (self.place / name).write_text(text, encoding="utf-8")

    def read(self, text):
        self.put("m.eq", text)
        return read.read(self.place / "m.eq")

    def refused(self, text, wanted, after=STATE):
        with self.assertRaisesRegex(Refused, wanted):
            self.read(text + after)


class Reading(InC):
    def test_what_is_declared(self):
        m = self.read('function rho(T {K}, x) {kg/m^3} from "rho.h" as density derivatives 2\n'
                      "function eta(T) derivatives 1\n" + STATE)
        rho, eta = m.graph.functions["rho"], m.graph.functions["eta"]
        self.assertEqual((rho.word, rho.arguments, rho.orders, rho.file), ("density", ["T", "x"], 2, "rho.h"))
        self.assertEqual((eta.word, eta.count, eta.orders, eta.file), ("eta", 1, 1, None))

    def test_the_chain_rule(self):
        """d/dy rho(y^2, y) = 2 y rho_0 + rho_1; mixed derivatives are one node"""
        g = self.read(RHO + STATE).graph
        y, call = g.v("y", 0), lambda *places: g.call(("rho", places), g.pow(g.v("y", 0), g.c(2)), g.v("y", 0))
        slope, = g.tangent([call()], {y: g.c(1)})
        self.assertEqual(slope, g.add(g.mul(call(0), g.mul(g.c(2), y)), call(1)))
        x, z = g.v("y", 0), g.v("y", 1)
        one, = g.tangent(g.tangent([g.call(("rho", ()), x, z)], {x: g.c(1)}), {z: g.c(1)})
        self.assertEqual([one], g.tangent(g.tangent([g.call(("rho", ()), x, z)], {z: g.c(1)}), {x: g.c(1)}))
        self.assertEqual(g.lacking([one]), [])
        self.assertEqual(g.lacking(g.tangent([one], {x: g.c(1)})), ["rho"])

    def test_places_in_a_jet(self):
        """value, k first, k^2 second derivatives, of which those that are not wanted take no place"""
        place = Calls.place_in_jet
        self.assertEqual([place((0, 1, 2), (), 3), place((0, 1, 2), (2,), 3), place((0, 1, 2), (1, 2), 3)], [0, 3, 9])
        self.assertEqual([place((1, 3), (1,), 2), place((1, 3), (0, 1, 1), 2), place((2,), (1, 0), 2)], [1, 5, 2])

    def test_words_of_the_statement_are_names(self):
        m = self.read("state function = 1, derivatives = 2, from\nfunction' = derivatives\nderivatives' = from\n"
                      "from' = 1")
        self.assertEqual([q.name for q in m.states], ["function", "derivatives", "from"])

    def test_included_files(self):
        """the names in C stay, files are found where the other file is"""
        self.put("sub/part.eq", 'function rho(T) from "rho.h" derivatives 3\nfunction eta(T) derivatives 3\n'
                 "state x\nx' = rho(x)*eta(x)\n")
        self.put("sub/rho.h", "")
        m = self.read('include "sub/part.eq" as a\ninclude "sub/part.eq" as b\n')
        self.assertEqual(list(m.graph.functions), ["a_rho", "a_eta", "b_rho", "b_eta"])
        rho = m.graph.functions["a_rho"]
        self.assertEqual((rho.word, rho.path), ("rho", (self.place / "sub/rho.h").resolve()))
        self.assertEqual((m.graph.functions["b_eta"].word, m.graph.functions["b_eta"].file), ("b_eta", None))

    def test_files_are_named_from_everywhere(self):
        text = '# from "rho.h"\nfunction rho(T, x) from "rho.h" as rho derivatives 2  # "rho.h"\n' + STATE
        whole = read.self_contained(text, self.place / "m.eq")
        self.assertEqual(whole, text.replace('from "rho.h" as', f'from "{self.place.resolve()}/rho.h" as'))
        self.put("part.eq", text)
        whole = read.self_contained('include "part.eq" as a\nstate x\nx\' = 1', self.place / "m.eq")
        self.assertIn(f'from "{self.place.resolve()}/rho.h" as rho derivatives', whole)
        self.assertEqual(read.parse(whole, "elsewhere/m.eq").graph.functions["a_rho"].word, "rho")

    def test_units(self):
        head = 'unit check on {s}\nfunction rho(T {K}, x) {1/s} from "rho.h" derivatives 2\n'
        self.read(head + "state T = 1 {K}\nT' = -T*rho(T, 3)\n")
        self.refused(head, "T has the unit K, this m", "state y {m}\ny' = y*rho(y, 1)\n")
        self.refused(head, "m", "state T {K}, y {m}\nT' = T*rho(T, 1)\ny' = rho(T, y)\n")


class Refusals(InC):
    def test_files(self):
        self.refused('function rho(T, x) from "no.h" derivatives 2\n', r"m.eq:1:25: .*no.h cannot be read")
        self.refused('function rho(T, x) from "." derivatives 2\n', "cannot be read")
        self.refused("function rho(T, x) from rho derivatives 2\n", "name of a file in C in double quotes")

    def test_derivatives(self):
        end = "the end of the line"
        for behind, found in (("", end), ("derivatives 4", "4"), ("derivatives", end), ("derivative 2", "'derivative'"),
                              ("derivatives 1.5", "1.5")):
            self.refused(f'function rho(T, x) from "rho.h" {behind}\n', "up to which order .*0, 1, 2 or 3, found "
                         + found)

    def test_arguments(self):
        self.refused(RHO, "rho has 2 arguments, not 1", "state y\ny' = rho(y)\n")
        self.refused(RHO, "rho needs its arguments in parentheses", "state y\ny' = rho\n")
        self.refused("function rho() derivatives 1\n", "expected an argument")
        self.refused("function rho derivatives 1\n", "the arguments of rho")
        self.refused("function rho(x, x) derivatives 1\n", "two arguments of rho have the same name")
        many = ", ".join(f"x{k}" for k in range(17))
        self.refused(f"function rho({many}) derivatives 1\n", "rho has 17 arguments; a function in C has at most 16")
        self.read(f"function rho({many[:-5]}) derivatives 1\nstate y\ny' = 1\n")

    def test_names(self):
        self.refused(RHO + RHO, "2:10: rho is declared twice")
        self.refused("parameter rho = 1\n" + RHO, "rho is declared twice")
        self.refused(RHO + "let rho(T, x) = T\n", "rho is declared twice")
        self.refused("function exp(x) derivatives 1\n", "exp is a word of the language")
        self.refused('function rho(x) from "rho.h" as double derivatives 1\n', "double is a word of C, not a function")
        self.refused(RHO, "rh is not a function; did you mean rho", "state y\ny' = rh(y, 1)\n")

    def test_names_of_the_generated_file(self):
        """its functions, variables and macros; not words of its comments"""
        for word in ("rhs_value", "no_adjoint", "pattern", "inverse", "backend", "value", "x", "restrict"):
            with self.subTest(word), self.assertRaisesRegex(Refused, r"m.eq:1:10: the generated C uses the name \w+ its"
                                                            "elf|restrict is a word of C"):
                c_file.write(self.read(f'function rho(T, x) from "rho.h" as {word} derivatives 2\n{STATE}'), "m.eq")
        for word in ("side", "linear", "systems"):
            c_file.write(self.read(f'function rho(T, x) from "rho.h" as {word} derivatives 2\n{STATE}'), "m.eq")
        m = self.read('size N = 3\ngrid i: N wall\nfunction rho(T) from "rho.h" as image_of derivatives 3\n'
                      "state u[i]\nu' = rho(u[i+1])\n")
        with self.assertRaisesRegex(Refused, "uses the name image_of itself"):
            c_file.write(m, "m.eq")

    def test_places_that_need_numbers(self):
        """a function in C is not known when the file is read"""
        self.refused(RHO, "the default of a parameter is a number", STATE + "parameter k = rho(1, 2)\n")
        self.refused(RHO, "a place in a table must be a number", "table f linear (0, 1), (rho(1, 2), 2)\n"
                     "state y\ny' = f(y)\n")

    def test_where_functions_are_not_served(self):
        m = self.read(RHO + STATE)
        with self.assertRaisesRegex(Refused, "m declares functions in C; compile it"):
            byte_code.write(m, "m.eq")
        with self.assertRaisesRegex(Refused, "SBML has no counterpart of rho, a function in C"):
            export(m, "m.eq")
        with self.assertRaisesRegex(Refused, "rho has first and second derivatives, not the third ones"):
            c_file.write(m, "m.eq", side_by_side=True)


class Written(InC):
    def test_everywhere(self):
        """in conditions, guards, jumps, costs, outputs, initial values"""
        m = self.read(RHO + "parameter k = 1\nstate y = rho(k, 1)\ny' = if(rho(y, t) > 1, rho(k, y), 0)\n"
                      "cost q' = rho(y, 2)\noutput o = rho(y, k)\nevent e when rho(y, 3) - 1 falls\n  y := rho(y, 4)\n"
                      "event at_k at rho(k, 5)\n")
        text = c_file.write(m, "m.eq")[0]
        self.assertEqual(len(m.relations), 1)
        for name in ("rhs", "cost", "output", "on_e_guard", "on_e_jump", "relation_0_guard", "start", "on_at_k_guard"):
            function = text.split(f"static int {name}_value(")[1].split("\n}")[0]
            self.assertIn("rho_((const double[]){", function, name)

    def test_one_call_for_each_point(self):
        """the gradient at (y, t) once, although both of its entries are used"""
        text = c_file.write(self.read(RHO + "state y, z\ny' = rho(y, z)\nz' = rho(y, z)^2\n"), "m.eq")[0]
        jac = text.split("static int jac(")[1].split("\n}")[0]
        self.assertEqual(jac.count("rho_("), 1)
        self.assertIn("s1, s1 + 1, NULL, NULL);", jac)

    def test_dear_ones_in_branches(self):
        """are called only where the branch is taken"""
        text = c_file.write(self.read(RHO + "kinks as branches\nstate y\ny' = if(y > 0, rho(y, t), 0)\n"), "m.eq")[0]
        value = text.split("static int rhs_value(")[1].split("\n}")[0]
        self.assertRegex(value, r"if \(y_ > 0\) \{\n        rho_\(")

    def test_in_pieces(self):
        """an array stays in the function that declares it; its elements are passed on"""
        with mock.patch.multiple(pieces, WHOLE=0, LENGTH=1):
            text = c_file.write(self.read(RHO + "kinks as branches\nstate y, z\ny' = rho(y, z)*rho(z, y)\n"
                                          "z' = if(y > 0, rho(y, z)^2, rho(z, rho(y, z)))\n"), "m.eq")[0]
        found = 0
        for function in text.split("\n}\n"):
            used = set(re.findall(r"\bs\d+(?= \+ \d|\[\d)", function))
            self.assertLessEqual(used, set(re.findall(r"\bdouble (s\d+)\[", function)), function)
            found += bool(used) and "PIECE" in function
        self.assertGreater(found, 10)

    def test_what_is_included(self):
        """the file where it is from the C file; functions that are not called are not needed"""
        self.put("m.eq", RHO + 'function eta(T) from "eta.h" derivatives 1\nfunction nu(T) from "rho.h" as eta '
                 "derivatives 1\n" + STATE + f'function mu(T) from "{self.place}/eta.h" derivatives 1\n'
                 "output o = nu(y)*mu(y)\n")
        self.put("eta.h", "")
        (self.place / "deep/out").mkdir(parents=True)
        (self.place / "link").symlink_to(self.place / "deep/out", target_is_directory=True)
        for folder in ("link", "deep/out"):
            text = command.write(self.place / "m.eq", self.place / folder / "m.c")[0].read_text(encoding="utf-8")
            self.assertEqual(text.count('#include "../../rho.h"\n'), 1)
        self.assertIn(f'#include "{self.place}/eta.h"\n', text)
        self.assertIn("    eta(x, value, gradient, hessian, third);\n", text)
        self.assertNotIn("eta_(", text)

    def test_functions_of_the_program(self):
        m = self.read("function eta(T) derivatives 1\n" + STATE.replace("rho(y, t)", "eta(t)"))
        text, header, about = c_file.write(m, "m.eq")
        self.assertIn("void m_eta(const double *x, double *value, double *gradient, double *hessian, double *third);",
                      " ".join(header.split()))
        self.assertIn("    m_eta(x, value, gradient, hessian, third);\n", text)
        self.assertIn('"needs"', about)
        self.assertEqual(calls_text.data(m.graph.functions), {
            "needs": [dict(name="eta", arguments=["T"], derivatives=1)], "orders": {"eta": 1}})
        self.assertIn('"needs": [],', c_file.write(self.read(RHO + STATE), "m.eq")[2])
        self.assertNotIn("needs", c_file.write(self.read("state y\ny' = 1\n"), "m.eq")[2])

    def test_what_is_explained(self):
        text = explain.explain(self.read(RHO + "function eta(T) derivatives 3\nfunction mu(T) derivatives 1\n" + STATE
                                         + "output o = 2*rho(y, t)\n"), "m.eq")
        self.assertIn("""functions in C
    rho(T, x): rho of rho.h, with first and second derivatives
        where it is called there is no adjoint_tangent2
    eta(T): a function of the program, with first, second and third derivatives
    mu(T): a function of the program, with first derivatives
        where it is called there is no tangent2, adjoint_tangent and adjoint_tangent2
""", text)
        self.assertIn("2*rho(y, t)", text)
        self.assertIn("not computed: rho is a function in C", text)


if __name__ == "__main__":
    unittest.main()
