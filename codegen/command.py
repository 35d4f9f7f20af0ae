"""costate-model: equation files, chemical mechanisms, SBML models and coefficient files to C.

    costate-model FILE [-o NAME.c] [--lanes] [--json] [--fortran] [--order N] [-I FOLDER]
    costate-model FILE --program [-o NAME.bin] [--json] [-I FOLDER]
    costate-model MECHANISM -o NAME.eq [-I FOLDER]
    costate-model MODEL.xml -o NAME.eq
    costate-model FILE --to-sbml [-o NAME.xml]
    costate-model FILE --explain [-I FOLDER]

FILE.eq holds equations in the language of docs/reference/equations.md; FILE.def, .kpp or .eqn a mechanism in the
format of the Kinetic PreProcessor; FILE.xml or .sbml a model in SBML, level 2 or 3.  NAME.c and NAME.h are written,
beside each other; without -o they are called as the model is, in the current directory.  A mechanism or a model in
SBML with -o NAME.eq becomes an equation file, which can be edited; files that a mechanism includes are also looked
for in FOLDER and in $KPP_HOME/models.  FILE.toml holds the coefficients of a method: NAME.c, compiled with -shared
-fPIC, is an object for costate_method_load.  With --lanes NAME.c also has maps that treat 2, 4 or 8 members of an
ensemble side by side (costate/lanes.h): compile it with -O3 -fopenmp-simd -ffp-contract=off -fno-math-errno.  With
--program the model is written as byte code, NAME.bin, which the library runs without a compiler
(costate/program.h).  With --to-sbml it is written in SBML for other tools, as far as SBML can say it.  With
--fortran there is also NAME.f90, a Fortran module.  With --order 1 or 2 the maps in NAME.c have no products of
higher order, and it compiles in less time: tangents and adjoints need 1, and 2 with Rosenbrock methods; Hessian
products one more.  With --json NAME.json says what they have, for programs that load them: the name of the model,
its quantities with their units, its sizes.  --explain writes no file: it prints what was understood, the states and
parameters, running costs, outputs, functions in C, events, relations, stops, conservation laws, and eigenvalues of
the Jacobian at the start.  FILE.eq may declare functions in C: NAME.c includes their files, by their places relative
to it.  A fault is reported with file, line and column."""
import sys
from pathlib import Path

from . import kinds, sbml
from .equations import byte_code, c_file, eq_file, explain, kpp, read
from .equations.calls import MOST_ORDERS
from .real import Refused
from .sbml.export import export


MECHANISMS = (".def", ".kpp", ".eqn")
SBML = (".xml", ".sbml")
OPTIONS = ("--lanes", "--json", "--program", "--to-sbml", "--explain", "--fortran")       # without a value
ORDERS = ("1", "2", "3")                     # of derivatives
# in files that are overwritten
MARKS = ("written by costate-model", "for costate_method_load: made by codegen", byte_code.MARK)
BEGINNING = 400                              # characters


def write(source, out=None, lanes=False, as_json=False, folders=(), program=False, to_sbml=False, fortran=False,
          order=MOST_ORDERS):
    """Writes the files; their paths"""
    if Path(source).suffix == ".toml":
        asked = dict(lanes=lanes, json=as_json, program=program, fortran=fortran) | {"to-sbml": to_sbml} | \
            {"order": order < MOST_ORDERS}
        if any(asked.values()):
            what = next(option for option, given in asked.items() if given)
            raise Refused(f"{source}: --{what} is for models; this is a coefficient file")
        return put(named(out, Path(source).stem, ".c"), (".c",), [kinds.method_object(source)])
    to_equations = out and Path(out).suffix == ".eq"
    if to_equations and Path(source).suffix not in (*MECHANISMS, *SBML):
        raise Refused(f"{source}: only mechanisms ({', '.join(MECHANISMS)}) and SBML models ({', '.join(SBML)}) are "
                      "written as equation files")
    model, text = read_model(source, folders)
    model.graph.orders = order
    if order < MOST_ORDERS and (to_equations or to_sbml or program or lanes):
        raise Refused(f"{source}: --order is for C, without --lanes, whose maps have all products")
    if to_equations:
        return [equation_file(Path(out), text or eq_file.write(model, Path(source).name))]
    origin = Path(source).name
    if to_sbml:
        if lanes or as_json or program or fortran:
            raise Refused(f"{source}: --to-sbml writes SBML alone, without --lanes, --json, --program and --fortran")
        return put(named(out, model.name, ".xml"), (".xml",), [export(model, origin)])
    if program:
        if lanes:
            raise Refused(f"{source}: --lanes is for C; byte code treats one member at a time")
        if fortran:
            raise Refused(f"{source}: --fortran is for C: byte code has no functions that a module could call")
        if model.start_limit:
            raise Refused(f"{source}: byte code does not say where runs with 'start {model.start_limit.kind}' begin: "
                          "write C")
        texts = [byte_code.write(model, origin)] + [byte_code.says(model, origin)] * as_json
        return put(named(out, model.name, ".bin"), (".bin", ".json"), texts)
    path = named(out, model.name, ".c")
    for function in model.graph.functions.values():
        function.seen_from(path.parent)
    source_text, header, about, *module = c_file.write(model, origin, path.stem, lanes, fortran)
    suffixes = [".c", ".h"] + [".json"] * as_json + [".f90"] * fortran
    return put(path, suffixes, [source_text, header] + [about] * as_json + module)


