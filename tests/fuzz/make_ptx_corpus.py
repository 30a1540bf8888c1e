"""Seeds for ptx_module_fuzz from nvcc's texts: each entry of at most 8 KB alone, and whole texts of at most 64 KB.

usage: make_ptx_corpus.py TEXTS FOLDER
"""
import pathlib
import re
import sys

MAX_ALONE, MAX_WHOLE = 8 << 10, 64 << 10


def pieces(text):
    """The header, then every function up to its closing brace at the start of a line."""
    head = text[: text.find(".address_size 64") + len(".address_size 64\n")]
    for match in re.finditer(r"^\.(?:visible|weak) \.(?:entry|func).*?^}\n", text, re.M | re.S):
        yield head + match.group(0)


def main(texts, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(pathlib.Path(texts).glob("*.ptx")):
        text = path.read_text()
        if len(text) <= MAX_WHOLE:
            (folder / path.name).write_text(text)
        for i, piece in enumerate(p for p in pieces(text) if len(p) <= MAX_ALONE):
            if i % 4 == 0:  # neighbours differ only in a type or rounding
                (folder / f"{path.name}.{i}").write_text(piece)


if __name__ == "__main__":
    main(*sys.argv[1:])
