"""codegen.py ROOT: runs the tests of codegen/tests and reports them in the format of cmocka, which ./run
counts."""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
root, = sys.argv[1:]
sys.path.insert(0, root)
os.chdir(root)


class Cmocka(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.seen = len(self.failures) + len(self.errors), len(self.skipped)
        print("[ RUN      ] " + test.id(), flush=True)

    def stopTest(self, test):
        bad, skipped = self.failures + self.errors, self.skipped
        for _, what in bad[self.seen[0]:]:
            print(what)
        word = "  FAILED  " if len(bad) > self.seen[0] else "  SKIPPED " if len(skipped) > self.seen[1] else "      OK "
        print("[%s] %s" % (word.rjust(9), test.id()), flush=True)
        super().stopTest(test)


def goes_over_files(file):
    with open(os.path.join("codegen", "tests", file), encoding="utf-8") as text:
        return re.search(r"\bshipped\.(FILES|CHOSEN)\b", text.read())


# COSTATE_METHODS names the methods of files that a user has added (codegen/tests/shipped.py).  Tests that do not go
# over coefficient files, of equations for example, say nothing about them: their modules are left out.
named = os.environ.get("COSTATE_METHODS", "").split()
suite = unittest.TestSuite()
for file in sorted(os.listdir(os.path.join("codegen", "tests"))):
    if file.startswith("test_") and file.endswith(".py") and (not named or goes_over_files(file)):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromName("codegen.tests." + file[:-3]))
print("[==========] Running %d test(s)." % suite.countTestCases())
result = suite.run(Cmocka())
if result.skipped:
    print("[  SKIPPED ] %d test(s), listed below:" % len(result.skipped))
if not result.testsRun:
    print("no tests in codegen/tests")
sys.exit(0 if result.testsRun and result.wasSuccessful() else 1)
