"""Where a real-analytic function of z is not positive: closed loops about it, by linear interpolation on a grid.

f(conj z) = f(z), so that the upper half plane is enough.  Of log |R(z)| this is the region of absolute stability, of
log |R(z)| - Re z the complement of the order star (G. Wanner, E. Hairer, S. P. Norsett, BIT 18 (1978) 475-489)."""
import math

CELLS = 150                          # a side of the grid
FAR = 30.0                           # logarithms are cut off there


def logarithm(R):
    """log |R| by a function R that may fail to have a value"""
    def value(z):
        try:
            return max(-FAR, min(FAR, math.log(abs(R(z)))))
        except ZeroDivisionError:
            return FAR
        except ValueError:           # R(z) = 0
            return -FAR
        except OverflowError:
            return FAR
    return value


def polynomial(p):
    """of ascending coefficients"""
    reverse = [float(x) for x in p][::-1]

    def value(z):
        total = 0j
        for x in reverse:
            total = total * z + x
        return total
    return value


def rational(P, Q):
    p, q = polynomial(P), polynomial(Q)
    return lambda z: p(z) / q(z)


class Grid:
    """Values of f on a window that is symmetric about the real axis, and one cell beyond."""

    def __init__(self, f, x, top, cells=CELLS):
        self.dx, self.dy = (x[1] - x[0]) / cells, 2 * top / cells
        self.x = [x[0] + (i - 1) * self.dx for i in range(cells + 3)]
        upper = [[f(complex(a, (k + 0.5) * self.dy)) for a in self.x] for k in range(cells // 2 + 1)]
        self.y = [(k + 0.5) * self.dy for k in range(-len(upper), len(upper))]
        self.f = upper[::-1] + upper


def loops(grid):
    """About {f <= 0}, closed along the edge of the grid."""
    width, height = len(grid.x) + 2, len(grid.y) + 2
    edge = [FAR] * width
    f = [edge] + [[FAR, *row, FAR] for row in grid.f] + [edge]
    x = [grid.x[0] - grid.dx, *grid.x, grid.x[-1] + grid.dx]
    y = [grid.y[0] - grid.dy, *grid.y, grid.y[-1] + grid.dy]
    ways = {}                        # from a crossed edge of the grid to those that it leads to
    for j in range(height - 1):
        for i in range(width - 1):
            for a, b in segments(f, i, j):
                ways.setdefault(a, []).append(b)
                ways.setdefault(b, []).append(a)
    return [[crossing(f, x, y, place) for place in loop] for loop in chains(ways)]


def segments(f, i, j):
    """Marching squares: pairs of crossed edges (i, j, direction: 0 along x, 1 along y) of a cell."""
    inside = [f[j][i] <= 0, f[j][i + 1] <= 0, f[j + 1][i + 1] <= 0, f[j + 1][i] <= 0]
    if inside[0] == inside[1] == inside[2] == inside[3]:
        return []
    edges = [(i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1)]
    crossed = [edges[k] for k in range(4) if inside[k] != inside[(k + 1) % 4]]
    if len(crossed) == 2:
        return [tuple(crossed)]
    middle = f[j][i] + f[j][i + 1] + f[j + 1][i + 1] + f[j + 1][i] <= 0
    if middle == inside[0]:          # corners 1 and 3 are cut off
        return [(edges[0], edges[1]), (edges[2], edges[3])]
    return [(edges[0], edges[3]), (edges[1], edges[2])]


def chains(ways):
    """Each crossed edge has two neighbours: walk until they are used up."""
    while ways:
        start = next(iter(ways))
        loop, at = [start], start
        while ways.get(at):
            to = ways[at].pop()
            ways[to].remove(at)
            if not ways[at]:
                del ways[at]
            loop.append(to)
            at = to
        ways.pop(at, None)
        yield loop


def crossing(f, x, y, place):
    i, j, along_y = place
    a, b = f[j][i], f[j + along_y][i + 1 - along_y]
    part = a / (a - b)
    return (x[i], y[j] + part * (y[j + 1] - y[j])) if along_y else (x[i] + part * (x[i + 1] - x[i]), y[j])


def window(f, bounded, largest=64.0, cells=48):
    """(half a side, centre on the real axis) of a square about all of {f <= 0} where that is bounded, else of {f > 0}:
    the first that it does not reach the edge of, made smaller.  10, 0 where neither is bounded, as of Gauss methods."""
    side = 4.0
    while side <= largest:
        dx = 2 * side / cells
        found = [complex((i + 0.5) * dx - side, (k + 0.5) * dx) for k in range(cells // 2) for i in range(cells)]
        found = [z for z in found if (f(z) <= 0) == bounded]
        left, right = min([0.0, *(z.real for z in found)]), max([0.0, *(z.real for z in found)])
        top = max([0.0, *(z.imag for z in found)])
        if found and max(-left, right, top) < side - dx:
            return round_up(1.15 * max((right - left) / 2, top) + dx), (left + right) / 2
        side *= 2
    return 10.0, 0.0


def round_up(x):
    power = 10 ** math.floor(math.log10(x))
    return next(k * power for k in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if k * power >= x)
