"""results.py - bench/RESULTS.md, what git keeps of ./run bench: of each part when and where it ran, its targets, how it
compares with other codes, and one table.  All tables of a run are in the RESULTS.md of its build folder."""
import collections
import re

INTRODUCTION = """# Results of `./run bench`

What each part of the benchmark measured in its last complete run: targets, comparisons with other codes, and one table.
`./run bench PART` measures it on your machine and writes all of its tables to build/bench/RESULTS.md; with `--add` it
also replaces the part here.

Seconds are of the processor, one thread. A row's are medians: in several turns of all codes of a table, each with a few
runs after one that warms up. A ratio compares the rows of one turn with each other, by interpolation at equal error on
the front of each code; it is the median of the turns, beside it their range. All codes call the same callbacks at the
same tolerances; their objects are made beforehand, and reinitialised. Behind `at` stands the rtol of a target.

Columns of tables: rej rejected steps; Jv, J'v, 2nd products with the Jacobian, its transpose, second derivatives; LU,
cLU real and complex decompositions; err y, err d relative 2-norm errors of y(tf) and of its tangent or gradient.
"""
TARGETS = "| part | target | limit | reached; what misses it is bold |\n" + "|---" * 4 + "|"
PEERS = "| part | problem | costate | other code | time / the other's, equal error (turns) |\n" + "|---" * 5 + "|"
SHOWN = {                                                           # how the heading of a part's table begins
    "peers": "What CVODES was given", "swe": "Shallow water 40 x 40: one tangent",
    "adj": "Shallow water 40 x 40, rtol 1e-6", "growth": "Growth", "small": "Small stiff systems, equal error of y",
    "counts": "Small systems, a step", "brusselator": "2-D Brusselator 128",
    "stiff": "rock4, rkc2: the library's own work",
    "direct": "brusselator_1 64, gradient: times", "inexact": "brusselator_1 64, gradient, krylov_tol = rtol: times",
    "dae": "heat_dae 40, klu, gradient: times", "hybrid": "Hysteresis", "second": "Shallow water, rtol 1e-6",
    "bvp": "Intervals of the last mesh", "scale": "Shallow water, a gradient by checkpoints",
    "papers": "Table 3 of Li and Petzold", "trust": "Gradients that are wrong", "auto": "`auto`, forward",
    "model": "Whole runs", "python": "A run and its gradient from Python",
    "wmethods": "brusselator_1 64, gradient: times",
    "lanes": "Times as fast as one by one and dense, or (/own) one by one and own, with gradient"}
TARGET = re.compile(r"(.*) ([<>]= \S+): (met|MISSED|not measured)(?: \((?:reached )?(\S+)\))?$")
SECONDS = re.compile(r"([^;]*?)(?:, (\d+ s))?(;.*|$)")                 # of a line of a run: when, how long, with what
AT_RTOL = re.compile(r",? (?:at )?rtol (\S+)")

Part = collections.namedtuple("Part", "ran targets peers table")                # lines of Markdown, without the part


def part_of(name, ran, rep):
    """ran: lines on machine, time and codes; rep: a Report of this part alone"""
    return Part("; ".join(ran), grouped_targets(rep.targets), grouped_ratios(rep.ratios), table_of(name, rep.lines))


def grouped_targets(targets):
    """a row for all problems and tolerances with the same target and limit"""
    rows = {}
    for text, limit, verdict, reached in (TARGET.match(line).groups() for line in targets):
        rtol = AT_RTOL.search(text)
        *problem, what = AT_RTOL.sub("", text).split(": ", 1)
        value = {"met": reached, "MISSED": "**%s**" % reached}.get(verdict, verdict)
        value += " at " + rtol[1] if rtol else ""
        rows.setdefault((what, limit), {}).setdefault("".join(problem), []).append(value)
    return ["| %s | %s | %s |" % (*key, "; ".join((of and of + ": ") + ", ".join(values) for of, values in row.items()))
            for key, row in rows.items()]


def grouped_ratios(ratios):
    """a row for all tolerances of a problem, from loose to tight"""
    rows = {}
    for problem, ours, peer, value, turns in dict.fromkeys(map(tuple, ratios)):
        key = (problem, ours, peer) if not AT_RTOL.search(problem) else AT_RTOL.sub("", problem)
        rows.setdefault(key, []).append((ours, peer, value + (" (%s)" % turns if turns != "-" else "")))
    found = []
    for key, values in rows.items():
        ours, peers, times = zip(*values)
        names = [" or ".join(dict.fromkeys(codes)) for codes in (ours, peers)]
        found.append("| %s | %s | %s | %s |" % (key if isinstance(key, str) else key[0], *names, ", ".join(times)))
    return found


def table_of(name, lines):
    """the table that is shown, with its heading; "": the part has none"""
    parts = re.split(r"(?m)^(?=##+ )", "\n".join(lines))
    found = next((x for x in parts if name in SHOWN and x.startswith("### " + SHOWN[name])), "")
    found = re.match(r"### .*\n\n(?:```\n.*?\n```|(?:\|.*\n?)+)", found, re.S if "```" in found else 0)
    return found.group().strip().replace("### ", "### %s: " % name, 1) if found else ""


# ---- the file ------------------------------------------------------------------------------------------------------


def written(parts):
    """the text of the file, of {name: Part}"""
    def rows(member):
        return "\n".join("| %s %s" % (name, row) for name, part in parts.items() for row in getattr(part, member))
    same = []                                                       # neighbours that ran alike: (line, names)
    for name, part in parts.items():
        when, seconds, codes = SECONDS.match(part.ran).groups()
        if not same or same[-1][0] != when + codes:
            same.append((when + codes, []))
        same[-1][1].append(name + " (%s)" % seconds if seconds else name)
    ran = "\n".join("- %s: %s" % (", ".join(names), line) for line, names in same)
    tables = "\n\n".join(part.table for part in parts.values() if part.table)
    sections = {"Runs": ran, "Targets": TARGETS + "\n" + rows("targets"),
                "costate beside other codes": PEERS + "\n" + rows("peers"), "Tables": tables}
    return INTRODUCTION + "".join("\n## %s\n\n%s\n" % section for section in sections.items())


def read(text):
    """{name: Part} of what written() made"""
    _, ran, targets, peers, tables = re.split(r"(?m)^## .*\n", text)

    def rows(section, name):
        return [line.split(" ", 2)[2] for line in section.splitlines() if line.startswith("| %s |" % name)]
    shown = {re.match(r"### (\w+): ", table)[1]: table.strip() for table in re.split(r"(?m)^(?=### )", tables)[1:]}
    return {name: Part(line, rows(targets, name), rows(peers, name), shown.get(name, ""))
            for name, line in runs_of(ran)}


def runs_of(section):
    """(part, line of its run with its seconds) of the section of runs, in which parts of equal runs share a line"""
    for names, line in (re.fullmatch(r"- ([\w, ()]+): (.*)", x).groups() for x in section.strip().splitlines()):
        when, codes = re.match("([^;]*)(.*)", line).groups()
        for name, seconds in re.findall(r"(\w+)(?: \((\d+ s)\))?(?:, |$)", names):
            yield name, when + (seconds and ", " + seconds) + codes
