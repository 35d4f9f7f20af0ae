"""Descriptors that are kept between builds: which files are derived again, and that the text does not depend on it."""
import os
import re
import shutil
from pathlib import Path
from unittest import mock

from codegen import __main__ as command
from codegen import checked, kinds, objects
from codegen.real import Refused

from . import shipped

FREE = '''
name    = "free"
title   = "all methods of two stages and order 2"
family  = "erk"
order   = 2
source  = "a test"
let.c   = "1"
tableau = """
0 |
c | c
b | 1-1/(2*c)  1/(2*c)
"""
'''


class Builds(shipped.InDirectory):
    def setUp(self):
        super().setUp()
        self.folder, self.kept = shipped.small(self.directory / "methods"), self.directory / "kept"
        self.names = [path.stem for path in kinds.files(self.folder)]

    def build(self, *folders):
        """(the text, the names of the methods that were derived)"""
        derived, text = [], kinds.Methods.text

        def recorded(found, name):
            derived.append(name)
            return text(found, name)
        with mock.patch.object(kinds.Methods, "text", recorded):
            return checked.source(folders or [self.folder], self.kept), sorted(derived)

    def change(self, name, old, new):
        """One place in the file of a method"""
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1)
        file.write_text(text.replace(old, new), encoding="utf-8")

    def files_kept(self):
        return sorted(self.kept.iterdir()) if self.kept.exists() else []

    # ---- the same text ----

    def test_empty_and_filled_folder(self):
        first, derived = self.build()
        self.assertEqual(derived, sorted(self.names))
        again, derived = self.build()
        self.assertEqual((again, derived), (first, []))
        self.assertEqual(first, kinds.source(kinds.methods(self.folder)))

    def test_one_file_each(self):
        self.build()
        self.assertEqual([file.suffix for file in self.files_kept()], [".c"] * len(self.names))

    def test_command(self):
        """They are kept beside the output, or where COSTATE_CHECKED says."""
        out = self.directory / "methods.c"
        with mock.patch.dict(os.environ):
            os.environ.pop("COSTATE_CHECKED", None)
            self.assertEqual(command.main(["emit", str(out), str(self.folder)]), 0)
            text = out.read_text(encoding="utf-8")
            self.assertTrue((self.directory / "methods.checked").is_dir())
            self.assertEqual(self.files_kept(), [])
            os.environ["COSTATE_CHECKED"] = str(self.kept)
            command.main(["emit", str(out), str(self.folder)])
        self.assertEqual(len(self.files_kept()), len(self.names))
        self.assertEqual(out.read_text(encoding="utf-8"), text)

    # ---- what makes a file be derived again ----

    def test_title(self):
        """One digit of it"""
        shipped.write(self.folder / "erk" / "free.toml", FREE.replace("of two", "of 2"))
        before, _ = self.build()
        self.change("erk/free.toml", "of 2", "of 3")
        text, derived = self.build()
        self.assertEqual(derived, ["free"])
        self.assertEqual(text, before.replace("methods of 2", "methods of 3"))
        self.assertNotEqual(text, before)

    def test_coefficient_that_stays_valid(self):
        shipped.write(self.folder / "erk" / "free.toml", FREE)
        self.build()
        self.change("erk/free.toml", 'let.c   = "1"', 'let.c   = "2/3"')
        text, derived = self.build()
        self.assertEqual(derived, ["free"])
        self.assertRegex(text, r"free_b\[\] = \{\s*0\.25, 0\.75\s*\}")

    def test_coefficient_that_is_refused(self):
        self.build()
        kept, text = self.files_kept(), (self.folder / "erk" / "bs32.toml").read_text(encoding="utf-8")
        self.change("erk/bs32.toml", "7/24", "7/25")
        with self.assertRaisesRegex(Refused, "^" + re.escape(str(self.folder / "erk" / "bs32.toml")) + ": "):
            self.build()
        self.assertEqual(self.files_kept(), kept)
        shipped.write(self.folder / "erk" / "bs32.toml", text)
        self.assertEqual(self.build()[1], [])

    def test_member(self):
        """A composite method is derived again when the file of a member changes, and with no other."""
        self.build()
        self.change("firk/radau2a.toml", 'family', '\nfamily')
        self.assertEqual(self.build()[1], ["pair_of_two", "radau2a"])
        self.change("ros/ros2.toml", 'family', '\nfamily')
        self.assertEqual(self.build()[1], ["ros2"])

    def test_member_of_another_folder(self):
        other = self.directory / "more"
        (other / "composite").mkdir(parents=True)
        shutil.move(self.folder / "composite" / "pair_of_two.toml", other / "composite")
        self.build(self.folder, other)
        self.change("erk/bs32.toml", 'family', '\nfamily')
        self.assertEqual(self.build(self.folder, other)[1], ["bs32", "pair_of_two"])

    def test_codegen(self):
        """A change of codegen, but not of its tests and of what it does with equations."""
        code = self.directory / "codegen"
        for name in ("emit.py", "rkc/read.py", "tests/test_emit.py", "equations/read.py"):
            shipped.write(code / name, "1")
        with mock.patch.object(checked, "HERE", code):
            self.build()
            for name, derived in (("emit.py", self.names), ("rkc/read.py", self.names), ("tests/test_emit.py", []),
                                  ("equations/read.py", [])):
                with self.subTest(name):
                    shipped.write(code / name, "2")
                    self.assertEqual(self.build()[1], sorted(derived))

    def test_own_text_is_what_is_summed(self):
        self.assertEqual(checked.HERE, Path(kinds.__file__).resolve().parent)

    def test_descriptor(self):
        """A declaration of descriptor.h, but not a comment."""
        header = self.directory / "descriptor.h"
        text = objects.DESCRIPTOR.read_text(encoding="utf-8")
        header.write_text(text, encoding="utf-8")
        with mock.patch.object(objects, "DESCRIPTOR", header):
            self.build()
            header.write_text(text + "/* a comment */\n", encoding="utf-8")
            self.assertEqual(self.build()[1], [])
            header.write_text(text + "struct another;\n", encoding="utf-8")
            self.assertEqual(self.build()[1], sorted(self.names))

    # ---- several folders, and what is refused ----

    def test_order_of_two_folders(self):
        """By family, then by name, wherever the files are."""
        other = self.directory / "more"
        shipped.write(other / "erk" / "free.toml", FREE)
        text, _ = self.build(self.folder, other)
        listed = re.search(r"costate_method_table\[\] = \{(.*?)\}", text, re.S)[1]
        names = re.findall(r"&method_(\w+)", listed)
        self.assertEqual([x for x in names if x != "free"], self.names)
        self.assertEqual(names[names.index("euler"):][:2], ["euler", "free"])
        self.assertEqual(self.build(other, self.folder)[0], text)

    def test_the_same_name_twice(self):
        for family in ("erk", "sdirk"):                      # in a folder of the same family, and of another one
            other = self.directory / f"more_{family}"
            shipped.write(other / family / "euler.toml", shipped.path("euler").read_text(encoding="utf-8"))
            with self.subTest(family), self.assertRaises(Refused) as caught:
                self.build(self.folder, other)
            self.assertIn("name: 'euler' is the name of another method", str(caught.exception))
            for folder, name in ((self.folder, "erk"), (other, family)):
                self.assertIn(str(folder / name / "euler.toml"), str(caught.exception))
        self.assertEqual(self.files_kept(), [])

    def test_no_files(self):
        with self.assertRaisesRegex(Refused, "no coefficient files in erk/"):
            self.build(self.directory / "none")

    def test_malformed_composite_methods(self):
        """They are refused in a sentence, and nothing is kept."""
        self.build()
        kept, head = self.files_kept(), shipped.PAIR.split("[[member]]")[0].replace("pair_of_two", "wrong")
        for members in ("", "member = 3", "member = [3]", "member = {}", "[[member]]\nmethod = []",
                        "[[member]]\nmethod = {}", "[[member]]\nmethod = 3", "[[member]]\nname = 'bs32'",
                        "[[member]]\nmethod = 'wrong'", "[[member]]\nmethod = 'pair_of_two'"):
            shipped.write(self.folder / "composite" / "wrong.toml", head + members)
            with self.subTest(members):
                with self.assertRaises(Refused) as caught:
                    self.build()
                start = f"{self.folder / 'composite' / 'wrong.toml'}: " + ("member" if members else "key 'member'")
                self.assertTrue(str(caught.exception).startswith(start), caught.exception)
                self.assertEqual(self.files_kept(), kept)
