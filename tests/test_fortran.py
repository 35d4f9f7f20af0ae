"""fortran/costate.f90 says what costate.h says: constants, sizes and offsets as both compilers have them, procedures
with their arguments.

    test_fortran.py SOURCE LIBRARY FORTRAN COMPILER...     reports in the format of cmocka"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from cases import run_all  # noqa: E402

root, library, fortran, compiler = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
MODULE = os.path.join(root, "fortran", "costate.f90")


def header():
    with open(os.path.join(root, "include", "costate", "costate.h"), encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)


def module():
    with open(MODULE, encoding="utf-8") as f:
        return re.sub(r"&\n\s*", " ", re.sub(r"!.*", "", f.read()))


def constants():
    bodies = re.findall(r"\benum \w+\s*\{(.*?)\}", header(), re.S)
    return [name for body in bodies for name in re.findall(r"\bCOSTATE_\w+", body)]


def structs():
    """{name: members} of all that a user sees into"""
    found = {}
    for body, name in re.findall(r"typedef struct(?: \w+)? \{(.*?)\} (\w+);", header(), re.S):
        body = re.sub(r"\(\*(\w+)\)\s*\([^)]*\)", r"\1", body)
        found[name] = [re.search(r"(\w+)(?:\[\d+\])?\s*$", part)[1]
                       for line in body.split(";") if line.strip() for part in line.split(",")]
    del found["costate_size"]                  # of the macros at the end
    return found


def prototypes():
    """{function: (what it returns, what its arguments are)} with v: nothing, p: pointer, f: of a function, else the
    type; without those that costate.h's macros call"""
    text = re.sub(r"typedef[^;{]*(\{.*?\})?[^;]*;", " ", header(), flags=re.S)
    found = {}
    for returned, name, arguments in re.findall(r"((?:const )?[\w ]+[\s*]+)(costate_\w+)\s*\(([^()]*)\)\s*;", text):
        arguments = [] if arguments.strip() == "void" else [c_kind(x) for x in arguments.split(",")]
        found[name] = (c_kind(returned + " x"), arguments)
    return {name: found[name] for name in found if not name.endswith("_sized")}


def c_kind(declaration):
    if "*" in declaration:
        return "p"
    kind = declaration.replace("const ", "").split()[0]
    return {"void": "v", "costate_seed": "f", "costate_seed2": "f"}.get(kind, kind)


def bindings():
    """The same of the module."""
    found = {}
    text = module()
    text = text[text.index("interface", text.index("end interface")):text.index("contains")]
    head = r"\n *(?:(\w+\(\w+\)) function|subroutine) (costate_\w+)\((.*?)\) bind\(c\)"
    for returned, name, arguments, body in re.findall(head + r"(.*?)end (?:function|subroutine)", text, re.S):
        kinds = {}
        for kind, attributes, names in re.findall(r"\n *(\w+\(.*?\))(.*?)::(.*)", body):
            for variable in re.findall(r"(\w+)(?:\(\*\))?", names):
                kinds[variable.lower()] = fortran_kind(kind) if "value" in attributes else "p"
        found[name] = (fortran_kind(returned) if returned else "v",
                       [kinds[x.strip().lower()] for x in arguments.split(",") if x.strip()])
    return found


def fortran_kind(declared):
    return {"integer(c_int)": "int", "real(c_double)": "double", "integer(c_size_t)": "size_t", "type(c_ptr)": "p",
            "type(c_funptr)": "f", "integer(c_long)": "long"}[declared]


def test_procedures():
    c, f = prototypes(), bindings()
    assert len(c) > 30 and "costate_new" in c and "costate_tape_new" in c
    for name in sorted(c.keys() | f.keys()):
        assert c.get(name) == f.get(name), "%s: costate.h has %s, costate.f90 %s" % (name, c.get(name), f.get(name))


def printed(place, name, text, command, libraries=()):
    source, exe = os.path.join(place, name), os.path.join(place, name + ".exe")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    made = subprocess.run(command + [source, "-o", exe, *libraries], cwd=place, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:2000]
    lines = subprocess.run([exe], check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(line.split() for line in lines)


def test_constants_and_layouts():
    in_c = ['P("%s", (long)%s);' % (x, x) for x in constants()]
    in_fortran = ["print '(a,1x,i0)', '%s', %s" % (x, x) for x in constants()]
    declared = []
    for struct, members in structs().items():
        in_c.append('P("%s", (long)sizeof(%s));' % (struct, struct))
        in_fortran.append("print '(a,1x,i0)', '%s', c_sizeof(x_%s)" % (struct, struct))
        declared.append("type(%s), target :: x_%s" % (struct, struct))
        for member in members:
            key = struct + "." + member
            in_c.append('P("%s", (long)offsetof(%s, %s));' % (key, struct, member))
            in_fortran.append("print '(a,1x,i0)', '%s', &\nat(c_loc(x_%s%%%s)) - at(c_loc(x_%s))"
                              % (key, struct, member, struct))
    assert len(constants()) > 40 and len(structs()) > 9
    with tempfile.TemporaryDirectory() as place:
        c = printed(place, "c.c", "#include <costate/costate.h>\n#include <stdio.h>\n"
                    '#define P(name, value) printf("%s %ld\\n", name, value)\n'
                    "int main(void)\n{\n" + "\n".join(in_c) + "\nreturn 0;\n}\n",
                    compiler + ["-I" + os.path.join(root, "include")])
        f = printed(place, "f.f90", "program layout\nuse costate\nimplicit none\n"
                    + "\n".join(declared) + "\n" + "\n".join(in_fortran) + "\ncontains\n"
                    "integer(c_intptr_t) function at(p)\ntype(c_ptr), intent(in) :: p\nat = transfer(p, at)\n"
                    "end function\nend program\n",
                    [fortran, MODULE], [library, "-Wl,-rpath," + os.path.dirname(library)])
    for name in c:
        assert c[name] == f[name], "%s is %s in C, %s in Fortran" % (name, c[name], f[name])


def test_no_type_has_other_members():
    for name, body in re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", module(), re.S):
        members = re.findall(r"::\s*(\w+)", body)
        assert structs()[name] == members, "%s: costate.h has %s, costate.f90 %s" % (name, structs()[name], members)


run_all(globals())
