"""hybrid_problems.py - small hybrid problems with closed forms: their equations, the time at their end, and their last
state or cost there as a function of the parameters.

Between events most solutions are polynomials in t of low degree, which all methods integrate to round-off, so that only
events can be wrong.  Those with exponentials or sines (SMOOTH) need accurate methods."""
import mpmath as mp

PROBLEMS, SLIDING = [], []
POLYNOMIAL = ("dopri853", "radau2a5", "dopri5", "rodas5p", "esdirk54i8", "auto", "rock4", "kvaerno54", "gauss3", "w9s5",
              "tsit5")
SMOOTH = ("dopri853", "radau2a5", "verner98", "gauss5")
CONSTRAINED = ("radau2a5", "rodas5p", "lobatto3c")


class Case:
    """f: the last component at the end, as a function of the parameters; methods: the first two and some of the others
    are used; mirror: it runs backward in time, too; side: the derivative with respect to the first parameter is that
    from this side"""

    def __init__(self, name, text, end, f, methods=POLYNOMIAL, start=0.0, mirror=True, tol=1e-10, y0=None, side=0,
                 **options):
        self.name, self.text, self.f, self.methods, self.mirror, self.side = name, text, f, methods, mirror, side
        self.start, self.end, self.tol, self.y0, self.options = start, end, tol, y0, options


def problem(name, text, end, f, **more):
    PROBLEMS.append(Case(name, text, end, f, **more))


def sliding(name, text, end, at):
    """at: when it begins to slide"""
    SLIDING.append((name, text, end, at))


def square(x):
    return x * x


def folded(n, x):
    """the integral of floor from 0 to x > 0, n times"""
    k = mp.floor(x)
    return n * (k * (k - 1) / 2 + (x - k) * k)


# ---- friction ----

problem("a block decelerates to rest", """
mode slides, rests
parameter v0 = 2, mu = 0.6
state v = v0, x = 0
v' = if(mode == slides, -mu, 0)
x' = v
event stop when v falls in slides
    v := 0
    mode := rests
""", 5, lambda v0, mu: v0**2 / (2 * mu))

problem("a block decelerates, and is drawn back", """
parameter v0 = 2, mu = 0.6, pull = 1.1
state v = v0, x = 0
v' = -pull - if(v > 0, mu, -mu)
x' = v
""", 3, lambda v0, mu, a: v0**2 / (2 * (a + mu)) - (a - mu) * square(3 - v0 / (a + mu)) / 2)

problem("a block on a belt", """
mode slips, rides
parameter belt = 1.5, mu = 0.6
state v = 0, x = 0
v' = if(mode == slips, mu, 0)
x' = v
event grips when v - belt rises in slips
    v := belt
    mode := rides
""", 5, lambda b, mu: b * 5 - b**2 / (2 * mu))


def stick_slip(belt, k, holds, slides):
    """sticks until the spring pulls with `holds`; then x'' = slides - k x up to the time 4"""
    t, w = holds / (k * belt), mp.sqrt(k)
    x, s = holds / k - slides / k, 4 - t
    return slides / k + x * mp.cos(w * s) + belt / w * mp.sin(w * s)


problem("stick and slip", """
mode sticks, slips
parameter belt = 0.5, k = 1.3, holds = 1.4, slides = 0.6
state v = belt, x = 0
v' = if(mode == sticks, 0, slides - k*x)
x' = v
event breaks when k*x - holds rises in sticks
    mode := slips
event grips when v - belt rises in slips
    v := belt
    mode := sticks
""", 4, stick_slip, methods=SMOOTH)

problem("friction turns with the velocity, from rest", """
parameter a = 1.2, mu = 0.3
state v = 0, x = 0
v' = a - a*t - if(v > 0, mu, -mu)
x' = v
""", 2.5, lambda a, mu: (lambda t, d: (a - mu) * t**2 / 2 - a * t**3 / 6 + (a - a * t + mu) * d**2 / 2 - a * d**3 / 6)(
    2 * (a - mu) / a, mp.mpf(2.5) - 2 * (a - mu) / a))

# ---- guards that rest at zero ----

