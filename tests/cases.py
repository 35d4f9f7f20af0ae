"""Runs the functions test_... of a module and reports them in the format of cmocka, which ./run counts."""

import subprocess
import sys


def run_all(names):
    """names: globals() of the module; ends the program, with 1 if a test failed"""
    tests = [(name, what) for name, what in list(names.items()) if name.startswith("test_")]
    failed = 0
    print("[==========] Running %d test(s)." % len(tests))
    for name, what in tests:
        print("[ RUN      ] " + name)
        try:
            what()
            print("[       OK ] " + name)
        except (AssertionError, AttributeError, subprocess.CalledProcessError, OSError) as reason:
            failed += 1
            print("%s: %s" % (type(reason).__name__, reason))
            print("[  FAILED  ] " + name)
    sys.exit(failed > 0)