def read_model(source, folders):
    """(Model, its text as an equation file or None)"""
    suffix = Path(source).suffix
    if suffix in SBML:
        text = sbml.write(sbml.read(source)).text
        return read.parse(text, Path(source).with_suffix(".eq")), text
    if suffix not in MECHANISMS:
        return read.read(source), None
    model, notes = kpp.read(source, folders)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return model, None


def explained(source, folders):
    """What was understood of a model, as text"""
    if Path(source).suffix == ".toml":
        raise Refused(f"{source}: --explain is for models; this is a coefficient file")
    return explain.explain(read_model(source, folders)[0], Path(source).name)


def named(out, name, suffix):
    """The path of the output"""
    path = Path(out) if out else Path(name + suffix)
    if path.suffix != suffix or not path.stem.replace("-", "_").isidentifier():
        raise Refused(f"{path}: the name of the output must be a word with the suffix {suffix}")
    return path


def put(path, suffixes, contents):
    """Writes texts or bytes beside each other; their paths"""
    files = [path.with_suffix(suffix) for suffix, _ in zip(suffixes, contents)]
    for file in files:
        check_own(file)
    for file, content in zip(files, contents):
        try:
            file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        except OSError as fault:
            raise Refused(f"{file}: cannot be written: {fault.strerror}") from None
    return files


def equation_file(path, text):
    """The path of the equation file that a mechanism or an SBML model becomes; one that was edited is kept"""
    try:
        if path.exists() and path.read_text(encoding="utf-8", errors="replace") not in ("", text):
            raise Refused(f"{path} exists and is another text, which may have been edited: remove it, or choose "
                          "another name with -o")
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise Refused(f"{path}: cannot be written: {fault.strerror}") from None
    return path


def check_own(file):
    """Refuses to overwrite what this program did not write"""
    if not file.exists():
        return
    if not file.is_file():
        raise Refused(f"{file} is not a file that can be written")
    try:
        with open(file, encoding="utf-8", errors="replace") as present:
            begin = present.read(BEGINNING)
    except OSError as fault:
        raise Refused(f"{file}: cannot be written: {fault.strerror}") from None
    if begin.strip() and not any(mark in begin for mark in MARKS):
        raise Refused(f"{file} exists, and costate-model did not write it: remove it, or choose another name with -o")


def taken(args, option):
    """args without an option and its values, and these"""
    values = []
    while option in args[:-1]:
        at = args.index(option)
        values.append(args[at + 1])
        args = args[:at] + args[at + 2:]
    return args, values


def main(args):
    args, out = taken(args, "-o")
    args, folders = taken(args, "-I")
    args, orders = taken(args, "--order")
    out = out[-1] if out else None
    lanes, as_json, program, to_sbml, told, fortran = (option in args for option in OPTIONS)
    args = [a for a in args if a not in OPTIONS]
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__, file=sys.stdout if args in (["-h"], ["--help"]) else sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    try:
        if any(order not in ORDERS for order in orders):
            raise Refused(f"--order {orders[-1]}: the order of derivatives is one of {', '.join(ORDERS)}")
        if told and (out or lanes or as_json or program or to_sbml or fortran or orders):
            raise Refused(f"{args[0]}: --explain writes no file; call costate-model once more, without it")
        if told:
            print(explained(args[0], folders), end="")
        else:
            write(args[0], out, lanes, as_json, folders, program, to_sbml, fortran, int((orders or ["3"])[-1]))
    except Refused as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
