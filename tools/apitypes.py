"""The tables of /api/v1, read: src/server/api/api.h (routes), columns.def (binary replies), replies.def (JSON).

tools/check_api writes types and documents from them; tests/integration/test_api_types.py holds real replies against
them. Types are those of TypeScript, as far as replies.def uses them.
"""

import re

FOLDER = "src/server/api"
SIZES = {"u32": 4, "u64": 8, "f64": 8, "f64s": 4, "f32s": 4, "u32s": 4, "u8s": 4}

ROW = re.compile(r'^(SB_\w+)\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', re.M)
ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([\w.-]+)|(,)')


def rows(text):
    """(macro, [arguments]) of every row of a .def file; texts side by side are one, as in C."""
    found = []
    for macro, inside in ROW.findall(text):
        arguments = [""]
        for quoted, word, comma in ARGUMENT.findall(inside):
            if comma:
                arguments.append("")
            else:
                arguments[-1] += word or re.sub(r"\\(.)", r"\1", quoted)
        found.append((macro, arguments))
    return found


class Entry:
    """One kind of binary entry."""

    def __init__(self, name):
        self.name, self.magic, self.bytes = name, "", 0
        self.fields = []  # (name, offset, type, key, what)
        self.flags = []  # (name, bit, what)
        self.marks = []  # (name, bit, what), of single points

    def problems(self):
        """The errors in its layout, as a list of texts."""
        end, found = 0, []
        for name, at, kind, _, _ in self.fields:
            if kind not in SIZES:
                found.append(f"{name} has an unknown type, {kind}")
                continue
            if at != end or at % SIZES[kind]:
                found.append(f"{name} is at {at}; the field before it ends at {end}")
            end = at + SIZES[kind]
        if self.bytes % 8 or not end <= self.bytes < end + 8:
            found.append(f"entries of {self.bytes} bytes, whose fields end at {end}")
        bits = [bit for _, bit, _ in self.flags]
        if bits != [1 << i for i in range(len(bits))]:
            found.append(f"flags are {bits}")
        return found


class Columns:
    """The kinds of entries by their names in columns.def: SCALAR, BAND, ..."""

    def __init__(self, root):
        self.entries = {}
        for macro, row in rows((root / FOLDER / "columns.def").read_text()):
            name, what = re.fullmatch(r"SB_(\w+)_(ENTRY|FIELD|FLAG|MARK)", macro).groups()
            if name == "POINT":  # marks of points of scalars
                name = "SCALAR"
            entry = self.entries.setdefault(name, Entry(name))
            if what == "ENTRY":
                entry.magic, entry.bytes = row[0], int(row[1])
            elif what == "FIELD":
                entry.fields.append((row[0], int(row[1]), *row[2:5]))
            else:
                (entry.flags if what == "FLAG" else entry.marks).append((row[0], int(row[1]), row[2]))


class Field:
    def __init__(self, name, type_, what, is_optional):
        self.name, self.type, self.what, self.is_optional = name, type_, what, is_optional


class Replies:
    """aliases: name -> (type, what). objects: name -> (what, [Field]). Both in the order of the file."""

    def __init__(self, root):
        self.aliases, self.objects = {}, {}
        last = None
        for macro, row in rows((root / FOLDER / "replies.def").read_text()):
            if macro == "SB_API_TYPE":
                self.aliases[row[0]] = (row[1], row[2])
            elif macro == "SB_API_OBJECT":
                last = self.objects.setdefault(row[0], (row[1], []))[1]
            else:
                last.append(Field(*row, is_optional=macro == "SB_API_MAYBE"))


def routes(root):
    """[(method, path, ask, reply)] of /api/v1; names of types, or "none" and "Bytes"."""
    text = (root / FOLDER / "api.h").read_text()
    text = text[text.index("#define SB_API_MAP") : text.index("#define SB_API_DECLARE")].replace("\\\n", "\n")
    row = re.compile(r'X\(SB_HTTP_(\w+),\s*"([^"]+)",\s*\w+,\s*\w+,\s*(\w+),\s*(\w+)\)')
    found = row.findall(text)
    assert len(found) == text.count("X(SB_"), "a row in a new form"
    return found


