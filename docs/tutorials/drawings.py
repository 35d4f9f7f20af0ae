"""Drawings of the tutorials in C: each a function of the folder in which a program left its files."""
import numpy as np

WIDE = (9, 3.6)


def axes(*shape, size=WIDE, **more):
    from matplotlib import pyplot
    return pyplot.subplots(*shape, figsize=size, layout="constrained", **more)


def read(folder, name):
    """the columns of a file"""
    return np.loadtxt(folder / (name + ".dat"), ndmin=2).T


# ---- 27_twin_experiment -------------------------------------------------------------------------------------------

def fields(folder):
    i, j, *heights, station = read(folder, "27_fields")
    side = int(i.max()) + 1
    low, high = np.min(heights), np.max(heights)
    figure, row = axes(1, 3, size=(9, 3.2), sharey=True)
    for ax, height, name in zip(row, heights, ("truth", "background", "analysis")):
        image = ax.pcolormesh(np.arange(side + 1), np.arange(side + 1), height.reshape(side, side).T, vmin=low,
                              vmax=high, cmap="Blues_r", rasterized=True)
        ax.set(title=name, xlabel="x in cells", aspect="equal")
        ax.grid(False)
    row[2].plot(i[station > 0] + 0.5, j[station > 0] + 0.5, ".", color="black", markersize=2.5)
    row[0].set_ylabel("y in cells")
    figure.colorbar(image, ax=row, label="height of the water", shrink=0.85)
    return figure


def minimum(folder):
    k, cost, misfit, gradient = read(folder, "27_iterations")
    figure, (left, right) = axes(1, 2)
    left.semilogy(k, cost, label="cost $J$")
    left.semilogy(k, misfit, label="its part from the misfit")
    left.set(xlabel="iteration", ylabel="$J$", ylim=(100, 10000))
    left.legend()
    right.semilogy(k, gradient, color="C2")
    right.set(xlabel="iteration", ylabel="norm of the gradient")
    return figure


def forecast(folder):
    t, background, analysis = read(folder, "27_forecast")
    figure, ax = axes(size=(6, 3.4))
    ax.axvline(0.1, color="0.6", linewidth=1, linestyle="--")
    ax.text(0.103, 0.1, "end of the window", color="0.4", fontsize="small")
    ax.plot(t, background, color="C1", label="from the background")
    ax.plot(t, analysis, color="C0", label="from the analysis")
    ax.set(xlabel="$t$", ylabel="error of the height (rms)", ylim=(0, None))
    ax.legend(loc="center right")
    return figure


# ---- 28_confidence ------------------------------------------------------------------------------------------------

def fitted(folder):
    data, curve = read(folder, "28_data"), read(folder, "28_curve")
    figure, row = axes(1, 2)
    for ax, k, name in zip(row, (1, 3), ("C", "P")):
        ax.semilogx(data[0], data[k], ".", color="black", label="measured")
        ax.semilogx(curve[0], curve[k], color="C0", label="fitted")
        ax.set(xlabel="$t$ in s", ylabel=f"{name} in micromoles per litre")
        ax.legend()
    return figure


def ellipse(C, centre):
    """d^T C^-1 d = 5.991, which holds 95 % of a normal distribution in two dimensions"""
    angle = np.linspace(0, 2 * np.pi, 121)
    return centre[:, None] + np.sqrt(5.991465) * np.linalg.cholesky(C) @ [np.cos(angle), np.sin(angle)]


def ellipses(folder):
    C, estimates = read(folder, "28_covariance"), read(folder, "28_estimates")
    figure, row = axes(1, 2, size=(9, 4))
    for ax, pair in zip(row, ([0, 1], [3, 4])):
        part, points = C[np.ix_(pair, pair)], estimates[pair]
        ax.plot(*points, ".", color="0.6", markersize=3.5, rasterized=True, label="estimates, minus the truth")
        ax.plot(*ellipse(part, np.zeros(2)), color="0.3", linewidth=1, linestyle="--", label="ellipse around the truth")
        ax.plot(*ellipse(part, points[:, 0]), color="C1", label="ellipse of the first estimate")
        ax.plot(0, 0, "o", color="black", markersize=4, label="truth")
        ax.set(xlabel=f"log $k_{pair[0] + 1}$", ylabel=f"log $k_{pair[1] + 1}$")
        ax.margins(y=0.1)
    figure.legend(*row[0].get_legend_handles_labels(), loc="outside upper center", ncols=4) if outside() else \
        row[0].legend(fontsize="x-small")
    return figure


