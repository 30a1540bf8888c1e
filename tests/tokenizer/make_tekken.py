#!/usr/bin/env python3
"""Writes data/tekken.tsv: for the texts of data/words_texts.bin and of data/vocabularies.tar.xz, the ids of mistral-common
(PyPI: mistral-common 1.13.1), with its newest tekken vocabulary that has no pictures. The file's lines are

    token  ID  BYTES     in hexadecimal: every token that any of the texts contains, by id. Others cannot matter.
    ids    TEXT  ID...   TEXT: in hexadecimal

    python3 tests/tokenizer/make_tekken.py
"""
import os
import tarfile

import mistral_common
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
VOCABULARY = os.path.join(os.path.dirname(mistral_common.__file__), "data", "tekken_240911.json")
BETWEEN = "\n__ggml_vocab_test__\n"


def texts():
    with open(os.path.join(DATA, "words_texts.bin"), encoding="utf-8", newline="") as words:
        found = words.read().split("\0")
    with tarfile.open(os.path.join(DATA, "vocabularies.tar.xz")) as archive:
        found += archive.extractfile("ggml-vocab-qwen2.gguf.inp").read().decode().split(BETWEEN)[:-1]
    return [text for text in dict.fromkeys(found) if text]


def main():
    tokenizer = Tekkenizer.from_file(VOCABULARY)
    n_special = tokenizer.num_special_tokens
    ranks = tokenizer._model._mergeable_ranks
    all_texts = [text.encode() for text in texts()]
    longest = max(map(len, ranks))
    parts = {text[i:i + n] for text in all_texts for i in range(len(text)) for n in range(1, longest + 1)}
    with open(os.path.join(DATA, "tekken.tsv"), "w", encoding="ascii") as out:
        for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
            if len(token) == 1 or token in parts:
                print("token", rank + n_special, token.hex(), sep="\t", file=out)
        for text in all_texts:
            ids = tokenizer.encode(text.decode(), bos=False, eos=False)
            assert b"".join(tokenizer.id_to_byte_piece(i) for i in ids) == text
            print("ids", text.hex(), *ids, sep="\t", file=out)


if __name__ == "__main__":
    main()
