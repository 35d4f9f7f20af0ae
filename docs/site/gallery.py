"""Sphinx extension: the gallery of methods, a page each, made from the coefficient files, and a sortable table."""
import html
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from codegen.kinds import Methods, files
from codegen.table import HEADER

from facts import facts, family_words, members
from rst import capital, escaped, image, literal, raw, titled
from sources import MEASURED, file_page, from_sources
from tableau import blocks, derived

ROOT = Path(__file__).resolve().parents[2]
STEP = """costate *c = costate_new(costate_method_find("{name}"), &problem, &options);"""
BOUNDARY = """costate_bvp *c = costate_bvp_new(costate_method_find("{name}"), &problem, &conditions, &options);"""
NOTE = f"""The other methods of the family are grey, this one is blue: rtol = 10^-2 to 10^-10 by half decades, one
thread, the fastest of three runs where they are short; fixed steps for methods without an error estimate.
:doc:`{MEASURED} </{file_page(MEASURED)}>` defines the error. Curves further to the right are more accurate, lower ones
are cheaper."""
MEMBERS = ("name", "method", "taken first", "relative tolerance", "stable to", "waves to", "settles")
MEMBERS_NOTE = """Regions of stability are on the pages of the members. For explicit members the table gives the longest
stable h rho on the negative real axis and on the imaginary axis, and the part of the former from which stiffness limits
the step (:doc:`derivation, section 3.6 </explanation/mathematics>`)."""


def setup(app):
    app.add_config_value("gallery_plots", True, "env")
    app.add_config_value("gallery_work", None, "env")
    app.add_config_value("gallery_more_methods", [], "env")              # directories beside methods/
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app):
    """All pages into the directory of the sources."""
    place = Path(app.srcdir) / "reference" / "methods"
    place.mkdir(parents=True, exist_ok=True)
    listed = Methods(files(ROOT / "methods", *app.config.gallery_more_methods))
    found = [(listed.kinds[name], listed.method(name)) for name in listed.paths]
    rows = [dict(zip(HEADER, kind.row(m))) for kind, m in found]
    families = {}
    for row in rows:
        families.setdefault(row["family"], []).append(row["name"])
    drawn = all_pictures(found, rows, families, app.config.gallery_work, place) if app.config.gallery_plots else {}
    for (kind, m), row in zip(found, rows):
        page = method_page(m, row, kind.report(m), drawn.get(row["name"], {}), listed.paths[row["name"]], place)
        (place / (row["name"] + ".rst")).write_text(page, encoding="utf-8")
    (place / "index.rst").write_text(index_page(rows, families, drawn), encoding="utf-8")


def all_pictures(found, rows, families, work, place):
    """{name of a method: its pictures}, drawn on all cores"""
    with ProcessPoolExecutor() as pool:
        made = {row["name"]: pool.submit(pictures, m, families[row["family"]], work, place)
                for (_, m), row in zip(found, rows)}
    return {name: figures.result() for name, figures in made.items()}


def pictures(m, family, work, place):
    """{"stability": [(name of the file, alternative text)], "work": ...}"""
    from drawing import save
    from plots import stability_figures
    from work import read_work, work_figures
    made = {"stability": stability_figures(m) if not hasattr(m, "members") else [],
            "work": work_figures(m.name, family, read_work(work))}
    for figures in made.values():
        for name, _, figure in figures:
            save(figure, place / name)
    return {key: [(name, words) for name, words, _ in figures] for key, figures in made.items()}


def method_page(m, row, report, figures, path, place):
    name = row["name"]
    keys = m.keys if hasattr(m, "keys") else m.table.keys
    composite = hasattr(m, "members")
    use = (BOUNDARY if row["family"] == "collocation" else STEP).format(name=name)
    out = [":orphan:", "", *titled(f"{name}: {escaped(row['method'])}")]
    out += [f"A method of the family {row['family']}, {escaped(family_words(row['family']))}.", "", ".. code-block:: c",
            "", "   " + use, "", *raw(table(facts(m, row)))]
    out += [f"**Source.** {sentence(keys['source'])}", ""]
    if keys.get("checked"):
        out += [f"**Second source.** {sentence(keys['checked'])}", ""]
    if composite:
        out += titled("Members", "-") + raw(member_table(m)) + [MEMBERS_NOTE, ""]
    if figures.get("stability"):
        out += titled("Stability", "-") + beside(figures["stability"])
    out += titled("File" if composite else "Coefficients", "-")
    if "nodes" in keys:
        out += raw(derived(*m.coefficients))
    if not composite:
        out += raw(blocks(path))
    out += ["The file itself (its :doc:`format </reference/coefficient-files>`):", "",
            f".. literalinclude:: {from_sources(path, place.parents[1])}", "   :language: toml", ""]
    if figures.get("work"):
        out += titled("Error against work", "-") + beside(figures["work"]) + [NOTE, ""]
    out += titled("What the check of the file reports", "-")
    out += literal(report.replace(str(ROOT) + "/", "").splitlines())
    return "\n".join(out)


def beside(figures):
    return [line for name, words in figures for line in image(name, words, "beside")]


def sentence(text):
    return escaped(" ".join(text.split())).rstrip(".") + "."


def table(rows):
    lines = [f"<tr><th>{html.escape(what)}</th><td>{html.escape(text)}</td></tr>" for what, text in rows]
    return '<div class="table-wrapper"><table class="facts docutils">' + "\n".join(lines) + "</table></div>"


def listing(keys, rows):
    """HTML of a table that can be sorted; names lead to the pages of the methods"""
    head = "".join(f"<th>{html.escape(key)}</th>" for key in keys)
    body = "\n".join("<tr>" + "".join(f"<td>{cell(row, key)}</td>" for key in keys) + "</tr>" for row in rows)
    return ('<div class="table-wrapper"><table class="sortable docutils">'
            f"<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>")


def cell(row, key):
    text = html.escape(row[key])
    return f'<a href="{row["name"]}.html">{text}</a>' if key == "name" else text


def member_table(m):
    return listing(MEMBERS, [dict(zip(MEMBERS, row)) for row in members(m)])


def index_page(rows, families, drawn):
    """The table of all, and the regions of each family side by side."""
    out = titled("Gallery of methods")
    out += [f"costate has {len(rows)} methods in {len(families)} families. The build makes each of them from a file of "
            "coefficients (:doc:`format </reference/coefficient-files>`), and you can :doc:`add your own "
            "</howto/add-a-method>`. :doc:`Choosing </explanation/choosing>` recommends a method. Click the head of a "
            "column to sort the table.", "", *raw(listing(HEADER, rows))]
    for family, names in families.items():
        out += titled(f"{capital(family_words(family))} ({family})", "-")
        regions = [(name, drawn[name]["stability"][0]) for name in names if drawn and drawn[name]["stability"]]
        if regions:
            out += ["The blue regions are those where \\|R(z)\\| <= 1; the windows differ in size.", ""]
        for name, (file, _) in regions:
            out += image(file, f"region of absolute stability of {name}", "thumbnail", name + ".html")
        out += [", ".join(f":doc:`{name} <{name}>`" for name in names) + ".", ""]
    return "\n".join(out)
