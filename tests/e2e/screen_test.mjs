// What depends on the viewer's screen and language, not on the data: pixels, dates, digits.
import assert from "node:assert/strict";
import { card, CHART, openCharts, soon } from "./harness.mjs";

/** The axes of a chart as a picture. */
const axes = (page) =>
    card(page, "val/loss")
        .locator(".plot > canvas")
        .first()
        .evaluate((canvas) => canvas.toDataURL());

export default {
    async "another device pixel ratio draws every layer anew"(keep) {
        const page = keep(await openCharts("demo"));
        await page.mouse.move(2, 2);
        const cdp = await page.context().newCDPSession(page);
        // the emulation tells a page of another ratio only together with another size; cards keep theirs
        const scale = (deviceScaleFactor) =>
            cdp.send("Emulation.setDeviceMetricsOverride", {
                width: 1440,
                height: 899 + deviceScaleFactor,
                deviceScaleFactor,
                mobile: false,
            });
        const sharp = async (ratio) =>
            assert.deepEqual(
                await card(page, "val/loss")
                    .locator("canvas")
                    .evaluateAll((all) =>
                        all.map((c) => c.width / parseFloat(c.style.width)),
                    ),
                [ratio, ratio, ratio],
            );
        await scale(1);
        const before = await axes(page);
        await scale(2);
        await soon(() => sharp(2));
        await scale(1);
        await soon(() => sharp(1));
        await soon(async () =>
            assert.ok((await axes(page)) === before, "the labels are others"),
        );
    },

    async "going from address to address leaves nothing that asks a part of the page that is gone"(
        keep,
    ) {
        // the harness fails on warnings: Svelte tells of state that is read after its owner is gone
        const page = keep(await openCharts("demo"));
        await card(page, "train/loss").locator(".plot").hover();
        for (const [hash, there] of [
            ["#timeseries&table=full", "[role=treegrid]"],
            ["#timeseries&tags=loss", CHART],
            ["#timeseries&full=val/loss", "dialog[open] .plot"],
            ["#images", "main"],
            ["#timeseries&select=step&pins=val/loss", CHART],
            ["#timeseries&closed=/train&group=path&bands=std", CHART],
            ["#timeseries&details=vit-b16/seed1&table=full", "aside"],
            ["#timeseries&runs=nothing", ".none"],
            ["#timeseries&smooth=0.6", CHART],
        ]) {
            await page.evaluate((to) => (location.hash = to), hash);
            await page.waitForSelector(there);
            await page.mouse.move(700, 300);
            await page.mouse.move(710, 310);
        }
    },
};
