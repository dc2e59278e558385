"""Each check of tools/ must find what it is there for: small broken trees, one rule broken in each."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


class Tree:
    """A throw-away source tree that all checks are content with, until a test changes it."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.put("CMakeLists.txt", "sb_layer(base USES m)\nsb_layer(codec USES sb_base)\n")
        self.put("src/base/buf.h", "#include <stddef.h>\nstruct buf { size_t n; };\n")
        self.put("src/base/buf.c", '#include "base/buf.h"\n\n#include <string.h>\n\n#include "base/banned.h"\n')
        self.put("src/base/banned.h", "")
        self.put("src/base/README.md", "# base\n\n## Owns\n\n`buf.h`, `banned.h`\n\n## May use\n\n## Entry points\n\n## Invariants\n")
        self.put("include/seaboard/types.h", "#include <stddef.h>\n")
        marks = "<!-- layers: tools/check_includes --update -->\n<!-- end -->\n"
        self.put("docs/design/layers.md", marks)
        self.check("includes", "--update")

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, name, *more):
        command = [sys.executable, str(TOOLS / f"check_{name}"), "--root", str(self.root), *more]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)

    def passes(self, name):
        code, output = self.tree.check(name)
        self.assertEqual((code, output), (0, ""))

    def fails(self, name, text):
        code, output = self.tree.check(name)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def test_a_good_tree_passes(self):
        for name in ("includes", "readmes", "names", "headers"):
            with self.subTest(name):
                self.passes(name)

    def test_an_empty_tree_is_not_a_pass(self):
        with tempfile.TemporaryDirectory() as empty:
            for name in ("readmes", "names", "headers", "format"):
                command = [sys.executable, str(TOOLS / f"check_{name}"), "--root", empty]
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, name)
                self.assertIn("nothing to look at", done.stdout)

    def test_an_upward_include_is_found(self):
        self.tree.put("src/base/bad.c", '#include "codec/proto.h"\n#include "base/banned.h"\n')
        self.fails("includes", "src/base/bad.c:1: base (level 0) may not include codec (level 1)")

    def test_an_include_of_a_neighbour_is_found(self):
        self.tree.put("src/codec/bad.h", '#include "fsio/fs.h"\n')
        self.fails("includes", "src/codec/bad.h:1: codec (level 1) may not include fsio (level 1)")

    def test_a_table_in_mid_file_is_held_to_the_levels_but_not_to_the_order(self):
        self.tree.put("src/codec/t.c", '#include "base/banned.h"\n#include "codec/t.def"\n')
        self.passes("includes")
        self.tree.put("src/codec/t.c", '#include "base/banned.h"\n#include "server/t.def"\n')
        self.fails("includes", "codec (level 1) may not include server (level 4)")

    def test_a_foreign_header_outside_its_folder_is_found(self):
        self.tree.put("src/codec/bad.h", "#include <zlib.h>\n")
        self.fails("includes", "<zlib.h> is not allowed in codec")

    def test_a_path_that_is_not_relative_to_src_is_found(self):
        self.tree.put("src/base/bad.h", '#include "buf.h"\n')
        self.fails("includes", "paths are relative to src/ or include/")

    def test_own_header_must_come_first(self):
        self.tree.put("src/base/buf.c", '#include <string.h>\n\n#include "base/buf.h"\n#include "base/banned.h"\n')
        self.fails("includes", 'its own header "base/buf.h" comes first')

    def test_banned_must_come_last(self):
        self.tree.put("src/base/buf.c", '#include "base/buf.h"\n#include "base/banned.h"\n#include <stdio.h>\n')
        self.fails("includes", '"base/banned.h" comes last')
        self.tree.put("src/base/buf.c", "")
        self.fails("includes", '"base/banned.h" comes last')

    def test_public_headers_and_examples_see_only_public_headers(self):
        for name in ("include/seaboard/bad.h", "examples/bad.c", "python/_native.c"):
            with self.subTest(name):
                self.tree.put(name, '#include "base/buf.h"\n')
                self.fails("includes", f"{name}:1: only seaboard/*.h")
                self.tree.put(name, '#include "seaboard/types.h"\n')

    def test_an_upward_link_is_found(self):
        self.tree.put("CMakeLists.txt", "sb_layer(base USES sb_codec)\n")
        self.fails("includes", "base links sb_codec")

    def test_a_folder_without_a_level_is_found(self):
        self.tree.put("src/attic/a.h", "")
        self.fails("includes", "src/attic has no level")

    def test_a_stale_page_is_found(self):
        self.tree.put("docs/design/layers.md", "<!-- layers: tools/check_includes --update -->\n\n<!-- end -->\n")
        self.fails("includes", "the table is stale")

    def test_a_missing_or_empty_readme_is_found(self):
        self.tree.put("src/codec/a.h", "")
        self.fails("readmes", "src/codec/README.md: is missing")
        self.tree.put("src/codec/README.md", "# codec\n\nOwns: much.\n")
        self.fails("readmes", 'does not say: "invariants"')

    def test_a_header_that_its_readme_does_not_name_is_found(self):
        page = (self.tree.root / "src/base/README.md").read_text()
        self.tree.put("src/base/text/json.h", "#include <stddef.h>\n")
        self.fails("readmes", "src/base/README.md: does not name `text/json.h`")
        self.tree.put("src/base/README.md", page.replace("## Owns", "## Owns\n\n`text/json.h`"))
        self.passes("readmes")

    def test_a_folder_or_public_header_that_the_tour_of_the_source_omits_is_found(self):
        self.tree.put("include/seaboard/more.h", "")
        folders = [f"`src/{path.name}/`" for path in (self.tree.root / "src").iterdir()]
        headers = [f"`{path.name}`" for path in (self.tree.root / "include/seaboard").iterdir()]
        for page in ("README.md", "README.zh.md"):
            with self.subTest(page):
                self.tree.put(page, "\n".join(folders + headers))
                self.passes("readmes")
                self.tree.put(page, "\n".join(folders))
                self.fails("readmes", f"{page}: does not name `more.h`")
                self.tree.put(page, "\n".join(folders[1:] + headers))
                self.fails("readmes", f"{page}: does not name {folders[0]}")
                self.tree.put(page, "\n".join(folders + headers))

    def test_a_room_of_the_web_app_that_its_readme_omits_is_found(self):
        self.tree.put("ui/src/rooms/tags/filter.ts", "")
        self.tree.put("ui/src/base/text.ts", "")
        self.tree.put("ui/README.md", "| `src/base` | names |\n\n| `tags` | the tag filter |\n")
        self.passes("readmes")
        self.tree.put("ui/src/rooms/steps/slider.ts", "")
        self.fails("readmes", "ui/README.md: does not name `steps`")

    def test_machine_paths_and_registries_are_found(self):
        for text in ("cd /" + "work/main", "HOME=/" + "root", "https://py" + "pi.org/simple"):
            with self.subTest(text):
                self.tree.put("notes.md", text + "\n")
                self.fails("names", "notes.md:1: ")
        self.tree.put("notes.md", "the frame" + "work/root of it\n")
        self.passes("names")

    def test_a_name_of_static_functions_in_many_files_is_found(self):
        for i in range(6):
            self.tree.put(f"src/base/f{i}.c", "static int place_of(int a,\n                    int b) {\n    return a + b;\n}\n")
        self.tree.put("src/base/uses.c", "static int other(void) {\n    return place_of(1, 2);\n}\n")
        self.passes("names")
        self.tree.put("src/base/uses.c", "static int place_of(int a) {\n    return a;\n}\n")
        self.fails("names", "static functions of 7 files are named place_of")

    def test_a_type_with_the_name_of_another_is_found(self):
        self.tree.put("src/codec/shape.h", "typedef struct sb_shape {\n    int rank;\n} sb_shape;\n")
        self.tree.put("src/codec/README.md", "# codec\n\n`shape.h`\n")
        self.passes("names")
        self.tree.put("src/base/shape.h", "struct sb_shape; /* only declared */\n")
        self.passes("names")
        self.tree.put("src/base/shape.h", "enum sb_shape { SB_ROUND };\n")
        self.fails("names", "src/base/shape.h: sb_shape is another type in src/codec/shape.h")

    def test_a_header_that_leans_on_others_is_found(self):
        self.tree.put("src/base/bad.h", "size_t f(void);\n")
        self.fails("headers", "src/base/bad.h: does not stand alone")

    def test_a_struct_with_a_size_must_be_in_the_table_of_checks(self):
        struct = "typedef struct sb_o {\n    size_t size; /* SB_INIT */\n} sb_o;\n"
        self.tree.put("include/seaboard/o.h", "#include <stddef.h>\n" + struct)
        self.fails("headers", "include/seaboard/o.h: sb_o carries its size but is not checked in src/base/sized.c")
        self.tree.put("src/base/sized.c", "CHECK_LAYOUT(sb_o, size);\n")
        self.passes("headers")

    def test_public_headers_must_be_fit_for_cpp(self):
        self.tree.put("include/seaboard/bad.h", "int f(int class);\n")
        self.fails("headers", "include/seaboard/bad.h: does not stand alone (g++ -std=c++11)")

    def test_unformatted_code_and_long_comments_are_found(self):
        self.tree.put(".clang-format", "BasedOnStyle: LLVM\nReflowComments: false\n")
        self.tree.put("src/base/buf.c", "int  x;\n")
        self.fails("format", "src/base/buf.c:1")
        self.tree.put("src/base/buf.c", "/* " + "x" * 100 + " */\n")
        self.fails("format", "src/base/buf.c:1: 106 columns")

    def test_fix_wraps_what_is_too_long_and_nothing_else(self):
        shutil.copy(TOOLS.parent / ".clang-format", self.tree.root / ".clang-format")
        table = "/* table.\n *   0..7  length\n *   8     crc\n */\n"
        ruler = "/* ---- reading " + "-" * 100 + " */\n"
        self.tree.put("src/base/buf.c", table + ruler + "/* " + "word " * 30 + "*/\nint  x;\n")
        code, output = self.tree.check("format", "--fix")
        self.assertEqual((code, output), (0, ""))
        text = (self.tree.root / "src/base/buf.c").read_text()
        self.assertTrue(text.startswith(table + "/* ---- reading " + "-" * 81 + " */\n/* word word"), text)
        self.assertTrue(text.endswith(" */\nint x;\n"), text)
        self.passes("format")

    def test_fix_keeps_labels_hanging_and_tables_apart(self):
        shutil.copy(TOOLS.parent / ".clang-format", self.tree.root / ".clang-format")
        long = "word " * 18
        before = (
            f"/* x.c: a thing.\n *\n * In:  {long}ending\n *      of it\n * Out: nothing\n *   0..7  length */\nint x;\n"
        )
        after = before.replace("word ending\n *      of it", "word\n *      ending of it")
        self.tree.put("src/base/buf.c", before)
        self.assertEqual(self.tree.check("format", "--fix"), (0, ""))
        self.assertEqual((self.tree.root / "src/base/buf.c").read_text(), after)

    def api_tree(self):
        names = [f"src/server/api/{name}" for name in ("api.h", "columns.def", "replies.def")]
        for name in (*names, "src/media/sniff.h", "ui/src/data/types.ts", "ui/src/data/layouts.ts", "docs/formats/api-v1.md"):
            self.tree.put(name, (TOOLS.parent / name).read_text())
        self.passes("api")

    def change(self, name, old, new):
        text = (self.tree.root / name).read_text()
        self.assertIn(old, text)
        self.tree.put(name, text.replace(old, new, 1))

    def test_types_and_tables_that_differ_from_the_servers_are_stale(self):
        self.api_tree()
        self.change("src/server/api/replies.def", "SB_API_FIELD(droppedTags,", "SB_API_FIELD(lostTags,")
        self.fails("api", "ui/src/data/types.ts: is stale")
        self.assertEqual(self.tree.check("api", "--update"), (0, ""))
        self.assertIn("  lostTags: number;", (self.tree.root / "ui/src/data/types.ts").read_text())
        self.change("src/server/api/columns.def", '"run id"', '"id of the run"')
        self.fails("api", "docs/formats/api-v1.md: is stale")
        self.change("docs/formats/api-v1.md", "<!-- bands:", "<!-- bonds:")
        self.fails("api", "has no block bands")

    def test_a_layout_with_holes_and_names_without_a_type_are_found(self):
        self.api_tree()
        self.change("src/server/api/columns.def", "SB_SCALAR_FIELD(EPOCH, 8,", "SB_SCALAR_FIELD(EPOCH, 12,")
        self.fails("api", "EPOCH is at 12; the field before it ends at 8")
        self.change("src/server/api/columns.def", "SB_SCALAR_FLAG(APPEND, 4,", "SB_SCALAR_FLAG(APPEND, 2,")
        self.fails("api", "flags are [1, 2, 2,")
        self.change("src/server/api/replies.def", '"Loading", ""', '"Lading", ""')
        self.fails("api", "Lading is not described")
        self.change("src/server/api/api.h", "HistogramsAsk, Histograms", "HistogramsAsk, Bytes")
        self.fails("api", "Histograms is in no request and no reply")

    def test_a_test_that_the_page_of_parity_made_up_is_found(self):
        page = "| point | how | test |\n|---|---|---|\n| a | b | charts: it's drawn<br>charts: in red |\n"
        self.tree.put("docs/design/parity.md", page)
        self.tree.put("tests/e2e/charts_test.mjs", "export default {\n  async 'it\\'s drawn'(keep) {},\n};\nconst all = (c) => `in ${c}`;\n")
        self.passes("parity")
        self.tree.put("docs/design/parity.md", page.replace("drawn", "danced"))
        self.fails("parity", "parity.md:3: there is no test \"it's danced\"")

    def test_a_new_or_lost_export_is_found(self):
        self.tree.put("lib.c", "int sb_new(void) { return 1; }\nint odd(void) { return 2; }\n")
        library = str(self.tree.root / "lib.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, str(self.tree.root / "lib.c")], check=True)
        self.tree.put("tests/symbols.txt", "sb_gone\n")
        code, output = self.tree.check("symbols", library)
        self.assertEqual(code, 1)
        for text in ("sb_new is exported but not listed", "sb_gone is listed but not", "odd does not begin with sb_"):
            self.assertIn(text, output)


if __name__ == "__main__":
    unittest.main()
