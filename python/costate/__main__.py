"""python -m costate: what this installation has, and how C programs are compiled with it.

    python -m costate               version, linear solvers, compiler, directories
    python -m costate --cflags      options of a C compiler: where the headers are
    python -m costate --libs        the library, for the linker
    python -m costate petab FILE    a PEtab problem: costate.petab.command
    python -m costate fit MODEL DATA    a fit: costate.fitting.command"""
import os
import shlex
import shutil
import sys

from costate import _compile, _library, _places as places


def compiler():
    """the C compiler of models: its path and what it says of itself, or what is missing"""
    name = _compile.command()[0]
    try:
        said = _compile.compiler_version(name).splitlines()
    except _compile.ModelError:
        return f"{name} was not found; without one models run as byte code, and those on grids do not"
    return f"{shutil.which(name) or name} ({said[0] if said else 'it does not tell its version'})"


def report():
    """(what, value) of this installation"""
    return [("costate", _library.version()),
            ("Python", "{}.{}.{} ({})".format(*sys.version_info[:3], sys.executable)),
            ("package", places.HERE),
            ("library", _compile.libraries()[0]),
            ("linear solvers", f"{places.SOLVERS} (dense and band: {places.LAPACK})"),
            ("C compiler", compiler()),
            ("headers", places.INCLUDE),
            ("costate-model", os.path.join(places.CODEGEN, "codegen")),
            ("compiled models", str(_compile.user_cache()))]


def main(words):
    if words == ["--cflags"]:
        print(shlex.join(["-I", places.INCLUDE]))
    elif words == ["--libs"]:
        print(shlex.join(_compile.libraries()))
    elif words[:1] == ["petab"]:
        from costate.petab.command import main as petab
        return petab(words[1:])
    elif words[:1] == ["fit"]:
        from costate.fitting.command import main as fit
        return fit(words[1:])
    elif not words:
        for what, value in report():
            print(f"{what + ':':16} {value}")
    else:
        asked = words in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    return 0


def command():
    """the command costate"""
    return main(sys.argv[1:])


def model():
    """the command costate-model"""
    sys.path.insert(0, places.CODEGEN)
    from codegen.command import main as translate
    return translate(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