problem("sides that are equal in a region", """
parameter c = 0.8, k = 5
state x = 2, y = 0
x' = -1
y' = if(x > max(x, c), k, 2) + if(abs(x - c) <= x - c, k, 0) + if(min(x, c) < c, k, 1)
""", 2, lambda c, k: (2 - c) * (3 + k) + c * (2 + k))

problem("sides that become equal in a region", """
parameter c = 0.8, k = 5
state x = 0, y = 0
x' = 1
y' = if(x >= max(x, c), k, 2) + if(x - c < abs(x - c), k, 0) + if(min(x, c) >= c, k, 1)
""", 2, lambda c, k: c * (3 + k) + (2 - c) * 2 * k)

problem("what is zero from the start, or emptied by an event", """
parameter d = 1.3, k = 5
state x = 1, z = 0, y = 0
x' = 0
z' = 0
y' = if(x > 0, k, 2) + if(z < 0, 7, 0) + if(0 >= z, 1, 0) + sign(z)
event empties when y - d rises passes
    x := 0
""", 2, lambda d, k: d + 3 * (2 - d / (k + 1)))

problem("what leaves zero at a stop", """
parameter a = 0.4, k = 3
state x = 0, z = 0, y = 0
x' = if(t < 1, 0, a)
z' = -x'
y' = 1 + k*sign(x) + 2*k*sign(z) + if(x <= 0, a, x)
""".replace("-x'", "if(t < 1, 0, -a)"), 2, lambda a, k: 1 + a + 1 - k + a / 2)

# ---- events with conditions ----

problem("conditions of what rests until a time", """
parameter T = 1.3, a = 0.7, k = 3
state x = 0, z = 0, u = 0, y = 0
x' = if(t > T, a, 0)
z' = if(t > T, a*(t - T), 0)
u' = if(t > T, a*square(t - T), 0)
y' = 1
event moves when x > 0
    y := y + k*t
event bends when -z < 0
    y := y + t^2
event bends_more when u > 0
    y := y + t^3
event there_already when x >= 0
    y := -100
event there_too when -z <= 0
    y := -100
event there_too_late when u >= 0
    y := -100
""".replace("square(t - T)", "(t - T)^2"), 3, lambda T, a, k: 3 + k * T + T**2 + T**3)

problem("conditions of what bends away from zero at the start", """
parameter a = 0.7, k = 3
state x = 0, u = 0, y = 0
x' = a*t
u' = -a*t^2
y' = 1
event bends when x > 0
    y := y + k
event bends_down when u < 0
    y := y + 2*k + t
event there_already when x >= 0
    y := -100
event other_side when u > 0
    y := -100
""", 3, lambda a, k: 3 + 3 * k)

problem("conditions of what another event sets to zero", """
parameter c = 1.5, k = 2
state x = 0, y = 0
x' = 1
y' = 1
event raises at 1
    x := c
event lowers at 3
    x := c
event empties at 3.25
    x := 0
event strict when x > c
    y := y + k*t
event equal when c <= x
    y := y + 10*k*t
""", 5, lambda c, k: 5 + k * (4 + 3.25 + c) + 10 * k * (3.25 + c))

problem("conditions of what comes back after a rest", """
parameter c = 0.4, a = 0.8, b = 1.1, k = 2
state x = c, y = 0
x' = if(t < 1, 0, if(t < 2, -a, b))
y' = 1
event strict when x > c
    y := y + k*t
event equal when x >= c
    y := y + t^2
""", 4, lambda c, a, b, k: 4 + k * (2 + a / b) + (2 + a / b)**2)

problem("a condition that an event sets to zero at a time that moves", """
parameter c = 1.5, a = 1.2, T = 1.7, k = 2
state x = 2, y = 0
x' = a
y' = 1
event lowers when t > T
    x := c
event strict when x > c
    y := y + k*t
event equal when x >= c
    y := -100
""", 3, lambda c, a, T, k: 3 + k * T)

problem("two conditions at once, of which one rests", """
parameter T = 1.3, U = 2.2, a = 0.7, k = 3
state x = 0, y = 0
x' = if(t > U, a, 0)
y' = 1
event both when min(t - T, x) > 0
    y := y + k*t
event one when max(t - U, -1 - x) > 0
    y := y + t^2
event rests when min(t - T, x) >= 0
    y := y + 7*t
""", 3, lambda T, U, a, k: 3 + k * U + U**2 + 7 * T)

