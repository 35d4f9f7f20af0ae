"""The scripts of the page that computes: the library as WebAssembly, and a reader of equation files.

    python3 docs/site/compute DIR [METHOD...]    writes DIR/compute.js, module.js, compute.css

module.js holds the library with all methods, or with those named, as compressed text, because a page that is opened as
a file may not load others.  It is compiled with clang for WASI (Debian: clang lld wasi-libc libclang-rt-dev-wasm32);
where these are missing, this ends with 3 and a sentence.  WASM_CC in the environment: the compiler and more flags."""
import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT)]
sys.dont_write_bytecode = True

from table import table  # noqa: E402

SCRIPTS = ("graph.js", "syntax.js", "reader.js", "model.js", "program.js", "module.js", "plot.js", "page.js")
# of the page: title, file in models/, end of the run
EXAMPLES = (("Robertson's reaction", "robertson_ode", 1e4), ("van der Pol's oscillator", "van_der_pol", 2000),
            ("predators and prey (Lotka-Volterra)", "lotka_volterra", 10), ("HIRES", "hires", 321.8122),
            ("Robertson's reaction as a DAE", "robertson_dae", 1e4), ("Oregonator", "oregonator", 360))
MISSING = 3
TARGET = ["--target=wasm32-wasi", "-mexec-model=reactor"]
STACK = 1 << 20                              # bytes: interpreters of large models have 8 kB of registers in each call
FLAGS = ["-std=c11", "-O2", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,--stack-first", f"-Wl,-z,stack-size={STACK}",
         "-Wl,--export=malloc", "-Wl,--export=free"]
TRIAL = "#include <math.h>\n#include <stdlib.h>\ndouble trial(double x) { return exp(x); }\n"
BEGIN = "// compute.js - made from docs/site/compute by `./run docs`, not to be edited.\n"


def scripts():
    """One script.  Its names are its own, except for those that page.js and tests use."""
    data = {"TABLE": table(), "EXAMPLES": examples()}
    parts = [f"const {name} = {json.dumps(of, indent=1)};" for name, of in data.items()]
    parts += [(HERE / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return BEGIN + "const costate = (() => {\n\"use strict\";\n" + "\n".join(parts).replace('"use strict";\n', "") + \
        "return {TABLE, EXAMPLES, Model, Program, Library, Fault, unpacked};\n})();\n"


def examples():
    return {title: {"text": (ROOT / "models" / f"{name}.eq").read_text(encoding="utf-8"), "t1": end}
            for title, name, end in EXAMPLES}


def trial(compiler, folder):
    """Why the compiler cannot make modules; nothing: it can"""
    if not shutil.which(compiler[0]):
        return f"there is no {compiler[0]}"
    source = Path(folder, "trial.c")
    source.write_text(TRIAL, encoding="utf-8")
    done = compiled(compiler, ["-Wl,--export=trial", source], Path(folder, "trial"))
    return f"{compiler[0]} makes no WebAssembly here: {done.stderr.strip()}" if done.returncode else ""


def compiled(compiler, sources, out):
    """words behind the name of the compiler are the last, so that -O0 may replace -O2"""
    command = [compiler[0], *TARGET, *FLAGS, *compiler[1:], *sources, "-o", out]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)


def module(compiler, folder, methods):
    """The bytes of the module"""
    single = Path(folder, "single")
    subprocess.run([sys.executable, ROOT / "packaging" / "single", single, *methods], check=True)
    out = Path(folder, "module.wasm")
    done = compiled(compiler, [f"-I{single}", HERE / "compute.c", single / "costate.c"], out)
    if done.returncode:
        sys.exit(f"compute: {done.stderr}")
    return out.read_bytes()


def main(place, methods):
    compiler = os.environ.get("WASM_CC", "clang").split()
    with tempfile.TemporaryDirectory() as folder:
        missing = trial(compiler, folder)
        if missing:
            print(f"compute: {missing}", file=sys.stderr)
            return MISSING
        packed = base64.b64encode(gzip.compress(module(compiler, folder, methods), mtime=0)).decode()
    place.mkdir(parents=True, exist_ok=True)
    (place / "compute.js").write_text(scripts(), encoding="utf-8")
    shutil.copy(HERE / "compute.css", place)
    (place / "module.js").write_text(f"const COSTATE_MODULE = \"{packed}\";\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
