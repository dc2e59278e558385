// What depends on the viewer's screen and language, not on the data: pixels, dates, digits.
import assert from "node:assert/strict";
import { card, openCharts, soon } from "./harness.mjs";

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
};