problem("two conditions that are equal at the start", """
parameter a = 0.7, k = 3
state x = 1, y = 0
x' = -a
y' = 1
event never when min(1 - x, x - 1) > 0
    y := -100
event always when max(1 - x, x - 1) > 0
    y := y + k
event at_once when abs(x - 1) > 0
    y := y + 2*k
""", 3, lambda a, k: 3 + 3 * k)

problem("what is emptied, and rests", """
parameter c = 1.4, a = 0.8, k = 2
state x = c, y = 0
x' = if(x > 0, -a, 0)
y' = 1
event empty when x <= 0
    y := y + k*t
event below when x < 0
    y := -100
event back when 0 < -x
    y := -100
""", 3, lambda c, a, k: 3 + k * c / a)

problem("what is emptied, rests, and is drawn on", """
parameter c = 1.1, a = 0.8, U = 2.3, k = 2
state x = c, y = 0
x' = if(x > 0, -a, if(t > U, -a, 0))
y' = 1
event empty when x <= 0
    y := y + k*t
event below when x < 0
    y := y + t^2
""", 3, lambda c, a, U, k: 3 + k * c / a + U**2)

# ---- relays, thermostats ----


def relay(w):
    t = mp.sqrt(2 / w)
    k = mp.floor((5 - t) / (2 * t))
    r = 5 - t - 2 * k * t
    return (-1)**(int(k) + 1) * (mp.sqrt(2 * w) * r - w * r * r / 2)


problem("a relay drives a mass back", """
parameter w = 1.7
state v = 0, x = 1
x' = v
v' = if(x > 0, -w, w)
""", 5, relay)

problem("a relay with hysteresis", """
parameter low = 0.2, high = 1, up = 0.9, down = 0.7
state x = 0.5
memory on = 1
x' = if(on > 0.5, up, -down)
event off when x - high rises
    on := 0
event again when x - low falls
    on := 1
""", 2.5, lambda l, h, u, d: (lambda t: l + u * (mp.mpf(2.5) - t))((h - mp.mpf(0.5)) / u + (h - l) / d))

problem("a thermostat that starts at its threshold and cools", """
parameter low = 18, high = 20, heat = 3, loss = 2
state T = low
memory on = 0
T' = if(on > 0.5, heat, -loss)
event heats when T - low falls
    on := 1
event rests when T - high rises
    on := 0
""", 1.25, lambda l, h, u, d: h - d * (mp.mpf(1.25) - (h - l) / u))

problem("the energy of a thermostat", """
parameter low = 18, high = 20, loss = 2
state T = 19
memory on = 0
T' = if(on > 0.5, 3, -loss)
cost energy' = if(on > 0.5, 3, 0)
event heats when T - low falls
    on := 1
event rests when T - high rises
    on := 0
""", 2.5, lambda l, h, d: 3 * (mp.mpf(2.5) - (19 - l) / d - (h - l) / d))

# ---- abs, sign, from rest ----

problem("the path of a mass from rest", """
parameter a = 1.3
state v = 0
kinks as events
v' = a*(1 - t)
cost path' = abs(v)
""", 3, lambda a: a * mp.mpf(4) / 3)


def path(w):
    s = 5 * mp.sqrt(w)
    k = mp.floor(s / mp.pi)
    return 2 * k + 1 - mp.cos(s - k * mp.pi)


problem("the path of an oscillator from rest", """
parameter w = 1.3
state x = 1, v = 0
kinks as events
x' = v
v' = -w*x
cost path' = abs(v)
""", 5, path, methods=SMOOTH)

problem("down from zero", """
parameter a = 0.93
state x = 0, y = 0
x' = -a
y' = if(x > 0, 1, 3*a)
""", 5, lambda a: 15 * a)

problem("up from zero", """
parameter a = 0.93
state x = 0, y = 0
x' = a
y' = if(x < 0, 3, a)
""", 5, lambda a: 5 * a)

problem("rest, then up", """
parameter a = 0.93, b = 1
state x = 0, y = 0
x' = if(t > b, a*(t - b), 0)
y' = if(x > 0, a, 3) + b*t
""", 5, lambda a, b: 3 * b + (5 - b) * a + 25 * b / 2)

