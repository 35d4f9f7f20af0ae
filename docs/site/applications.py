"""Figures of docs/applications.md, drawn from the files that its programs wrote, and their places in the page."""
import html
import math
import re

from figure import Figure

CAPTION = re.compile(r"<p><em>Pictures \((\w+)\), drawn by <code>./run docs</code>: (.*?)</em></p>", re.S)


def application_figures(directory):
    """{key of a caption: [(name of the file, alternative text, text of the figure)]}; of programs that have run"""
    found = {}
    for key, (files, draw) in DRAWN.items():
        paths = [directory / (name + ".dat") for name in files] if directory else []
        if paths and all(path.exists() for path in paths):
            found[key] = [(f"application-{key}-{k}.svg", words, picture.text())
                          for k, (words, picture) in enumerate(draw(*map(rows_of, paths)))]
    return found


def placed(body, figures):
    """the pictures before the paragraph that says what they show; it stays as it is where there are none"""
    def before(found):
        images = [f'<img src="{name}" alt="{html.escape(words)}" loading="lazy">'
                  for name, words, _ in figures.get(found.group(1), [])]
        shown = found.group(2)[:1].upper() + found.group(2)[1:]
        kind = "figures three" if len(images) == 3 else "figures"
        return (f'<div class="{kind}">{"".join(images)}</div>\n<p class="note">{shown}</p>' if images
                else found.group())
    return CAPTION.sub(before, body)


def rows_of(path):
    return [[float(x) for x in line.split()] for line in path.read_text(encoding="utf-8").splitlines()
            if not line.startswith("#")]


def column(rows, k):
    return [row[k] for row in rows]


def curve(rows, x, y, log=False):
    return [(row[x], math.log10(row[y]) if log else row[y]) for row in rows if not log or row[y] > 0]


def around(values, room=0.05):
    low, high = min(values), max(values)
    return low - room * (high - low), high + room * (high - low)


def decades(values):
    """whole ones around all of them"""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def roomy(values):
    """with room for the legend above"""
    low, high = around(values)
    return low, high + 0.25 * (high - low)


def lines(title, labels, curves, log=False, window=None, dotted=(), width=420):
    """curves: (points, class, words of the legend or None); window: of y, else around all"""
    points = [point for line, _, _ in curves for point in line]
    xs = [x for x, _ in points]
    picture = Figure((min(xs), max(xs)), window or around([y for _, y in points]), title, labels, width,
                     log=(False, log))
    for line, kind, words in curves:
        (picture.dots(line, 2, kind) if kind in dotted else picture.curve(line, kind))
        if words:
            picture.note(words, "t" + kind[1:] if kind[0] == "c" else kind)
    return picture


# ---- 27: fields, iterations, forecast ---------------------------------------------------------------------------

DEEP, SHALLOW = (8, 48, 107), (247, 251, 255)


def shade(low, high, levels=40):
    """colours from DEEP at low to SHALLOW at high"""
    def colour(value):
        part = round(levels * min(1, max(0, (value - low) / (high - low)))) / levels
        return "#%02x%02x%02x" % tuple(round(a + (b - a) * part) for a, b in zip(DEEP, SHALLOW))
    return colour


def fields(rows):
    side = int(max(column(rows, 0))) + 1
    values = [row[k] for row in rows for k in (2, 3, 4)]
    colour = shade(min(values), max(values))
    stations = [(i + 0.5, j + 0.5) for i, j, *_, station in rows if station]
    made = []
    for k, name in enumerate(("truth", "background", "analysis")):
        seen = column(rows, 2 + k)
        title = f"{name}: {min(seen):.1f} to {max(seen):.1f}"
        picture = Figure((0, side), (0, side), title, ("x, cells", "y, cells"), 320, 318)
        grid = [[rows[i * side + j][2 + k] for i in range(side)] for j in range(side)]
        picture.cells(grid, colour)
        if name == "analysis":
            picture.dots(stations, 1.3, "mark")
        made.append((f"height of the water at the begin of the window: {name}", picture))
    return made


def minimum(rows):
    return [("cost and misfit against iterations",
             lines("cost", ("iteration", ""), [(curve(rows, 0, 1, True), "c0", "J"),
                                               (curve(rows, 0, 2, True), "c1", "of it the misfit")], True,
                   decades(column(rows, 1) + column(rows, 2)))),
            ("norm of the gradient against iterations",
             lines("norm of the gradient", ("iteration", ""), [(curve(rows, 0, 3, True), "c0", None)], True))]


def forecast(rows):
    top = 1.1 * max(column(rows, 1))
    return [("errors of the forecasts against time",
             lines("error of the height; the window ends at 0.1", ("t", "root mean square"),
                   [([(0.1, 0), (0.1, top)], "others", None), (curve(rows, 0, 1), "c1", "from the background"),
                    (curve(rows, 0, 2), "c0", "from the analysis")], window=(0, top)))]


# ---- 28: data and fit, ellipses, profile ------------------------------------------------------------------------

RATES = ("k1", "k2", "k3", "k4", "k5")


