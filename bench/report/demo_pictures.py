"""demo_pictures.py DIRECTORY - draws what demo.py measured, with Matplotlib; prints the name of each picture.

DIRECTORY holds pictures.json of demo.py (shallow water, work against error), hybrid.dat of parts/bouncing.c and
layer.dat of examples/20_layer.c."""
import json
import os
import sys

import matplotlib
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot                                       # noqa: E402

BLUE, ORANGE, GREEN, VIOLET, PINK, GREY = "#1f78b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#969696"
COLOURS = {"dopri5": ORANGE, "sdirk4a": GREEN, "radau2a": VIOLET, "rodas4": PINK, "rock4": BLUE}


def blocks(path):
    """[[[number, ...] a line] a block]: blocks are separated by blank lines"""
    found = [[]]
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                found[-1].append([float(word) for word in line.split() if not line.startswith("#")])
            elif found[-1]:
                found.append([])
    return [[row for row in block if row] for block in found if any(block)]


def columns(rows):
    return list(zip(*rows))


def height(data):
    x, y = numpy.meshgrid(data["at"], data["at"], indexing="ij")
    figure, axes = pyplot.subplots(figsize=(9, 7), subplot_kw={"projection": "3d"})
    surface = axes.plot_surface(x, y, numpy.array(data["value"]), cmap="Blues_r", rstride=1, cstride=1, linewidth=0.1,
                                edgecolor="#404040")
    axes.set(xlabel="x", ylabel="y", zlabel="h")
    axes.view_init(40, -60)
    axes.set_title("Water height at t = 0.05:\nthe hump at the centre has become a ring, half way to the boundary")
    figure.colorbar(surface, shrink=0.5, label="h")
    return figure


def sensitivity(data):
    at, z = data["at"], columns(data["value"])
    most = max(abs(value) for row in z for value in row)
    figure, axes = pyplot.subplots(figsize=(8, 7))
    image = axes.pcolormesh(at, at, z, cmap="RdBu_r", vmin=-most, vmax=most, shading="nearest")
    axes.set(xlabel="x, measured from the cell", ylabel="y, measured from the cell", aspect="equal",
             title="Derivative of the height in one cell at t = 0.05\n"
                   "with respect to the initial height in every cell, from one adjoint run")
    figure.colorbar(image)
    return figure


def hybrid(flights, impacts):
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(9, 8), sharex=True)
    for k, flight in enumerate(flights):
        t, y, _, dy, _, table = columns(flight)
        above.plot(t, table, color=GREY, label="table" if k == 0 else None)
        above.plot(t, y, color=BLUE, linewidth=2, label="ball" if k == 0 else None)
        below.plot(t, dy, color=VIOLET, linewidth=2)
    above.plot(*columns(impacts), "o", color=ORANGE, markersize=5, label="impacts")
    above.set(ylabel="height (m)", ylim=(-0.1, 1.15), title="A ball on a vibrating table")
    above.legend(loc="upper right", ncol=3)
    below.axhline(0, color="#bbbbbb", linewidth=0.8)
    below.set(xlabel="t (s)", ylabel="d y / d (drop height)",
              title="Sensitivity of the height with respect to the drop height: exact through every impact")
    return figure


def layer(meshes):
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(9, 8), sharex=True)
    for colour, mesh in zip((GREY, BLUE, VIOLET, ORANGE), meshes):
        eps, t, y = columns(mesh)
        above.semilogx(t, y, ".-", color=colour, label="eps = %g" % eps[0])
        below.loglog(t, eps, ".", color=colour)
    above.set(ylabel="y", xlim=(1e-5, 1), title="A boundary layer at t = 0: eps y'' + y y' = 0, by continuation in eps")
    above.legend(loc="lower right")
    below.set(xlabel="t", ylabel="eps",
              title="Mesh points: the mesh follows the layer, which becomes ten times thinner each time")
    return figure


def work(panels):
    figure, axes = pyplot.subplots(len(panels) // 2, 2, figsize=(11, 13.5))
    for panel, place in zip(panels, axes.flat):
        for method, points in panel["curves"].items():
            if points:
                place.loglog(*columns(points), "o-", color=COLOURS[method], label=method)
        for text in panel["missing"]:
            place.plot([], [], " ", label=text)
        place.set(title=panel["title"], xlabel="relative error (rtol from 1e-3 to %g)" % panel["tightest"],
                  ylabel="seconds")
        place.legend(fontsize="small")
    return figure


def main(place):
    with open(os.path.join(place, "pictures.json"), encoding="utf-8") as file:
        data = json.load(file)
    *flights, impacts = blocks(os.path.join(place, "hybrid.dat"))
    figures = {"work": work(data["work"]), "height": height(data["height"]),
               "sensitivity": sensitivity(data["sensitivity"]), "hybrid": hybrid(flights, impacts),
               "layer": layer(blocks(os.path.join(place, "layer.dat")))}
    for name, figure in figures.items():
        for axes in figure.axes:
            if name in ("hybrid", "layer", "work"):
                axes.grid(color="#dddddd", linewidth=0.6)
        figure.tight_layout()
        path = os.path.join(place, name + ".png")
        figure.savefig(path)
        print("picture: " + path)


if __name__ == "__main__":
    main(sys.argv[1])