problem("rest, then down", """
parameter a = 0.93, b = 1
state x = 0, y = 0
x' = -if(t > b, a*(t - b)^2, 0)
y' = if(x < 0, 1, 3)
""", 5, lambda a, b: 3 * b + 5 - b)

problem("a tangent start: the curvature decides", """
parameter a = 0.93
state v = 0, x = 0, y = 0
v' = -a
x' = v
y' = if(x < 0, a, 7)
""", 2, lambda a: 2 * a)

problem("two signs at zero at the start", """
parameter a = 0.4, b = 0.7
state x = 0, z = 0, y = 0
x' = if(z > 0, a, -1)
z' = if(x > 0, b, -1)
y' = x*z
""", 2, lambda a, b: a * b * mp.mpf(8) / 3)

problem("three signs at zero at the start, each of which depends on the next", """
parameter a = 0.4, b = 0.7, c = 1.1
state w = 0, z = 0, x = 0, y = 0
w' = if(z > 0, a, 1)
z' = if(x > 0, -b, b)
x' = if(y > 0, -1, c)
y' = -1
cost q' = w*z*x
""", 2, lambda a, b, c: -4 * b * c)

problem("a state that stays on a line", """
parameter a = 0.3, c = 1
state x = c, y = 0
x' = if(x > a*t, -1, a)
y' = if(x > a*t, 3, 1) + x
""", 4, lambda a, c: (lambda t: 2 * t + 4 + c * t - t**2 / 2 + a * (16 - t**2) / 2)(c / (1 + a)))

problem("a ball that turns has another drag", """
parameter v0 = 4, g = 2.5, c = 0.6
state v = v0, y = 0
v' = -g
y' = if(v > 0, v, c*v)
""", 3, lambda v, g, c: v * v / (2 * g) - c * g * square(3 - v / g) / 2)

# ---- doses, infusions, thresholds ----

problem("the time above a threshold after a dose", """
parameter k = 0.5, dose = 10, mec = 5
state C = 0, above = 0
C' = -k*C
above' = if(C > mec, 1, 0)
event give at 1
    C += dose
""", 5, lambda k, dose, mec: mp.log(dose / mec) / k, methods=SMOOTH)

problem("elimination of order zero, which ends", """
parameter rate = 0.8, dose = 1.3
state C = 0
C' = if(C > 0, -rate, 0)
cost auc' = C
event give at 1, 4
    C += dose
""", 7, lambda r, d: d**2 / r)

problem("a jump to the threshold, and down", """
parameter k = 0.8, mec = 2
state C = 1, y = 0
C' = -k
y' = if(C > mec, 5, k)
event give at 1
    C := mec
""", 3, lambda k, mec: 3 * k)

problem("a jump to the threshold, and up", """
parameter k = 0.8, mec = 2
state C = 1, y = 0
C' = k*0.1
y' = if(C > mec, k, 5*mec)
event give at 1
    C := mec
""", 3, lambda k, mec: 5 * mec + 2 * k)

problem("jumps over a threshold in both directions", """
parameter a = 1.2, b = 2.3
state x = 0, y = 0
x' = -a
y' = if(x > -1, 1, 4)*a
event up at 2
    x += b
event down at 2.25
    x += -b
""", 4, lambda a, b: a * (1 / a + 4 * (2 - 1 / a) + mp.mpf(1) / 4 + 4 * mp.mpf(1.75)))

problem("an infusion whose lag is zero, by its event", """
parameter lag = 0, rate = 1.5, k = 0.3
state C = 0, y = 0
memory on = 0
C' = if(on > 0.5, rate, 0) - k
y' = C
event begins when t - lag rises passes
    on := 1
event ends when t - lag - 1 rises passes
    on := 0
""", 3, lambda l, r, k: r / 2 + r * (2 - l) - k * mp.mpf(9) / 2, side=1)

problem("an infusion whose lag is zero, by its condition", """
parameter lag = 0, rate = 1.5, k = 0.3
state C = 0, y = 0
C' = if(t > lag and t < lag + 1, rate, 0) - k
y' = C
""", 3, lambda l, r, k: r * (1 + l) * (2 - l) + r * (1 + l)**2 / 2 - k * mp.mpf(9) / 2, side=-1)

