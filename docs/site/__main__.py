"""The manual, the headers, the methods as pages of HTML.

    python3 docs/site OUT [--without-plots] [--work FILE] [--applications DIRECTORY]

OUT is a directory, which is made.  --work: what bench/work_precision printed.  --applications: where the programs of
docs/applications.md wrote their files.  --without-plots: pages alone, in the time that the checks of the coefficients
take."""
import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from api import api_pages                                           # noqa: E402
from applications import application_figures                        # noqa: E402
from fortran import fortran_pages                                   # noqa: E402
from gallery import gallery                                         # noqa: E402
from links import Links                                             # noqa: E402
from manual import manual_pages, start_page                         # noqa: E402
from page import write_pages                                        # noqa: E402
from source import source_pages                                     # noqa: E402
from work import read_work                                          # noqa: E402


def main(args):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without-plots", action="store_true")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--applications", type=Path)
    given = parser.parse_args(args)
    links = Links(ROOT)
    methods, figures = gallery(ROOT, links, not given.without_plots, read_work(given.work))
    drawn = application_figures(given.applications)
    figures |= {name: text for several in drawn.values() for name, _, text in several}
    pages = [start_page(ROOT, links), *manual_pages(ROOT, links, drawn), *api_pages(ROOT, links),
             *fortran_pages(ROOT, links), *methods]
    pages += source_pages(ROOT, links)
    write_pages(given.out, pages, figures | links.pictures)


if __name__ == "__main__":
    main(sys.argv[1:])
