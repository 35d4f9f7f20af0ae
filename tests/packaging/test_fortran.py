"""fortran/costate.f90 says what costate.h says, costate_bvp.f90 what bvp.h, costate_ensembles.f90 what ensemble.h,
costate_errors.f90 what accuracy.h, costate_operators.f90 what operators.h, costate_steady.f90 what steady.h,
costate_periodic.f90 what periodic.h: constants, sizes and offsets as both compilers have them, procedures with their
arguments.

    test_fortran.py SOURCE LIBRARY FORTRAN COMPILER...     reports in the format of cmocka"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cases import run_all  # noqa: E402

root, library, fortran, compiler = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
MODULES = {"costate": "costate", "bvp": "costate_bvp", "ensemble": "costate_ensembles",     # of each header
           "accuracy": "costate_errors", "operators": "costate_operators", "steady": "costate_steady",
           "periodic": "costate_periodic"}


def source(name):
    return os.path.join(root, "fortran", MODULES[name] + ".f90")


def header(name):
    with open(os.path.join(root, "include", "costate", name + ".h"), encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)


def module(name):
    with open(source(name), encoding="utf-8") as f:
        return re.sub(r"&\n\s*", " ", re.sub(r"!.*", "", f.read()))


def constants(name):
    bodies = re.findall(r"\benum \w+\s*\{(.*?)\}", header(name), re.S)
    return [word for body in bodies for word in re.findall(r"\bCOSTATE_\w+", body)]


def structs(of):
    """{name: members} of all that a user sees into"""
    found = {}
    for body, name in re.findall(r"typedef struct(?: \w+)? \{(.*?)\} (\w+);", header(of), re.S):
        body = re.sub(r"\(\*(\w+)\)\s*(\([^)]*\)|\[\w+\])", r"\1", body)
        found[name] = [re.search(r"(\w+)(?:\[\w+\])?\s*$", part)[1]
                       for line in body.split(";") if line.strip() for part in line.split(",")]
    return found


def prototypes(of):
    """{function: (what it returns, what its arguments are)} with v: nothing, p: pointer, f: of a function, else the
    type; with the functions that the header's macros call in place of those that have such a macro"""
    text = re.sub(r"typedef[^;{]*(\{.*?\})?[^;]*;", " ", header(of), flags=re.S)
    found = {}
    for returned, name, arguments in re.findall(r"((?:const )?[\w ]+[\s*]+)(costate_\w+)\s*\(([^()]*)\)\s*;", text):
        arguments = [] if arguments.strip() == "void" else [c_kind(x) for x in arguments.split(",")]
        found[name] = (c_kind(returned + " x"), arguments)
    return {name: found[name] for name in found if name + "_sized" not in found}


def c_kind(declaration):
    if "*" in declaration:
        return "p"
    kind = declaration.replace("const ", "").split()[0]
    return {"void": "v", "costate_seed": "f", "costate_seed2": "f", "costate_periodic_seed": "f"}.get(kind, kind)


def bindings(of):
    """The same of the module."""
    found = {}
    text = module(of)
    text = re.sub(r"abstract interface.*?end interface", "", text, flags=re.S)
    text = text[text.index("interface"):text.index("contains")]
    head = r"\n *(?:(\w+\(\w+\)) function|subroutine) (costate_\w+)\((.*?)\) bind\(c(?:, name='(\w+)')?\)"
    for returned, name, arguments, named, body in re.findall(head + r"(.*?)end (?:function|subroutine)", text, re.S):
        kinds = {}
        for kind, attributes, names in re.findall(r"\n *(\w+\(.*?\))(.*?)::(.*)", body):
            for variable in re.findall(r"(\w+)(?:\(\*\))?", names):
                kinds[variable.lower()] = fortran_kind(kind) if "value" in attributes else "p"
        found[named or name] = (fortran_kind(returned) if returned else "v",
                                [kinds[x.strip().lower()] for x in arguments.split(",") if x.strip()])
    return found


