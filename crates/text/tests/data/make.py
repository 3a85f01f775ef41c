"""Writes the expected values of the tests: needs tokenizers and transformers. Run as `python make.py` in this directory."""

import json
from pathlib import Path

from tokenizers import Regex, Tokenizer, pre_tokenizers
from transformers.utils.chat_template_utils import render_jinja_template

HERE = Path(__file__).parent
SPLITS = json.loads((HERE / "../../src/pre_tokenizers.json").read_text())["pre"]


def letters() -> list[str]:
    """The byte alphabet, byte 0 first."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in own]
    return [chr(byte) if byte in own else chr(256 + rest.index(byte)) for byte in range(256)]


def added(id: int, content: str, special: bool = True, **flags) -> dict:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": content, "special": special} | plain | flags


def byte_level(words: list[str], merges: list, split: list[str], ignore: bool = False, tokens: list[str] = ()) -> dict:
    vocab = {token: id for id, token in enumerate([*letters(), *words])}
    steps = [{"type": "Split", "pattern": {"Regex": p}, "behavior": "Isolated", "invert": False} for p in split]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added(len(vocab) + at, token) for at, token in enumerate(tokens)],
        "normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*steps, level]},
        "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": ignore,
                  "vocab": vocab, "merges": merges},
    }


def sentence(scheme: str) -> dict:
    words = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "c", "▁a", "ab", "▁ab", "▁▁", "f"]
    vocab = {token: id for id, token in enumerate(words)}
    spaces = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    before = [{"type": "Prepend", "prepend": "▁"}] if scheme == "normalizer" else []
    meta = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added(0, "<unk>"), added(1, "<s>"), added(len(words), "<|t|>"), added(len(words) + 1, "<n>", rstrip=True)],
        "normalizer": {"type": "Sequence", "normalizers": [*before, spaces]} if before else None,
        "pre_tokenizer": None if before else meta,
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": vocab, "merges": [["▁", "a"], ["a", "b"], ["▁a", "b"], ["▁", "▁"]]},
    }


PLAIN_TEXTS = ["Abc123 x4567", "hello  world\n", "the thing", "hé 世界", "<|t|>the<|t|> thing ", "<|t|", ""]
THREE = [r"\p{N}{1,3}", r"[一-龥]+", r"[^\r\n\p{L}\p{N}]?\p{L}+|\s+"]
PAIRS = [["t", "h"], ["th", "e"], ["1", "2"], ["12", "3"], ["Ġ", "t"], ["Ġt", "h"], ["5", "6"], ["4", "56"], ["b", "c"]]
WORDS = ["th", "the", "12", "123", "1234", "Ġt", "Ġth", "56", "456", "bc", "Ġthing", "Ċ", "Ġworld"]
WORDS = [word for word in WORDS if word not in letters()]
SPACED = {"vocab": {"a": 0, " ": 1, "b": 2, "a ": 3, "a b": 4}, "pairs": [["a", " "], ["a ", "b"]]}


def spaced() -> dict:
    whole = byte_level([], [], [])
    whole["pre_tokenizer"] = None
    whole["decoder"] = {"type": "Fuse"}
    whole["model"] |= {"vocab": SPACED["vocab"], "merges": SPACED["pairs"]}
    return whole


def tokenizers() -> list[dict]:
    strings = [" ".join(pair) for pair in PAIRS]
    rows = [
        ("three splits in a row", byte_level(WORDS, PAIRS, THREE, tokens=["<|t|>"]), PLAIN_TEXTS),
        ("one split", byte_level(WORDS, PAIRS, THREE[:1], tokens=["<|t|>"]), PLAIN_TEXTS),
        ("words that merges do not reach", byte_level(WORDS, PAIRS, THREE, ignore=True, tokens=["<|t|>"]), PLAIN_TEXTS),
        ("merges as strings", byte_level(WORDS, strings, THREE, tokens=["<|t|>"]), PLAIN_TEXTS),
        ("a piece with a space", spaced(), ["a b", "a ", "b a b"]),
    ]
    texts = ["ab", " ab", "é", "ab é  ab", "<s>ab<|t|> ab<|t|>ab", "a<n>  \n ab", "q€🙂", "ab\n"]
    rows += [(f"byte fall-back, {scheme}", sentence(scheme), texts) for scheme in ["first", "always", "never", "normalizer"]]
    made = []
    for name, description, texts in rows:
        tokenizer = Tokenizer.from_str(json.dumps(description))
        encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        decoded = [tokenizer.decode(ids) for ids in encoded]
        made.append({"name": name, "tokenizer": description, "rows": [list(row) for row in zip(texts, encoded, decoded)]})
    return made


CUT_TEXTS = [
    "“你好，世界”—I'm here, CAN'T we?", "第一句。\n\n第二句", "Abc１２３4567 x=1;\r\n\r\n  end  ",
    "naïve café ñandú हिन्दी 12345 \t\n tail ", "fooBar HTTPServer'll don't", "a  b   c\n \n d",
    "!!x @name #tag $5.00 ~`^|<=>", "世界abc汉字１漢",
]


def cuts() -> list[dict]:
    made = []
    for name, rule in SPLITS.items():
        steps = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in rule["split"]])
        pieces = [[piece for piece, _ in steps.pre_tokenize_str(text)] for text in CUT_TEXTS]
        if not any(one["pieces"] == pieces and one["split"] == rule["split"] for one in made):
            made.append({"name": name, "split": rule["split"], "pieces": pieces})
    return made


USER = [{"role": "user", "content": " Hi é<&'\" "}]
CALL = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "a\nb"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1, "a": [True, None, 2.0, "é"]}}}]},
    {"role": "tool", "content": "ok"},
]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "ü < \"q\"", "parameters": {"type": "object", "properties": {}}}}]
TEMPLATES = [
    ("items and order", "{% for m in messages %}{% for key, value in m.items() %}{{ key }}={{ value }};{% endfor %}{% endfor %}", USER),
    ("break and continue", "{% for m in messages %}{% if loop.index0 == 1 %}{% continue %}{% endif %}{% if m.role == 'tool' %}{% break %}{% endif %}[{{ m.role }}]{% endfor %}", CALL),
    ("namespace", "{% set ns = namespace(n=0, last='') %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set ns.last = m.role %}{% endfor %}{{ ns.n }} {{ ns.last }}", CALL),
    ("macro", "{% macro show(m, end='!') %}<{{ m.role }}>{{ m.content }}{{ end }}{% endmacro %}{% for m in messages %}{{ show(m) }}{{ show(m, end='?') }}{% endfor %}", USER),
    ("slices", "{% for m in messages[1:] %}{{ m.role }} {% endfor %}{{ messages[::-1][0].role }} {{ messages[-1].content[:1] }} {{ messages[:-1] | length }}", CALL),
    ("endswith inside and", "{% if ('a' in 'abc', messages[1].content.endswith('b') and messages[1].content.startswith('a'))[1] %}yes{% endif %}", CALL),
    ("tojson", "{{ tools | tojson }}\n{{ tools | tojson(indent=2) }}{% for m in messages %}{% if m.tool_calls %}{{ m.tool_calls[0].function.arguments | tojson }}{% endif %}{% endfor %}", CALL),
    ("whitespace", "{% for m in messages %}\n    {% if m.role == 'user' %}\n  {{ m.content | trim }}\n    {%- endif %}\n{% endfor %}\n\nend\n", CALL),
    ("generation", "{% for m in messages %}\n{%- generation -%} {{ m.role }}\n{% endgeneration %}\n|{% endfor %}", CALL),
    ("python words", "{{ true }} {{ none }} {{ 1.0 }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 2 ** 3 }} {{ [1, 'a', none, true] }} {{ {'a': 'b'} }} {{ 'a' ~ 1 }}", USER),
    ("strings", "{{ ' x '.strip() }}|{{ 'a,b,c'.split(',') | join('-') }}|{{ 'a</t>b'.split('</t>')[-1].lstrip('b') }}|{{ 'Ab'.upper() }}{{ 'Ab'.lower() }}|{{ 'a-b'.replace('-', '+') }}|{{ 'ab' | capitalize }}|{{ 'a b'.title() }}|{{ 'x' in 'xyz' }}|{{ '%s=%d' | format('a', 3) }}", USER),
    ("tests", "{% for m in messages %}{{ m.content is none }} {{ m.content is string }} {{ m.nothing is defined }} {{ m is mapping }} {{ m.tool_calls is iterable }};{% endfor %}", CALL),
    ("filters", "{{ messages | map(attribute='role') | list | join(',') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('role', 'equalto', 'user') | map(attribute='role') | first }} {{ (messages | last).content }} {{ {'b': 1, 'a': 2} | dictsort }} {{ 'x' | default('y') }}{{ nothing | default('y') }}{{ '' | default('z', true) }}", CALL),
    ("loop", "{% for m in messages %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.previtem.role if loop.previtem is defined }}{{ loop.nextitem.role if loop.nextitem is defined }} {% endfor %}", CALL),
    ("undefined", "[{{ nothing }}][{{ messages[0].nothing }}]{% if not nothing and not messages[0].x %}ok{% endif %}", USER),
    ("refuses", "{{ raise_exception('roles must alternate') }}", USER),
    ("attribute of nothing", "{{ nothing.more }}", USER),
    ("prompt", "{% for m in messages %}{{ m.role }}{% endfor %}{% if add_generation_prompt %}>{% endif %}{{ bos_token }}{{ eos_token }}", USER),
]


def templates() -> list[dict]:
    made = []
    for name, template, messages in TEMPLATES:
        tools = TOOLS if "tools" in template else None
        try:
            rendered, _ = render_jinja_template(
                conversations=[messages], chat_template=template, tools=tools, add_generation_prompt=True,
                bos_token="<s>", eos_token="</s>")
            text = rendered[0]
        except Exception as refusal:
            print(f"{name}: {refusal}")
            text = None
        made.append({"name": name, "template": template, "messages": messages, "tools": tools, "text": text})
    return made


for file, rows in [("tokenizers.json", tokenizers()), ("cuts.json", {"texts": CUT_TEXTS, "rules": cuts()}), ("templates.json", templates())]:
    (HERE / file).write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n")