problem("a chain of conditions on time and a parameter", """
parameter tau = 0.6, a = 1.2, b = 0.7
state y = 0
y' = if(t < tau, a, if(t < 2*tau, -b, if(t < 3*tau, a*b, 0)))
""", 3, lambda t, a, b: t * (a - b + a * b))

problem("zero-order hold", """
parameter u1 = 1.2, u2 = -0.7, u3 = 0.4
state x = 0, y = 0
x' = if(t < 1, u1, if(t < 2, u2, u3))
y' = x
""", 3, lambda a, b, c: a / 2 + 2 * a + b / 2 + b + c / 2)

problem("a table with a jump", """
parameter r0 = 1, r1 = 2, r2 = 0.5
state y = 0
y' = if(t < 1, r0 + (r1 - r0)*t, if(t < 2, r2 + (r0 - r2)*(t - 1), r2))*t
""", 3, lambda a, b, c: a / 2 + (b - a) / 3 + c * mp.mpf(3) / 2 + (a - c) * (mp.mpf(7) / 3 - mp.mpf(3) / 2)
        + c * mp.mpf(5) / 2)

problem("a tank that overflows, and is drained", """
parameter cap = 1, inflow = 0.8, drains = 0.5
state level = 0
level' = if(level < cap, inflow, 0)
cost lost' = if(level < cap, 0, inflow)
event drain at 2
    level += -drains
""", 4, lambda cap, r, d: r * (4 - cap / r - d / r))

# ---- mechanics ----


def bounced(h, e, g):
    t, v = mp.sqrt(2 * h / g), mp.sqrt(2 * h * g)
    total = h
    while True:
        v *= e
        s = mp.mpf(3.8) - t
        if s <= 2 * v / g:
            up = v / g
            return total + (v * s - g * s * s / 2 if s <= up else v * up / 2 + g * (s - up)**2 / 2)
        t, total = t + 2 * v / g, total + v**2 / g


problem("the path of a bouncing ball", """
parameter h0 = 1, e = 0.8, g = 3
state h = h0, v = 0
kinks as events
h' = v
v' = -g
event bounce when h falls
    v := -e*v
cost path' = abs(v)
""", 3.8, bounced)

problem("three bodies fall at the same time", """
parameter a = 1, b = 1, c = 1
state h1 = a, v1 = 0, h2 = b, v2 = 0, h3 = c, v3 = 0
h1' = v1
v1' = -2
h2' = v2
v2' = -2
h3' = v3
v3' = -2
cost flight' = if(h1 > 0, 1, 0) + 2*if(h2 > 0, 1, 0) + 4*if(h3 > 0, 1, 0)
""", 2, lambda a, b, c: mp.sqrt(a) + 2 * mp.sqrt(b) + 4 * mp.sqrt(c))

for order in ("ab", "ba"):
    tanks = {"a": "state s1 = 1\ns1' = if(s1 > 0, -a, 0)\n", "b": "state s2 = 1\ns2' = if(s2 > 0, -b, 0)\n"}
    problem(f"two tanks empty at the same time, in the order {order}", """
parameter a = 0.5, b = 0.5
""" + tanks[order[0]] + tanks[order[1]] + """
state y = 0
y' = s1 + 3*s2
""", 3, lambda a, b: 1 / (2 * a) + 3 / (2 * b))
    resets = {"a": "event one when x - 1 rises\n    x := 0\n", "b": "event two when z - 1 rises\n    z := 0\n"}
    problem(f"two resets at the same time, in the order {order}", """
parameter a = 0.75, b = 0.75
state x = 0, z = 0
x' = a
z' = b
cost y' = x + 3*z
""" + resets[order[0]] + resets[order[1]], 3, lambda a, b: (lambda of: of(a) + 3 * of(b))(
        lambda r: 1 / r + r * square(3 - 2 / r) / 2))

problem("two thresholds at the same time", """
parameter a = 1, b = 1
state x = 0, z = 0, y = 0
x' = a
z' = b
y' = if(x > 1, 1, 0) + 3*if(z > 1, 1, 0)
""", 3, lambda a, b: 3 - 1 / a + 3 * (3 - 1 / b))

