"""Every block of C and C++ in the documents compiles without a warning and runs: as a program where it is one, else in
the place that a file of tests/docs/blocks has for it:  @ events FIRST LINE  stands for the block of events.md that
begins so.  The key of a document is its name without .md; of documents with the same name, as index.md, it is the path
below docs.

    test_blocks.py SOURCE BUILD SANITIZE CC... -- CXX...     reports in the format of cmocka"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from tempfile import TemporaryDirectory as folder

root, build, sanitize = sys.argv[1:4]
sys.dont_write_bytecode = True
sys.path[:0] = [root, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
from cases import Skipped, documents, run_all  # noqa: E402
from codegen.command import write as generate  # noqa: E402

at = sys.argv.index("--")
compilers = {".c": sys.argv[4:at] + ["-std=c11"], ".cpp": sys.argv[at + 1:] + ["-std=c++17"]}


def by_key(paths):
    """{key: path}"""
    stems = [os.path.basename(path)[:-3] for path in paths]
    return {stem if stems.count(stem) == 1 else os.path.relpath(path, "docs")[:-3]: path
            for stem, path in zip(stems, paths)}


DOCUMENTS = {"readme": "README.md", **by_key(documents(root))}
PLACE = re.compile(r"^( *)@ (\S+) (.*)$", re.M)
COMPILED_ONLY = {"tapenade.c"}                    # the documents say: not run here
FLAGS = {"lanes.c": ["-ffp-contract=off"]}         # as the documents say
RECIPE = "docs/howto/parameter-estimation.md"
NEEDS = {"petsc.c": "PETSc", "cppad.cpp": "cppad/cppad.hpp", "first_fit.c": "cminpack"}


@cache
def read(*name):
    with open(os.path.join(root, *name), encoding="utf-8") as f:
        return f.read()


@cache
def blocks():
    """(document, text) of all; what tutorials show of programs is compared with them by test_tutorials.py"""
    return [(key, text) for key, name in sorted(DOCUMENTS.items()) if not name.startswith("docs/tutorials")
            for text in re.findall(r"^```(?:c|c\+\+|cpp)\n(.*?)^```", read(name), re.M | re.S)]


def whole(text):
    return "int main(" in text and "#include" in text


def named(key, start):
    found = [text for document, text in blocks() if document == key and text.startswith(start)]
    assert len(found) == 1, "%d blocks of %s begin with %s" % (len(found), DOCUMENTS[key], start)
    return found[0]


def flags_of(needed):
    if needed is None:
        return []
    if needed.endswith(".hpp"):
        if subprocess.run(compilers[".cpp"] + ["-fsyntax-only", "-x", "c++", "-include", needed, os.devnull],
                          capture_output=True).returncode:
            raise Skipped("%s is not installed" % needed)
        return ["-lcppad_lib"]
    if needed == "cminpack":
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", needed], capture_output=True, text=True)
        if asked.returncode:
            raise Skipped("%s is not installed" % needed)
        return asked.stdout.replace("-I", "-isystem").split()
    library = os.path.join(build, "libcostate_petsc.so")
    if sanitize != "none" or not os.path.exists(library):
        raise Skipped("built without %s, or with a sanitizer" % needed)
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", needed, "mpi-c"], capture_output=True, text=True)
    return [library] + asked.stdout.replace("-I", "-isystem").split()


def equations_of(document, program):
    """{name: text} of the models in the document whose headers the program includes, or whose byte code it reads"""
    found = re.findall(r"^```equations\n(model (\w+).*?)^```", document, re.M | re.S)
    return {name: text for text, name in found if '#include "%s.h"' % name in program or '"%s.bin"' % name in program}


def written(models, place, program, **more):
    """the C files of models; byte code is written, too, if the program reads it"""
    files = []
    for name, text in models.items():
        source = os.path.join(place, name + ".eq")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        files.append(os.path.join(place, name + ".c"))
        generate(source, files[-1], **more)
        if '"%s.bin"' % name in program:
            generate(source, os.path.join(place, name + ".bin"), program=True)
    return files


def compiled_and_run(name, text, run=True, models=None):
    """what it prints"""
    flags = flags_of(NEEDS.get(name))
    kind = os.path.splitext(name)[1]
    with folder() as place:
        source, exe = os.path.join(place, name), os.path.join(place, "program")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        command = compilers[kind] + ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", source]
        command += FLAGS.get(name, [])
        command += written(models or {}, place, text) + [
            "-I" + os.path.join(root, part) for part in ("include", "tests/docs/blocks", "examples")]
        if sanitize != "none":
            command.append("-fsanitize=" + sanitize)
        command += ["-o", exe] + (["-pedantic", "-L" + build, "-Wl,-rpath," + build, *flags, "-lcostate", "-lm"] if run
                                  else ["-c"])
        subprocess.run(command, check=True)
        if run:
            return subprocess.run([exe], check=True, cwd=place, capture_output=True, text=True).stdout


def filled(name):
    """a file of tests/docs/blocks with the blocks in their places"""
    def block(found):
        return textwrap.indent(named(*found.groups()[1:]).rstrip("\n"), found.group(1))
    return PLACE.sub(block, read("tests", "docs", "blocks", name))


def harness(name, models=None):
    return compiled_and_run(name, filled(name), name not in COMPILED_ONLY, models)


def harnesses():
    return sorted(name for name in os.listdir(os.path.join(root, "tests", "docs", "blocks")) if not name.endswith(".h"))


def test_every_block_has_a_place():
    """none is left out; a place has its block"""
    texts = [read("tests", "docs", "blocks", name) for name in harnesses()]
    taken = [named(*place[1:]) for text in texts for place in PLACE.findall(text)]
    left = [text.splitlines()[0] for _, text in blocks() if text not in taken and not whole(text)]
    assert not left, "these are in no file of tests/docs/blocks: %s" % left
    assert len(taken) == len(set(taken)), "a block stands in two files"


def test_whole_programs():
    """they print the first indented line behind them"""
    for name in sorted(DOCUMENTS.values()):
        text = read(name)
        for found in re.finditer(r"^```(c|c\+\+)\n(.*?)^```", text, re.M | re.S):
            program = found[2]
            if whole(program):
                out = compiled_and_run("program.c" if found[1] == "c" else "program.cpp", program,
                                       models=equations_of(text, program))
                assert_shown(name, text[found.end():], out)


def assert_shown(name, behind, out):
    shown = re.search(r"^    ((?!cc |c\+\+ |gfortran )\S.*(?:\n    .*)*)$", behind, re.M).group(1)
    shown = textwrap.dedent("    " + shown)
    assert out.strip() == shown, "%s shows %s, its program prints %s" % (name, shown, out)


def test_files_for_the_generator():
    """Equation files and coefficient files of the documents are accepted."""
    count = 0
    for name in sorted(DOCUMENTS.values()):
        for kind, text in re.findall(r"^```(equations|toml)\n(.*?)^```", read(name), re.M | re.S):
            given = re.search(r'^(?:model|name *=) *"?(\w+)', text, re.M).group(1)
            with folder() as place:
                source = os.path.join(place, "erk", given + (".eq" if kind == "equations" else ".toml"))
                os.mkdir(os.path.dirname(source))
                with open(source, "w", encoding="utf-8") as f:
                    f.write(text)
                generate(source, os.path.join(place, given + ".c"))
            count += 1
    assert count >= 5, count


def in_fortran(document, program, place):
    """what it prints; models of the document that it uses are written with their modules"""
    files = [os.path.join(root, "fortran", "costate.f90")]
    for text, name in re.findall(r"^```equations\n(model (\w+).*?)^```", document, re.M | re.S):
        if "use %s\n" % name in program:
            source = written({name: text}, place, program, fortran=True)[0]
            subprocess.run([*compilers[".c"], "-c", source, "-I" + os.path.join(root, "include")], cwd=place,
                           check=True)
            files += [name + ".f90", name + ".o"]
    with open(os.path.join(place, "program.f90"), "w", encoding="utf-8") as f:
        f.write(program)
    subprocess.run(["gfortran", "-Wall", "-Werror", *files, "program.f90", "-o", "program", "-L" + build,
                    "-Wl,-rpath," + build, "-lcostate"], cwd=place, check=True)
    return subprocess.run([os.path.join(place, "program")], check=True, capture_output=True, text=True).stdout


def test_programs_in_fortran():
    """print what their pages say"""
    if not shutil.which("gfortran") or sanitize != "none":
        raise Skipped("there is no gfortran, or the library has a sanitizer")
    for page in ("first-run", "fortran"):
        text = read(DOCUMENTS[page])
        program = re.search(r"^```fortran\n(.*?)^```", text, re.M | re.S)
        with folder() as place:
            out = in_fortran(text, program[1], place)
        assert_shown(page, text[program.end():] if page == "fortran" else text, out)


COMMA = re.compile(r"return [^;(]*,|^ *(?!double|int|static)[\w>.\[\]-]+ [+-]?= [^;({]*, \w+ =", re.M)


def test_readme_has_no_comma_operator():
    """nor has the first program that a reader sees"""
    for name in ("README.md", DOCUMENTS["first-run"]):
        for text in re.findall(r"^```c\n(.*?)^```", read(name), re.M | re.S):
            assert not COMMA.search(text), text


def test_first_fit_c():
    """the recipe is the example, its equations are those of the model, and it prints what is shown"""
    program, document = filled("first_fit.c"), read(RECIPE)
    equations = equations_of(document, program)
    assert read("examples", "33_first_fit.c").endswith("*/\n" + program), RECIPE + " shows another program"
    assert read("models", "drug.eq").endswith(equations["drug"]), RECIPE + " shows other equations"
    out = harness("first_fit.c", equations)
    assert textwrap.indent(out, "    ") in document, RECIPE + " does not show what the program prints:\n" + out


for name in (name for name in harnesses() if name != "first_fit.c"):
    globals()["test_" + name.replace(".", "_")] = lambda name=name: harness(name)

run_all(globals())
