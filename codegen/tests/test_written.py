"""What is written for an equation file: which functions, which branches, which names; decisions of the printer."""
import json
import random
import re
import unittest

from codegen.equations import c_file, elimination, read, tables
from codegen.equations.body import Body, Target
from codegen.equations.graph import Graph
from codegen.real import Refused


def written(text):
    return c_file.write(read.parse(text, "m.eq"), "m.eq")


def function(text, name):
    """The body of one function"""
    return re.search(rf"^static int {name}\(.*?^}}$", text, re.M | re.S).group()


class LongSums(unittest.TestCase):
    def test_one_parameter_in_all_equations(self):
        """its gradient is a sum of as many terms, one inside the other, which Python's stack would not hold"""
        code = written("parameter D\nstate y[1..1100]\ny[k]' = -D*y[k] for k = 1..1100")[0]
        self.assertIn("y_1100", code)


class Outputs(unittest.TestCase):
    def test_gradients_skip_outputs_without_weight(self):
        """an output that is undefined here does not spoil those that are wanted"""
        code = written("parameter k\nstate x, y\nx' = k\ny' = 1\noutput plain = x + y\noutput share = x/(x + y)")[0]
        for product in ("adjoint", "adjoint_tangent"):
            self.assertIn("w[1] != 0", function(code, f"output_{product}"))
        self.assertNotIn("w[0] != 0", code)


class About(unittest.TestCase):
    def test_is_what_the_file_has(self):
        """names and units in the order of the C file, functions and sizes in that of the header"""
        plain = "model m\nparameter k {1/s}, l\nstate x = 1 {mol}, y\nx' = -k*x\ny' = l*x\noutput z = x + y"
        grid = "model g\nsize N = 8, M\ngrid i: N wall, j: M periodic\nparameter k[i,j] {m}\nstate u[i,j]\nu' = k*u"
        for text, name, axes, sizes in ((plain, "m", [], {}), (grid, "g", ["N", "M"], {"N": 8, "M": None})):
            code, header, about = written(text)
            found = json.loads(about)
            self.assertEqual((found["name"], found["axes"], found["sizes"]), (name, axes, sizes))
            may = "start|start_map|backend|index|parameter"
            self.assertEqual(sorted(found["functions"]), sorted(re.findall(rf"\b{name}_({may})\(", header)))
            for kind in re.findall(rf"{name}_(\w+)_names\[", header):
                for what in ("name", "unit"):
                    listed = re.search(rf"{name}_{kind}_{what}s\[\w*\] = {{(.*?)}}", code, re.S)[1]
                    self.assertEqual([q[what] for q in found[kind]], re.findall(r'"(.*?)"', listed))
            self.assertEqual(list(found["sizes"]), re.findall(r"int (\w+)_[,)]", header.split(f"{name}_new(")[-1])
                             if axes else [])