problem("an event and a condition with the same guard", """
parameter a = 0.8, c = 1, back = 0.5
state x = 0, y = 0
x' = a
y' = if(x > c, 5, 1)*a
event reset when x - c rises
    x += -back
""", 2, lambda a, c, b: 2 * a)

problem("an event that ends the run at a threshold", """
parameter a = 0.8, c = 1
state x = 0, y = 0
x' = a
y' = if(x > c/2, 3, 1)
event end when x - c rises terminal
""", 4, lambda a, c: 2 * c / a)

# ---- inputs and costs ----

problem("a rectifier from zero", """
parameter a = 1.5
state u = 0, y = 0
kinks as events
u' = a*(1 - 2*t)
y' = max(u, 0)
""", 2, lambda a: a / 6)

problem("a rectifier of a sine", """
parameter w = 2.1, a = 1.5
state y = 0
kinks as events
y' = a*max(sin(w*t), 0)
""", 4, lambda w, a: a * (3 - mp.cos(4 * w)) / w, methods=SMOOTH)

problem("a saturated control", """
parameter k = 2, top = 0.75, low = -0.5
state x = 0, y = 0
kinks as events
x' = 1 - t
y' = min(max(k*x, low), top)
""", 4, lambda k, top, low: (lambda a, b, c: k * (a**2 / 2 - a**3 / 6) + top * (b - a)
                             + k * ((c**2 / 2 - c**3 / 6) - (b**2 / 2 - b**3 / 6)) + low * (4 - c))(
        1 - mp.sqrt(1 - 2 * top / k), 1 + mp.sqrt(1 - 2 * top / k), 1 + mp.sqrt(1 - 2 * low / k)))

problem("a dead zone", """
parameter d = 0.5, k = 2
state x = -2, y = 0
kinks as events
x' = 1
y' = if(abs(x) < d, 0, k*x^2)
""", 3, lambda d, k: k * (9 - 2 * d**3) / 3)

problem("max of two parameters and a state", """
parameter a = 1, b = 0.3
state x = -3, y = 0
kinks as events
x' = a
y' = max(x, b)
""", 6, lambda a, b: b * (3 + b) / a + (square(6 * a - 3) - b * b) / (2 * a))

problem("min and max in a chain", """
parameter a = 1, b = 0.5
state x = -2, y = 0
kinks as events
x' = a
y' = max(min(x, b), -x, -1)
""", 4, lambda a, b: 2 / a + b * b / (2 * a) + b * (4 - (2 + b) / a))

problem("a condition of min, which also decides elsewhere", """
parameter a = 1.2
state x = 0, y = 0
x' = a
y' = min(x, 1) + if(1 < x, 5, 0)
""", 3, lambda a: 3 - 1 / (2 * a) + 5 * (3 - 1 / a))

problem("a condition on abs", """
parameter a = 1
state x = -3, y = 0
kinks as events
x' = a
y' = if(abs(x) > 1, 2, 5)
""", 6, lambda a: 4 / a + 10 / a + 12 - 8 / a)

problem("a condition in a condition", """
parameter a = 1.1, c = 1
state x = 0, z = 0, y = 0
x' = a
z' = 1
y' = if(x > if(z > c, 2, 4), 3, 1)
""", 3, lambda a, c: 3 + 2 * (3 - 2 / a))

problem("costs that jump", """
parameter a = 0.7, c = 1
state x = 0
x' = a
cost time' = if(x > c, x^2, 1)
""", 4, lambda a, c: c / a + (square(4 * a) * 4 * a - c**3) / (3 * a))

problem("a guard that a change of mode moves", """
mode low, high
parameter a = 1, c = 1
state x = 0, y = 0
x' = a
y' = if(x > if(mode == high, 3*c, c), 2, 1)
event rises when t - 2*c rises
    mode := high
""", 4, lambda a, c: c / a + 2 * (2 * c - c / a) + 3 * c / a - 2 * c + 2 * (4 - 3 * c / a))

