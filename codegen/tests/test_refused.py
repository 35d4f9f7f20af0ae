"""Wrong files are refused, and the message names file, place and residual."""
import textwrap
import unittest

from codegen import derive
from codegen.real import Refused

from . import shipped

HEAD = '''
name     = "trial"
title    = "a trial"
source   = "a book"
checked  = "another book"
'''
HEUN = HEAD + '''
family   = "erk"
order    = 2
tableau  = \'\'\'
0 |
1 | 1
--+--------
b | 1/2 1/2
\'\'\'
'''
TRAPEZOID = HEAD + '''
family   = "sdirk"
order    = 2
tableau  = \'\'\'
0 |
1 | 1/2 1/2
b | 1/2 1/2
\'\'\'
'''
MIDPOINT = HEAD + '''
family   = "firk"
order    = 2
tableau  = \'\'\'
1/2 | 1/2
b   | 1
\'\'\'
'''
GAUSS = HEAD + '''
family   = "firk"
order    = 4
nodes    = "gauss"
stages   = 2
'''
LOBATTO = GAUSS.replace("gauss", "lobatto").replace("firk", "collocation").replace("order    = 4", "order    = 2")
LINEARLY_IMPLICIT = HEAD + '''
family   = "ros"
order    = 1
alpha    = "0 |"
gamma    = "1 | 1"
b        = "1"
'''
W_METHOD = HEAD + '''
family   = "ros"
order    = 2
embedded = 1
theta    = "1/2"
is       = ["w-method"]
alpha    = \'\'\'
0 |
1 | 1
\'\'\'
gamma    = \'\'\'
3/10 | 3/10
-3/10 | -3/5 3/10
\'\'\'
b        = "1/2 1/2"
'''


