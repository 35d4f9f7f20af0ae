"""From a table to a checked method, whatever its family."""
from dataclasses import replace

from . import check, read, rosenbrock, rungekutta
from .document import MOST_STAGES, naming
from .real import Refused, tolerance

ROUNDED = 5                          # a decimal number with more digits may be rounded; 0.125 is exact


def method(path):
    """The method of a file; Refused, with the file's name, when anything in it is wrong."""
    return from_table(read.load(path))


def from_table(table):
    with naming(table.path):
        try:
            return derived(table)
        except Refused as fault:
            raise Refused(f"{fault}{without_digits(table)}") from None


def derived(table):
    found = rosenbrock.derive(table) if table.family == "ros" else rungekutta.derive(table)
    check.claims(table, found.properties)
    if found.s > MOST_STAGES:
        raise Refused(f"{found.s} stages, at most {MOST_STAGES} are provided for")
    return found


def without_digits(table):
    """What to do where a file is refused only because it does not say that its entries are rounded."""
    if "digits" in table.keys or table.printed <= ROUNDED:
        return ""
    right = 0
    for digits in (table.printed - 2, table.printed):            # fewer may be right than are printed
        try:
            derived(replace(table, tol=tolerance(digits)))
        except Refused:
            break
        right = digits
    return "" if not right else (f".  Without the key digits, entries are taken as exact.  These have up to "
                                 f"{table.printed} digits: if they are rounded, add digits = {right}")