problem("memory in a guard", """
parameter a = 1, c = 0.5
state x = 0, y = 0
memory level = c
x' = a
y' = if(x > level, 2*a, 1)
event lift at 1
    level := 4*c
""", 4, lambda a, c: c / a + 2 * a * (1 - c / a) + 4 * c / a - 1 + 2 * a * (4 - 4 * c / a))

# ---- whole numbers ----

problem("a saw tooth of time", """
parameter a = 1.5
state y = 0
y' = a*(t - floor(t))
""", 3.5, lambda a: a * mp.mpf(1.625))

problem("floor of a state that rises", """
parameter a = 0.93
state x = 0, y = 0
x' = a
y' = floor(x)
""", 5, lambda a: folded(1, 5 * a) / a)

problem("floor of a state that falls", """
parameter a = 0.93
state x = 0, y = 0
x' = -a
y' = floor(x)
""", 5, lambda a: -folded(1, 5 * a) / a - 5)

problem("ceil of a state", """
parameter a = 0.93, b = 0.5
state x = b, y = 0
x' = a
y' = ceil(x)*x
""", 3, lambda a, b: (lambda x: sum((k * (min(k, x)**2 - max(k - 1, b)**2) / 2) for k in (1, 2, 3, 4)) / a)(b + 3 * a))

problem("a floor that turns", """
parameter a = 2.2
state x = 0, y = 0
x' = a*(1 - t)
y' = floor(x)*t
""", 1.9, lambda a: 2 * mp.sqrt(1 - 2 / a))

problem("mod of a state", """
parameter a = 0.93, p = 1.25
state x = 0, y = 0
x' = a
y' = x - p*floor(x/p)
""", 4, lambda a, p: (lambda x: (mp.floor(x / p) * p**2 / 2 + square(x - p * mp.floor(x / p)) / 2) / a)(4 * a))

# ---- other equations ----

problem("an algebraic unknown that jumps", """
parameter a = 0.9
algebraic z = a
state x = 0, y = 0
x' = z
0 = z - if(x > 1, 2*a, a)
y' = z*x
""", 3, lambda a: square(1 + 2 * a * (3 - 1 / a)) / 2, methods=CONSTRAINED)

problem("a guard that jumps with an algebraic unknown", """
parameter a = 0.9
algebraic z = a
state x = 0, y = 0
x' = a
0 = z - if(x > 1, 2*a, a)
y' = if(z > 1.5*a, 3*a, 1)
""", 3, lambda a: 1 / a + 3 * a * (3 - 1 / a), methods=CONSTRAINED)

problem("a mass matrix", """
parameter a = 0.9, c = 1
state x = 0, z = 0, y = 0
2*x' + z' = 3*a
z' = a
y' = if(x > c, 2, x)
""", 3, lambda a, c: c**2 / (2 * a) + 2 * (3 - c / a), methods=("radau2a5", "rodas5p", "esdirk54i8"), mirror=False)

problem("a residual whose guard is zero at the start", """
parameter a = 1.2, b = 0.7
state v = 0, y = 0
b*v' = -a - if(v > 0, a/2, -a/2)
b*y' = if(v < 0, a, 5) + v
""", 3, lambda a, b: (3 * a - a / (2 * b) * mp.mpf(9) / 2) / b, methods=("radau2a5", "gauss3"), mirror=False)

for way, end in (("forward", 3), ("backward", -3)):
    problem(f"a residual, {way}", f"""
parameter M = 1.3, a = 1.2
state v = -1, y = 0
M*v' = {"" if end > 0 else "-"}a
y' = {"" if end > 0 else "-"}if(v > 0, 2, v^2)
""", end, lambda M, a: M / (3 * a) + 2 * (3 - M / a), methods=("radau2a5", "gauss3"), mirror=False)

# ---- scales ----

for unit in ("1e-15", "1e15"):
    problem(f"units of {unit}", f"""
parameter a = 1.2e{unit[2:]}, c = 1{unit[1:]}
state x = 0, y = 0
x' = a
y' = if(x > c, 2*x, a)
""", 3, lambda a, c: c + (9 * a**2 - c**2) / a, atol=1e-13 * float(unit))

problem("a late start", """
parameter a = 0.0012, c = 2
state x = 0, y = 0
x' = a
y' = if(x > c, 2*a, a)
""", 1.7e12 + 5000, lambda a, c: c + 2 * a * (5000 - c / a), start=1.7e12, tol=1e-6, mirror=False)

