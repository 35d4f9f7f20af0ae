"""python_speed.py - compiled models run from Python, beside the same runs in C: ratios, cost of a call, two threads.

    python3 bench/python_speed.py [PAIRS]

A program in C is compiled against the same libraries and waits for orders.  Each number is the median over pairs
(default 101): C and Python take turns, each with the same number of calls, and ratios are those of pairs.  Times are
those of the processor, except for threads, so that other programs disturb them less."""
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import costate
from costate import _places as places
from costate._compile import FLAGS
from costate.models import Model

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
DRIVER = """
#include <costate/costate.h>
#include <costate/linsol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const costate_problem *NAME_problem(void);
void NAME_start(double t, const double *p, double *y);
extern const double NAME_defaults[];
const costate_backend *NAME_backend(void);

/* orders: MODE t1 CALLS, where MODE is i (integrate), r (with record), g (with record and gradient) */
int main(int argc, char **argv)
{
    const costate_problem *P = NAME_problem();
    const int N = P->n + P->nq + P->nm;
    costate_options o = {.rtol = atof(argv[2]), .atol = atof(argv[2]), .max_steps = 1000000000,
                         .backend = BACKEND};
    costate *c = costate_new(costate_method_find(argv[1]), P, &o);
    double *y = calloc((size_t)N, sizeof *y), *lambda = calloc((size_t)N, sizeof *lambda), t1;
    double *mu = calloc((size_t)P->np, sizeof *mu), ends[2];
    char mode;
    int calls;
    while (argc == 3 && scanf(" %c %lf %d", &mode, &t1, &calls) == 3) {
        const clock_t start = clock();
        for (int k = 0; k < calls; k++) {
            costate_tape *tape = mode == 'i' ? NULL : costate_tape_new();
            NAME_start(0, NAME_defaults, y);
            if (costate_integrate(c, 0, t1, y, NAME_defaults, tape)) return puts(costate_message(c)), 1;
            if (mode == 'g') {
                memset(lambda, 0, (size_t)N * sizeof *lambda);
                memset(mu, 0, (size_t)P->np * sizeof *mu);
                lambda[0] = 1;
                costate_times times = {.t0 = &ends[0], .t1 = &ends[1]};
                if (costate_adjoint(c, tape, 1, lambda, mu, &times, NULL)) return puts(costate_message(c)), 1;
            }
            costate_tape_free(tape);
        }
        printf("%.9f %.17g\\n", (double)(clock() - start) / CLOCKS_PER_SEC, mode == 'g' ? mu[0] : y[0]);
        fflush(stdout);
    }
    return 0;
}
"""
CHUNK = 0.004           # seconds of a turn: short, so that other programs disturb few pairs
MODES = {"i": "integrate", "r": "with record", "g": "gradient"}
FIRST = costate.Functional(lambda t, y, p: y[0], end_y=lambda t, y, p: np.eye(1, len(y))[0])
# model, method, rtol = atol, t1 of a short run, t1 of a long run
CASES = [("lotka_volterra", "dopri5", 1e-6, 0.01, 300.0), ("pollution", "rodas5p", 1e-8, 1e-6, 6000.0),
         ("kepler", "verner98", 1e-10, 0.01, 200.0)]


class InC:
    """The program in C for the model, method and tolerances of a Problem."""

    def __init__(self, problem, place):
        model = problem.model
        backend = "NAME_backend()" if problem.built(0.0, None, None)[0].o.backend else "NULL"
        driver = DRIVER.replace("BACKEND", backend).replace("NAME", model.name)
        with open(os.path.join(place, "driver.c"), "w", encoding="utf-8") as out:
            out.write(driver)
        program = os.path.join(place, model.name)
        flags = [flag for flag in FLAGS if flag != "-shared"]
        subprocess.run(["cc", *flags, "-I", places.INCLUDE, os.path.join(place, "driver.c"),
                        str(model._c.path), "-o", program, os.path.join(places.LIBRARY, places.FILE),
                        f"-Wl,-rpath,{places.LIBRARY}", "-lm"], check=True)
        self.process = subprocess.Popen([program, problem.method, repr(problem.rtol)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def seconds(self, mode, t1, calls):
        self.process.stdin.write(f"{mode} {t1!r} {calls}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        try:
            seconds, value = map(float, line.split())
        except ValueError:
            raise SystemExit("in C: " + line) from None
        return seconds / calls, value

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def one_in_python(problem, mode, t1):
    run = problem.integrate((0.0, t1), problem.model.start(), record=mode != "i")
    return run.gradient(FIRST).p[0] if mode == "g" else run.y[0]


def in_python(problem, mode, t1, calls):
    start = time.process_time()
    for _ in range(calls):
        value = one_in_python(problem, mode, t1)
    return (time.process_time() - start) / calls, value


def paired(problem, c, mode, t1, pairs):
    """[(seconds in C, seconds in Python)] of one call each"""
    calls = max(1, int(CHUNK / max(in_python(problem, mode, t1, 3)[0], c.seconds(mode, t1, 3)[0])))
    both = [(c.seconds(mode, t1, calls), in_python(problem, mode, t1, calls)) for _ in range(pairs)]
    if any(one[1] != other[1] for one, other in both):
        raise SystemExit(f"Python and C differ: {both[0]}")
    return [(one[0], other[0]) for one, other in both]


def compared(problem, c, mode, short, long_, pairs):
    """medians: seconds in C; of Python more in a short run; ratio; ratio without what a short run takes more"""
    fixed = statistics.median(b - a for a, b in paired(problem, c, mode, short, pairs))
    times = paired(problem, c, mode, long_, pairs)
    return [statistics.median(a for a, _ in times), fixed, statistics.median(b / a for a, b in times),
            statistics.median((b - fixed) / a for a, b in times)]


def beside_c(pairs, place):
    print(f"{'model':>15} {'method':>9} {'call':>12} {'fixed cost, us':>15} {'long run in C, us':>18} {'Python/C':>9} "
          f"{'without fixed cost':>19}")
    for name, method, tol, short, long_ in CASES:
        model = Model.from_file(os.path.join(ROOT, "models", name + ".eq"))
        problem = costate.Problem(model, method=method, rtol=tol, atol=tol, max_steps=10 ** 9)
        c = InC(problem, place)
        for mode, title in MODES.items():
            seconds, fixed, ratio, rest = compared(problem, c, mode, short, long_, pairs)
            print(f"{name:>15} {method:>9} {title:>12} {1e6 * fixed:15.1f} {1e6 * seconds:18.1f} {ratio:9.3f} "
                  f"{rest:19.3f}", flush=True)
        c.close()


def two_threads(pairs):
    """wall time of two threads with one run each over that of one thread with both"""
    model = Model.from_file(os.path.join(ROOT, "models", "lotka_volterra.eq"))
    problem = costate.Problem(model, method="dopri5", max_steps=10 ** 9)

    def work():
        problem.integrate((0.0, 20000.0), record=False)

    def both(parallel):
        start = time.perf_counter()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
            if not parallel:
                thread.join()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start

    found = [(both(False), both(True)) for _ in range(pairs)]
    print(f"\ntwo runs of {500 * statistics.median(a for a, _ in found):.0f} ms: two threads are "
          f"{statistics.median(a / b for a, b in found):.2f} times as fast as one, on {os.cpu_count()} processors")


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 101
    with tempfile.TemporaryDirectory() as place:
        beside_c(pairs, place)
    two_threads(min(pairs, 15))


if __name__ == "__main__":
    main()