class Trial(shipped.InDirectory):
    def method(self, text):
        self.path.write_text(textwrap.dedent(text))
        return derive.method(self.path)

    def test_too_many_stages(self):
        # Heun's method with stages that nothing depends on
        rows = "\n".join(f"1 | 1 {'0 ' * k}" for k in range(1, 33))
        table = HEUN.replace("1 | 1\n", "1 | 1\n" + rows + "\n").replace("1/2 1/2", "1/2 1/2 " + "0 " * 32)
        self.refused("34 stages, at most 32", table)

    def test_accepted(self):
        for text in (HEUN, TRAPEZOID, MIDPOINT, GAUSS, LOBATTO, LINEARLY_IMPLICIT):
            self.method(text)

    def test_orders(self):
        self.refused("b: tree [t] of order 2: sum b_i Phi_i = 0.4, should be 1/2, residual 1.0e-1",
                     HEUN.replace("b | 1/2 1/2", "b | 3/5 2/5"))
        self.refused("b: tree [[t]] of order 3: sum b_i Phi_i = 0, should be 1/6, residual 1.7e-1",
                     HEUN.replace("order    = 2", "order    = 3"))
        self.refused("b: order 1 is stated, but all conditions of order 2 hold as well",
                     HEUN.replace("order    = 2", "order    = 1"))
        self.refused("bhat: tree [t] of order 2", HEUN.replace("1/2 1/2", "1/2 1/2\nbhat | 1 0") + "embedded = 2")
        self.refused("bhat: its order is not stated", HEUN.replace("1/2 1/2", "1/2 1/2\nbhat | 1 0"))
        self.refused("embedded: an order is stated, but there is no row bhat", HEUN + "embedded = 1")
        self.refused("embedded2: an order is stated, but there is no row bhat2", HEUN + "embedded2 = 1")
        self.refused("embedded: 2 is stated, but the derived estimate has order 1", MIDPOINT + "embedded = 2")
        self.refused("continuous: order 1 is stated, but all conditions of order 2", HEUN + "dense = 1")

    def test_blind_estimates(self):
        same = "every entry is that of the method's own weights: an estimate with them would always be 0"
        heun = HEUN.replace("b | 1/2 1/2", "b | 1/2 1/2\nbhat | {}") + "embedded = {}"
        self.refused(f"bhat: {same}", heun.format("1/2 1/2", 2))
        self.refused(f"bhat: {same}", heun.format("0.500001 0.499999", 2) + "\ndigits = 6")
        self.refused(f"bhat2: {same}", heun.format("1 0\nbhat2 | 1/2 1/2", "1\nembedded2 = 2"))
        self.refused(f"bhat: {same}", LINEARLY_IMPLICIT + "bhat = '1'\nembedded = 1")
        for key, entries in (("e", "0"), ("mhat", "1")):
            head = LINEARLY_IMPLICIT.split("alpha")[0]
            transformed = head + "gamma = '1'\na = '0 |'\nc = '1 |'\nm = '1'\nembedded = 1\n"
            self.refused(f"{key}: {same}", transformed + f"{key} = '{entries}'")

    def test_digits(self):
        # an order of magnitude more of tolerance for each digit less: 10 units of the last one, in sums of weights
        heun = HEUN.replace("b | 1/2 1/2", "b | {} 0.5")
        self.method(heun.format("0.50000009") + "digits = 8")
        self.refused("b: tree t of order 1", heun.format("0.500019") + "digits = 7")
        self.refused("digits: 2 are stated, but there are entries of 8", heun.format("0.50000001") + "digits = 2")
        self.refused("digits: 2 are stated, but there are entries of 9",
                     HEUN.replace("tableau", 'let.x = "1.00000001"\ntableau') + "digits = 2")

    def test_without_digits(self):
        # rounded entries are refused as exact ones; the message says which key is missing, if that is all
        third = HEUN.replace("1 | 1\n", "2/3 | 2/3\n")
        for b, digits in (("0.25000000001 0.74999999999", 11), ("0.2500000412 0.7499999891", 8)):
            text = third.replace("1/2 1/2", b)
            self.refused(f"if they are rounded, add digits = {digits}", text)
            self.method(text + f"digits = {digits}")
        for text in (third.replace("1/2 1/2", "0.2500012345 0.7499999999"),           # a wrong digit
                     third.replace("1/2 1/2", "0.2501 0.7499"), HEUN.replace("1/2 1/2", "0.25 0.7")):
            with self.assertRaises(Refused) as said:
                self.method(text)
            self.assertNotIn("digits", str(said.exception))

    def test_row_sums(self):
        self.refused("tableau: row 2: sum of the entries = 1, but c_2 = 0.9, residual 1.0e-1",
                     HEUN.replace("1 | 1\n", "0.9 | 1\n"))
        self.refused("gamma: row 1: sum of the entries = 1, but gamma_1 = 2",
                     LINEARLY_IMPLICIT.replace("1 | 1", "2 | 1"))

    def test_shape(self):
        self.refused("tableau: row 2: 2 entries, at most 1 fit its shape", HEUN.replace("1 | 1\n", "1 | 1 0\n"))
        self.refused("b: 3 entries, should be 2", HEUN.replace("b | 1/2 1/2", "b | 1/2 1/2 0"))
        self.refused("needs a row a stage and a row b", HEUN.replace("b | 1/2 1/2", ""))
        self.refused("every line is", HEUN.replace("b | 1/2 1/2", "b | 1/2 1/2\nb | 1/2 1/2"))
        self.refused("continuous: 1 rows, should be 2", HEUN + 'dense = 2\ncontinuous = "1 0"')
        self.refused("continuous: row 2: 1 entries, but row 1 has 2",
                     HEUN + "dense = 2\ncontinuous = \'\'\'\n1 0\n1\n\'\'\'")
        self.refused("continuous: its order is not stated (key dense)", HEUN + 'continuous = "1 0"')
        self.refused("b: takes no column before a bar", LINEARLY_IMPLICIT.replace('= "1"', '= "b | 1"'))
        self.refused("the block gamma is missing", LINEARLY_IMPLICIT.replace("gamma ", "#"))
        self.refused("tableau: row 1, entry 1: '1/q': no definition let.q", MIDPOINT.replace("| 1/2", "| 1/q"))

    def test_keys(self):
        self.refused("key 'source' is missing", HEUN.replace("source", "#"))
        self.method(HEUN.replace("checked", "#"))                          # the one text that may be left out
        self.refused("key 'stage' is unknown", HEUN + "stage = 2")
        self.refused("family: 'rk' is none of", HEUN.replace('"erk"', '"rk"'))
        self.refused("name: 'other' must be a C identifier and the name of the file",
                     HEUN.replace('"trial"', '"other"'))
        self.refused("order: must be a whole number", HEUN.replace("order    = 2", 'order = "2"'))
        self.refused("is: 'stable' is none of", HEUN + 'is = ["stable"]')
        self.refused("let.x: must be text", HEUN + "let.x = 0.5")
        self.refused("not TOML", HEUN + "=")
        self.refused("b: must be text", LINEARLY_IMPLICIT.replace('"1"', "1.0"))

    def test_nodes(self):
        self.refused("nodes: 'chebyshev' is none of gauss, radau, radau1a, lobatto, lobatto3c",
                     GAUSS.replace('"gauss"', '"chebyshev"'))
        self.refused("nodes: must be a text", GAUSS.replace('"gauss"', "1"))
        self.refused("stages: must be a whole number", GAUSS.replace("stages   = 2", 'stages = "2"'))
        self.refused("stages: must be from 1 to 13", GAUSS.replace("stages   = 2", "stages = 0"))
        for nodes, stages, least, most in (("gauss", 7, 1, 6), ("gauss", 9, 1, 6), ("radau", 8, 1, 7),
                                           ("radau1a", 1, 2, 7), ("radau1a", 8, 2, 7), ("lobatto", 1, 2, 7),
                                           ("lobatto", 9, 2, 7), ("lobatto3c", 1, 2, 7), ("lobatto3c", 8, 2, 7)):
            self.refused(f"stages: must be from {least} to {most} for nodes '{nodes}'",
                         GAUSS.replace("gauss", nodes).replace("stages   = 2", f"stages = {stages}"))
        self.refused("key 'stages' is missing", GAUSS.replace("stages   = 2", ""))
        self.refused("key 'nodes' is missing", GAUSS.replace('nodes    = "gauss"', ""))
        for line in ('tableau = "1/2 | 1/2"', 'continuous = "1"', "digits = 16", "collocation = true", 'let.x = "1"'):
            key = line.split(" ")[0].split(".")[0]
            self.refused(f"{key}: is not for a method given by nodes and stages", GAUSS + line)

    def test_nodes_are_checked(self):
        self.refused("b: tree [[t]] of order 3: sum b_i Phi_i = 0.25, should be 1/6",
                     GAUSS.replace("stages   = 2", "stages = 1"))
        self.refused("b: order 3 is stated, but all conditions of order 4 hold as well",
                     GAUSS.replace("order    = 4", "order    = 3"))
        self.refused("is: 'dae' is claimed, but not found", GAUSS + 'is = ["dae"]')
        self.refused("is: 'L-stable' is claimed, but not found", LOBATTO + 'is = ["L-stable"]')
        self.refused("embedded: 3 is stated, but the derived estimate has order 2", GAUSS + "embedded = 3")
        self.refused("embedded: an order is stated, but there is no row bhat", LOBATTO + "embedded = 1")
        self.refused("continuous: order 1 is stated, but all conditions of order 2 hold as well", LOBATTO + "dense = 1")

    def test_families_of_nodes(self):
        self.refused("nodes: 'lobatto' makes A singular, which is for the family collocation",
                     LOBATTO.replace("collocation", "firk"))
        for nodes in ("radau1a", "lobatto3c"):
            self.refused(f"nodes: '{nodes}' is no collocation method, but of the family firk",
                         LOBATTO.replace('"lobatto"', f'"{nodes}"'))
        for text in (HEUN + "stages = 2", LINEARLY_IMPLICIT + 'nodes = "gauss"'):
            self.refused("nodes, stages: are for the families firk and collocation", text)
        self.refused("tableau: is not for a method given by nodes and stages",
                     MIDPOINT.replace('"firk"', '"collocation"'))
        self.method(GAUSS.replace("firk", "collocation"))

    def test_no_sensible_number(self):
        for entry, message in (("-" * 2000 + "1", "2001 characters"), ("-" * 400 + "1", "nested too deeply"),
                               ("(" * 400 + "1" + ")" * 400, "not a formula"), ("1" * 5000, "5000 characters"),
                               ("9" * 400, "outside 1e-100 .. 1e100"), ("0.5e99999999", "outside 1e-100 .. 1e100"),
                               ("1e-101", "outside 1e-100 .. 1e100"), ("1e" + "9" * 30, "not a decimal number"),
                               ("2**(10**99)", "small integers"), ("(10**99)**99", "outside 1e-100 .. 1e100"),
                               ("10**99*10**99", "outside 1e-100 .. 1e100"), ("0x10", "not a decimal number"),
                               ("1\\u0000", "not a formula"), ("1\\uff11", "not a formula")):
            start = entry.split("\\")[0][:9]
            heun = HEUN.replace("'''", '"""')
            for place, text in ((f"tableau: row 2, entry 1: '{start}", heun.replace("1 | 1\n", f"1 | {entry}\n")),
                                (f"tableau: c_2: '{start}", heun.replace("1 | 1\n", f"{entry} | 1\n")),
                                (f"let.x: '{start}", heun.replace("tableau", f'let.x = "{entry}"\ntableau'))):
                self.refused(place, text)
                self.refused(message, text)

    def test_unreadable(self):
        self.refused("not TOML: nested too deeply", HEUN + "is = " + "[" * 3000)
        self.refused("not TOML: ", HEUN.replace("order    = 2", "order = " + "1" * 5000))
        self.refused("title: holds a control character", HEUN.replace("a trial", "a\\u0000trial"))
        self.refused("tableau: 2001 stages, at most 32", HEUN.replace("1 | 1\n", "1 | 1\n" * 1999 + "0 |\n"))
        for octets, message in ((b"", "key 'name' is missing"),
                                (b"\xff\xfe", "cannot be read"), (b"\x00", "not TOML")):
            self.path.write_bytes(octets)
            with self.assertRaisesRegex(Refused, message) as caught:
                derive.method(self.path)
            self.assertTrue(str(caught.exception).startswith(f"{self.path}: "), caught.exception)

    def test_claims(self):
        self.refused("is: 'fsal' is claimed, but not found", HEUN + 'is = ["fsal"]')
        self.refused("is: 'L-stable' is claimed, but not found", TRAPEZOID + 'is = ["A-stable", "L-stable"]')
        self.refused("is: 'dae' is claimed, but not found", MIDPOINT + 'is = ["A-stable", "dae"]')
        self.refused("is: 'w-method' is claimed, but b: tree [t] of order 2: sum b_i Phi_i = 0, should be 1/2",
                     LINEARLY_IMPLICIT.replace("order    = 1", "order    = 2").replace("1 | 1", "1/2 | 1/2")
                     + 'is = ["w-method"]')

    def test_theta(self):
        self.method(W_METHOD)
        self.refused("theta: is for methods that keep their order with any matrix; b: tree [t] of order 2: "
                     "sum b_i Phi_i = 0.6, should be 1/2",
                     W_METHOD.replace("1 | 1\n", "6/5 | 6/5\n").replace("-3/10 | -3/5", "-1/2 | -4/5"))
        self.refused("embedded: 2 is stated, but b + theta b Gamma has order 1",
                     W_METHOD.replace("embedded = 1", "embedded = 2"))
        self.refused("bhat: its order is not stated (key embedded)", W_METHOD.replace("embedded = 1", ""))
        self.refused("theta: every entry is that of the method's own weights", W_METHOD.replace('"1/2"', '"0"'))
        self.refused("bhat: is not for a method with theta", W_METHOD + 'bhat = "1 0"')
        self.refused("theta: 'x': no definition let.x", W_METHOD.replace('"1/2"', '"x"'))
        self.refused("theta: must be a text", W_METHOD.replace('"1/2"', "0.5"))
        self.refused("theta: is for the family ros", HEUN + 'theta = "1"')

    def test_families(self):
        self.refused("b: a method with an explicit first stage must be stiffly accurate",
                     TRAPEZOID.replace("b | 1/2 1/2", "b | 1/3 2/3").replace("order    = 2", "order    = 1"))
        self.refused("diagonal entry = 0.25, should be that of the other rows, 0.5",
                     TRAPEZOID.replace("0 |", "1/2 | 1/2").replace("1 | 1/2 1/2", "1/2 | 1/4 1/4"))
        self.refused("singular", MIDPOINT.replace("1/2 | 1/2\nb   | 1", "0 | 0 0\n1 | 1/2 1/2\nb | 1/2 1/2"))
        self.refused("the diagonal entry is -1, should be positive", LINEARLY_IMPLICIT.replace("1 | 1", "-1 | -1"))
        self.refused("collocation: is for firk", HEUN + "collocation = true")


if __name__ == "__main__":
    unittest.main()
