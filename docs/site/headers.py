"""Pages of the C headers: Doxygen reads the comments, Breathe shows them; the parts of a header are those of its
comments  /* ---- title ---- */."""
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from copy import deepcopy

from rst import capital, escaped, literal, titled

DOXYFILE = """
INPUT = {headers}
OUTPUT_DIRECTORY = {out}
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
PREDEFINED = COSTATE_NO_HANDSHAKE
XML_PROGRAMLISTING = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = YES
"""
PART = re.compile(r"^/\* -{4,} ([^\n]+?) -{4,} \*/$")
ABOUT = re.compile(r"/\* (\S+) - (.*?\.)\n(.*?)\*/", re.S)


def header_files(root):
    """costate.h is what all others include"""
    return sorted(root.glob("include/costate/*.h"), key=lambda path: (path.stem != "costate", path.stem))


def documented(headers, out):
    """Runs Doxygen; {header: directory of its XML}."""
    out.mkdir(parents=True, exist_ok=True)
    text = DOXYFILE.format(headers=" ".join(f'"{path}"' for path in headers), out=out)
    subprocess.run(["doxygen", "-"], input=text, text=True, check=True, cwd=out)
    for path in sorted((out / "xml").glob("*.xml")):
        share_comments(path)
    return {header.stem: of_header(header, out / "xml", out / header.stem) for header in headers}


def of_header(header, directory, out):
    """The XML of one header, with an index of its own: Breathe searches an index from end to end for each name."""
    out.mkdir(exist_ok=True)
    index = xml.parse(directory / "index.xml")
    compounds = index.getroot()
    file = next(c.get("refid") for c in compounds if c.findtext("name") == header.name)
    inside = [file, *(x.get("refid") for x in xml.parse(directory / (file + ".xml")).iter("innerclass"))]
    compounds[:] = [c for c in compounds if c.get("refid") in inside]
    index.write(out / "index.xml", encoding="utf-8", xml_declaration=True)
    for name in inside:
        shutil.copy(directory / (name + ".xml"), out)
    return out


def share_comments(path):
    """Doxygen gives the comment behind `double rtol, atol;` to the last name only."""
    tree = xml.parse(path)
    changed = False
    for section in tree.iter("sectiondef"):
        members = section.findall("memberdef")
        for member, following in list(zip(members, members[1:]))[::-1]:
            if line(member) == line(following) and not comment(member) and comment(following):
                for kind in ("briefdescription", "detaileddescription"):
                    there = member.find(kind)
                    there[:] = deepcopy(following.find(kind)[:])
                    changed = True
    if changed:
        tree.write(path, encoding="utf-8", xml_declaration=True)


def line(member):
    return int(member.find("location").get("line"))


def comment(member):
    parts = (member.find(kind).itertext() for kind in ("briefdescription", "detaileddescription"))
    return "".join("".join(part) for part in parts).strip()


def declared(directory):
    """(line, kind, name) of what a header declares, in its order."""
    found = []
    for compound in xml.parse(directory / "index.xml").getroot():
        definition = xml.parse(directory / (compound.get("refid") + ".xml")).find("compounddef")
        if compound.get("kind") == "struct":
            found.append((line(definition), "struct", compound.findtext("name")))
        else:
            found += [(line(m), m.get("kind"), m.findtext("name")) for m in definition.iter("memberdef")]
    return sorted(found)


def page(header, directory):
    """reStructuredText"""
    text = header.read_text(encoding="utf-8")
    name, title, about = ABOUT.match(text).groups()
    parts = [(0, "")] + [(k, PART.match(row)[1]) for k, row in enumerate(text.splitlines(), 1) if PART.match(row)]
    parts.append((len(text), ""))
    out = [*titled(f"<costate/{name}>"), capital(title), "", *prose(about)]
    rows = declared(directory)
    for (first, heading), (last, _) in zip(parts, parts[1:]):
        inside = [row for row in rows if first <= row[0] < last and not row[2].endswith("_H")]
        if inside and heading:
            out += titled(capital(heading), "-")
        for _, kind, of in inside:
            out += [f".. doxygen{kind}:: {of}", f"   :project: {header.stem}", ""]
    return "\n".join(out) + "\n"


def prose(comment_text):
    """A comment: its paragraphs; what is indented deeper is a quotation, or shown as it is."""
    out = []
    for block in re.split(r"\n\n+", comment_text.rstrip()):
        lines = [re.sub("^   ", "", row).rstrip() for row in block.split("\n")]
        deep = all(row.startswith("    ") for row in lines if row)
        if deep and re.search(r"\||\S   ", block):           # formulas, a table
            out += literal(lines)
        else:
            quoted = "    " if deep else ""
            out += [quoted + escaped(row.strip()) for row in lines] + [""]
    return out
