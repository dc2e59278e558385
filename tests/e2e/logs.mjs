// Writes event files for the browser tests: TFRecord frames around hand-made Event messages, as torch's writer makes
// them. Small on purpose; what the formats are is in docs/formats/event-files.md.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TABLE = new Uint32Array(256).map((_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0x82f63b78 : n >>> 1;
  return n >>> 0;
});
function maskedCrc(bytes) {
  let crc = 0xffffffff;
  for (const b of bytes) crc = TABLE[(crc ^ b) & 255] ^ (crc >>> 8);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function varint(n) {
  const out = [];
  let v = BigInt(n);
  do {
    out.push(Number(v & 127n) | (v > 127n ? 128 : 0));
    v >>= 7n;
  } while (v);
  return Buffer.from(out);
}
const double = (field, v) => {
  const b = Buffer.alloc(9);
  b[0] = (field << 3) | 1;
  b.writeDoubleLE(v, 1);
  return b;
};
const float = (field, v) => {
  const b = Buffer.alloc(5);
  b[0] = (field << 3) | 5;
  b.writeFloatLE(v, 1);
  return b;
};
const int = (field, v) => Buffer.concat([varint(field << 3), varint(v)]);
const bytes = (field, ...parts) => {
  const body = Buffer.concat(parts.map((p) => (typeof p === 'string' ? Buffer.from(p) : p)));
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};

function frame(payload) {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(payload.length), 0);
  head.writeUInt32LE(maskedCrc(head.subarray(0, 8)), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(maskedCrc(payload), 0);
  return Buffer.concat([head, payload, tail]);
}
export const wire = { varint, double, float, int, bytes };
const event = (wall, step, ...values) => frame(Buffer.concat([double(1, wall), int(2, step), bytes(5, ...values)]));
const scalar = (tag, v) => bytes(1, bytes(1, tag), float(2, v));

/** One run: a file that can grow. */
export class RunWriter {
  constructor(logdir, name, start = Date.now() / 1000) {
    const folder = join(logdir, name);
    mkdirSync(folder, { recursive: true });
    this.start = start;
    this.path = join(folder, `events.out.tfevents.${Math.floor(start)}.test.1.0`);
    this.waiting = [frame(Buffer.concat([double(1, start), bytes(3, 'brain.Event:2')]))];
    writeFileSync(this.path, '');
  }
  /** One byte of a record that is not written yet. */
  damage(record) {
    this.waiting[record][this.waiting[record].length - 8] ^= 255;
    return this;
  }
  scalars(step, values, wall = this.start + step) {
    this.waiting.push(event(wall, step, ...Object.entries(values).map(([tag, v]) => scalar(tag, v))));
    return this;
  }
  /** Scalars of double precision, as torch's add_scalar logs them with double_precision. */
  doubles(step, values) {
    const metadata = bytes(9, bytes(1, bytes(1, 'scalars')));
    // TensorProto: dtype 1 = DT_DOUBLE (2), double_val 6
    const tensor = (v) => bytes(8, int(1, 2), bytes(6, double(0, v).subarray(1)));
    const all = Object.entries(values).map(([tag, v]) => bytes(1, bytes(1, tag), tensor(v), metadata));
    this.waiting.push(event(this.start + step, step, ...all));
    return this;
  }
  /** A scalar with a description, in markdown. */
  described(step, tag, v, description) {
    const metadata = bytes(9, bytes(1, bytes(1, 'scalars')), bytes(3, description));
    this.waiting.push(event(this.start + step, step, bytes(1, bytes(1, tag), float(2, v), metadata)));
    return this;
  }
  /** Texts of one step, as torch's writer logs them; bytes where they are no good UTF-8. */
  texts(step, values, wall = this.start + step, { description = '', display = '' } = {}) {
    const metadata = bytes(9, bytes(1, bytes(1, 'text')), bytes(2, display), bytes(3, description));
    // TensorProto: dtype 1 = DT_STRING (7), tensor_shape 2 {dim 2 {size 1}}, string_val 8
    const tensor = (text) => bytes(8, int(1, 7), bytes(2, bytes(2, int(1, 1))), bytes(8, text));
    this.waiting.push(
      event(
        wall,
        step,
        ...Object.entries(values).map(([tag, text]) => bytes(1, bytes(1, tag), tensor(text), metadata)),
      ),
    );
    return this;
  }
  /** A tensor of strings as a text. */
  strings(step, tag, dims, strings) {
    const shape = bytes(2, ...dims.map((n) => bytes(2, int(1, n))));
    const tensor = bytes(8, int(1, 7), shape, ...strings.map((text) => bytes(8, text)));
    const value = bytes(1, bytes(1, tag), tensor, bytes(9, bytes(1, bytes(1, 'text'))));
    this.waiting.push(event(this.start + step, step, value));
    return this;
  }
  /** Clips of one step, as tf.summary.audio logs them: a list of files for each tag. */
  clips(step, values, { description = '', display = '' } = {}) {
    const plugin = bytes(1, bytes(1, 'audio'), bytes(2, Buffer.from([0x10, 11]))); // encoding WAV
    const metadata = bytes(9, plugin, bytes(2, display), bytes(3, description));
    const tensor = (files) =>
      bytes(8, int(1, 7), bytes(2, bytes(2, int(1, files.length))), ...files.map((file) => bytes(8, file)));
    const all = Object.entries(values).map(([tag, files]) => bytes(1, bytes(1, tag), tensor(files), metadata));
    this.waiting.push(event(this.start + step, step, ...all));
    return this;
  }
  /** Histograms of one step, as tf.summary logs them: rows of left edge, right edge, count. */
  histograms(step, values, wall = this.start + step, { description = '', display = '' } = {}) {
    const metadata = bytes(9, bytes(1, bytes(1, 'histograms')), bytes(2, display), bytes(3, description));
    // TensorProto: dtype 1 = DT_DOUBLE (2), tensor_shape 2 {dim 2 {size 1}}, tensor_content 4
    const tensor = (rows) => {
      const content = Buffer.from(new Float64Array(rows.flat()).buffer);
      return bytes(8, int(1, 2), bytes(2, bytes(2, int(1, rows.length)), bytes(2, int(1, 3))), bytes(4, content));
    };
    this.waiting.push(
      event(
        wall,
        step,
        ...Object.entries(values).map(([tag, rows]) => bytes(1, bytes(1, tag), tensor(rows), metadata)),
      ),
    );
    return this;
  }
  /** The run's graph: an encoded GraphDef (graphs.mjs makes them). */
  graph(graphDef) {
    this.waiting.push(frame(Buffer.concat([double(1, this.start), bytes(4, graphDef)])));
    return this;
  }
  /** Step statistics of the graph: an encoded RunMetadata. */
  runMetadata(tag, metadata, step = 0) {
    const tagged = bytes(8, bytes(1, tag), bytes(2, metadata));
    this.waiting.push(frame(Buffer.concat([double(1, this.start + step), int(2, step), tagged])));
    return this;
  }
  /** What TensorFlow 2 logs of a graph: a blob under the name of its plugin, graph_run_metadata_graph or graph_keras_model. */
  graphBlob(tag, plugin, blob, step = 0) {
    const tensor = bytes(8, int(1, 7), bytes(2), bytes(8, blob));
    const metadata = bytes(9, bytes(1, bytes(1, plugin), bytes(2, '1')));
    this.waiting.push(event(this.start + step, step, bytes(1, bytes(1, tag), tensor, metadata)));
    return this;
  }
  /** Pictures of one step, as TensorFlow 2 logs them: width and height as texts, then each sample's bytes. */
  images(step, values, wall = this.start + step, { description = '', display = '' } = {}) {
    const metadata = bytes(9, bytes(1, bytes(1, 'images')), bytes(2, display), bytes(3, description));
    const tensor = (blobs) =>
      bytes(
        8,
        int(1, 7),
        bytes(2, bytes(2, int(1, blobs.length + 2))),
        bytes(8, '8'),
        bytes(8, '8'),
        ...blobs.map((blob) => bytes(8, blob)),
      );
    const all = Object.entries(values).map(([tag, blobs]) => bytes(1, bytes(1, tag), tensor([blobs].flat()), metadata));
    this.waiting.push(event(wall, step, ...all));
    return this;
  }
  hparams(values) {
    const map = Object.entries(values).map(([key, v]) =>
      bytes(1, bytes(1, key), bytes(2, typeof v === 'number' ? double(2, v) : bytes(3, v))),
    );
    // HParamsPluginData: version 0, session_start_info; Value: number_value 2, string_value 3
    const content = bytes(3, ...map, double(5, this.start));
    this.waiting.push(
      event(
        this.start,
        0,
        bytes(1, bytes(1, '_hparams_/session_start_info'), bytes(9, bytes(1, bytes(1, 'hparams'), bytes(2, content)))),
      ),
    );
    return this;
  }
  flush() {
    appendFileSync(this.path, Buffer.concat(this.waiting));
    this.waiting = [];
    return this;
  }
}

/** A WAV file of 16 bits; `sample(t)` gives the value, -1..1, at a time in seconds. */
export function wav(seconds, sample, { rate = 16000, channels = 1, claimed } = {}) {
  const frames = Math.round(seconds * rate);
  const file = Buffer.alloc(44 + frames * channels * 2);
  const size = file.length - 44;
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(size + 36, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * channels * 2, 28);
  file.writeUInt16LE(channels * 2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(claimed ?? size, 40);
  for (let i = 0; i < frames * channels; i++) {
    const v = Math.max(-1, Math.min(1, sample(Math.floor(i / channels) / rate)));
    file.writeInt16LE(Math.round(v * 32767), 44 + 2 * i);
  }
  return file;
}
export const tone =
  (hertz, size = 0.3) =>
  (t) =>
    size * Math.sin(2 * Math.PI * hertz * t);

// repeatable noise
export function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 4294967296;
  };
}
const MODELS = {
  'vit-b16': [0.3, 3e-4],
  'resnet-50': [0.62, 1e-3],
  'convnext-s': [0.45, 4e-4],
};

