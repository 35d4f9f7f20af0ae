"""The pictures of the tutorials.

    python3 docs/tutorials/make_pictures.py BUILD OUT

Runs the blocks of Python of every page and the example programs of BUILD, and writes tutorial-PAGE-K.svg to the folder
OUT.  It needs Matplotlib, NumPy and SciPy, and in BUILD the package costate and the examples.  The same command makes
the committed copies (OUT = docs/pictures) and those of the site.  Pages of Python save their pictures themselves; those
of C are drawn here from files that the programs write."""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
sys.path.insert(0, str(HERE))

import session                                                      # noqa: E402
from drawings import DRAWN                                          # noqa: E402
from small_svg import shrink                                        # noqa: E402

SAVED = re.compile(r'savefig\("(tutorial-[\w-]+\.svg)"\)')


def pages_of_python():
    """those that save pictures"""
    return [page for page in sorted(HERE.glob("*.md")) if saved(page)]


def saved(page):
    """the pictures that a page saves itself"""
    return [name for _, code, _ in session.blocks_of(page) for name in SAVED.findall(code)]


def names():
    """of all pictures that this command makes"""
    return {name for page in pages_of_python() for name in saved(page)} | set(DRAWN)


def set_style():
    """small, the same at every run, and readable on any background"""
    import matplotlib
    from matplotlib.figure import Figure
    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "svg.hashsalt": "costate", "svg.fonttype": "none", "font.family": "sans-serif", "axes.grid": True,
        "grid.color": "0.9", "grid.linewidth": 0.7, "axes.axisbelow": True, "legend.frameon": True,
        "legend.fontsize": "small", "legend.framealpha": 0.85, "legend.edgecolor": "0.85", "lines.linewidth": 1.6,
        "axes.spines.top": False, "axes.spines.right": False, "savefig.facecolor": "white", "path.simplify": True})
    plain = Figure.savefig
    if not hasattr(plain, "dateless"):
        def dateless(figure, name, **more):
            plain(figure, name, **{"metadata": {"Date": None, "Creator": None}, **more})
            if str(name).endswith(".svg"):
                shrink(name)
        dateless.dateless = True
        Figure.savefig = dateless


def run_page(page, out):
    from matplotlib import pyplot
    set_style()
    with session.in_folder(out):
        lacking = session.run(session.blocks_of(page), session.compare)
    pyplot.close("all")
    return page.name + (", without " + ", ".join(sorted(lacking)) if lacking else "")


def run_program(build, program, arguments, drawings, out):
    """the program writes its files into a folder, which is then drawn"""
    from matplotlib import pyplot
    set_style()
    with tempfile.TemporaryDirectory() as place:
        words = [word.replace("FOLDER", place) for word in arguments]
        subprocess.run([os.path.join(build, "examples", program), *words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for name, draw in drawings:
            draw(Path(place)).savefig(os.path.join(out, name))
            pyplot.close("all")
    return program


def programs():
    """[(program, arguments, [(picture, its function), ...]), ...]"""
    jobs = {}
    for name, (program, arguments, draw) in DRAWN.items():
        jobs.setdefault((program, tuple(arguments)), []).append((name, draw))
    return [(program, arguments, drawings) for (program, arguments), drawings in jobs.items()]


def main(build, out):
    build, out = os.path.abspath(build), os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path.insert(0, os.path.join(build, "python"))
    os.environ["PYTHONPATH"] = os.path.join(build, "python")
    with ProcessPoolExecutor(2) as pool:
        done = [pool.submit(run_page, page, out) for page in pages_of_python()]
        for program, arguments, drawings in programs():
            if os.path.exists(os.path.join(build, "examples", program)):
                done.append(pool.submit(run_program, build, program, arguments, drawings, out))
            else:
                print(f"{program} was not built: its pictures are left out", file=sys.stderr)
        for job in done:
            print(job.result(), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
