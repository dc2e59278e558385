// Runs the browser tests one after the other: run.mjs [--junit FILE] [words of names]. One line a test, then the sums.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { end, measures, OUT, shot } from "./harness.mjs";

const LIMIT_MS = 300_000;
const args = process.argv.slice(2);
const junitAt = args.indexOf("--junit");
const junit = junitAt >= 0 ? args.splice(junitAt, 2)[1] : "";

const tests = [];
for (const file of readdirSync(import.meta.dirname).sort()) {
    if (!file.endsWith("_test.mjs")) continue;
    const { default: cases } = await import(
        pathToFileURL(join(import.meta.dirname, file)).href
    );
    for (const [name, run] of Object.entries(cases))
        tests.push({ name: `${file.slice(0, -9)}: ${name}`, run });
}
const wanted = tests.filter(
    (t) => args.length === 0 || args.some((word) => t.name.includes(word)),
);

// A promise that a test no longer waited for when it failed: its reason belongs to that test, the others go on.
let stray = null;
process.on("unhandledRejection", (reason) => (stray ??= reason));

const results = [];
for (const { name, run } of wanted) {
    const pages = [];
    const keep = (page) => (pages.push(page), page);
    const started = Date.now();
    stray = null;
    let failure = "";
    let timer;
    try {
        const late = new Promise(
            (_, no) =>
                (timer = setTimeout(
                    () => no(new Error("took too long")),
                    LIMIT_MS,
                )),
        );
        await Promise.race([run(keep), late]);
        if (stray) throw stray;
        for (const page of pages)
            if (page.problems.length)
                throw new Error(`the page says:\n${page.problems.join("\n")}`);
    } catch (e) {
        failure = e.stack ?? String(e);
        for (const page of pages)
            if (!page.isClosed())
                await shot(page, `failed-${name.replace(/\W+/g, "-")}`).catch(
                    () => {},
                );
    }
    clearTimeout(timer);
    for (const page of pages)
        await page
            .context()
            .close()
            .catch(() => {});
    const seconds = (Date.now() - started) / 1000;
    results.push({ name, failure, seconds });
    console.log(
        `${failure ? "FAILED" : "ok    "} ${seconds.toFixed(1).padStart(5)} s  ${name}${failure ? `\n${failure}` : ""}`,
    );
}
await end();
writeFileSync(join(OUT, "measures.json"), JSON.stringify(measures, null, 2));
for (const [what, value] of Object.entries(measures))
    console.log(`measured  ${what}: ${value}`);
const failed = results.filter((r) => r.failure).length;
if (junit) {
    const escape = (text) =>
        text
            .replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
            .replace(/[^\x09\x0a\x20-\ufffd]/g, "?");
    const cases = results.map(
        (r) =>
            `<testcase name="${escape(r.name)}" time="${r.seconds}">${r.failure ? `<failure message="${escape(r.failure)}"/>` : ""}</testcase>`,
    );
    writeFileSync(
        junit,
        `<testsuite name="e2e" tests="${results.length}" failures="${failed}" errors="0" skipped="0">${cases.join("\n")}</testsuite>`,
    );
}
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed || results.length === 0 ? 1 : 0);
