"""A fit as one HTML page that stands alone: no file, script or font is loaded from elsewhere."""
import html
import io

from costate._library import version
from costate.fitting.text import quality, remarks, rows, title

STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .8rem; border-bottom: 1px solid #ccc;
text-align: right; } th:first-child, td:first-child { text-align: left; } figure { margin: 1.5rem 0; }
svg { max-width: 100%; height: auto; } figcaption { opacity: .7; } li { margin: .3rem 0; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } svg { background: #fff; } }"""


def svg(draw):
    """the picture that draw(ax) makes"""
    from matplotlib.figure import Figure
    figure, out = Figure(figsize=(7.5, 4.2), layout="constrained"), io.StringIO()
    draw(figure.subplots())
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg"):]


def pictures(fit, profiles):
    """(caption, what draws it)"""
    yield "Measured values, fitted curves and their 95 % bands.", lambda ax: fit.plot(ax=ax)
    yield "Residuals in units of sigma.", lambda ax: fit.plot_residuals(ax=ax)
    if len(fit.starts) > 1:
        yield "Minima that the starts reached, sorted.", lambda ax: fit.plot_starts(ax=ax)
    for name in fit.names if profiles else ():
        yield f"Profile of {name}: the interval is where the curve lies below the line.", \
            lambda ax, name=name: fit.plot_profile(name, ax=ax)


def cells(tag, words):
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(word))}</{tag}>" for word in words) + "</tr>"


def table(fit, profiles):
    heads = ["", "scale", "estimate", "std. error", "95 % interval", "integration"]
    lines = [list(row) for row in rows(fit, 0.95)]
    for line in lines if profiles else ():
        found = fit.profile(line[0])
        line.append(f"{found.low:.4g} .. {found.high:.4g}")
    head = cells("th", heads + (["by its profile"] if profiles else []))
    return "<table>\n" + "\n".join([head, *(cells("td", line) for line in lines)]) + "\n</table>"


def write(fit, path, profiles=False):
    name = html.escape(title(fit))
    parts = [f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Fit: {name}</title>',
             '<meta name="viewport" content="width=device-width, initial-scale=1">', f"<style>{STYLE}</style>",
             f"<h1>Fit</h1>\n<p>{name}: {html.escape(quality(fit))}.</p>", table(fit, profiles)]
    said = list(remarks(fit))
    parts += ["<ul>", *(f"<li>{html.escape(one)}</li>" for one in said), "</ul>"] if said else []
    parts += [f"<figure>\n{svg(draw)}<figcaption>{html.escape(caption)}</figcaption>\n</figure>"
              for caption, draw in pictures(fit, profiles)]
    parts.append(f"<p>costate {version()}. Standard errors are those of Laplace's approximation with the exact "
                 "Hessian. The last column is what the error of the integration adds to an estimate.</p>\n</html>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
