#!/usr/bin/env python3
"""Writes data/words_texts.bin (texts separated by NUL) and data/words.tsv: for each name of tokenizer.ggml.pre, the
lengths in bytes of the words into which Hugging Face's tokenizers (PyPI: tokenizers 0.23.3) splits each text. The
patterns are those of the models' tokenizer.json.

    python3 tests/tokenizer/make_words.py
"""
import os
import random

from tokenizers import Regex
from tokenizers.pre_tokenizers import Digits, Sequence, Split

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")

SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SEED_CODER = SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
MINICPM5 = SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CAPITAL, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = (rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITAL}*{SMALL}+|[^\r\n\p{{L}}\p{{N}}]?{CAPITAL}+{SMALL}*|\p{{N}}" + REST)
GPT4O = (rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITAL}*{SMALL}+{SHORT}?|[^\r\n\p{{L}}\p{{N}}]?{CAPITAL}+{SMALL}*{SHORT}?"
         r"|\p{N}{1,3}" + REST)
CASED = ("A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
         "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d"
         "\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc"
         "\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115"
         "\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184"
         "\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787"
         "\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
         "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
         "\U0001e900-\U0001e943")
CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"


def splits(*patterns):
    return Sequence([Split(Regex(pattern), "isolated") for pattern in patterns])


SMOLLM = Sequence([Digits(individual_digits=True), Split(Regex(GPT2), "isolated")])
PRE_TOKENIZERS = {
    splits(LLAMA3): "llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 smaug-bpe dbrx glm4 chatglm-bpe",
    splits(QWEN2): "qwen2 kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2",
    splits(GPT2): "gpt-2 mellum a.x-4.0 phi-2 gigachat exaone4 trillion granite-docling",
    SMOLLM: "smollm minerva-7b starcoder refact command-r codeshell exaone mellum2",
    splits(TEKKEN): "tekken",
    splits(GPT4O): "gpt-4o llama4 kanana2",
    splits(SEED_CODER): "seed-coder",
    splits(r"\p{N}{1,3}", MINICPM5): "minicpm5",
    splits("[\r\n]", rf"\s?[{CASED}]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$",
           CJK, r"\p{N}+"): "deepseek-llm",
    splits("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"): "deepseek-coder",
}

TEXTS = [
    "Hello, world! How's it going? I'LL, we'Ve, don'T o'clock 'sup'",
    "camelCase HTTPServer XMLHttpRequest iPhone McDonald ALL_CAPS ABCdef's XYZ'S mIxEd",
    "1 12 123 1234 12345678 3.14 1,000,000 v2.0b x86_64 \u00bd \u2167 \u0968\u0969 \uff11\uff12\uff13\uff14",
    "a  b   c\n\n\n  d\t\te \r\n f\r\rg \n  \n",
    "   three spaces before, two after  ",
    "for (int i = 0; i < n; ++i) {\n\tx[i] += y->z;  // a/b\n}\n\n#include <a/b.h>\n",
    "https://example.org/a/b?c=d&e=%20//\n/usr/bin///\r\n./x",
    "\u00c4pfel und \u00d6l, na\u00efve caf\u00e9 e\u0301 a\u0308 \u01c5ungla \u01c8 \u02b0h \u00aao \u0301x",
    "\u042d\u0442\u043e \u0422\u0415\u041a\u0421\u0422, \u0437\u0434\u0435\u0441\u044c. \u0395\u03bb\u03bb\u03b7\u03bd"
    "\u03b9\u03ba\u03ac \u0386\u1fbe\u1fd3 \u212a\u2126 \u0531\u0562 \u10d0\u10a0",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u3053\u3093\u306b\u3061\u306f\u30ab\u30bf\u30ab\u30ca abc\u4f60\u597d123"
    " \uff21\uff22\uff23\uff01\u3000\u3001",
    "\uc548\ub155\ud558\uc138\uc694 \u1112\u1161\u11ab \u3131 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"
    " \u0645\u0631\u062d\u0628\u0627 \u05e9\u05b8\u05dc\u05d5\u05b9\u05dd \u0928\u092e\u0938\u094d\u0924\u0947",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f999.cpp \U0001f642\U0001f642!!",
    "tab\tnbsp\u00a0wide\u3000thin\u2009line\u2028para\u2029nel\u0085vt\x0bff\x0cx \u180e y\u200bz",
    "\u2018q\u2019 \u201cq\u201d \u2026 \u2014 \u20ac5 $5 \u00a35 5% #1 @a ~b ^c `d` |e| <f> =g +h \\i",
    "\U00010400\U00010428 \U0001d400\U0001d41a \U000118a0 \U0001e900\U0001e922 \U00020000\u9fa6\u9fa5",
    "\x01\x02\x7f\x1b[0m \u0000b",
    "'s 't 're 've 'm 'll 'd 'S 'T 'RE 'VE 'M 'LL 'D '\u017f 'x",
    "don't DON'T Don't it'S we'll WE'LL ABC'd abc'Re",
]


def random_texts():
    """Texts of pieces whose borders differ between the patterns."""
    pieces = ["a", "B", "Cd", "eF", "G", "\u01c5", "\u02b0", "\u0301", "\u4f60", "\ud55c", "\u0915\u093e", "1", "234",
              "\u0968", " ", "  ", "\n", "\r\n", "\t", "\u3000", "'s", "'LL", "'", "/", "//", ".", "\u3002", "!?",
              "\u20ac", "+", "_", "\U0001f642", "-"]
    source = random.Random(11)
    return ["".join(source.choice(pieces) for _ in range(source.randrange(2, 24))) for _ in range(120)]


def main():
    texts = [text.replace("\0", "") for text in TEXTS] + random_texts()
    with open(os.path.join(DATA, "words_texts.bin"), "wb") as out:
        out.write("\0".join(texts).encode())
    with open(os.path.join(DATA, "words.tsv"), "w", encoding="ascii") as out:
        for pre, names in PRE_TOKENIZERS.items():
            words = [[len(word.encode()) for word, _ in pre.pre_tokenize_str(text)] for text in texts]
            for text, lengths in zip(texts, words):
                assert sum(lengths) == len(text.encode()), text
            print(names, *(",".join(map(str, lengths)) for lengths in words), sep="\t", file=out)


if __name__ == "__main__":
    main()