def outside():
    """may a legend be outside of the axes?  From Matplotlib 3.7."""
    import matplotlib
    return tuple(int(word) for word in matplotlib.__version__.split(".")[:2]) >= (3, 7)


def profile(folder):
    off, by_profile, by_hessian = read(folder, "28_profile")
    figure, ax = axes(size=(6, 3.4))
    ax.plot(off, by_profile, label="profile: the other constants fitted")
    ax.plot(off, by_hessian, label="parabola of the Hessian")
    ax.axhline(3.841459, color="0.6", linewidth=1, linestyle="--")
    ax.text(off[len(off) // 2], 4.1, "95 %", color="0.4", fontsize="small", ha="center")
    ax.set(xlabel="log $k_5$ minus its estimate", ylabel=r"$2\,(J - \min J)$", ylim=(0, 14))
    ax.legend(loc="upper center")
    return figure


# ---- 29_gear_change -----------------------------------------------------------------------------------------------

def trips(folder):
    rows = [read(folder, f"29_trip_{k}") for k in (0, 3, 1)]
    words = ("start", "optimised with event times held", "optimised with the exact gradient")
    figure, both = axes(1, 2)
    for ax, k, label in zip(both, (1, 2), ("torque in 100 Nm", "speed in m/s")):
        for row, name, colour in zip(rows, words, ("C2", "C1", "C0")):
            ax.plot(row[0], row[k], color=colour, label=name)
            shift = np.flatnonzero(np.diff(row[3]))
            ax.plot(row[0][shift], row[k][shift], "o", color="black", markersize=4)
        ax.set(xlabel="$t$ in s", ylabel=label)
    low, high = both[0].get_ylim()
    both[0].set_ylim(low, high + 0.35 * (high - low))
    both[0].legend()
    return figure


def costs(folder):
    rows = [read(folder, f"29_iterations_{k}") for k in (0, 1, 2)]
    least = min(row[1].min() for row in rows)
    words = ("exact gradient", "exact gradient, up and down fixed", "event times held")
    figure, ax = axes(size=(6, 3.6))
    for row, name, colour in zip(rows, words, ("C0", "C2", "C1")):
        above = row[1] > least
        ax.loglog(row[0][above], row[1][above] - least, color=colour, label=name)
        if row is not rows[0]:
            ax.plot(row[0][above][-1], row[1][above][-1] - least, "o", color="black", markersize=4)
    ax.set(xlabel="runs forward and back", ylabel="$J$ minus the smallest $J$ found", ylim=(1e-3, None))
    ax.legend()
    return figure


# ---- 38_ozone_map -------------------------------------------------------------------------------------------------

REGION = (440, 520, 200, 280)                                       # km
CITIES = ((300, 170), (460, 300), (400, 120))


def ozone(folder):
    from matplotlib.colors import SymLogNorm
    from matplotlib.patches import Rectangle
    x, y, mean, by_no = read(folder, "38_map")[:4]
    wide = len(np.unique(x))
    figure, row = axes(1, 2, size=(9, 3.3), sharey=True)
    most = np.abs(by_no).max()
    for ax, values, title, how in ((row[0], mean, "ozone at 18:00 in ppb", {"cmap": "Blues"}),
                                   (row[1], by_no, "effect of NO, ppt per 100 kg/h",
                                    {"cmap": "RdBu_r", "norm": SymLogNorm(10, linscale=0.5, vmin=-most, vmax=most)})):
        image = ax.pcolormesh(x.reshape(-1, wide), y.reshape(-1, wide), values.reshape(-1, wide), shading="nearest",
                              rasterized=True, **how)
        ax.add_patch(Rectangle((REGION[0], REGION[2]), REGION[1] - REGION[0], REGION[3] - REGION[2], fill=False,
                               linewidth=1.3))
        ax.plot(*np.transpose(CITIES), ".", color="black")
        ax.set(xlabel="x in km (east)", aspect="equal", title=title)
        ax.grid(False)
        figure.colorbar(image, ax=ax, shrink=0.8, ticks=[-100, -10, 0, 10, 100] if values is by_no else None)
    row[0].set_ylabel("y in km (north)")
    return figure


# ---- 39_population ------------------------------------------------------------------------------------------------

def bands(folder):
    rows, data = read(folder, "39_bands"), read(folder, "39_data")
    figure, row = axes(1, 2, sharey=True)
    for ax in row:
        ax.fill_between(rows[0], rows[1], rows[5], color="C0", alpha=0.2, linewidth=0, label="90 % of the subjects")
        ax.fill_between(rows[0], rows[2], rows[4], color="C0", alpha=0.35, linewidth=0, label="half of the subjects")
        ax.plot(rows[0], rows[3], color="C0", label="median")
        ax.set(xlabel="$t$ in h", xlim=(0, 84))
    row[0].set(ylabel="concentration in mg/L", ylim=(0, 1.4 * rows[5].max()))
    row[0].legend(ncols=2, loc="upper left")
    for k in (0, 1, 2):
        row[1].plot(rows[0], rows[6 + k], color=f"C{k + 1}", label=f"subject {k + 1}")
        row[1].plot(data[0], data[1 + k], ".", color=f"C{k + 1}")
    row[1].legend(handles=row[1].lines[1::2], ncols=3, loc="upper left")
    return figure


# ---- 40_kepler, 43_runup ------------------------------------------------------------------------------------------

def kepler(folder):
    rows = read(folder, "40_kepler")
    figure, ax = axes(size=(6, 3.6))
    for kind, name in enumerate(("without projection", "energy and angular momentum kept")):
        _, periods, error = rows[:3, rows[0] == kind]
        ax.loglog(periods, error, label=name)
    ax.set(xlabel="periods", ylabel="error of the position")
    ax.legend()
    return figure


def runup(folder):
    x, bed, top, slope = read(folder, "43_runup")
    shown = (x >= 30) & (x <= 80)
    figure, (left, right) = axes(1, 2)
    left.fill_between(x[shown], -1.2, bed[shown], color="C5", alpha=0.25, linewidth=0)
    left.plot(x[shown], bed[shown], color="C5", label="bed")
    wet = shown & (top > bed)
    left.plot(x[wet], top[wet], color="C0", label="highest water")
    left.set(xlabel="x in m", ylabel="height in m", ylim=(-1.2, 1.3))
    left.legend(loc="upper left")
    means = [slope[np.abs(x - at) <= 2.5].mean() for at in x[shown]]
    right.plot(x[shown], means, color="C1")
    right.axhline(0, color="0.5", linewidth=0.8)
    right.set(xlabel="x in m", ylabel="$dR/db$ per m, mean over 5 m")
    return figure


# picture: (program, its arguments, function); FOLDER: where the program writes its files
DRAWN = {
    "tutorial-assimilation-1.svg": ("27_twin_experiment", ["FOLDER"], fields),
    "tutorial-assimilation-2.svg": ("27_twin_experiment", ["FOLDER"], minimum),
    "tutorial-assimilation-3.svg": ("27_twin_experiment", ["FOLDER"], forecast),
    "tutorial-rate-constants-1.svg": ("28_confidence", ["FOLDER"], fitted),
    "tutorial-rate-constants-2.svg": ("28_confidence", ["FOLDER"], ellipses),
    "tutorial-rate-constants-3.svg": ("28_confidence", ["FOLDER"], profile),
    "tutorial-gear-change-1.svg": ("29_gear_change", ["FOLDER"], trips),
    "tutorial-gear-change-2.svg": ("29_gear_change", ["FOLDER"], costs),
    "tutorial-ozone-1.svg": ("38_ozone_map", ["FOLDER", "80"], ozone),
    "tutorial-population-1.svg": ("39_population", ["FOLDER"], bands),
    "tutorial-conservation-1.svg": ("40_kepler", ["FOLDER/40_kepler.dat"], kepler),
    "tutorial-conservation-2.svg": ("43_runup", ["FOLDER"], runup),
}
