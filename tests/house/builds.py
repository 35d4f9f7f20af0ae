"""Commits built side by side, for the tools of this folder: each with the same options, in a folder that goes again."""
import contextlib
import os
import subprocess
import sys
import tempfile

WORKING_TREE = ("working tree", "working", ".")
OPTIONS = ["--buildtype=release", "-Ddefault_library=both", "-Dtests=disabled", "-Dlbfgs=disabled"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "house")
# Threads would make counts depend on the machine's load.
ENVIRONMENT = dict(os.environ, OPENBLAS_NUM_THREADS="1", LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")


def run(*command, **more):
    """What the command prints; the tool ends, with the command's own words, when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **more)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


def name_of(commit):
    if commit in WORKING_TREE:
        return "working tree"
    return run("git", "-C", ROOT, "log", "-1", "--format=%h %s", commit, "--").strip()


@contextlib.contextmanager
def sources(commit):
    """The folder with the files of a commit, or of the project as it stands."""
    if commit in WORKING_TREE:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as place:
        tree = os.path.join(place, "costate")
        run("git", "-C", ROOT, "worktree", "add", "--detach", "--quiet", tree, commit)
        try:
            yield tree
        finally:
            run("git", "-C", ROOT, "worktree", "remove", "--force", tree)


@contextlib.contextmanager
def built(commit, *targets):
    """(sources, build folder) of a commit; the targets are as `meson compile` calls them."""
    with sources(commit) as source, tempfile.TemporaryDirectory() as place:
        build = os.path.join(place, "build")
        run("meson", "setup", *OPTIONS, "-Dpython=" + sys.executable, build, source)
        run("meson", "compile", "-C", build, *targets)
        yield source, build
