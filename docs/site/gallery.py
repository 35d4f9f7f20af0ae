"""Pages of the methods: one each, made from its coefficient file, and the table of all of them."""
import html

from codegen.kinds import methods
from codegen.table import HEADER

from facts import facts, family_words, members
from figure import inside
from page import Page
from plots import stability_figures
from tableau import blocks, derived
from work import work_figures

STEP = """costate *c = costate_new(costate_method_find("{name}"), &problem, &options);"""
BOUNDARY = """costate_bvp *c = costate_bvp_new(costate_method_find("{name}"), &problem, &conditions, &options);"""
NOTE = """<p class="note">The methods of the family in grey, this one in blue: rtol = 10^-2 to 10^-10 by half decades,
one thread, the fastest of three runs where they are short; without an error estimate, fixed steps.
<a href="{source}">bench/parts/work_precision.c</a> says what the error is. Further to the right is more
exact, lower is cheaper.</p>"""


def gallery(root, links, plots, work):
    """(pages, figures by the names of their files); work: as read_work has it"""
    pages, figures, rows = [], {}, []
    found = methods(root / "methods")
    families = {}
    for kind, m in found:
        rows.append(dict(zip(HEADER, kind.row(m))))
        families.setdefault(rows[-1]["family"], []).append(m.name)
    for (kind, m), row in zip(found, rows):
        stability = stability_figures(m) if plots and not hasattr(m, "members") else []
        against = work_figures(m.name, families[row["family"]], work) if plots else []
        figures |= {name: text for name, _, text in stability + against}
        pages.append(method_page(root, links, m, row, kind.report(m), stability, against))
    pictures = {name.rsplit("-", 1)[0]: inside(name, text) for name, text in figures.items()
                if name.endswith("-region.svg")}
    return [index_page(links, rows, pictures), *pages], figures


def path_of(root, row):
    return root / "methods" / row["family"] / (row["name"] + ".toml")


def method_page(root, links, m, row, report, stability, against):
    keys = m.keys if hasattr(m, "keys") else m.table.keys
    path = path_of(root, row)
    use = (BOUNDARY if row["family"] == "collocation" else STEP).format(name=row["name"])
    body = [f"<h1>{html.escape(row['method'])}</h1>",
            f'<p class="lead"><code>{row["name"]}</code>, {family_words(row["family"])}: '
            f'<a href="gallery.html#{row["family"]}">others of the family</a></p>',
            f'<pre class="code">{links.linked(use)}</pre>',
            table(facts(m, row)),
            f'<p><b>Source.</b> {html.escape(" ".join(keys["source"].split()))}</p>']
    if keys.get("checked"):
        body.append(f'<p><b>Second source.</b> {html.escape(" ".join(keys["checked"].split()))}</p>')
    composite = hasattr(m, "members")
    coefficients = [*([derived(*m.coefficients)] if "nodes" in keys else []), "" if composite else blocks(path),
                    f'<p class="note"><a href="{links.source(links.relative(path))}">The file as it is</a>, and its '
                    '<a href="coefficient-files.html">format</a></p>']
    note = NOTE.format(source=links.source("bench/parts/work_precision.c"))
    body += section("members", "Members", member_table(links, m) if composite else [])
    body += section("stability", "Stability", images(stability))
    body += section("coefficients", "File" if composite else "Coefficients", coefficients)
    body += section("work", "Error against work", [*images(against), note] if against else [])
    text = html.escape(report.replace(str(root) + "/", ""), quote=False)
    body += section("report", "What the check of the file reports", [f"<pre>{text}</pre>"])
    return Page(links.methods[row["name"]], row["name"], "\n".join(body), False)


def section(anchor, title, parts):
    return [f'<h2 id="{anchor}">{title}</h2>', *parts] if parts else []


def images(figures):
    return ['<div class="figures">' + "\n".join(
        f'<img src="{name}" alt="{html.escape(words)}" loading="lazy">' for name, words, _ in figures) + "</div>"
    ] if figures else []


def table(rows):
    lines = [f"<tr><th>{html.escape(what)}</th><td>{html.escape(text)}</td></tr>" for what, text in rows]
    return '<table class="facts">' + "\n".join(lines) + "</table>"


MEMBERS = ("name", "method", "taken first", "relative tolerance", "stable to", "waves to", "settles")
MEMBERS_NOTE = """<p class="note">Regions of stability are on the pages of the members. Explicit members: the longest
stable h rho on the negative real axis and on the imaginary axis, and the part of the former from which stiffness limits
the step (<a href="{derived}">derivation</a>).</p>"""


def member_table(links, m):
    head = "".join(f"<th>{key}</th>" for key in MEMBERS)
    lines = "\n".join("<tr>" + "".join(
        f"<td>{cell(links, dict(zip(MEMBERS, row)), key)}</td>" for key in MEMBERS) + "</tr>" for row in members(m))
    return ['<div class="wide"><table class="methods">'
            f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>",
            MEMBERS_NOTE.format(derived=links.page["docs/mathematics.md"] + "#36-where-stiffness-limits-the-step")]


def index_page(links, rows, pictures):
    """The table of all, a part a family, and the regions side by side."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    body = ["<h1>Gallery of methods</h1>",
            f'<p class="lead">{len(rows)} methods in {len(families)} families. Each is made by the build from a file '
            'of coefficients, whose <a href="coefficient-files.html">format</a> is open to yours; '
            '<a href="choosing.html">which to choose</a> is a text of its own. The regions where |R(z)| <= 1 are blue, '
            'in windows of their own sizes.</p>']
    for family in families:
        of_family = [row for row in rows if row["family"] == family]
        words = family_words(family)
        body += [f'<h2 id="{family}">{words[0].upper() + words[1:]} ({family})</h2>', listing(links, of_family),
                 thumbnails(links, of_family, pictures)]
    return Page("gallery.html", "Gallery of methods", "\n".join(body))


def listing(links, rows):
    shown = [key for key in HEADER if key != "family" and any(row[key] for row in rows)]
    head = "".join(f"<th>{html.escape(key)}</th>" for key in shown)
    body = "\n".join("<tr>" + "".join(f"<td>{cell(links, row, key)}</td>" for key in shown) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="methods"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def cell(links, row, key):
    text = html.escape(row[key])
    return f'<a href="{links.methods[row["name"]]}">{text}</a>' if key == "name" else text


def thumbnails(links, rows, pictures):
    shown = [(row["name"], pictures[row["name"]]) for row in rows if row["name"] in pictures]
    return '<div class="thumbnails">' + "\n".join(
        f'<a href="{links.methods[name]}"><img src="{picture}" alt="region of stability of {name}" loading="lazy">'
        f"{name}</a>" for name, picture in shown) + "</div>" if shown else ""
