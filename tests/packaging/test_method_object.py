"""Methods that are loaded at run time: made from coefficient files by codegen, compiled with the installed headers
alone.  They compute the bits of the same methods built in; what is no such file is refused with a sentence."""

import os
import re
import shutil
import sys

from external import Installed, Skipped, cc, compiler, folder, root, run, run_all, sanitized, strict, write

DROPPED = os.path.join(root, "tests", "dropped")
FAMILIES = ("erk", "sdirk", "firk", "ros", "rkc", "composite")
TWINS = ("erk/dopri5", "sdirk/esdirk43i6", "firk/radau2a", "ros/rodas4", "rkc/rkl2")


made = {}                            # text of a coefficient file: the C of its method


def make(file, place, name):
    """the C of a method"""
    out = os.path.join(place, name + ".c")
    with open(file, encoding="utf-8") as f:
        text = f.read()
    if text not in made:
        run(sys.executable, "-m", "codegen", "model", file, "-o", out, cwd=root)
        with open(out, encoding="utf-8") as f:
            made[text] = f.read()
    return write(out, made[text])


def compiled(source, *flags):
    out = source[:-2] + ".so"
    run(*compiler, *strict, "-O2", "-shared", "-fPIC", source, "-o", out, *flags)
    return out


class Program:
    """tests/packaging/loaded.c beside an installed library"""

    def __init__(self, place):
        self.place, installed = place, Installed(place, "shared")
        self.include, self.exe = "-I" + installed.include, os.path.join(place, "loaded")
        cc(os.path.join(root, "tests", "packaging", "loaded.c"), "-o", self.exe, self.include, "-L" + installed.lib,
           "-Wl,-rpath," + installed.lib, "-lcostate", "-lm")

    def said(self, *arguments):
        return run(self.exe, *arguments, fails=True, cwd=self.place).strip()

    def refused(self, file, status, *words):
        text = self.said(file)
        assert text.startswith(status + ": ") and text.endswith("."), text
        lost = [word for word in words if word not in text]
        assert not lost, "%s\nwithout %s" % (text, lost)


def changed(place, program, name, was, now):
    """the object of ralston with another text in its C"""
    source = make(os.path.join(DROPPED, "erk", "ralston.toml"), place, name)
    with open(source, encoding="utf-8") as f:
        text = f.read()
    assert was in text, was
    write(source, text.replace(was, now))
    return compiled(source, program.include)


def test_dropped_methods():
    """those that are not built in: runs, tapes, files, adjoints"""
    with folder() as place:
        program = Program(place)
        for family in FAMILIES:
            files = os.path.join(DROPPED, family)
            for name in sorted(os.listdir(files)) if os.path.isdir(files) else ():
                library = compiled(make(os.path.join(files, name), place, name[:-5]), program.include)
                assert program.said(library) == name[:-5] + "\ngood", name


def test_twins_have_the_same_bits():
    """a shipped method under another name"""
    with folder() as place:
        program = Program(place)
        for path in TWINS:
            family, name = path.split("/")
            with open(os.path.join(root, "methods", path + ".toml"), encoding="utf-8") as f:
                text = f.read()
            text, count = re.subn(r'^(name\s*=\s*)"%s"' % name, r'\1"%s_again"' % name, text, flags=re.M)
            assert count == 1
            file = write(os.path.join(place, family, name + "_again.toml"), text)
            library = compiled(make(file, place, name), program.include)
            assert program.said(library, name) == "%s_again\n%s\ngood" % (name, name), path


def test_a_name_without_a_folder():
    """is a file here, not one of the system"""
    with folder() as place:
        program = Program(place)
        compiled(make(os.path.join(DROPPED, "erk", "ralston.toml"), place, "ralston"), program.include)
        assert program.said("ralston.so") == "ralston\ngood"


def test_wrong_files_are_refused():
    with folder() as place:
        program = Program(place)
        program.refused("missing.so", "COSTATE_IO", "missing.so")
        program.refused(write(os.path.join(place, "text.so"), "no library\n"), "COSTATE_IO", "text.so")
        program.refused(compiled(write(os.path.join(place, "empty.c"), "extern int here;\nint here = 1;\n")),
                        "COSTATE_BAD_ARGUMENT", "empty.so", "costate_object")
        program.refused(changed(place, program, "old", "COSTATE_VERSION,", '"0.9.3",'), "COSTATE_VERSION_MISMATCH",
                        "0.9.3", "Make it again")
        program.refused(changed(place, program, "longer", "unsigned is;", "unsigned is; double more;"),
                        "COSTATE_VERSION_MISMATCH", "longer.so", "structs", "make it again")
        program.refused(changed(place, program, "sum", "COSTATE_VERSION, \"", "COSTATE_VERSION, \"0"),
                        "COSTATE_VERSION_MISMATCH", "structs")
        program.refused(changed(place, program, "none", ".s = 2", ".s = 0"), "COSTATE_BAD_ARGUMENT",
                        "holds no method")
        program.refused(changed(place, program, "taken", '"ralston"', '"dopri5"'), "COSTATE_BAD_ARGUMENT", "dopri5",
                        "built in")


def test_wrong_coefficients_are_refused():
    """as by the build"""
    with folder() as place, open(os.path.join(DROPPED, "erk", "ralston.toml"), encoding="utf-8") as f:
        text = f.read()
        file = write(os.path.join(place, "ralston.toml"), text.replace("1/4  3/4", "1/3  2/3"))
        out = os.path.join(place, "x.c")
        said = run(sys.executable, "-m", "codegen", "model", file, "-o", out, fails=True, cwd=root)
        assert "ralston.toml" in said and not os.path.exists(out), said


def test_nothing_is_left():
    """valgrind: no leak after unload, whether the file was taken or refused"""
    if sanitized or not shutil.which("valgrind"):
        raise Skipped("there is no valgrind, or a sanitizer looks for leaks")
    with folder() as place:
        program = Program(place)
        library = compiled(make(os.path.join(DROPPED, "erk", "ralston.toml"), place, "ralston"), program.include)
        for file in library, "missing.so":
            run("valgrind", "--leak-check=full", "--error-exitcode=9", "-q", program.exe, file, cwd=place)


run_all(globals())
