"""Models of the Systems Biology Markup Language (SBML), levels 2 and 3, as equation files.

xml_file.py     elements with their lines; mathml.py, formula.py: formulas as terms (terms.py)
document.py     what a file declares; read.py reads it
derived.py      what each identifier is (kinds.py) and its derivative in time; starts.py: its initial value
algebraic.py    which unknowns the algebraic rules determine
events.py       events; cascade.py: those that occur together; delays.py: those that wait
equations.py    the equation file, and what became of the identifiers; text.py: terms as its text
export.py       a model of an equation file as SBML; export_math.py: its formulas

The sources are the specifications: Hucka et al., SBML Level 3 Version 2 Core, J. Integr. Bioinform. 16 (2019), and
for level 2 its Version 5, J. Integr. Bioinform. 12 (2015)."""
from .equations import Equations, Meaning, write
from .formula import parse as formula
from .read import read

__all__ = ["Equations", "Meaning", "formula", "read", "write"]
