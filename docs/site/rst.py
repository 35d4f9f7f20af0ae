"""Pieces of reStructuredText, for pages that are generated; each is a list of lines, or text for one."""
import re


def titled(text, mark="="):
    return [text, mark * len(text), ""]


def capital(text):
    """A title of a text that begins in lower case, except for names."""
    return text if re.match(r"costate|\w+\.\w", text) else text[:1].upper() + text[1:]


def escaped(text):
    """Text without markup."""
    return re.sub(r"([\\*_`|])", r"\\\1", text)


def literal(lines):
    """A block that is shown as it is."""
    return ["::", "", *("    " + line for line in lines), ""]


def raw(text):
    """HTML; nothing of an empty text."""
    return [".. raw:: html", "", *("   " + line for line in text.splitlines()), ""] if text else []


def image(name, words, of_class, target=None):
    leads = [f"   :target: {target}"] if target else []
    return [f".. image:: {name}", f"   :alt: {words}", *leads, f"   :class: {of_class}", ""]
