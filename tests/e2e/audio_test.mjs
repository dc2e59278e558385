// Clips: player, waveform, spectrogram, steps, samples, A and B, loop, live, both languages and themes, and files that
// lie about themselves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter, tone, wav } from './logs.mjs';
import { address, axe, diskIsGone, drawn, open, OUT, ROOT, serve, shot, soon, until } from './harness.mjs';
import { servedLog, START } from './media.mjs';

const voice = (step, base) => (t) => {
  const syllable = Math.max(0, Math.sin(2 * Math.PI * 2.2 * t)) ** 0.5;
  const pitch = base + 30 * Math.sin(2 * Math.PI * 0.7 * t);
  let v = 0;
  for (let k = 1; k < 9; k++) v += Math.sin(2 * Math.PI * pitch * k * t) / k;
  return syllable * v * 0.2 * Math.min(1, 0.3 + step / 3000);
};
/** Two runs with clips of several steps; the first has two clips a step. */
function write(logdir) {
  const runs = {};
  for (const [name, steps, base] of [
    ['vits-base', [0, 1000, 2000, 3000], 140],
    ['vits-small', [0, 1500, 3000], 200],
  ]) {
    const run = new RunWriter(logdir, name, START);
    for (const step of steps)
      run
        .clips(
          step,
          { 'val/speech': [wav(1.6, voice(step, base)), wav(0.8, tone(880))] },
          { description: 'The *keeper* counted the ships.' },
        )
        .scalars(step, { loss: 1 / (step + 1) });
    run.clips(0, { 'val/short': [wav(0.4, tone(base), { rate: 8000 })] });
    runs[name] = run.flush();
  }
  return runs;
}
const SHORT = wav(0.002, tone(300));
const made = (fill = write) => servedLog(fill);
const DRAWN = 'canvas[data-drawn]';
async function openClips(server, hash = '#audio&v=1', options = {}) {
  const page = await open(server, hash, options);
  await page.waitForSelector(DRAWN);
  await drawn(page);
  return page;
}
const card = (page, run, tag = 'val/speech') => page.locator(`.slot [data-tag="!audio!${run}!!${tag}"]`).first();
const says = (page, run, pattern, tag) =>
  soon(async () => assert.match((await card(page, run, tag).innerText()).replaceAll('\u2009', ''), pattern));
const stepOf = (page, run) => card(page, run).locator('input.step').inputValue();
const isAt = (page, run, step) =>
  soon(async () => assert.equal((await stepOf(page, run)).replaceAll('\u2009', ''), step));
/** What the player does, as the page shows it. */
const time = async (page) => Number(await page.locator('.transport .time').innerText());
const isPlaying = (page) =>
  page
    .locator('.transport .play')
    .getAttribute('aria-label')
    .then((name) => name === 'Pause');
/** Every element that sounds: the page keeps none in its tree, so the test counts them as they are made. */
const COUNT = () => {
  window.sounds = [];
  const Native = window.Audio;
  window.Audio = function (url) {
    const element = new Native(url);
    window.sounds.push(element);
    return element;
  };
};
const counted = { before: (page) => page.addInitScript(COUNT) };
const sounding = (page) => page.evaluate(() => window.sounds.filter((s) => !s.paused).map((s) => s.src));