problem("a guard of forty components", """
parameter a = 1, c = 50
state x[1..40] = 0, y = 0
x[k]' = a*k/20 for k = 1..40
y' = if(sum(k = 1..40, x[k]) > c, 2, 1)
""", 2, lambda a, c: 4 - c / (41 * a))

problem("forty conditions", """
parameter a = 1, c = 50
state x[1..40] = 0
x[k]' = a*k/20 for k = 1..40
cost y' = sum(k = 1..40, if(x[k] > c/50, 1, 0))
""", 2.03, lambda a, c: sum(max(mp.mpf(2.03) - c * 20 / (50 * a * k), 0) for k in range(1, 41)))

problem("three crossings of one guard in a step", """
parameter a = 1, c = 0.1
state x = -6, y = 0
x' = a*(3*t^2 - 12*t + 11)
y' = if(x > c, 3, 1)
""", 4, lambda a, c: (lambda r: 4 + 2 * (r[1] - r[0] + 4 - r[2]))(
        sorted(mp.polyroots([a, -6 * a, 11 * a, -6 - c], maxsteps=200, extraprec=200), key=mp.re)))

problem("y0 behind the start of the model", """
parameter a = 1.1
state x = 1, y = 0
x' = -a
y' = if(x > 0, 7, 3*a)
""", 3, lambda a: 9 * a, y0=[-1.0, 0.0])

# ---- sliding ----

FOLLOWED = dict(sliding=1, methods=("dopri853", "radau2a5", "dopri5", "esdirk54i8", "verner98", "gauss3", "kvaerno54"))

problem("a state that is driven to zero and stays there", """
parameter a = 0.7, b = 0.4, c = 1.3
state x = c, y = 0
x' = if(x > 0, -a, b)
y' = x + if(x > 0, 3, -1)
""", 4, lambda a, b, c: c**2 / (2 * a) + 3 * c / a + (3 * b - a) / (a + b) * (4 - c / a), **FOLLOWED)

problem("a state that is driven to zero from the start, and leaves", """
parameter c = 2, b = 0.8
state x = 0, y = 0
x' = if(x > 0, t - c, b)
y' = x
""", 4, lambda c, b: (4 - c)**3 / 6, **FOLLOWED)

problem("a block that is pulled, comes to rest, and is torn away", """
parameter F = 0.4, mu = 1, v0 = 1
state v = v0, x = 0
v' = F*t - if(v > 0, mu, -mu)
x' = v
""", 4, lambda F, mu, v0: (lambda t: v0 * t - mu * t**2 / 2 + F * t**3 / 6 + F * (4 - mu / F)**3 / 6)(
    (mu - mp.sqrt(mu**2 - 2 * F * v0)) / F), **FOLLOWED)

problem("the energy of a thermostat without hysteresis", """
parameter wanted = 20, heat = 3, loss = 2
state T = 18
T' = if(T < wanted, heat, 0) - loss
cost energy' = if(T < wanted, heat, 0)
""", 4, lambda w, heat, loss: heat * (w - 18) / (heat - loss) + loss * (4 - (w - 18) / (heat - loss)), **FOLLOWED)

problem("a belt that a block is put on", """
parameter mu = 0.6, belt = 0.5, faster = 0.2
state v = 0, x = 0
v' = if(v > belt + faster*t, -mu, mu)
x' = v
""", 4, lambda mu, b, a: (lambda t: mu * t**2 / 2 + b * (4 - t) + a * (16 - t**2) / 2)(b / (mu - a)), **FOLLOWED)

sliding("both values drive back", "state x = 1\nx' = if(x > 0, -0.5, 0.5)\n", 5, 2)
sliding("both values drive back at the start", "state x = 0\nx' = if(x > 0, -0.5, 0.5)\n", 5, 0)
sliding("dry friction", "state v = 1, x = 0\nv' = 0.2 - if(v > 0, 0.7, -0.7)\nx' = v\n", 5, 2)
sliding("a jump to where it slides", "state x = 3\nx' = if(x > 0, -0.5, 0.5)\nevent e at 1\n    x := 0\n", 5, 1)
