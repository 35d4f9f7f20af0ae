"""codes.py - where the benchmark ran, and what: versions, compilers, flags."""
import datetime
import json
import os
import platform
import re
import subprocess


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except OSError:
        return ""


def first_line(*command):
    return output(*command).split("\n")[0]


def version(package):
    return first_line("dpkg-query", "-W", "-f=${Version}", package) or "?"


def machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    return ["date: %s" % datetime.date.today().isoformat(),
            "machine: %s, %d cores, %s" % (model, os.cpu_count() or 0, platform.system())]


# ---- what ran ------------------------------------------------------------------------------------------------------


def compiled(build, target):
    """"compiler, flags": those of meson's target that make code faster or slower"""
    with open(os.path.join(build, "meson-info", "intro-targets.json")) as file:
        # the libraries that are installed are made of the objects of one that is not
        found = [t for t in json.load(file) if t["name"] in (target, target + "-inside")]
    made = next(s for t in found for s in t["target_sources"] if s.get("language") == "c")
    flags = [p for p in made["parameters"] if re.match("-(O|f|m|g|std|DNDEBUG)", p) and "diagnostics" not in p]
    return ", ".join([first_line(*made["compiler"], "--version"), " ".join(flags)])


def peers(build):
    """lines of the ABOUT files of -Dpeers"""
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json")) as file:
        option = next((o for o in json.load(file) if o["name"] == "peers"), {"value": []})
    lines = []
    for folder in option["value"]:
        with open(os.path.join(folder, "ABOUT")) as file:
            lines += [line.strip() for line in file]
    return lines


def libraries(program):
    """the packages of BLAS and LAPACK as the loader finds them"""
    found = []
    for path in re.findall(r"=> (\S*(?:blas|lapack|flame|mkl)\S*)", output("ldd", program)):
        path = os.path.realpath(path)
        package = first_line("dpkg-query", "-S", path).split(":")[0]
        found.append("%s %s" % (package, version(package)) if package else path)
    return ", ".join(dict.fromkeys(found)) or "?"


def peers_of(run):
    """what raced, and what could not"""
    about = peers(run.build)
    if not run.has["packaged"]:
        about = [line for line in about if not line.startswith("packaged:")]
    elif not any(line.startswith("packaged:") for line in about):
        about.append("packaged: Debian's libraries of SUNDIALS %s" % version("libsundials-dev"))
    if not run.has["cvodes"]:
        about.append("no CVODES could be built at -O3: " + ("the packaged one races in its place, and is called so"
                                                            if run.has["packaged"] else "its rows say failed"))
    if not run.has["idas"]:
        about.append("no IDAS could be built at -O3: it does not race")
    if not run.has["hairer"]:
        about.append("RADAU5 could not be built: it does not race")
    if not run.has["lsoda"]:
        about.append("LSODA could not be built: it does not race")
    if not run.has["rodas"]:
        about.append("RODAS, DOPRI5 and DOP853 are not there: they do not race (bench/peers/build.sh)")
    if not run.has["arkode"]:
        about.append("ARKODE with LSRKStep (SUNDIALS 7.2 or newer) is not there: it does not race "
                     "(bench/peers/build.sh)")
    if run.has["petsc"]:
        about.append("PETSc: Debian's %s, at -O2" % version("libpetsc-real-dev"))
    else:
        about.append("PETSc is not there (Debian: petsc-dev): it does not race")
    return about


def codes(run, raced=True):
    """raced: 0: the parts that were run have no peers"""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    commit = first_line("git", "-C", root, "describe", "--always", "--exclude", "*") or "(no commit)"
    if first_line("git", "-C", root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/RESULTS.md"):
        commit += "-dirty"                                 # but for what earlier parts of the same run have added
    return ["costate %s: %s" % (commit, compiled(run.build, "costate"))] + (peers_of(run) if raced else []) + [
        "callbacks and preconditioners of all codes: %s" % compiled(run.build, "problems"),
        "BLAS of all codes: %s; OPENBLAS_NUM_THREADS=%s, OPENBLAS_CORETYPE=%s" % (
            libraries(run.programs["costate"]), os.environ.get("OPENBLAS_NUM_THREADS"),
            os.environ.get("OPENBLAS_CORETYPE") or "(its choice)"),
        "SuiteSparse %s, SuperLU %s (packaged, shared by the codes that use them)" % (
            version("libsuitesparse-dev"), version("libsuperlu-dev"))]
