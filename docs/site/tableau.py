"""The blocks of a coefficient file as tables: entries as they stand there, or derived ones rounded."""
import html

from codegen.document import document

TITLES = {"tableau": "Tableau", "alpha": "alpha", "gamma": "gamma", "a": "a = alpha Gamma^-1",
          "c": "c = diag(1/gamma) - Gamma^-1", "continuous": "Dense output: coefficients of theta, theta^2, ... of b_j",
          "rodas": "Dense output: rows d_2, d_3, ...", "b": "b", "bhat": "bhat", "m": "m", "mhat": "mhat",
          "e": "e = m - mhat", "polynomials": "Zeros, scaled, a row a degree", "degrees": "Degrees"}
TALL = 12                            # rows; longer blocks are folded


def blocks(path):
    """All blocks of a file, in its order, and its definitions."""
    found = document(path)
    out = [definitions(found.keys.get("let", {}))]
    out += [titled(key, found.blocks[key]) for key in found.blocks]
    out += [titled(key, [(None, [found.keys[key]])]) for key in ("degrees",) if key in found.keys]
    if "polynomials" in found.keys:
        out.append(titled("polynomials", split(found.keys["polynomials"])))
    return "\n".join(text for text in out if text)


def split(text):
    lines = [line.partition("|") for line in text.splitlines() if line.strip()]
    return [(label.strip(), entries.split()) for label, _, entries in lines]


def definitions(let):
    if not let:
        return ""
    return '<p class="let">where ' + ", ".join(f"<code>{html.escape(name)} = {html.escape(text)}</code>"
                                               for name, text in let.items()) + "</p>"


def titled(key, lines):
    title = html.escape(TITLES.get(key, key))
    body = table(lines)
    if len(lines) > TALL and key not in ("tableau", "alpha", "gamma"):
        return f'<details><summary>{title}</summary>{body}</details>'
    return f"<h3>{title}</h3>{body}"


def table(lines):
    rows = []
    for label, entries in lines:
        ruled = ' class="rule"' if label == "b" else ""
        head = "" if label is None else f"<th>{html.escape(label)}</th>"
        rows.append(f"<tr{ruled}>{head}" + "".join(f"<td>{html.escape(x)}</td>" for x in entries) + "</tr>")
    return '<div class="wide"><table class="tableau">' + "\n".join(rows) + "</table></div>"


def derived(A, b, c):
    """Of a method that is given by its nodes."""
    lines = [(number(x), [number(a) for a in row]) for x, row in zip(c, A)] + [("b", [number(x) for x in b])]
    return "<h3>Tableau, derived from the nodes, to 16 digits</h3>" + table(lines)


def number(x):
    return "%.16g" % float(x)