/** Three models with three seeds, like an afternoon's work. The first seeds are still running. */
export function writeDemo(logdir, steps = 4000) {
  const now = Date.now() / 1000;
  let n = 0;
  for (const [model, [level, lr]] of Object.entries(MODELS))
    for (let seed = 1; seed <= 3; seed++) {
      const next = random(++n);
      const end = model === 'convnext-s' ? Math.floor(steps * 0.7) : steps;
      const running = seed === 1;
      const span = 11000;
      // half an hour ahead of the clock: they count as running however long the tests take
      const start = running ? now - span + 1800 : now - 3 * 86400 + n * 600;
      const run = new RunWriter(logdir, `${model}/seed${seed}`, start).hparams({ lr, model, batch: 256 });
      let walk = 0;
      for (let step = 0; step <= end; step += 4) {
        walk = walk * 0.97 + (next() - 0.5) * 0.06;
        const t = step / steps;
        const loss = level + 2.1 * Math.exp(-t * 6) + walk + (next() - 0.5) * 0.08 + seed * 0.012;
        const values = {
          'train/loss': loss,
          'train/grad_norm': 1.6 * Math.exp(-t * 2) + 0.4 + walk * 3 + next() * 0.3,
          'train/lr': lr * (t < 0.05 ? t / 0.05 : 0.5 * (1 + Math.cos(Math.PI * t))),
          'train/tokens_per_s': 1000 * (180 + 20 * walk + 14 * next()) * (1 - level * 0.3),
        };
        if (step % 40 === 0) {
          values['val/loss'] = loss + 0.12 + (next() - 0.5) * 0.05;
          values['val/accuracy'] = Math.min(
            0.96,
            0.95 - level * 0.35 - 0.7 * Math.exp(-t * 5) + (next() - 0.5) * 0.012,
          );
          values['val/ece'] = 0.02 + 0.2 * Math.exp(-t * 3) + next() * 0.01;
          values['val/latency_ms'] = 12 + level * 20 + next() * 2;
          values['val/top5'] = Math.min(0.995, 0.99 - level * 0.1 - 0.5 * Math.exp(-t * 6));
        }
        if (model === 'resnet-50' && seed === 3 && step > 2400 && step < 2440) values['train/grad_norm'] = NaN;
        run.scalars(step, values, start + (running ? (step / end) * (span - 5) : step * 2.7));
      }
      run.flush();
    }
}

