"""Maps of docs/applications.md, from the file of examples/38_ozone_map: ozone, and what it depends on."""
from bisect import bisect

from figure import Figure

SIDE = (800, 500)                                           # km
REGION = (440, 520, 200, 280)
CITIES = ((300, 170), (460, 300), (400, 120))
MOST = (200, 125)                                           # cells of the picture: means of the file's
PALE, DEEP, RED = (247, 251, 255), (8, 48, 107), (165, 42, 20)


def ozone_maps(text):
    """{name of a picture: Figure}"""
    rows = [[float(x) for x in line.split()] for line in text.splitlines() if not line.startswith("#")]
    wide = 1 + next(k for k in range(len(rows)) if rows[k + 1][1] != rows[k][1])
    grids = [coarse([[row[k] for row in rows[j:j + wide]] for j in range(0, len(rows), wide)]) for k in (2, 3)]
    return {"ozone-map": drawn(grids[0], "ozone at 18:00", "ppb", bounds_of(grids[0])),
            "ozone-by-no": drawn(grids[1], "mean ozone of the square, by NO emitted at a place", "ppt per 100 kg/h",
                                 even(grids[1]))}


def coarse(grid):
    """means of squares of cells"""
    k = max(1, len(grid[0]) // MOST[0])
    return [[sum(grid[j + b][i + a] for a in range(k) for b in range(k)) / k**2 for i in range(0, len(grid[0]), k)]
            for j in range(0, len(grid), k)]


def bounds_of(grid):
    values = [x for row in grid for x in row]
    step = round_step((max(values) - min(values)) / 14)
    first = int(min(values) // step)
    return [step * k for k in range(first, int(max(values) // step) + 2)]


def even(grid):
    """bounds +- 1, 2, 5, 10, ...: six of each sign, those that are needed"""
    low, high = min(map(min, grid)), max(map(max, grid))
    series = [k * 10.0 ** power for power in range(-9, 9) for k in (1, 2, 5)]
    top = next(k for k, x in enumerate(series) if x >= max(-low, high))
    series = series[top - 5:top + 1]
    return [-x for x in reversed(series) if x < -2 * low] + [x for x in series if x < 2.5 * high]


def round_step(rough):
    power = 10.0 ** next(k for k in range(-12, 12) if 10.0 ** (k + 1) > rough)
    return next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= rough * 0.999)


def between(a, b, part):
    return "#%02x%02x%02x" % tuple(round(x + (y - x) * part) for x, y in zip(a, b))


def colours_of(bounds):
    """deep colours far from zero if there are both signs, otherwise at the top"""
    below = sum(x < 0 for x in bounds)
    if not below:
        return [between(PALE, DEEP, k / (len(bounds) - 2)) for k in range(len(bounds) - 1)]
    most = max(below, len(bounds) - below) - 1
    away = [k + 1 - below for k in range(len(bounds) - 1)]
    return [between(PALE, RED if k > 0 else DEEP, abs(k) / most) for k in away]


def drawn(grid, title, unit, bounds):
    colours = colours_of(bounds)
    picture = Figure((0, SIDE[0]), (0, SIDE[1]), title, ("x, km (east)", "y, km (north)"), 560, 363)
    picture.bar(bounds, colours, unit)
    picture.cells(grid, lambda x: colours[min(len(colours), max(1, bisect(bounds, x))) - 1],
                  (SIDE[0] / len(grid[0]), SIDE[1] / len(grid)))
    left, right, low, high = REGION
    picture.curve([(left, low), (right, low), (right, high), (left, high), (left, low)], "frame")
    picture.dots(CITIES, 3, "mark")
    return picture
