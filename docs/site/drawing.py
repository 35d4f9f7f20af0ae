"""Pictures of the site: matplotlib with one style, as SVG files that are the same each time they are drawn."""
import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "costate", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 9,
                            "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.2})
from matplotlib.figure import Figure                                  # noqa: E402

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#c8641e", "#2a8a4a", "#b8bcc4"


def axes(title, labels, size=(3.9, 3.9), **scales):
    """(figure, axes); labels: of x and y; scales: xscale, yscale"""
    figure = Figure(figsize=size)
    place = figure.add_axes([0.17, 0.15, 0.79, 0.76], title=title, xlabel=labels[0], ylabel=labels[1], **scales)
    return figure, place


def save(figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None})
