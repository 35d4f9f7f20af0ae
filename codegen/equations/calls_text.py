"""What a generated file has beside calls of functions in C: included files, prototypes, functions of its own name.

Each function is called through one with an underscore behind its name, which no variable of a generated function has:
a state may be called as the function in C is."""
import re

from .calls import ORDERS
from .names import listed
from .syntax import Fault

ARGUMENTS = ["const double *x", *(f"double *{order}" for order in ORDERS)]
ABOUT = """\
/* Written by you: value, gradient (k), hessian (k*k) and third (k*k*k; the last index changes fastest) at the k
   arguments x.  Those that are NULL are not wanted. */
"""


NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)        # comments and strings


def wrapper(name):
    return name + "_"


def public_name(function, model_name):
    """In C: of a file the word in it; of the program NAME_function"""
    return function.word if function.file else f"{model_name}_{function.word}"


def of_program(functions):
    """Those that the program provides"""
    return [f for f in functions.values() if not f.file]


def prototypes(functions, model_name):
    """For the header"""
    needed = of_program(functions)
    lines = [line for f in needed for line in listed(f"void {public_name(f, model_name)}(", ARGUMENTS, ");", 8)]
    return "\n" + ABOUT + "\n".join(lines) + "\n" if needed else ""


def calls_of(functions, model_name, text):
    """Includes and functions for what text calls; it follows the other includes"""
    if functions:
        check_names(functions, NO_CODE.sub(" ", text))
    used = [f for f in functions.values() if re.search(rf"\b{wrapper(f.name)}\(", text)]
    includes = "".join(f'#include "{file}"\n' for file in dict.fromkeys(f.file for f in used if f.file))
    out = includes + "\n" * bool(includes)
    for f in used:
        lines = listed(f"static void {wrapper(f.name)}(", ARGUMENTS, ")", 8)
        call = f"    {public_name(f, model_name)}(x, {', '.join(ORDERS)});\n"
        out += "\n".join(lines) + "\n{\n" + call + "}\n\n"
    return out


def check_names(functions, code):
    """Refuses functions of files whose name in C is one of the generated file itself"""
    words = {*re.findall(r"\w+", code), *re.findall(r"\w+", " ".join(ARGUMENTS))}
    for f in functions.values():
        if f.file and f.word in words:
            raise Fault(f.place, f"the generated C uses the name {f.word} itself: give the function in C another name")


def data(functions):
    """For programs that load the compiled file, about.py: `needs`, the functions that they provide, and `orders`, up to
    which all functions have derivatives"""
    needs = [dict(name=f.name, arguments=f.arguments, derivatives=f.orders) for f in of_program(functions)]
    return dict(needs=needs, orders={f.name: f.orders for f in functions.values()}) if functions else {}