def fortran_kind(declared):
    return {"integer(c_int)": "int", "real(c_double)": "double", "integer(c_size_t)": "size_t", "type(c_ptr)": "p",
            "type(c_funptr)": "f", "integer(c_long)": "long", "type(costate_map)": "costate_map"}[declared]


def test_procedures():
    for of, least in (("costate", 30), ("bvp", 16), ("ensemble", 2), ("accuracy", 2), ("operators", 10),
                      ("steady", 8), ("periodic", 10)):
        c, f = prototypes(of), bindings(of)
        assert len(c) >= least, (of, len(c))
        for name in sorted(c.keys() | f.keys()):
            assert c.get(name) == f.get(name), "%s: %s.h has %s, the module %s" % (name, of, c.get(name), f.get(name))


def printed(place, name, text, command, libraries=()):
    file, exe = os.path.join(place, name), os.path.join(place, name + ".exe")
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)
    made = subprocess.run(command + [file, "-o", exe, *libraries], cwd=place, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:2000]
    lines = subprocess.run([exe], check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(line.split() for line in lines)


def test_constants_and_layouts():
    words = [word for of in MODULES for word in constants(of)]
    types = {struct: members for of in MODULES for struct, members in structs(of).items()}
    in_c = ['P("%s", (long)%s);' % (x, x) for x in words]
    in_fortran = ["print '(a,1x,i0)', '%s', %s" % (x, x) for x in words]
    declared = []
    for struct, members in types.items():
        in_c.append('P("%s", (long)sizeof(%s));' % (struct, struct))
        in_fortran.append("print '(a,1x,i0)', '%s', c_sizeof(x_%s)" % (struct, struct))
        declared.append("type(%s), target :: x_%s" % (struct, struct))
        for member in members:
            key = struct + "." + member
            in_c.append('P("%s", (long)offsetof(%s, %s));' % (key, struct, member))
            in_fortran.append("print '(a,1x,i0)', '%s', &\nat(c_loc(x_%s%%%s)) - at(c_loc(x_%s))"
                              % (key, struct, member, struct))
    assert len(words) > 40 and len(types) > 16
    with tempfile.TemporaryDirectory() as place:
        c = printed(place, "c.c", "#include <costate/bvp.h>\n#include <costate/ensemble.h>\n"
                    "#include <costate/accuracy.h>\n#include <costate/operators.h>\n#include <costate/steady.h>\n"
                    "#include <costate/periodic.h>\n#include <stdio.h>\n"
                    '#define P(name, value) printf("%s %ld\\n", name, value)\n'
                    "int main(void)\n{\n" + "\n".join(in_c) + "\nreturn 0;\n}\n",
                    compiler + ["-I" + os.path.join(root, "include")])
        f = printed(place, "f.f90", "program layout\nuse costate\nuse costate_bvp\nuse costate_ensembles\n"
                    "use costate_errors\nuse costate_operators\nuse costate_steady\nuse costate_periodic\n"
                    "implicit none\n" +
                    "\n".join(declared) + "\n" + "\n".join(in_fortran) + "\ncontains\n"
                    "integer(c_intptr_t) function at(p)\ntype(c_ptr), intent(in) :: p\nat = transfer(p, at)\n"
                    "end function\nend program\n",
                    [fortran, *map(source, MODULES)], [library, "-Wl,-rpath," + os.path.dirname(library)])
    for name in c:
        assert c[name] == f[name], "%s is %s in C, %s in Fortran" % (name, c[name], f[name])


def test_no_type_has_other_members():
    for of in MODULES:
        for name, body in re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", module(of), re.S):
            members = re.findall(r"::\s*(\w+)", body)
            assert structs(of)[name] == members, "%s: the header has %s, the module %s" % (name, structs(of)[name],
                                                                                           members)


run_all(globals())
