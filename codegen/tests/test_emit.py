"""The C that is written: one descriptor a file, in order, doubles correctly rounded; and the command line."""
import contextlib
import io
import re
import shutil
import subprocess
import tempfile
import unittest
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from codegen import __main__ as command
from codegen import document, kinds, objects, real

from . import shipped

METHODS = shipped.ROOT / "methods"


class Emit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.methods = kinds.methods(METHODS)
        cls.source = kinds.source(cls.methods)

    def array(self, name):
        body = re.search(r"\b%s\[\] = \{(.*?)\};" % name, self.source, re.S)[1]
        return [float(x) for x in body.split(",")]

    def test_all_files_in_order(self):
        listed = re.search(r"costate_method_table\[\] = \{(.*?)\}", self.source, re.S)[1]
        names = re.findall(r"&method_(\w+)", listed)
        families = {f.stem: list(document.FAMILIES).index(f.parent.name) for f in shipped.ALL}
        self.assertEqual(names, sorted(families, key=lambda name: (families[name], name)))
        self.assertTrue(listed.strip().endswith("NULL"))

    def test_doubles(self):
        self.assertEqual(real.double(Decimal("0.1")), "0.10000000000000001")
        self.assertEqual(real.double(Decimal("-0")), "0.0")
        self.assertEqual(real.double(Decimal(1)), "1.0")
        self.assertEqual(self.array("dopri5_c"), [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
        self.assertEqual(self.array("radau2a_d"), [0, 0, 1])

    def test_dense_rows_end_in_the_update(self):
        for m in [m for kind, m in self.methods if kind is kinds.TABLEAU]:
            D, d = self.array(f"{m.table.name}_D"), self.array(f"{m.table.name}_d")
            for j in range(m.s):
                row = D[j * m.degree:(j + 1) * m.degree]
                gap = abs(sum(map(Fraction, row)) - Fraction(d[j]))
                self.assertLessEqual(gap, Fraction(max(map(abs, row + [0.0]))) * Fraction(1, 2 ** 53), m.table.name)

    def test_layout_is_that_of_the_declarations(self):
        """the same in the library and in objects; comments do not change it"""
        self.assertIn(f'method_layout = "{objects.layout()}";', self.source)
        declared = objects.structs()
        self.assertIn("struct costate_method {", declared)
        self.assertNotIn("/*", declared)
        self.assertNotIn("#", declared)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_compiles(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "methods.c")
            path.write_text(self.source)
            run = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                                  "-I", shipped.ROOT / "include", "-I", shipped.ROOT / "src", path],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)


class Command(unittest.TestCase):
    def run_command(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = command.main(list(args))
        return status, out.getvalue()

    def test_check(self):
        status, out = self.run_command("check", str(shipped.path("dopri5")), str(shipped.path("radau2a")))
        self.assertEqual(status, 0)
        self.assertIn("b               order 5", out)
        self.assertIn("principal error norm 0.00039908", out)
        status, out = self.run_command("check", "no/such/file.toml")
        self.assertEqual(status, 1)
        self.assertIn("refused: no/such/file.toml: cannot be read", out)

    def test_table(self):
        status, out = self.run_command("table", str(METHODS))
        self.assertEqual((status, len(out.splitlines())), (0, len(shipped.ALL) + 2))

    def test_usage(self):
        self.assertEqual(self.run_command("emit")[0], 2)
        with self.assertRaises(real.Refused):
            self.run_command("table", "no/such/directory")


if __name__ == "__main__":
    unittest.main()
