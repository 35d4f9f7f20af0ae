"""make_cffi.py INCLUDE OUTPUT CC... - writes the C of costate._costate: the library's headers, as cffi reads them, the
callbacks that Python provides, and glue.h.  No struct is typed here: their members are those of the headers."""
import os
import re
import subprocess
import sys
import tempfile

from cffi import FFI

HEADERS = ["costate.h", "accuracy.h", "ensemble.h", "operators.h", "pieces.h", "bvp.h", "program.h", "steady.h",
           "periodic.h"]

POINT, GRADIENT = "const costate_point *", "const costate_gradient *"
PRODUCTS = {
    "value": f"int %s({POINT}, double *, void *)",
    "tangent": f"int %s({POINT}, {POINT}, double *, void *)",
    "adjoint": f"int %s({POINT}, const double *, {GRADIENT}, void *)",
    "tangent2": f"int %s({POINT}, {POINT}, {POINT}, double *, void *)",
    "adjoint_tangent": f"int %s({POINT}, {POINT}, const double *, {GRADIENT}, void *)",
}
SLOTS = ["rhs", "cost", "guard", "jump", "conditions", "residual", "transition", "after_step", "invariant"]
CALLBACKS = """
int costate_py_tick(void *);
int costate_py_step(const costate_step *, void *);
int costate_py_jac(const costate_point *, double *, void *);
int costate_py_jac_yp(const costate_point *, double *, void *);
int costate_py_w(const costate_point *, double *, void *);
int costate_py_mass(double *, void *);
int costate_py_setup(double, const costate_point *, void *);
int costate_py_solve(int, double *, void *);
int costate_py_at_end(double, const double *, const double *, int, double *, double *, double *, double *, void *);
int costate_py_at_time(int, double, const double *, int, double *, double *, void *);
int costate_py_seed2(double, const double *, const double *, int, const double *, const double *, double *, double *,
                     double *, double *, void *);
int costate_py_orbit_seed(const double *, const double *, int, const double *, const double *, double *, double *,
                          double *, double *, void *);
int costate_py_observed(int, double, const double *, int, const double *, void *);
int costate_py_observed_seed(int, double, const double *, int, double *, void *);
int costate_py_observed2(int, double, const double *, int, const double *, double *, double *, void *);
"""


def declarations(include, cc):
    """what the headers declare, without what a preprocessor and a compiler of functions is needed for"""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "all.c")
        with open(path, "w", encoding="ascii") as out:
            out.writelines(f"#include <costate/{name}>\n" for name in HEADERS)
        text = subprocess.run([*cc, "-E", "-DCOSTATE_NO_HANDSHAKE", "-I", include, path], check=True,
                              capture_output=True, text=True).stdout
    lines, ours = [], False
    for line in text.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = f"{os.sep}costate{os.sep}" in mark[1]
        elif ours:
            lines.append(line)
    return without_bodies("\n".join(lines))


def without_bodies(text):
    """without the inline functions"""
    while (found := re.search(r"static inline [^;{]*\{", text)):
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        text = text[:found.start()] + text[at:]
    return text


def glue_struct(text):
    """the declarations of glue.h"""
    struct = re.search(r"typedef struct \{.*?\} costate_watch;", text, re.S)[0]
    functions = re.findall(r"^static ([^\n;]*\n?[^\n;{]*?)\s*\{", text, re.M)
    mine = [f for f in functions if re.search(r"\bcostate_watch_\w+\(", f)]
    return re.sub(r"/\*.*?\*/", "", struct, flags=re.S) + "\n" + "".join(f"{f};\n" for f in mine)


def main(include, output, cc):
    ffi = FFI()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "glue.h"), encoding="ascii") as file:
        glue = file.read()
    python = CALLBACKS + "".join(form % f"costate_py_{slot}_{name}" + ";\n" for slot in SLOTS
                                 for name, form in PRODUCTS.items())
    ffi.cdef(declarations(include, cc) + glue_struct(glue) + f'extern "Python" {{\n{python}}}\n')
    ffi.set_source("costate._costate", "".join(f"#include <costate/{name}>\n" for name in HEADERS) + glue)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
