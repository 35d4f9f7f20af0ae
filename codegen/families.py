"""The families of methods: enum costate_family of include/costate/costate.h, with the comment behind each name."""
import re
from pathlib import Path

HEADER = Path(__file__).resolve().parent.parent / "include" / "costate" / "costate.h"


def families(text):
    """{folder below methods/: the family's full name} from the text of costate.h, in the order of the enum; the name
    ends at a colon"""
    body = re.search(r"\benum costate_family \{(.*?)\};", text, re.S)[1]
    found = re.findall(r"\bCOSTATE_(\w+),?\s*/\*(?:\*<)?(.*?)\*/", body, re.S)
    return {name.lower(): " ".join(words.split(":")[0].split()) for name, words in found}


FAMILIES = families(HEADER.read_text(encoding="utf-8"))
