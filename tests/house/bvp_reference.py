"""Writes tests/bvp/bvp_reference.h from the values of boundary value problems of the shared oracles.

    python3 tests/house/bvp_reference.py VALUES.json > tests/bvp/bvp_reference.h

VALUES.json: {problem: {q_names, q, trajectory, starts with their gradients, functionals or points}}, numbers as decimal
strings.  What comes out is a list of functionals a problem: time, what it is, value, gradient by q."""
import json
import sys

HEAD = """/* bvp_reference.h - values and gradients of boundary value problems, as decimals longer than a double.

   The shared oracles' values, written by tests/house/bvp_reference.py: nothing here was made by this library.  For
   bvps.c alone, which says what the problems and their parameters q are. */
#ifndef TESTS_BVP_REFERENCE_H
#define TESTS_BVP_REFERENCE_H

#include "bvps.h"
"""

# by name: the components at the first time whose value and gradient are known
STARTS = (("theta_dot_0", "dtheta_dot_0_dq", 1), ("yprime_0", "dyprime_0_dq", 1))


def number(text):
    """the decimal without zeros that say nothing"""
    mantissa, e, exponent = text.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa + e + exponent


def functionals(problem):
    """(t, what, value, gradient or None): what: a component of y, or one of the names of bvps.h"""
    for name, gradient, component in STARTS:
        if name in problem:
            yield "0", component, problem[name], problem[gradient]
    for k, value in enumerate(problem.get("x_at_0", [])):
        yield "0", k, value, problem["dx%d_0_dq" % (k + 1)]
    for at in problem.get("trajectory", []):
        yield at["t"], 0, at["theta"], None
        yield at["t"], 1, at["theta_dot"], None
    for tau, at in problem.get("functionals", {}).items():
        yield tau[4:], "BVPS_COST", at["g"], at["dg_dq"]
        yield tau[4:], "BVPS_INTEGRAL", at["G"], at["dG_dq"]
    for tau, at in problem.get("points", {}).items():
        yield tau[4:], 0, at["y"], at["dy_dq"]
        yield tau[4:], "BVPS_INTEGRAL", at["G"], at["dG_dq"]


def array(name, numbers):
    """lines of at most 120 columns"""
    lines, line = ["static const double %s[] = {" % name], "   "
    for k, text in enumerate(numbers):
        piece = " " + number(text) + ("," if k + 1 < len(numbers) else "")
        if len(line) + len(piece) > 120:
            lines.append(line)
            line = "   "
        line += piece
    return lines + [line, "};"]


def written(name, problem):
    found = list(functionals(problem))
    lines = array(name + "_q", problem["q"])
    rows = []
    for k, (t, what, value, gradient) in enumerate(found):
        if gradient:
            lines += array("%s_gradient_%d" % (name, k), gradient)
        rows.append("    {%s, %s, %s, %s}%s" % (number(t), what, number(value), "%s_gradient_%d" % (name, k)
                                                if gradient else "NULL", "," if k + 1 < len(found) else ""))
    return lines + ["static const bvps_functional %s_functionals[] = {" % name] + rows + ["};"]


def main():
    with open(sys.argv[1]) as file:
        values = json.load(file)
    print(HEAD)
    for name, problem in values.items():
        print("\n".join(written(name.replace("eps", "").replace(".", "_"), problem)) + "\n")
    print("#endif")


main()
