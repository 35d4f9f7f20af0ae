"""The command costate-model: what it writes, and what it refuses to overwrite."""
import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

from codegen import command
from codegen.tests.sbml_text import model, parameters, rule
from codegen.tests.shipped import ROOT

MECHANISM = "#INCLUDE s.spc\n#EQUATIONS\nA = B : K1;\n#INITVALUES\nA = 2;\n"
SPECIES = "#DEFVAR\nA = IGNORE; B = IGNORE;\n"


class Command(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="costate-")
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(place.name)
        Path("decay.eq").write_text("state x = 1\nx' = -x\n", encoding="utf-8")
        Path("mech.def").write_text(MECHANISM, encoding="utf-8")
        Path("species").mkdir()
        Path("species", "s.spc").write_text(SPECIES, encoding="utf-8")

    def run_with(self, *args):
        """(status, what it says)"""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = command.main(list(args))
        return status, said.getvalue()

    def test_files_of_others_are_kept(self):
        self.assertEqual(self.run_with("decay.eq"), (0, ""))
        self.assertEqual(self.run_with("decay.eq"), (0, ""))                  # its own are replaced
        for name in ("decay.c", "decay.h"):
            kept = Path(name).read_text(encoding="utf-8")
            Path(name).write_text("int mine;\n", encoding="utf-8")
            status, said = self.run_with("decay.eq")
            self.assertEqual((status, Path(name).read_text(encoding="utf-8")), (1, "int mine;\n"))
            self.assertIn(f"{name} exists, and costate-model did not write it", said)
            Path(name).write_text(kept, encoding="utf-8")
        Path("decay.c").write_text("", encoding="utf-8")
        self.assertEqual(self.run_with("decay.eq")[0], 0)
        os.mkfifo("pipe.c")                                                   # it does not wait for a writer
        self.assertIn("pipe.c is not a file that can be written", self.run_with("decay.eq", "-o", "pipe.c")[1])

    def test_explain(self):
        """prints, and writes nothing; with notes about mechanisms"""
        before = sorted(os.listdir())
        status, said = self.run_with("--explain", "decay.eq")
        self.assertEqual((status, said.split("\n")[0]), (0, "model decay"))
        status, said = self.run_with("mech.def", "--explain", "-I", "species")
        self.assertEqual(status, 0)
        self.assertIn("note: the mechanism gives no value for K1", said)
        self.assertIn("conservation laws", said)
        for more in (("-o", "x.c"), ("--json",), ("--lanes",), ("--program",)):
            status, said = self.run_with("decay.eq", "--explain", *more)
            self.assertEqual((status, said), (1, "decay.eq: --explain writes no file; call costate-model once more, "
                                              "without it\n"))
        status, said = self.run_with("rk.toml", "--explain")
        self.assertEqual((status, said), (1, "rk.toml: --explain is for models; this is a coefficient file\n"))
        self.assertEqual(sorted(os.listdir()), before)

    def test_fortran(self):
        self.assertEqual(self.run_with("decay.eq", "--fortran", "--json"), (0, ""))
        self.assertEqual(sorted(p.suffix for p in Path().glob("decay.*")), [".c", ".eq", ".f90", ".h", ".json"])
        self.assertIn("decay.f90 - written by costate-model from decay.eq", Path("decay.f90").read_text("utf-8"))
        self.assertEqual(self.run_with("decay.eq", "--fortran")[0], 0)         # its own file is overwritten
        Path("decay.f90").write_text("module mine\n", encoding="utf-8")
        self.assertIn("costate-model did not write it", self.run_with("decay.eq", "--fortran")[1])
        for more, said in (("--program", "byte code has no functions"), ("--to-sbml", "--to-sbml writes SBML alone")):
            self.assertIn(said, self.run_with("decay.eq", "--fortran", more)[1])
        self.assertIn("--fortran is for models; this is a coefficient", self.run_with("rk.toml", "--fortran")[1])

    def test_order(self):
        """what has a higher one is left out, but for products that are zero"""
        Path("quartic.eq").write_text("state x = 1, z = 2\nx' = -x^4\nz' = -z\noutput o = 3*z\n", encoding="utf-8")
        second = {"tangent2", "adjoint_tangent"}
        for order, more in (("1", set()), ("2", second), ("3", second | {"adjoint_tangent2"})):
            self.assertEqual(self.run_with("quartic.eq", "--order", order), (0, ""))
            rhs, output = re.findall(r"\.value = (?:rhs|output)_value.*?}", Path("quartic.c").read_text("utf-8"),
                                     re.DOTALL)
            found = set(re.findall(r"\.(\w+) = ", rhs)) - {"value", "tangent", "adjoint", "tangents", "adjoints"}
            self.assertEqual(found, more)
            self.assertLessEqual(second, set(re.findall(r"\.(\w+) = ", output)))
        for wrong in ("0", "4", "two"):
            self.assertEqual(self.run_with("quartic.eq", "--order", wrong),
                             (1, f"--order {wrong}: the order of derivatives is one of 1, 2, 3\n"))
        for more in (("--lanes",), ("--program",), ("--to-sbml",)):
            self.assertIn("--order is for C, without --lanes", self.run_with("quartic.eq", "--order", "2", *more)[1])
        self.assertIn("--order is for models", self.run_with("rk.toml", "--order", "1")[1])
        self.assertIn("--explain writes no file", self.run_with("quartic.eq", "--order", "1", "--explain")[1])

    def test_manual(self):
        """describes each option"""
        manual = Path(ROOT, "packaging", "costate-model.1").read_text("utf-8").replace("\\-", "-")
        for option in command.OPTIONS:
            self.assertIn(f".B {option}\n", manual)
        self.assertIn(".BI --order \" N\"", manual)

    def test_include_folders(self):
        status, said = self.run_with("mech.def")
        self.assertEqual(status, 1)
        self.assertIn("mech.def:1:10: the file s.spc does not exist in .; -I FOLDER names others", said)
        status, said = self.run_with("mech.def", "-I", "species")
        self.assertEqual(status, 0)
        self.assertEqual(said, "note: the mechanism gives no value for K1: these parameters are NaN, and runs are "
                         "refused, until they are set\n")

    def test_equation_files_of_mechanisms(self):
        for _ in range(2):
            self.assertEqual(self.run_with("mech.def", "-I", "species", "-o", "mech.eq")[0], 0)
        text = Path("mech.eq").read_text(encoding="utf-8")
        self.assertIn("A -> B : K1*f_1\n", text)
        Path("mech.eq").write_text(text.replace("nan", "3"), encoding="utf-8")
        self.assertEqual(self.run_with("mech.eq"), (0, ""))
        status, said = self.run_with("mech.def", "-I", "species", "-o", "mech.eq")
        self.assertEqual(status, 1)
        self.assertIn("mech.eq exists and is another text, which may have been edited", said)
        self.assertIn("only mechanisms", self.run_with("decay.eq", "-o", "again.eq")[1])

    def test_models_in_sbml(self):
        Path("grows.xml").write_text(model(("Parameters", parameters("false", x=1)), ("Rules", rule("rate", "x", "x"))),
                                     encoding="utf-8")
        for _ in range(2):
            self.assertEqual(self.run_with("grows.xml", "-o", "grows.eq"), (0, ""))
        self.assertIn("x' = x\n", Path("grows.eq").read_text(encoding="utf-8"))
        self.assertEqual(self.run_with("grows.xml"), (0, ""))
        self.assertIn("written by costate-model from grows.xml", Path("small.c").read_text(encoding="utf-8"))
        Path("grows.eq").write_text("state x = 1\nx' = 2*x\n", encoding="utf-8")
        self.assertIn("which may have been edited", self.run_with("grows.xml", "-o", "grows.eq")[1])
        Path("grows.xml").write_text("<sbml", encoding="utf-8")
        self.assertEqual(self.run_with("grows.xml"), (1, "grows.xml:1: this is not well-formed XML: unclosed token\n"))

    def test_wrong_calls(self):
        for args in ((), ("decay.eq", "mech.def"), ("--lane", "decay.eq"), ("decay.eq", "-o")):
            self.assertEqual(self.run_with(*args)[0], 2, args)


if __name__ == "__main__":
    unittest.main()
