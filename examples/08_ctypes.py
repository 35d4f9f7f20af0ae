"""08_ctypes.py [libcostate.so] - the library from Python using only ctypes: x' = a x - b x y, y' = d x y - c y, and the
gradient of V = d x - c log x + b y - a log y at t = 10.  V does not change, so its gradients are those at t = 0."""
import ctypes
import math
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_void_p

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libcostate.so.2")
Doubles = POINTER(c_double)


class Point(Structure):
    _fields_ = [("t", c_double), ("y", Doubles), ("p", Doubles), ("yp", Doubles), ("m", Doubles), ("mode", c_int)]


class Gradient(Structure):
    _fields_ = [("t", Doubles), ("y", Doubles), ("p", Doubles), ("yp", Doubles), ("m", Doubles)]


Value = CFUNCTYPE(c_int, POINTER(Point), Doubles, c_void_p)
Adjoint = CFUNCTYPE(c_int, POINTER(Point), Doubles, POINTER(Gradient), c_void_p)


class Map(Structure):
    _fields_ = [("value", Value), ("tangent", c_void_p), ("adjoint", Adjoint), ("tangent2", c_void_p),
                ("adjoint_tangent", c_void_p), ("tangents", c_void_p), ("adjoints", c_void_p), ("prepare", c_void_p),
                ("adjoint_tangent2", c_void_p)]


class Problem(Structure):
    _fields_ = [("n", c_int), ("np", c_int), ("nq", c_int), ("ctx", c_void_p), ("rhs", Map), ("cost", Map),
                ("rest", c_char * 512)]


class Options(Structure):    # what is set, and zeros: at least as many as costate_options has bytes
    _fields_ = [("rtol", c_double), ("atol", c_double), ("rest", c_char * 1024)]


@Value
def f(point, out, ctx):
    (x, y), (a, b, c, d) = point[0].y[:2], point[0].p[:4]
    out[0], out[1] = a * x - b * x * y, d * x * y - c * y
    return 0


@Adjoint
def f_adjoint(point, w, g, ctx):
    (x, y), (a, b, c, d) = point[0].y[:2], point[0].p[:4]
    for to, products in ((g[0].y, ((a - b * y) * w[0] + d * y * w[1], -b * x * w[0] + (d * x - c) * w[1])),
                         (g[0].p, (x * w[0], -x * y * w[0], -y * w[1], x * y * w[1]))):
        for i, product in enumerate(products if to else ()):
            to[i] += product
    return 0


for name in ("costate_new", "costate_tape_new"):
    getattr(lib, name).restype = c_void_p
for name in ("costate_message", "costate_version"):
    getattr(lib, name).restype = c_char_p
if not lib.costate_version().startswith(b"2.0."):      # the structs above are of this version
    sys.exit("costate is %s" % lib.costate_version().decode())


def must(status):
    if status != 0:
        sys.exit(lib.costate_message(solver).decode())


problem = Problem(n=2, np=4, rhs=Map(value=f, adjoint=f_adjoint))       # kept: the solver points to the callbacks
options = Options(rtol=1e-9, atol=1e-9)
y, p = (c_double * 2)(1, 1), (c_double * 4)(1.5, 1, 3, 1)
a, b, c, d = p
solver = c_void_p(lib.costate_new(None, byref(problem), byref(options)))
tape = c_void_p(lib.costate_tape_new())
must(lib.costate_integrate(solver, c_double(0), c_double(10), y, p, tape))
seed = (c_double * 2)(d - c / y[0], b - a / y[1])                       # the gradient of V by y(10)
mu = (c_double * 4)(-math.log(y[1]), y[1], -math.log(y[0]), y[0])       # and that by p, which the sweep adds to
must(lib.costate_adjoint(solver, tape, 1, seed, mu, None, None))
lib.costate_tape_free(tape)
lib.costate_free(solver)
print("y(10) = %.8f %.8f, gradient of V by y(0): %.8f %.8f, by p: %.8f %.8f %.8f %.8f" % (*y, *seed, *mu))
sys.exit(max(abs(x - z) for x, z in zip((*seed, *mu), (d - c, b - a, 0, 1, 0, 1))) > 1e-6)
