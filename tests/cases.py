"""Runs the functions test_... of a module and reports them in the format of cmocka, which ./run counts."""

import glob
import os
import subprocess
import sys


class Skipped(Exception):
    """raised by a test that needs what is not there; says what"""


def tracked(root, folder):
    """The files that git knows; none where there is no git, or no repository."""
    try:
        return subprocess.run(["git", "ls-files", folder], cwd=root, capture_output=True, text=True).stdout.split()
    except OSError:
        return []


def documents(root):
    """The pages of docs, in all its folders, by their paths from the root."""
    return sorted(os.path.relpath(name, root)
                  for name in glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True))


def fails(kind, words, call, *arguments, **named):
    """the exception of this kind that the call raises, which says these words"""
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), f"{error!r} does not say {words!r}"
        return error
    raise AssertionError(f"no {kind.__name__} with {words!r}")


def run_all(names):
    """names: globals() of the module; ends the program, with 1 if a test failed"""
    tests = [(name, what) for name, what in list(names.items()) if name.startswith("test_")]
    failed, skipped = 0, []
    print("[==========] Running %d test(s)." % len(tests))
    for name, what in tests:
        print("[ RUN      ] " + name, flush=True)
        try:
            what()
            print("[       OK ] " + name)
        except Skipped as reason:
            skipped.append(name)
            print("[  SKIPPED ] %s: %s" % (name, reason))
        except Exception as reason:         # whatever it is, the tests behind it run
            failed += 1
            print("%s: %s" % (type(reason).__name__, reason))
            print("[  FAILED  ] " + name)
    if skipped:
        print("[  SKIPPED ] %d test(s), listed below:\n%s" % (len(skipped), "\n".join(skipped)))
    sys.exit(failed > 0)
