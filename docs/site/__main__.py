"""Builds the site with Sphinx: the pages of docs/, the headers, and a page for each method.

    python3 docs/site OUT [--without-plots] [--work FILE] [--pictures DIRECTORY] [--package DIRECTORY]
                          [--compute DIRECTORY] [--more-methods DIRECTORY]... [--jobs N]

OUT is a directory, which is made.  --work: what bench/work_precision printed.  --pictures: newly drawn pictures of the
tutorials, which replace those of docs/pictures.  --package: where the package for Python was built, to document it.
--compute: what docs/site/compute wrote, for the page that computes.
--without-plots: without the pictures of the gallery, which take the longest.  --more-methods: coefficient files beside
methods/, in folders erk, ros, ...; they get pages, too.  --jobs: processes that read and write pages, 2 unless given;
one needs the least processor time.  Warnings are errors."""
import argparse
import gc
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]
sys.dont_write_bytecode = True

from computing import compute_page                                 # noqa: E402
from headers import documented, header_files, page                    # noqa: E402
from python_pages import python_pages                                 # noqa: E402
from sources import Sources                                           # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without-plots", action="store_true")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--package", type=Path)
    parser.add_argument("--compute", type=Path)
    parser.add_argument("--more-methods", type=Path, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def prepared(given, place):
    """The sources of Sphinx below `place`; what its configuration must know."""
    shutil.rmtree(place, ignore_errors=True)
    sources = Sources(ROOT, place / "source")
    sources.copy()
    if given.pictures:
        shutil.copytree(given.pictures, place / "source" / "pictures", dirs_exist_ok=True)
    headers = header_files(ROOT)
    doxygen = documented(headers, place / "doxygen")
    for header in headers:
        sources.write(f"reference/headers/{header.stem}.rst", page(header, doxygen[header.stem]))
    python_pages(sources, given.package)
    static = compute_page(sources, given.compute)
    return {"html_static_path": [str(HERE / "static"), *static],
            "breathe_projects": {name: str(directory) for name, directory in doxygen.items()},
            "gallery_plots": not given.without_plots,
            "gallery_work": str(given.work.resolve()) if given.work else None,
            "gallery_more_methods": [str(directory.resolve()) for directory in given.more_methods]}


def main():
    from sphinx.application import Sphinx
    given = arguments()
    gc.set_threshold(100000)        # of millions of nodes few are garbage: looking for it took a tenth of the time
    out = given.out.resolve()
    place = out.parent / (out.name + "-sphinx")
    settings = prepared(given, place)
    app = Sphinx(str(place / "source"), str(HERE), str(out), str(place / "doctrees"), "html", settings,
                 status=None, warningiserror=True, keep_going=True, parallel=given.jobs)
    app.build(force_all=True)
    return app.statuscode


if __name__ == "__main__":
    sys.exit(main())
