"""A type error in the web app must fail its suite: the same command over the same rules as tools/run_tests, with one broken
file beside the sources. Skipped where the web app's packages are not installed."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UI = ROOT / "ui"

# each breaks one rule that the sources rely on
BROKEN = {
    "a wrong type": "export const steps: number = 'many';\n",
    "a value that may be missing": "export const length = (text?: string): number => text.length;\n",
    "an implicit any": "export const same = (x) => x;\n",
    "an unused local": "const left = 1;\nexport {};\n",
    "an unknown member": "import { ok } from './base/result';\nexport const value = ok(1).valeu;\n",
}
COMPONENT = '<script lang="ts">\n  let { n }: { n: number } = $props();\n</script>\n\n<p>{n.lenght}</p>\n'


@unittest.skipUnless((UI / "node_modules/.package-lock.json").exists(), "the web app's packages are not installed")
class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        said = subprocess.run(["tools/setup", "node-path"], cwd=ROOT, capture_output=True, text=True, check=True)
        path = os.pathsep.join(filter(None, [said.stdout.strip(), os.environ["PATH"]]))
        cls.environment = {**os.environ, "PATH": path}

    def test_the_suite_checks_types(self):
        """What tools/run_tests runs for the suite "ui" is svelte-check, with warnings as failures."""
        runner = (ROOT / "tools/run_tests").read_text()
        self.assertRegex(runner, r'for script in \("check"')
        self.assertIn('["npm", "run", "--silent", script]', runner)
        check = json.loads((UI / "package.json").read_text())["scripts"]["check"]
        self.assertIn("svelte-check", check)
        self.assertIn("--fail-on-warnings", check)

    def test_every_injected_type_error_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            for name in ("package.json", "svelte.config.js", "tsconfig.json"):
                (tree / name).write_text((UI / name).read_text())
            (tree / "node_modules").symlink_to(UI / "node_modules")
            (tree / "src/base").mkdir(parents=True)
            (tree / "src/base/result.ts").write_text((UI / "src/base/result.ts").read_text())
            names = {}
            for number, (what, text) in enumerate(BROKEN.items()):
                names[f"broken{number}.ts"] = what
                (tree / "src" / f"broken{number}.ts").write_text(text)
            names["Broken.svelte"] = "an unknown member in a component"
            (tree / "src/Broken.svelte").write_text(COMPONENT)
            done = subprocess.run(
                ["npm", "run", "--silent", "check", "--", "--output", "machine"],
                cwd=tree,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            for name, what in names.items():
                with self.subTest(what):
                    self.assertRegex(done.stdout, rf'ERROR "src/{name}"')
            self.assertNotIn("result.ts", done.stdout)


if __name__ == "__main__":
    unittest.main()