class Texts(unittest.TestCase):
    def test_texts_end_neither_comments_nor_strings(self):
        """not by trigraphs either: ??/ is a backslash with -std=c11"""
        unit, text = 'm*/ int a; ??/', '*??/\t/ x \\ ??'
        for part in written(f'state x {{{unit}}} "{text}"\nx\' = 1')[:2]:
            self.assertNotIn("??", re.sub(r"\\\?", "", part))
            self.assertNotIn("int a", re.sub(r"/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"", "", part, flags=re.S))

    def test_only_what_is_printed_is_loaded(self):
        """x^2 - x*x is 0 once powers are products"""
        code = written("state x, y\nx' = x^2 - x*x + exp(y)*(y^2 - y*y)\ny' = y*exp(x)*(x^3 - x^2*x)")[0]
        for body in re.findall(r"^static int \w+\([^{]*{(.*?)^}$", code, re.M | re.S):
            for name in re.findall(r"\bconst double (\w+) =|[,;] (\w+) = ", body):
                name = "".join(name)
                self.assertGreater(len(re.findall(rf"\b{name}\b", body)), 1, name)

    def test_two_minus_signs_are_not_one_operator(self):
        for text in ("x' = -exp(-x^2)", "x' = -(-2*x)*(-(3*x))", "x' = x - (-2)*x - (-(x^3))*(-4)"):
            self.assertNotIn("--", re.sub(r"/\*.*?\*/", "", written("state x\n" + text)[0], flags=re.S))


class Functions(unittest.TestCase):
    def test_states_alone_have_a_version_where_it_is_cheaper(self):
        many = written("parameter a, b, c\nstate x, y\nx' = a*x*y + b*x^2\ny' = c*x - a*y^3")[0]
        self.assertIn("static int rhs_tangent_y(", many)
        self.assertIn("if (!dx->p) return rhs_tangent_y(x, dx, out, ctx);", many)
        few = written("parameter a\nstate x, y\nx' = x*y + sin(x)*y^2 + exp(y)\ny' = x*y + a")[0]
        self.assertNotIn("rhs_tangent_y", few)

    def test_gradients_that_are_not_requested_are_not_computed(self):
        code = function(written("parameter k\nstate x\nx' = exp(k*x)*sin(t)")[0], "rhs_adjoint")
        for guard in ("if (gy)", "if (gp)", "if (g->t)"):
            self.assertIn(guard, code)

    def test_zero_products_are_shared(self):
        code = written("parameter k\nstate x, y\nx' = 2*y\ny' = -3*x")[0]
        self.assertIn(".adjoint_tangent = no_adjoint_tangent", code)
        self.assertEqual(code.count("static int no_adjoint_tangent("), 1)
        self.assertIn("out[i] = 0", function(code, "rhs_tangent2"))

    def test_several_columns_where_they_share_work(self):
        self.assertIn("rhs_adjoints", written("state x, y\nx' = exp(-x*y)*y\ny' = log(1 + x^2)")[0])
        self.assertNotIn("rhs_adjoints", written("parameter k\nstate x, y\nx' = k*x*y\ny' = -k*x*y")[0])

    def test_expensive_branches_are_branches(self):
        dear = function(written("parameter k\nstate x\nx' = if(k > 0, exp(x)/(1 + exp(x)), x)")[0], "rhs_value")
        self.assertIn("if (k_ > 0) {", dear)
        dear = function(written("state x\nx' = if(x > 0, exp(x)/(1 + exp(x)), x)")[0], "rhs_value")
        self.assertIn("if (x->relation[0] == 1) {", dear)
        cheap = function(written("state x\nx' = if(x > 0, x*(1 + x), x)")[0], "rhs_value")
        self.assertNotIn("if (", cheap)

    def test_the_jacobian_is_in_its_pattern(self):
        code = written("state x, y, z\nx' = y\ny' = z*x\nz' = 1")[0]
        self.assertIn("column[] = {0, 1, 2, 3}", code)
        self.assertIn("row[] = {1, 0, 1}", code)
        full = written("state x, y\nx' = x*y\ny' = x + y^2")[0]
        self.assertNotIn("costate_pattern pattern", full)

    def test_quotients_share_a_reciprocal(self):
        code = function(written("state x, y\nx' = y/(1 + x^2)\ny' = sin(y)/(1 + x^2)")[0], "rhs_value")
        self.assertEqual(code.count("/"), 1)

    def test_powers_are_products(self):
        code = written("state x\nx' = x^5 + x^-2 + x^2.5")[0]
        self.assertNotIn("pow(", code)
        self.assertIn("pow(", written("state x\nx' = x^2.3")[0])

    def test_names_that_c_has_already(self):
        code = written("parameter out, w, exp2, y1 = 1\nstate gamma, ctx, g, d_g\ngamma' = out*w*exp2*y1\nctx' = g\n"
                       "g' = d_g\nd_g' = -gamma")[0]
        for name in ("out", "w", "ctx", "g", "gamma", "y1"):
            self.assertNotIn(f" {name} = x->", code)

    def test_the_same_text_each_time(self):
        text = "parameter k\nstate x, y\nx' = exp(k*x)*y + max(x, y)\ny' = sin(x*y)/(k + x^2)"
        self.assertEqual(written(text), written(text))

    def test_lines_fit(self):
        text = "state " + ", ".join(f"quantity_{k}" for k in range(40)) + "\n" + \
            "\n".join(f"quantity_{k}' = " + " + ".join(f"sin({j}*quantity_{j})" for j in range(0, 40, 2))
                      for k in range(40))
        longest = max(len(line) for part in written(text) for line in part.splitlines())
        self.assertLessEqual(longest, 120)

    def test_comments_end_where_they_should(self):
        code, header, _ = written('model m "an */ end"\nstate x {*/} "/* a */ */"\nx\' = 1')
        for text in (code, header):
            text = re.sub(r'"[^"\n]*"', "", text)
            self.assertEqual(text.count("/*"), text.count("*/"))


class Bodies(unittest.TestCase):
    def text(self, build):
        g = Graph()
        x, y = g.v("y", 0), g.v("y", 1)
        return Body(g, [Target("out", "=", build(g, x, y))], lambda key: "xy"[key[2]]).text().strip()

    def test_parentheses_keep_the_order_of_operations(self):
        for build, wanted in ((lambda g, x, y: g.sub(x, g.sub(y, g.c(2))), "out = x - (y - 2.0);"),
                              (lambda g, x, y: g.mul(g.add(x, y), x), "out = x*(x + y);"),
                              (lambda g, x, y: g.div(g.c(1), g.mul(x, y)), "out = 1.0 / (x*y);"),
                              (lambda g, x, y: g.mul(g.c(-2), x), "out = -2.0*x;"),
                              (lambda g, x, y: g.sub(y, g.mul(g.c(-2), x)), "out = y + 2.0*x;"),
                              (lambda g, x, y: g.neg(g.add(x, y)), "out = -(x + y);"),
                              (lambda g, x, y: g.sel(g.cmp("<", x, y), x, y), "out = x < y ? x : y;"),
                              (lambda g, x, y: g.add(g.sel(g.cmp("<", x, y), x, y), x), "out = x + (x < y ? x : y);")):
            self.assertEqual(self.text(build), wanted)


class LinearSolvers(unittest.TestCase):
    def test_order_of_pivots(self):
        """an arrow: from the tips in, without fill-in"""
        n = 6
        entries = {(i, i) for i in range(n)} | {(0, i) for i in range(n)} | {(i, 0) for i in range(n)}
        plan = elimination.Plan(n, sorted(entries, key=lambda k: (k[1], k[0])), entries)
        self.assertEqual(plan.products, n - 1)
        self.assertEqual(plan.pivots[0], (1, 1))

    def test_pivots_are_on_the_diagonal(self):
        """where sigma M - J has its large numbers; elsewhere only where it has none, however few entries are there"""
        draw, n = random.Random(7), 8
        for _ in range(50):
            entries = {(i, i) for i in range(n)} | {(draw.randrange(n), draw.randrange(n)) for _ in range(2 * n)}
            plan = elimination.Plan(n, sorted(entries), entries)
            self.assertEqual(sorted(plan.pivots), [(i, i) for i in range(n)])
            plan = elimination.Plan(n, sorted(entries), entries - {(0, 0)} | {(0, n - 1), (n - 1, 0)})
            self.assertIsNotNone(plan.pivots)

    def test_large_ones_are_not_written(self):
        n = 40
        entries = {(i, j) for i in range(n) for j in range(n)}
        self.assertFalse(elimination.Plan(n, sorted(entries), entries).small)
        self.assertIn("_backend(void)", written("state x, y\nx' = y\ny' = -x*y")[1])
        for states, loops in ((9, False), (11, True)):               # 204 and 385 products: complex ones become loops
            dense = f"state x[1..{states}]\nx[k]' = sin(sum(i = 1..{states}, i*k*x[i])) for k = 1..{states}"
            self.assertEqual("substitute(" in written(dense)[0], loops)
        self.assertNotIn("_backend", written("state x\nx' = x^2")[1])

    def test_structurally_singular_patterns_have_none(self):
        self.assertFalse(elimination.Plan(2, [(0, 0), (1, 0), (1, 1)], {(0, 0), (1, 0)}).small)


class Lanes(unittest.TestCase):
    """Maps of several members side by side; tests/models/lanes.py compares their bits."""

    @staticmethod
    def side_by_side(text, name="m.eq"):
        return c_file.write(read.parse(text, name), name, side_by_side=True)

    def function(self, text, name):
        return re.search(rf"^LANE_CODE void {name}\(.*?^}}$", self.side_by_side(text)[0], re.M | re.S).group()

    def test_only_where_they_are_requested(self):
        text = "state x, y\nx' = x*y\ny' = -x"
        self.assertNotIn("lane", "".join(written(text)))
        code, header, _ = self.side_by_side(text)
        self.assertIn("#include <costate/lanes.h>", header)
        self.assertIn("const costate_lane_maps *m_lanes(void);", header)
        for k in (2, 4, 8):
            for line in (f"CALLBACKS({k})", f"        MAPS({k}),"):
                self.assertIn(f"#if !defined COSTATE_LANES_ONLY || COSTATE_LANES_ONLY == {k}\n{line}\n#endif\n", code)
        self.assertIn("{.lanes = 0}\n    };", code)

    def test_combinations_of_gradients_have_loops_without_branches(self):
        text = "parameter k\nstate x\nx' = k*x*t"
        code = self.function(text, "rhs_adjoint_of")
        for call in ("(L, 1, 1, x, w, g)", "(L, 1, 0, x, w, g)", "(L, 0, 1, x, w, g)", "if (g->t) rhs_adjoint_t(L,"):
            self.assertIn(call, code)
        self.assertIn("gt[l] += ", self.function(text, "rhs_adjoint_t"))

    def test_directions_in_states_alone_have_the_version_of_one_member(self):
        text = "parameter a, b, c\nstate x, y\nx' = a*x*y + b*x^2\ny' = c*x - a*y^3 + t"
        self.assertIn("if (!dx->p && !dx->t) {\n        rhs_tangent_y_of(L, x, dx, out);",
                      self.function(text, "rhs_tangent_of"))

    def test_calls_and_branches_stand_before_the_loop_for_vectors(self):
        for f in ("exp(x)", "x^y", "if(x > 1, exp(x), log(x))"):
            text = f"state x, y\nkinks as branches\nx' = x*{f}\ny' = 1"
            before, loop = self.function(text, "rhs_value_of").split("#pragma omp simd\n")
            self.assertIn("called[0*L + l] = ", before)
            self.assertIn("s_0 = called[0*L + l];", loop)
            self.assertNotRegex(loop, r"exp\(|pow\(|if \(")
        self.assertNotIn("called", self.function("state x, y\nx' = max(x, y)*abs(x)\ny' = 1", "rhs_value_of"))

    def test_roots_are_vectorised_where_they_set_no_errno(self):
        self.assertIn("#ifdef __NO_MATH_ERRNO__", self.function("state x\nx' = sqrt(x)", "rhs_value_of"))

    def test_names_that_lanes_use(self):
        code = self.function("parameter p, L\nstate l\nl' = p*L*l", "rhs_value_of")
        self.assertIn("const double l_ = y[0*L + l];", code)
        self.assertIn("const double p_ = p[0*L + l], L_ = p[1*L + l];", code)

    def test_models_without(self):
        many = "state A, B\n" + "\n".join(f"A -> B : {k + 1}" for k in range(tables.MANY + 1))
        for text, why in (("size N = 4\ngrid i: N wall\nstate u[i]\nu' = -u", "its states are fields on a grid"),
                          ("state x\n(1 + x^2)*x' = 1", "it is a residual F(t, y, y', p) = 0, not a right-hand side"),
                          ("state x\n2*x' = x", "it has a mass matrix"),
                          ("state x\nmemory m = 1\nx' = -m*x", "it has the memory variable m"),
                          ("state x\nx' = if(x > 1, 2, 3)",
                           "its conditions are relations (kinks as branches leaves them as they are)"),
                          ("mode a, b\nstate x\nx' = if(mode == a, 1, 2)",
                           "its right-hand side or a running cost depends on the mode"),
                          (many, "its 301 reactions are written as tables")):
            with self.assertRaises(Refused) as caught:
                self.side_by_side(text)
            self.assertEqual(str(caught.exception), f"m.eq: --lanes does not serve this model: {why}")


class Tables(unittest.TestCase):
    def test_many_reactions(self):
        text = "state A, B\n" + "\n".join(f"A -> B : {k + 1}" for k in range(tables.MANY + 1))
        self.assertIn("net_start", written(text)[0])
        self.assertNotIn("net_start", written(text.rsplit("\n", 1)[0])[0])


if __name__ == "__main__":
    unittest.main()