/** Many runs of few points. */
export function writeMany(logdir, runs = 1000, tags = 10, steps = 100) {
  const start = Date.now() / 1000 - 40 * 86400;
  for (let r = 0; r < runs; r++) {
    const next = random(r + 7);
    const run = new RunWriter(logdir, `sweep/run-${String(r).padStart(4, '0')}`, start + r * 60);
    const level = 0.2 + next() * 0.9;
    for (let step = 0; step < steps; step++) {
      const values = {};
      for (let k = 0; k < tags; k++)
        values[`m${k % 3}/metric_${k}`] =
          level + (2 + k * 0.2) * Math.exp((-step / steps) * (3 + level)) + (next() - 0.5) * 0.1;
      run.scalars(step, values);
    }
    run.flush();
  }
}

/** Ten thousand runs in folders within folders, with hyperparameters that differ. */
export function writeForest(logdir, runs = 10000) {
  const start = Date.now() / 1000 - 40 * 86400;
  const optimizers = ['adam', 'sgd', 'lion'];
  for (let r = 0; r < runs; r++) {
    const next = random(r + 3);
    const name = `${['nlp', 'vision'][r % 2]}/sweep-${Math.floor(r / 100) % 50}/run-${String(r).padStart(5, '0')}`;
    const lr = Number(`1e-${1 + (r % 5)}`);
    const level = 0.2 + (r % 5) * 0.1 + next() * 0.4;
    const run = new RunWriter(logdir, name, start + r * 60);
    if (r % 10 !== 9) run.hparams({ lr, opt: optimizers[r % 3], depth: r % 7 });
    for (let step = 0; step < 3; step++)
      run.scalars(step, {
        'val/loss': level + 1 / (step + 1),
        'val/accuracy': 1 - level / 2,
      });
    run.flush();
  }
}

/** One run with very many tags. */
export function writeTags(logdir, tags = 10000) {
  const run = new RunWriter(logdir, 'wide', Date.now() / 1000 - 86400);
  for (let step = 0; step < 3; step++) {
    const values = {};
    for (let k = 0; k < tags; k++) values[`layer${Math.floor(k / 20)}/param_${k % 20}`] = k + step;
    run.scalars(step, values);
  }
  run.flush();
}
