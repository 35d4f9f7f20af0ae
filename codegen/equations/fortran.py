"""A Fortran module for a generated C file: indices of all quantities, from 1, their names and units, and functions.

Names of Fortran have letters of either case that mean the same, and at most 63 characters: identifiers that become one
are told apart as in C, by an underscore.  Indices in arguments that are those of C (problem.event, modes) stay so."""
import math

from ..real import Refused
from .formulas import defaults
from .header import PLACES, RESERVED, kinds
from .names import identifier, prefix, quantities_of
from .start_limit import STEADY

MOST = 63                                    # characters of a name
# what iso_c_binding defines (Fortran 2018, 18.2)
OF_C = {"c_" + word for word in (
    "int short long long_long signed_char size_t int8_t int16_t int32_t int64_t int_least8_t int_least16_t "
    "int_least32_t int_least64_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t intmax_t intptr_t "
    "ptrdiff_t float double long_double float128 float_complex double_complex long_double_complex "
    "float128_complex bool char null_char alert backspace form_feed new_line carriage_return horizontal_tab "
    "vertical_tab null_ptr null_funptr ptr funptr loc funloc associated f_pointer f_procpointer sizeof").split()}
WIDTH = 130                                  # of a line, in bytes
PIECE = 50                                   # characters of a text in a line, each of two bytes or two quotes at most
NAN = "transfer(9221120237041090560_c_int64_t, 1._c_double)"        # to be set before a run

HEAD = """! {stem}.f90 - written by costate-model from {origin}; changes belong there.
!
! Compile it behind costate.f90{more} and link {stem}.c, of which {stem}.h says what each name is.
module {name}
    use, intrinsic :: iso_c_binding
    use costate
{uses}    implicit none

"""
POINTER = """
    function {0}_{1}() result(it)
        type({2}), pointer :: it
        interface
            type(c_ptr) function in_c() bind(c, name='{0}_{1}')
                import
            end function
        end interface
        call c_f_pointer(in_c(), it)
    end function
"""
START = """        subroutine {0}_start(t, p, y) bind(c, name='{0}_start')          ! y: {1} initial values at t
            import
            real(c_double), value :: t
            real(c_double), intent(in) :: p(*)
            real(c_double), intent(out) :: y(*)
        end subroutine
"""
BACKEND = """        type(c_ptr) function {0}_backend() bind(c, name='{0}_backend')   ! for options%backend
            import
        end function
"""


def refuse_grids(origin, asked):
    if asked:
        raise Refused(f"{origin}: --fortran is for models of single states, not on grids")


def write(model, origin, stem, backend):
    """The text; backend: the C file has NAME_backend"""
    name = prefix(model)
    limit, steady = model.start_limit, bool(model.start_limit and model.start_limit.kind == STEADY)
    uses = f"    use costate_{limit.kind}\n" if limit else ""
    pointers = [("problem", "costate_problem"), ("start_map", "costate_map")]
    pointers += [("output_map", "costate_map")] * bool(model.outputs)
    if limit:
        pointers += [("start_problem", "costate_problem")] * steady + \
            [(f"start_{limit.kind}", f"costate_{limit.kind}_options")]
    more = f", costate_{limit.kind}.f90" if limit else ""
    text = HEAD.format(stem=stem, origin=remark(origin), name=checked(name, name, origin), more=more, uses=uses)
    text += declarations(model, name, origin)
    rows = len(model.states) + len(model.costs) + len(model.memory)
    text += "\n    interface\n" + START.format(name, rows) + BACKEND.format(name) * backend + "    end interface\n"
    functions = "".join(POINTER.format(name, what, of) for what, of in pointers)
    return text + "contains\n" + functions.removeprefix("\n") + "end module\n"


def declarations(model, name, origin):
    """Counts, indices, defaults, names and units"""
    taken = {word.lower() for word in RESERVED}
    words = {id(q): identifier(q.name.lower(), taken) for q in quantities_of(model)}
    text = ""
    for kind, quantities in kinds(model):
        count = {"memory": "memory"}.get(kind, kind + "s")
        text += f"    ! {PLACES[kind]}\n    integer(c_int), parameter :: {name}_{count} = {len(quantities)}\n"
        for k, q in enumerate(quantities):
            about = " ".join(x for x in (q.text, f"[{q.unit}]" if q.unit else "") if x)
            word = checked(f"{name}_{words[id(q)]}", q.name, origin)
            line = f"    integer(c_int), parameter :: {word} = {k + 1}"
            text += cut(f"{line}    ! {remark(about)}" if about else line) + "\n"
        text += texts(f"{name}_{kind}_names", [q.name for q in quantities])
        text += texts(f"{name}_{kind}_units", [q.unit for q in quantities])
    if model.modes:
        text += "    ! modes\n" + "".join(
            f"    integer(c_int), parameter :: {checked(f'{name}_{identifier(mode.lower(), taken)}', mode, origin)} = "
            f"{k}\n" for k, mode in enumerate(model.modes))
    if model.parameters:
        head = f"    real(c_double), parameter :: {name}_defaults({len(model.parameters)}) = [real(c_double) :: "
        text += listed(head, [number(x) for x in defaults(model)])
    if model.start_limit and model.start_limit.kind != STEADY:
        text += f"    real(c_double), parameter :: {name}_start_period = {number(model.start_limit.period)}\n"
    return text


def checked(name, said, origin):
    """A name, if it is one of Fortran"""
    if name.lower() in OF_C:
        raise Refused(f"{origin}: {said} has no name in Fortran: {name} belongs to its module iso_c_binding; name "
                      "it or the model otherwise")
    if not name[0].isalpha() or len(name) > MOST:
        raise Refused(f"{origin}: {said} has no name in Fortran: {name} must begin with a letter and have at most "
                      f"{MOST} characters")
    return name


def remark(text):
    return "".join(c if c.isprintable() else " " for c in text)


def cut(line):
    return line.encode()[:WIDTH].decode(errors="ignore")


def texts(name, values):
    """Of one length, as the elements of an array are"""
    length = max(1, *(len(v.encode()) for v in values))
    return listed(f"    character({length}), parameter :: {name}({len(values)}) = [character({length}) :: ",
                  [literal(remark(v)) for v in values])


def literal(text):
    """Pieces of a line each"""
    return " // &\n        ".join("'" + text[k:k + PIECE].replace("'", "''") + "'"
                                  for k in range(0, max(1, len(text)), PIECE))


def listed(before, items):
    """Lines of an array, each continued by &"""
    lines, line = [], before
    for k, item in enumerate(items):
        piece = item + ("]" if k == len(items) - 1 else ", ")
        if len((line + piece).encode()) > WIDTH - 2:
            lines.append(line + "&")
            line = "        "
        line += piece
    return "\n".join(lines + [line]) + "\n"


def number(x):
    return NAN if math.isnan(x) else f"{x!r}_c_double"
