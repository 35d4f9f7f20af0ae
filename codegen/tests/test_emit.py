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
from codegen import document, kinds, objects, real, table

from . import shipped

METHODS = shipped.ROOT / "methods"


def with_members():
    """The files that are tested, with the members of composite methods among them and two that test_doubles reads."""
    names = {"dopri5", "radau2a"} | {path.stem for path in shipped.CHOSEN}
    for path in [f for f in shipped.CHOSEN if f.parent.name == "composite"]:
        names |= {x.name for x in shipped.method(path.stem).members}
    return [path for path in kinds.files(*shipped.FOLDERS) if path.stem in names]


class Emit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = with_members()
        cls.methods = [(kinds.kind_of(path), shipped.method(path.stem)) for path in cls.files]
        cls.source = kinds.source(cls.methods)
        cls.arrays = dict(re.findall(r"\b(\w+)\[\] = \{(.*?)\};", cls.source, re.S))

    def array(self, name):
        return [float(x) for x in self.arrays[name].split(",")]

    def test_all_files_in_order(self):
        listed = re.search(r"costate_method_table\[\] = \{(.*?)\}", self.source, re.S)[1]
        names = re.findall(r"&method_(\w+)", listed)
        families = {f.stem: list(document.FAMILIES).index(f.parent.name) for f in shipped.ALL if f in self.files}
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

    def test_rows(self):
        """of the table: one for each method, with as many columns as the heading"""
        rows = [kind.row(m) for kind, m in self.methods]
        self.assertEqual([row[0] for row in rows], [path.stem for path in self.files])
        self.assertEqual({len(row) for row in rows}, {len(table.HEADER)})

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
        """A row for each file: of methods/ if all are requested, else of a small folder."""
        with tempfile.TemporaryDirectory() as directory:
            folder = METHODS if shipped.THOROUGH else shipped.small(Path(directory))
            files = kinds.files(folder)
            status, out = self.run_command("table", str(folder))
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[1] for line in out.splitlines()[2:]], [path.stem for path in files])

    def test_usage(self):
        self.assertEqual(self.run_command("emit")[0], 2)
        self.assertEqual(self.run_command("emit", "out.c")[0], 2)
        with self.assertRaises(real.Refused):
            self.run_command("table", "no/such/directory")


if __name__ == "__main__":
    unittest.main()
