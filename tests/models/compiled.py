"""What tests of generated C share: arguments SOURCE BUILD SANITIZE COMPILER..., compiling and running a program."""
import os
import subprocess
import sys

root, build, sanitize, compiler = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
sys.path[:0] = [root, os.path.join(root, "tests")]

from cases import Skipped  # noqa: E402

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-I" + root + "/include"] + \
    ([] if sanitize == "none" else ["-fsanitize=" + sanitize])


def run(*command):
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", LD_LIBRARY_PATH=build)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    assert done.returncode == 0, "%s: %d\n%s" % (" ".join(command)[:200], done.returncode, done.stdout[:3000])
    return done.stdout


def need_library():
    if not os.path.exists(os.path.join(build, "libcostate.so")):
        raise Skipped("there is no shared library")


def program(place, driver, sources, *options):
    """The program of the text of a driver and of C files, in place; options: of the compiler"""
    file, exe = os.path.join(place, "driver.c"), os.path.join(place, "driver")
    with open(file, "w", encoding="utf-8") as out:
        out.write(driver)
    run(*compiler, *FLAGS, "-O0", *options, file, *sources, "-o", exe, "-L" + build, "-lcostate", "-lm")
    return exe
