"""Equation files to C: one expression graph, from which value, Jacobian and all products of a costate_map come."""
