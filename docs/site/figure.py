"""Figures as SVG: axes, curves, areas, coloured cells; nothing but this file makes them."""
import html
import math
import re

STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-weight: 600 }
.legend { paint-order: stroke; stroke: #fff; stroke-width: 4px }
.axis { stroke: #999; stroke-width: 1; fill: none } .grid { stroke: #e6e6e6; stroke-width: 1 }
.zero { stroke: #aaa; stroke-width: 1 } .area { fill: #9db8d9; fill-opacity: .75; fill-rule: evenodd }
.edge { stroke: #2f5d94; stroke-width: 1.2; fill: none } .others { stroke: #cfcfcf; stroke-width: 1.1; fill: none }
.c0 { stroke: #2f5d94 } .c1 { stroke: #b5541c } .c2 { stroke: #3b7d3b } .c3 { stroke: #7a4f9a } .c4 { stroke: #8a6d1d }
.c0, .c1, .c2, .c3, .c4 { stroke-width: 1.7; fill: none } .dot { fill: #2f5d94; stroke: none }
.pale { fill: #9db8d9; fill-opacity: .35 }
.frame { stroke: #222; stroke-width: 1.4; fill: none }
.many { stroke: #2f5d94; stroke-width: 1.8; stroke-opacity: .5; stroke-linecap: round; fill: none }
.mark { fill: #222; stroke: none } .faint { fill: #9db8d9; stroke: none }
.t0 { fill: #2f5d94 } .t1 { fill: #b5541c } .t2 { fill: #3b7d3b } .t3 { fill: #7a4f9a } .t4 { fill: #8a6d1d }
</style>"""
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 26, 40


class Figure:
    """x, y: (from, to) of the window, logarithms to base 10 where log_x, log_y."""

    def __init__(self, x, y, title="", labels=("", ""), width=420, height=300, log=(False, False)):
        self.x, self.y, self.log = x, y, log
        self.width, self.height, self.title, self.labels = width, height, title, labels
        self.parts, self.notes, self.scale, self.right = [], [], [], RIGHT

    def place(self, x, y):
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (LEFT + across * (self.width - LEFT - self.right),
                self.height - BOTTOM - up * (self.height - TOP - BOTTOM))

    def path(self, points):
        return "M" + "L".join("%.1f %.1f" % self.place(x, y) for x, y in points)

    def curve(self, points, kind):
        if len(points) > 1:
            self.parts.append(f'<path class="{kind}" d="{self.path(points)}"/>')

    def dots(self, points, radius=2.2, kind="dot"):
        self.parts += ['<circle class="%s" cx="%.1f" cy="%.1f" r="%g"/>' % (kind, *self.place(x, y), radius)
                       for x, y in points]

    def points(self, points, kind):
        """so many that each is a place of one path, rounded to a pixel, and no two are at the same place"""
        places = sorted({tuple(round(z) for z in self.place(x, y)) for x, y in points})
        moves = ["M%d %dh0" % place for place in places]
        lines = ["".join(moves[k:k + 10]) for k in range(0, len(moves), 10)]
        self.parts.append('<path class="%s" d="%s"/>' % (kind, "\n".join(lines)))

    def area(self, loops):
        if loops:
            text = "".join(self.path(loop) + "Z" for loop in loops)
            self.parts.append(f'<path class="area" d="{text}"/><path class="edge" d="{text}"/>')

    def band(self, low, high, kind):
        """between two curves"""
        self.parts.append(f'<path class="{kind}" d="{self.path(low + high[::-1])}Z"/>')

    def cells(self, rows, colour, size=(1, 1)):
        """rows[j][i]: a value; colour: of a value; its cell is from (i, j) to (i + 1, j + 1), in units of `size`"""
        paths = {}
        for j, row in enumerate(rows):
            for i, run, name in runs([colour(value) for value in row]):
                left, low = self.place(i * size[0], j * size[1])
                right, high = self.place((i + run) * size[0], (j + 1) * size[1])
                paths.setdefault(name, []).append(f"M{left:.1f} {low:.1f}H{right:.1f}V{high:.1f}H{left:.1f}Z")
        self.parts += [f'<path fill="{name}" stroke="{name}" stroke-width=".4" d="{wrapped(boxes)}"/>'
                       for name, boxes in sorted(paths.items())]

    def bar(self, bounds, colours, label):
        """a scale of colours right of the axes, before anything is drawn: colours[k] from bounds[k] to bounds[k + 1]"""
        self.right = 78
        left, low, high = self.width - self.right + 12, self.height - BOTTOM, TOP
        step = (low - high) / len(colours)
        for k, name in enumerate(colours):
            self.scale.append(f'<rect x="{left}" y="{low - (k + 1) * step:.1f}" width="14" height="{step:.1f}" '
                              f'fill="{name}"/>')
        for k, value in enumerate(bounds):
            if k % max(1, round(len(bounds) / 12)) == 0:
                self.scale.append(f'<text x="{left + 18}" y="{low - k * step + 4:.1f}">{value:g}</text>')
        self.scale.append(f'<text x="{self.width - 4}" y="16" text-anchor="end">{html.escape(label)}</text>')

    def note(self, text, kind=""):
        """a line of the legend"""
        self.notes.append((text, kind))

    def legend(self):
        return ['<text class="legend %s" x="%d" y="%d" text-anchor="end">%s</text>'
                % (kind, self.width - self.right - 6, TOP + 16 + 15 * k, html.escape(text))
                for k, (text, kind) in enumerate(self.notes)]

    def ticks(self, axis):
        low, high = sorted((self.x, self.y)[axis])
        room = (self.width - LEFT - self.right) / 60 if axis == 0 else (self.height - TOP - BOTTOM) / 36
        return decades(low, high, room) if self.log[axis] else steps(low, high, room)

    def axes(self):
        (x0, y0), (x1, y1) = self.place(self.x[0], self.y[0]), self.place(self.x[1], self.y[1])
        grid, words = [], []
        for value, text in self.ticks(0):
            x, _ = self.place(value, self.y[0])
            grid.append(f'<path class="{self.line(0, value)}" d="M{x:.1f} {y0:.1f}V{y1:.1f}"/>')
            words.append(f'<text x="{x:.1f}" y="{y0 + 16:.1f}" text-anchor="middle">{text}</text>')
        for value, text in self.ticks(1):
            _, y = self.place(self.x[0], value)
            grid.append(f'<path class="{self.line(1, value)}" d="M{x0:.1f} {y:.1f}H{x1:.1f}"/>')
            words.append(f'<text x="{x0 - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        words.append(f'<text x="{(x0 + x1) / 2:.1f}" y="{self.height - 6}" text-anchor="middle">'
                     f"{self.labels[0]}</text>")
        words.append(f'<text transform="translate(13 {(y0 + y1) / 2:.1f}) rotate(-90)" text-anchor="middle">'
                     f"{self.labels[1]}</text>")
        words.append(f'<text class="title" x="{x0:.1f}" y="16">{html.escape(self.title)}</text>')
        frame = f'<path class="axis" d="M{x0:.1f} {y0:.1f}H{x1:.1f}V{y1:.1f}H{x0:.1f}Z"/>'
        return grid, [frame, *words]

    def line(self, axis, value):
        return "zero" if value == 0 and not self.log[axis] else "grid"

    def text(self):
        grid, words = self.axes()
        inside = self.width - LEFT - self.right, self.height - TOP - BOTTOM
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return (f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{STYLE}\n'
                '<rect width="100%" height="100%" fill="#fff"/>\n'
                f'<clipPath id="in"><rect x="{LEFT}" y="{TOP}" width="{inside[0]}" height="{inside[1]}"/></clipPath>\n'
                + "\n".join([*grid, '<g clip-path="url(#in)">', *self.parts, "</g>", *words, *self.scale,
                             *self.legend()])
                + "\n</svg>\n")


def runs(names):
    """(begin, length, name) of equal neighbours"""
    begin = 0
    for k in range(1, len(names) + 1):
        if k == len(names) or names[k] != names[begin]:
            yield begin, k - begin, names[begin]
            begin = k


def wrapped(words):
    return "".join("\n" + "".join(words[k:k + 3]) for k in range(0, len(words), 3))


def inside(name, text):
    """The address of what a figure's axes enclose, without their words: for small pictures."""
    width, height = (int(x) for x in re.search(r'width="(\d+)" height="(\d+)">', text).groups())
    return f"{name}#svgView(viewBox({LEFT},{TOP},{width - LEFT - RIGHT},{height - TOP - BOTTOM}))"


def steps(low, high, most):
    """About so many round numbers of [low, high], with their texts."""
    rough = (high - low) / max(most, 2)
    power = 10 ** math.floor(math.log10(rough))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [(k * step, "%.6g" % (k * step)) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def decades(low, high, most):
    every = max(1, math.ceil((high - low) / max(most, 2)))
    return [(k, f'10<tspan dy="-5" font-size="9">{k}</tspan>')
            for k in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1) if k % every == 0]