def fitted(data, curves):
    made = []
    for k, name in ((1, "C"), (3, "P")):
        points, line = ([(math.log10(row[0]), row[k]) for row in rows] for rows in (data, curves))
        picture = lines(f"{name}, measured and fitted", ("t, seconds", "micromoles a litre"),
                        [(points, "mark", None), (line, "c0", None)], dotted=("mark",))
        picture.log = (True, False)
        made.append((f"measurements of {name} against time, and the fitted curve", picture))
    return made


def ellipse(C, i, j, centre):
    """d^T C^-1 d = 5.991 of the pair, by the factors of its covariance"""
    a = math.sqrt(C[i][i])
    b = C[i][j] / a
    c = math.sqrt(C[j][j] - b * b)
    r = math.sqrt(5.991465)
    angles = [2 * math.pi * k / 120 for k in range(121)]
    return [(centre[0] + r * a * math.cos(t), centre[1] + r * (b * math.cos(t) + c * math.sin(t))) for t in angles]


def ellipses(C, estimates):
    made = []
    for i, j in ((0, 1), (3, 4)):
        points = [(row[i], row[j]) for row in estimates]
        first, truth = ellipse(C, i, j, points[0]), ellipse(C, i, j, (0, 0))
        picture = Figure(around([x for x, _ in points + first]), roomy([y for _, y in points + first]),
                         "estimates less the truth", (f"log {RATES[i]}", f"log {RATES[j]}"), 420, 400)
        picture.dots(points, 2, "faint")
        picture.curve(truth, "axis")
        picture.curve(first, "c1")
        picture.dots([(0, 0)], 4, "mark")
        picture.note("first estimate's 95 % ellipse", "t1")
        picture.note("the truth: the dot")
        made.append((f"estimates of {RATES[i]} and {RATES[j]}, and the ellipse of the first", picture))
    return made


def profile(rows):
    return [("twice the rise of J along k5, by the profile and by the Hessian",
             lines("2 (J - min), k5 held", ("log k5 less its estimate", ""),
                   [([(rows[0][0], 3.841459), (rows[-1][0], 3.841459)], "others", None),
                    (curve(rows, 0, 2), "c1", "by the Hessian"), (curve(rows, 0, 1), "c0", "the others fitted")],
                   window=(0, 14)))]


# ---- 29: trips, iterations --------------------------------------------------------------------------------------

def shifts(rows, k):
    return [(before[0], before[k]) for before, after in zip(rows, rows[1:]) if before[3] != after[3]]


def trips(start, best, stalled):
    made = []
    for k, title, unit in ((1, "torque", "100 Nm"), (2, "speed", "m/s")):
        picture = lines(title, ("t, seconds", unit),
                        [(curve(start, 0, k), "c2", "start"), (curve(stalled, 0, k), "c1", "times of events held"),
                         (curve(best, 0, k), "c0", "events and their times")],
                        window=roomy(column(start, k) + column(best, k) + column(stalled, k)))
        for rows in (start, best, stalled):
            picture.dots(shifts(rows, k), 3.5, "mark")
        made.append((f"{title} against time, at the start and after both optimisations", picture))
    return made


def costs(*ways):
    least = min(row[1] for rows in ways for row in rows)
    words = ("events and their times", "the same, up and down held", "times of events held")
    curves = [([(math.log10(run), math.log10(J - least)) for run, J in rows if J > least], f"c{kind}", text)
              for rows, kind, text in zip(ways, (0, 2, 1), words)]
    picture = lines("J less the least of all", ("runs", ""), curves, True, (-3, 4))
    picture.log = (True, True)
    picture.dots([line[-1] for line, _, _ in curves[1:]], 3.5, "mark")
    return [("cost against the number of runs, by three gradients", picture)]


# ---- 39: a population ----------------------------------------------------------------------------------------

def bands(rows, data):
    """percentiles 5, 25, 50, 75, 95 in columns 1 to 5; subjects after them"""
    made = []
    for words, subjects in (("concentrations of all subjects", ()), ("three subjects, and their data", (0, 1, 2))):
        picture = Figure((0, 84), (0, 1.3 * max(column(rows, 5))), words, ("t, hours", "concentration, mg/L"), 420, 320)
        for low, high, kind in ((1, 5, "pale"), (2, 4, "area")):
            picture.band(curve(rows, 0, low), curve(rows, 0, high), kind)
        picture.curve(curve(rows, 0, 3), "c0")
        for k in subjects:
            picture.curve(curve(rows, 0, 6 + k), f"c{k + 1}")
            picture.dots(curve(data, 0, 1 + k), 2.6, f"t{k + 1}")
        if not subjects:
            for text in ("median", "half of the subjects (dark)", "90 % of them (pale)"):
                picture.note(text, "t0")
        made.append((words + ": against time, with percentiles of the population", picture))
    return made


DRAWN = {"fields": (["27_fields"], fields), "minimum": (["27_iterations"], minimum),
         "forecast": (["27_forecast"], forecast), "fit": (["28_data", "28_curve"], fitted),
         "ellipses": (["28_covariance", "28_estimates"], ellipses), "profile": (["28_profile"], profile),
         "trips": (["29_trip_0", "29_trip_1", "29_trip_3"], trips),
         "bands": (["39_bands", "39_data"], bands),
         "costs": (["29_iterations_0", "29_iterations_1", "29_iterations_2"], costs)}