# ---- types -----------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"\s*('[^']*'|\w+|[\[\]()<>,|])")


class Parser:
    """A type as nested tuples: ("union", [..]), ("array", t), ("tuple", [..]), ("record", t), ("text", s), ("name", n)."""

    def __init__(self, text):
        self.tokens, self.at = TOKEN.findall(text), 0
        assert re.sub(r"\s", "", "".join(self.tokens)) == re.sub(r"\s", "", text), text
        self.type = self.union()
        assert self.at == len(self.tokens), text

    def next(self, wanted=None):
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if wanted is not None and token != wanted:
            return None
        self.at += 1
        return token

    def need(self, wanted):
        assert self.next(wanted), (wanted, self.tokens)

    def union(self):
        parts = [self.postfix()]
        while self.next("|"):
            parts.append(self.postfix())
        return parts[0] if len(parts) == 1 else ("union", parts)

    def postfix(self):
        made = self.primary()
        while self.next("["):
            self.need("]")
            made = ("array", made)
        return made

    def primary(self):
        if self.next("("):
            made = self.union()
            self.need(")")
            return made
        if self.next("["):
            parts = [self.union()]
            while self.next(","):
                parts.append(self.union())
            self.need("]")
            return ("tuple", parts)
        token = self.next()
        assert token and (token[0] == "'" or token.isidentifier()), self.tokens
        if token == "Record":
            self.need("<"), self.need("string"), self.need(",")
            made = ("record", self.union())
            self.need(">")
            return made
        return ("text", token[1:-1]) if token[0] == "'" else ("name", token)


PLAIN = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "unknown": lambda value: True,
}


class Checker:
    """Holds values against types; notes which fields of which objects were seen."""

    def __init__(self, replies):
        self.replies, self.seen = replies, set()
        self.parsed = {}

    def parse(self, text):
        if text not in self.parsed:
            self.parsed[text] = Parser(text).type
        return self.parsed[text]

    def wrong(self, value, type_, path=""):
        """What does not fit, as a list of texts; none: it fits."""
        kind, what = self.parse(type_) if isinstance(type_, str) else type_
        if kind == "union":
            tries = [self.wrong(value, part, path) for part in what]
            return [] if [] in tries else min(tries, key=len)
        if kind == "text":
            return [] if value == what else [f"{path}: {value!r} is not {what!r}"]
        if kind == "array":
            return self.items(value, [what] * len(value), path) if isinstance(value, list) else [f"{path}: no list"]
        if kind == "tuple":
            fits = isinstance(value, list) and len(value) == len(what)
            return self.items(value, what, path) if fits else [f"{path}: not {len(what)} things"]
        if kind == "record":
            if not isinstance(value, dict):
                return [f"{path}: no object"]
            return [text for key, item in value.items() for text in self.wrong(item, what, f"{path}.{key}")]
        if what in PLAIN:
            return [] if PLAIN[what](value) else [f"{path}: {value!r} is no {what}"]
        if what in self.replies.aliases:
            return self.wrong(value, self.replies.aliases[what][0], path)
        return self.object(value, what, path)

    def items(self, values, types, path):
        return [text for i, (v, t) in enumerate(zip(values, types)) for text in self.wrong(v, t, f"{path}[{i}]")]

    def object(self, value, name, path):
        if not isinstance(value, dict):
            return [f"{path}: no {name}"]
        fields = {field.name: field for field in self.replies.objects[name][1]}
        found = [f"{path}.{key}: not in {name}" for key in value if key not in fields]
        for field in fields.values():
            if field.name in value:
                self.seen.add((name, field.name))
                found += self.wrong(value[field.name], field.type, f"{path}.{field.name}")
            elif not field.is_optional:
                found.append(f"{path}.{field.name}: missing")
        return found

    def names_in(self, type_):
        """The names of objects and other types that a type refers to."""
        kind, what = self.parse(type_) if isinstance(type_, str) else type_
        if kind in ("union", "tuple"):
            return {name for part in what for name in self.names_in(part)}
        if kind in ("array", "record"):
            return self.names_in(what)
        return {what} - set(PLAIN) if kind == "name" else set()
