"""small_svg.py PICTURE.svg... - the same pictures in a fraction of the bytes and in a few lines, as git keeps them.

Coordinates have one decimal of a point.  Curves are polylines, whose points are left out where the line does not move
by more than a tenth of a point without them.  Styles that repeat become classes; what is not seen goes: metadata,
names that nothing refers to, groups without attributes.  Letters stay letters, so that they can be searched and read
aloud."""
import base64
import io
import math
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NEAR = 0.1                                  # of a polyline's point to the line that replaces it, in points
PNG = "data:image/png;base64,"
COLUMNS = 2000                              # a line ends behind the first element beyond
POLYLINE = re.compile(r"(?:[ML]\s*[-+.\de]+[\s,]+[-+.\de]+\s*|[Zz]\s*)+$")


def small(text):
    xml.register_namespace("", SVG)
    xml.register_namespace("xlink", LINK)
    root = xml.fromstring(text)
    unseen(root)
    rename(root)
    for element in root.iter():
        numbers(element)
    classes(root)
    return lines(xml.tostring(root, encoding="unicode"))


def unseen(parent):
    """without metadata, names and empty or bare groups; text between elements is only indentation"""
    kept = []
    for child in parent:
        unseen(child)
        kept += list(child) if bare(child) else [] if child.tag == f"{{{SVG}}}metadata" else [child]
    for child in kept:
        child.tail = None if parent.tag in (f"{{{SVG}}}{name}" for name in ("svg", "g", "defs")) else child.tail
    if kept and parent.text and not parent.text.strip():
        parent.text = None
    parent[:] = kept


def bare(group):
    return group.tag == f"{{{SVG}}}g" and set(group.keys()) <= {"id"}


def rename(root):
    """short names, only of what is referred to"""
    text = xml.tostring(root, encoding="unicode")
    used = dict.fromkeys(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    short = {a or b: f"i{k}" for k, (a, b) in enumerate(used)}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in short:
            element.set("id", short[name])
        for key, value in element.items():
            element.set(key, re.sub(r"#([\w.-]+)", lambda m: "#" + short.get(m[1], m[1]), value))


def numbers(element):
    for key, value in element.items():
        if key == "d" and POLYLINE.match(value.strip()):
            element.set(key, polyline(value))
        elif key == "d":
            element.set(key, re.sub(r"\s*([A-Za-z])\s*", r"\1", rounded(value, 2)).strip())
        elif key in ("x", "y"):
            element.set(key, rounded(value, 1))
        elif value.startswith(PNG):
            element.set(key, PNG + few_colours(value[len(PNG):]))
        elif key == "transform":
            element.set(key, rounded(value, 2))


def few_colours(image):
    """an image in base64 with a palette; it has one colour map, of which 96 colours cannot be told from all"""
    from PIL import Image
    out = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(image))).quantize(96).save(out, "png", optimize=True)
    return base64.b64encode(out.getvalue()).decode("ascii")


def rounded(text, decimals):
    return re.sub(r"-?\d*\.?\d+(?:e-?\d+)?(?![\w.])", lambda m: number(float(m[0]), decimals), " ".join(text.split()))


def number(x, decimals=1):
    text = f"{round(x, decimals) + 0.0:.{decimals}f}"               # without the sign of -0
    return re.sub(r"^(-?)0\.", r"\1.", text.rstrip("0").rstrip(".") if decimals else text)


def polyline(text):
    """each part as M x y l dx dy ..., with differences of the rounded coordinates, whose errors do not add up"""
    out = ""
    for part in re.findall(r"M[^M]*", text):
        points = [(float(x), float(y)) for x, y in re.findall(r"([-+.\de]+)[\s,]+([-+.\de]+)", part)]
        points = [(round(x, 1), round(y, 1)) for x, y in thinned(points)]
        steps = [c - a for p, q in zip(points, points[1:]) for a, c in zip(p, q) if p != q or len(points) == 2]
        out += "M" + compact(points[0]) + ("l" + compact(steps) if steps else "") + "z" * (part.strip()[-1] in "Zz")
    return out


def compact(values):
    return re.sub(r" (?=-)", "", " ".join(map(number, values)))


def distance(point, a, b):
    """of a point to the line through a and b, or to a if they are one"""
    (x, y), (u, v) = (point[0] - a[0], point[1] - a[1]), (b[0] - a[0], b[1] - a[1])
    return abs(u * y - v * x) / math.hypot(u, v) if (u, v) != (0, 0) else math.hypot(x, y)


def thinned(points):
    """Douglas and Peucker: the ends, and the point that is farthest from the line between them if it is not near"""
    keep, parts = {0, len(points) - 1}, [(0, len(points) - 1)]
    while parts:
        a, b = parts.pop()
        far, k = max(((distance(points[k], points[a], points[b]), k) for k in range(a + 1, b)), default=(0, 0))
        if far > NEAR:
            keep.add(k)
            parts += [(a, k), (k, b)]
    return [points[k] for k in sorted(keep)]


def classes(root):
    """a class for each style that repeats; the rules join the first style sheet"""
    count = Counter()
    for element in root.iter():
        if element.get("style"):
            element.set("style", re.sub(r"\s*([:;])\s*", r"\1", element.get("style")).strip(";"))
            count[element.get("style")] += 1
    names = {style: f"c{k}" for k, (style, many) in enumerate(count.most_common()) if many > 1}
    for element in root.iter():
        if element.get("style") in names:
            element.set("class", names[element.attrib.pop("style")])
    sheet = root.find(f".//{{{SVG}}}style")
    if sheet is not None:
        sheet.text = (sheet.text or "").strip() + "".join(f".{name}{{{style}}}" for style, name in names.items())


def lines(text):
    out = [""]
    for piece in re.split(r"(?<=>)(?=<(?:path|g|use|defs|text)\b)", text):
        if len(out[-1]) > COLUMNS:
            out.append("")
        out[-1] += piece
    return "\n".join(out) + "\n"


def shrink(path):
    path = Path(path)
    path.write_text(small(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        shrink(name)
