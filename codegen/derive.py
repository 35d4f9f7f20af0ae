"""From a table to a checked method, whatever its family."""
from . import check, read, rosenbrock, rungekutta
from .document import MOST_STAGES, naming
from .real import Refused


def method(path):
    """The method of a file; Refused, with the file's name, when anything in it is wrong."""
    return from_table(read.load(path))


def from_table(table):
    with naming(table.path):
        found = rosenbrock.derive(table) if table.family == "ros" else rungekutta.derive(table)
        check.claims(table, found.properties)
        if found.s > MOST_STAGES:
            raise Refused(f"{found.s} stages, at most {MOST_STAGES} are provided for")
        return found