export default {
  async 'a card for every run and tag: waveform, spectrogram, measures, description'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server));
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 4));
    await soon(async () => assert.equal(await page.locator(`.slot ${DRAWN}`).count(), 4));
    await says(page, 'vits-base', /4 of 4 clips\s*16 kHz · mono · 16 bit · 1\.600 s/);
    await says(page, 'vits-base', /loudness\s*−[\d.]+ LUFS\s*peak\s*−[\d.]+ dB/);
    await soon(async () =>
      assert.match(await card(page, 'vits-base').locator('.about').innerText(), /The keeper counted the ships/),
    );
    await soon(async () => assert.equal(await card(page, 'vits-base').locator('.about em').count(), 1));
    // the picture is one: ink in the wave, colours in the spectrogram; the shorter clip ends before the axis does
    const ink = () =>
      card(page, 'vits-base')
        .locator('canvas')
        .evaluate((canvas) => {
          const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const colours = new Set();
          let wave = 0;
          for (let y = 0; y < height; y++)
            for (let x = 0; x < width; x++) {
              const at = 4 * (y * width + x);
              if (y < height * 0.3) wave += data[at + 3] > 0;
              else colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
            }
          return { wave, colours: colours.size };
        });
    await soon(async () => {
      const { wave, colours } = await ink();
      assert.ok(wave > 2000 && colours > 60, `${wave} ${colours}`);
    });
    await soon(async () => assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Audio\s*2$/));
    await page.getByRole('radio', { name: 'Wave' }).click();
    await soon(async () => assert.match(await address(page), /audio\.show=wave/));
    await soon(async () => assert.equal(await page.locator('.hertz').count(), 0));
    await page.getByRole('radio', { name: 'Both' }).click();
    // each choice of the scale gives another picture
    const picture = () =>
      card(page, 'vits-base')
        .locator('canvas')
        .evaluate((canvas) => canvas.toDataURL());
    await page.locator('.hertz').first().waitFor();
    await soon(async () => assert.equal(await page.locator(`.slot ${DRAWN}`).count(), 4));
    await page.getByRole('button', { name: /^Scale/ }).click();
    for (const choice of ['linear', '−60 dB']) {
      const before = await picture();
      await page.getByRole('radio', { name: choice }).click();
      await soon(async () => assert.notEqual(await picture(), before, choice));
    }
    await soon(async () => assert.match(await address(page), /audio\.floor=60&audio\.scale=linear/));
  },

  async 'the slider, the typed step and linked time choose the step; the sample is that of its tag'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server));
    await isAt(page, 'vits-base', '3000');
    await card(page, 'vits-base').locator('input[type=range]').fill('1');
    await isAt(page, 'vits-base', '1000');
    await isAt(page, 'vits-small', '3000');
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /at=1000\|!audio!vits-base!!val\/speech/),
    );
    await card(page, 'vits-base').locator('input.step').fill('1400');
    await card(page, 'vits-base').locator('input.step').press('Enter');
    await says(page, 'vits-base', /nearest step/);
    await page.getByRole('button', { name: 'Link steps' }).click();
    await card(page, 'vits-base').locator('input[type=range]').fill('0');
    await isAt(page, 'vits-small', '0');
    await card(page, 'vits-base').getByRole('button', { name: 'Next clip of the step' }).click();
    await says(page, 'vits-base', /Clip 2 of 2[^]*0\.800 s/);
    await says(page, 'vits-small', /Clip 2 of 2[^]*0\.800 s/);
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /audio\.sample=1\|val\/speech/));
    const again = keep(await openClips(server, await address(page)));
    await says(again, 'vits-small', /Clip 2 of 2[^]*0\.800 s/);
    await isAt(again, 'vits-small', '0');
    // a step that was chosen in another tab
    const linked = keep(await openClips(server, '#audio&link=on&select=step&at=1400|'));
    await isAt(linked, 'vits-base', '1000');
    await isAt(linked, 'vits-small', '1500');
  },

  async 'one clip sounds at a time; space plays and pauses, arrows move, a click goes to a place'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server, '#audio&audio.loop=on', counted));
    await card(page, 'vits-base').getByRole('button', { name: /^Play/ }).click();
    await soon(async () => assert.ok(await isPlaying(page)));
    await soon(async () => assert.ok((await time(page)) > 0));
    await soon(async () => assert.equal((await sounding(page)).length, 1));
    await card(page, 'vits-small').getByRole('button', { name: /^Play/ }).click();
    await soon(async () => assert.equal(await page.locator('.sounding [data-tag*="vits-small"]').count(), 1));
    await soon(async () => assert.equal((await sounding(page)).length, 1));
    await card(page, 'vits-small')
      .getByRole('slider', { name: /^Position/ })
      .focus();
    await page.keyboard.press('Space');
    await soon(async () => assert.ok(!(await isPlaying(page))));
    await soon(async () => assert.equal((await sounding(page)).length, 0));
    await page.keyboard.press('Home');
    await soon(async () => assert.equal(await time(page), 0));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await soon(async () => assert.equal(await time(page), 1.1));
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await time(page), 1));
    const box = await card(page, 'vits-small').locator('canvas').boundingBox();
    await page.mouse.click(box.x + 34 + (box.width - 34) / 2, box.y + 60);
    await soon(async () => assert.ok(Math.abs((await time(page)) - 0.8) < 0.02, String(await time(page))));
    // the page's own space key is the player's here, and says so
    await page.keyboard.press('?');
    await page.getByText('Play or pause').waitFor();
    await soon(async () => assert.equal(await page.getByText('Pause updates').count(), 0));
  },

  async 'the clips beside the one that plays are loaded ahead, those of other cards are not'(keep) {
    const { server } = await made();
    const clips = []; // [run, step]
    const note = (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/blob')) clips.push([searchParams.get('run'), searchParams.get('step')]);
    };
    const page = keep(
      await openClips(server, '#audio&audio.loop=on&at=1000|!audio!vits-base!!val/speech', {
        before: (opened) => opened.on('request', note),
      }),
    );
    await isAt(page, 'vits-base', '1000');
    await says(page, 'vits-small', /3 of 3/);
    assert.deepEqual(clips, []);
    await card(page, 'vits-base').getByRole('button', { name: /^Play/ }).click();
    await soon(async () =>
      assert.deepEqual([...new Set(clips.map(([, step]) => step))].sort(), ['0', '1000', '2000', '3000']),
    );
    assert.equal(new Set(clips.map(([run]) => run)).size, 1);
  },

  async 'A and B switch between two runs at the same place, and between two steps of one run'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server, '#audio&audio.loop=on', counted));
    await page.getByText('Mark two clips with A and B').waitFor();
    await card(page, 'vits-base').locator('.side.a').click();
    await card(page, 'vits-small').locator('.side.b').click();
    const sides = page.getByRole('radiogroup', { name: 'Compare two clips' });
    await sides.getByRole('radio', { name: /A\s+vits-base/ }).click();
    await page.locator('.transport .play').click();
    await soon(async () => assert.ok((await time(page)) > 0.1));
    await page.locator('.transport .play').click();
    await soon(async () => assert.equal((await sounding(page)).length, 0));
    const before = await time(page);
    await page.keyboard.press('x');
    await soon(async () =>
      assert.equal(await sides.getByRole('radio', { name: /^B/ }).getAttribute('aria-checked'), 'true'),
    );
    await soon(async () => assert.equal(await time(page), before));
    await page.keyboard.press('x');
    await soon(async () =>
      assert.equal(await sides.getByRole('radio', { name: /^A/ }).getAttribute('aria-checked'), 'true'),
    );
    await soon(async () => assert.equal(await time(page), before));
    // a blind test hides which is which, until it is told
    await page.getByRole('button', { name: 'Blind test' }).click();
    await soon(async () => assert.deepEqual(await sides.getByRole('radio').allInnerTexts(), ['1', '2']));
    await sides.getByRole('radio', { name: '2', exact: true }).click();
    await page.locator('.transport .play').click();
    await soon(async () => assert.equal((await sounding(page)).length, 1));
    const second = (await sounding(page))[0];
    await soon(async () => assert.equal(await page.locator('.sounding').count(), 0));
    await page.locator('.transport .play').click();
    await page.getByRole('button', { name: 'Reveal' }).click();
    const { runs } = await (await fetch(`${server.url}api/v1/runs`)).json();
    const heard = runs.find(({ id }) => second.includes(`run=${id}&`)).name;
    await page.getByText(new RegExp(`1 was vits-\\w+, 2 was ${heard}$`)).waitFor();
    await sides.getByRole('radio', { name: /^A/ }).click();
    // while it plays the other one goes on where this one was, and only that one
    await page.locator('.transport .play').click();
    await soon(async () => assert.equal((await sounding(page)).length, 1));
    await page.keyboard.press('x');
    await soon(async () => assert.match((await sounding(page)).join(), /run=\d+&step=3000/));
    await soon(async () => assert.equal((await sounding(page)).length, 1));
    await page.locator('.transport .play').click();
    // two steps of one run: each stays at its step, whatever the card shows
    await card(page, 'vits-base').locator('input[type=range]').fill('0');
    await isAt(page, 'vits-base', '0');
    await card(page, 'vits-base').locator('.side.b').click();
    await sides.getByRole('radio', { name: /A\s+vits-base, step 3.000/ }).waitFor();
    await sides.getByRole('radio', { name: /B\s+vits-base, step 0/ }).waitFor();
    const again = keep(await openClips(server, await address(page)));
    await again.getByRole('radio', { name: /B\s+vits-base, step 0/ }).waitFor();
    await page.getByRole('button', { name: 'No comparison' }).click();
    await page.getByText('Mark two clips with A and B').waitFor();
  },

  async 'a drag makes the range that is repeated, on every card; speed, volume and loudness are set'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server, '#audio', counted));
    const box = await card(page, 'vits-base').locator('canvas').boundingBox();
    const x = (share) => box.x + 34 + (box.width - 34) * share;
    await page.mouse.move(x(0.25), box.y + 40);
    await page.mouse.down();
    await page.mouse.move(x(0.4), box.y + 40);
    await page.mouse.move(x(0.5), box.y + 40);
    await page.mouse.up();
    await page.getByRole('button', { name: /^Loop 0\.40 – 0\.80 s/ }).waitFor();
    await soon(async () => assert.match(await address(page), /audio\.loop=on.*audio\.range=0\.\d+-0\.\d+/));
    await soon(async () => assert.ok((await page.locator('.range').count()) >= 2));
    await page.keyboard.press('Space');
    await soon(async () => assert.ok(await isPlaying(page)));
    // it goes round: what was near the end is near the beginning again
    let last = 0;
    await soon(async () => {
      const now = await time(page);
      const fell = now < last - 0.1;
      last = now;
      assert.ok(now >= 0.35 && now <= 0.95, String(now));
      assert.ok(fell);
    });
    await page.keyboard.press('Space');
    await page.keyboard.press('o');
    await soon(async () => assert.equal(await page.locator('.range').count(), 0));
    await page.locator('.transport select').selectOption('0.5');
    await page.locator('.transport input[type=range]').fill('0.5');
    const tuned = () => page.evaluate(() => window.sounds.map((s) => [s.playbackRate, s.volume]).at(-1));
    await soon(async () => assert.equal((await tuned())[0], 0.5));
    await soon(async () => assert.ok((await tuned())[1] < 0.5)); // it is louder than -23 LUFS
    await page.getByRole('button', { name: 'Match loudness' }).click();
    await soon(async () => assert.equal((await tuned())[1], 0.5));
    await page.getByRole('button', { name: 'Mute' }).click();
    await soon(async () => assert.ok(await page.evaluate(() => window.sounds.at(-1).muted)));
  },

  async 'a new clip comes by itself; a card that was moved stays, and idle cards ask nothing'(keep) {
    const { server, runs } = await made();
    const page = keep(await openClips(server));
    await isAt(page, 'vits-base', '3000');
    await card(page, 'vits-small').locator('input[type=range]').fill('0');
    await isAt(page, 'vits-small', '0');
    const asked = [];
    page.on('request', (r) => {
      if (r.url().includes('api/v1/audio')) asked.push(r.url());
    });
    for (const run of Object.values(runs))
      run.clips(4000, { 'val/speech': [wav(1, tone(440)), wav(1, tone(440))] }).flush();
    await isAt(page, 'vits-base', '4000');
    await says(page, 'vits-base', /1\.000 s/);
    await says(page, 'vits-small', /1 of 4 clips/);
    await isAt(page, 'vits-small', '0');
    assert.deepEqual(
      asked.filter((url) => url.includes('short')),
      [],
    );
  },

  async 'filter, pins, full size, download of the clip, its picture and its measures'(keep) {
    const { server } = await made();
    const page = keep(await openClips(server, '#audio', { permissions: ['clipboard-read', 'clipboard-write'] }));
    await page.keyboard.press('/');
    await page.keyboard.type('speech');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 2));
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /pins=!audio!vits-base!!val\/speech/));
    await page.keyboard.press('f');
    await page.waitForSelector(`dialog[open] ${DRAWN}`);
    await axe(page, 'a clip at full size', 'dialog');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('dialog').getByRole('button', { name: 'Download clip' }).click(),
    ]);
    assert.match(file.suggestedFilename(), /^vits-base_val_speech_3000\.wav$/);
    const bytes = readFileSync(await file.path());
    assert.deepEqual([bytes.subarray(0, 4).toString(), bytes.length], ['RIFF', 44 + 1.6 * 16000 * 2]);
    await page.keyboard.press('Escape');
    const menu = async (item) => {
      await card(page, 'vits-base').hover();
      await card(page, 'vits-base').getByRole('button', { name: /More/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const [picture] = await Promise.all([page.waitForEvent('download'), menu('Download picture (PNG)')]);
    assert.equal(
      readFileSync(await picture.path())
        .subarray(1, 4)
        .toString(),
      'PNG',
    );
    await menu('Copy measures');
    const measures = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual([measures.step, measures.seconds, measures.rate], [3000, 1.6, 16000]);
  },

  async 'a clip whose picture the server still makes is waited for, and is not called missing'(keep) {
    const { server } = await made();
    let letGo = () => {};
    const held = new Promise((done) => (letGo = done));
    const page = keep(
      await open(server, '#audio&tags=speech', {
        before: (p) =>
          p.route('**/api/v1/audio/picture?*', async (route) => {
            await held;
            await route.continue();
          }),
      }),
    );
    await isAt(page, 'vits-base', '3000');
    await soon(async () => assert.equal(await card(page, 'vits-base').locator('.skeleton').count(), 1));
    await soon(async () => assert.doesNotMatch(await card(page, 'vits-base').innerText(), /None of the runs/));
    letGo();
    await says(page, 'vits-base', /4 of 4 clips/);
    await soon(async () => assert.equal(await card(page, 'vits-base').locator('.skeleton').count(), 0));
  },

  async 'clips that lie, are empty, are no clips or an hour long say so; nothing runs'(keep) {
    const hour = wav(3600, (t) => (t % 60 < 30 ? 0.3 * Math.sin(2 * Math.PI * 200 * t) : 0), { rate: 4000 });
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, "<img src=x onerror='window.hit=1'>", START);
      const broken = wav(0.1, tone(440));
      broken.writeUInt16LE(0, 22);
      run.clips(
        1,
        {
          '<b>odd</b>/empty': [wav(0, tone(1))],
          '<b>odd</b>/header': [broken],
          '<b>odd</b>/nothing': [Buffer.alloc(0)],
          '<b>odd</b>/html': [Buffer.from("<script>window.hit=1</script><img src=x onerror='window.hit=1'>")],
          '<b>odd</b>/promise': [wav(0.25, tone(440), { claimed: 0x7fffffff })],
          '<b>odd</b>/clipped': [wav(0.25, tone(440, 3))],
          '<b>odd</b>/hour': [hour],
        },
        { description: "<script>window.hit=1</script><img src=x onerror='window.hit=1'>[x](javascript:window.hit=1)" },
      );
      run.flush();
    });
    const page = keep(await openClips(server, '#audio', { viewport: { width: 1440, height: 1800 } }));
    const of = (name) => page.locator(`.slot [data-tag$="/${name}"]`).first();
    const told = (name, pattern) => soon(async () => assert.match(await of(name).innerText(), pattern));
    await told('empty', /This clip has no samples/);
    await told('header', /cannot be right, so it is not played\.\s+.*0 channels/);
    await told('nothing', /There is no data here/);
    await told('html', /not a known audio format/);
    await told('promise', /promises more than the file contains: it ends after 0\.250 s/);
    await told('clipped', /clipped\s*[\d\u2009]+ samples/);
    await told('hour', /1 h|60 min/);
    for (const name of ['empty', 'header', 'html'])
      await soon(async () => assert.ok(await of(name).getByRole('button', { name: /^Play/ }).isDisabled()));
    await of('hour')
      .getByRole('slider', { name: /^Position/ })
      .focus();
    await page.keyboard.press('End');
    await soon(async () => assert.equal(await time(page), 3600));
    await soon(async () => assert.equal(await page.evaluate(() => window.hit), undefined));
    await soon(async () =>
      assert.equal(await page.locator('.about script, .about [onerror], .about [href^=javascript]').count(), 0),
    );
    await shot(page, 'audio-odd');
  },

  async 'steps without a clip are passed over, and a tag that has none at all says so'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [1, 2, 3]) run.clips(step, { none: [], some: step === 3 ? [] : [wav(0.2, tone(440))] });
      run.clips(1, { 'two/first': [SHORT, SHORT] }).flush();
      new RunWriter(logdir, 'other', START + 1).clips(1, { 'two/first': [SHORT] }).flush();
    });
    const page = keep(await openClips(server));
    await says(page, 'run', /The steps of this tag hold no clips/, 'none');
    await says(page, 'run', /2 of 2 clips/, 'some');
    await soon(async () => assert.equal(await card(page, 'run', 'some').locator('input.step').inputValue(), '2'));
    await card(page, 'run', 'two/first').getByRole('button', { name: 'Next clip of the step' }).click();
    await says(page, 'other', /No step of this tag has a clip 2/, 'two/first');
    await page.locator('header .language').click();
    await says(page, 'run', /此标签的各步都没有片段/, 'none');
  },

  async 'the measures of a clip are whole, on a phone too, and there the bar of the player begins with what it does'(
    keep,
  ) {
    const { server } = await made((logdir) => {
      new RunWriter(logdir, 'run', START).clips(1, { clipped: [wav(0.25, tone(440, 3))] }).flush();
    });
    const page = keep(await openClips(server, '#audio', { viewport: { width: 390, height: 844 }, hasTouch: true }));
    const edges = (of) => of.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().right)));
    await soon(async () => {
      const [right] = await edges(card(page, 'run', 'clipped'));
      const all = await edges(card(page, 'run', 'clipped').locator('.measures dd'));
      assert.equal(all.length, 3);
      assert.ok(
        all.every((edge) => edge <= right),
        `${all} in ${right}`,
      );
    });
    await soon(async () => assert.ok((await edges(page.locator('.transport .chip').first()))[0] <= 390));
    // beside the picture too, whatever the language
    const wide = keep(await openClips(server));
    for (let turn = 0; turn < 2; turn++) {
      await soon(async () => {
        const [right] = await edges(card(wide, 'run', 'clipped'));
        const all = await edges(card(wide, 'run', 'clipped').locator('.measures dd'));
        assert.ok(all.length === 3 && all.every((edge) => edge < right), `${all} in ${right}`);
      });
      await wide.locator('header .language').click();
    }
  },

  async 'a failure is told on the card; without clips the page says how to log them'(keep) {
    const { server } = await made();
    const page = keep(
      await open(server, '#audio', {
        allowErrors: true,
        before: diskIsGone('**/api/v1/audio/picture?**'),
      }),
    );
    await page.getByText('the disk is gone').first().waitFor();
    const empty = keep(await open(await serve('empty'), '#audio'));
    await empty.getByText('writer.add_audio').waitFor();
    await axe(empty, 'no clips');
  },

  async 'clips of TensorFlow and torch, a phone, and far too many'(keep) {
    const { server } = await made((logdir) => {
      for (const name of ['tf/v2', 'tf/v1', 'torch_writer'])
        execFileSync('cp', ['-r', join(ROOT, 'tests/fixtures', name), join(logdir, name.replace('/', '_'))]);
    });
    const page = keep(await openClips(server));
    await soon(async () => assert.ok((await page.locator(`.slot ${DRAWN}`).count()) >= 3));
    await shot(page, 'audio-frameworks');
    const phone = keep(await openClips(server, '#audio', { viewport: { width: 390, height: 844 }, hasTouch: true }));
    await axe(phone, 'clips on a phone');
    await shot(phone, 'audio-phone');
    const many = await made((logdir) => {
      const file = wav(0.2, tone(300));
      for (let r = 0; r < 40; r++) {
        const run = new RunWriter(logdir, `run-${r}`, START + r);
        for (let tag = 0; tag < 25; tag++) run.clips(1, { [`group-${tag % 5}/clip-${tag}`]: [file] });
        run.flush();
      }
      const long = new RunWriter(logdir, '0 long', START - 1);
      for (let step = 0; step < 100_000; step++) long.clips(step, { '0/steps': [SHORT] });
      long.flush();
    });
    const full = keep(await openClips(many.server));
    await soon(async () => assert.ok((await full.locator('.slot .card').count()) >= 2));
    const long = '[data-tag="!audio!0 long!!0/steps"]';
    await soon(async () => assert.match(await full.locator(long).innerText(), /100.000 of 100.000 clips/));
    await full.locator(`${long} input.step`).fill('31234');
    await full.locator(`${long} input.step`).press('Enter');
    await soon(async () => assert.match(await full.locator(long).innerText(), /31.235 of 100.000 clips/));
    await soon(async () => assert.ok((await full.locator('.slot .card').count()) < 40));
    await shot(full, 'audio-many');
    assert.ok(OUT);
  },
};
