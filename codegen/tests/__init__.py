"""Tests of the code generator: python3 -m unittest discover -s codegen/tests -t ."""
