"""The page that computes: its form, and the scripts of docs/site/compute; without them the page says so."""
import shutil

SCRIPTS = ("module.js", "compute.js")            # in this order
FORM = """```{{raw}} html
<link rel="stylesheet" href="../_static/compute.css">
<div id="compute"><p>This page needs JavaScript.</p></div>
{scripts}
```

"""
WITHOUT = ("This copy of the site was built without the module, because there was no compiler for WebAssembly: on "
           "Debian install `clang`, `lld`, `wasi-libc` and `libclang-rt-dev-wasm32`, and run `./run docs` again.\n\n")


def form():
    return FORM.format(scripts="\n".join(f'<script src="../_static/{name}"></script>' for name in SCRIPTS))


def compute_page(sources, scripts):
    """Adds the form before the first heading; scripts: the directory that docs/site/compute has written, or None.
    Returns the directories of static files that it needs."""
    page = sources.out / "start" / "compute.md"
    before, heading, after = page.read_text(encoding="utf-8").partition("\n## ")
    page.write_text(f"{before}\n{WITHOUT if scripts is None else form()}## {after}", encoding="utf-8")
    if scripts is None:
        return []
    place = sources.out / "compute"
    place.mkdir(exist_ok=True)
    for name in (*SCRIPTS, "compute.css"):
        shutil.copy(scripts / name, place)
    return [str(place)]
