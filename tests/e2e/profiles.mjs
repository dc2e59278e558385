// Captures of profilers for the browser tests: traces as torch.profiler writes them, with known times.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const PID = 4242;
const THREAD = 4242;
const STREAM = 7;
const NCCL = 20;

/**
 * Steps of 10 ms: 2 ms of waiting for data, 5 matmuls that each launch a kernel, an AllReduce, an optimizer.
 * All times are microseconds, as in the files.
 */
export function kineto({
  steps = 4,
  rank = null,
  ranks = 0,
  slow = 1,
  matmuls = 5,
  first = 100,
  modules = false,
} = {}) {
  const events = [
    {
      ph: 'M',
      name: 'process_name',
      pid: PID,
      tid: 0,
      args: { name: 'python' },
    },
    {
      ph: 'M',
      name: 'process_labels',
      pid: PID,
      tid: 0,
      args: { labels: 'CPU' },
    },
    {
      ph: 'M',
      name: 'process_name',
      pid: 0,
      tid: 0,
      args: { name: 'python' },
    },
    {
      ph: 'M',
      name: 'process_labels',
      pid: 0,
      tid: 0,
      args: { labels: 'GPU 0' },
    },
    {
      ph: 'M',
      name: 'thread_name',
      pid: PID,
      tid: THREAD,
      args: { name: 'thread 4242 (python)' },
    },
    {
      ph: 'M',
      name: 'thread_name',
      pid: 0,
      tid: STREAM,
      args: { name: 'stream 7' },
    },
    {
      ph: 'M',
      name: 'thread_name',
      pid: 0,
      tid: NCCL,
      args: { name: 'stream 20' },
    },
  ];
  const slice = (cat, name, pid, tid, ts, dur, args = {}) =>
    events.push({ ph: 'X', cat, name, pid, tid, ts, dur, args });
  let id = 1;
  let bytes = 1_000_000;
  for (let i = 0; i < steps; i++) {
    const at = 1000 + i * 10_000;
    const number = first + i;
    slice('user_annotation', `ProfilerStep#${number}`, PID, THREAD, at, 9_900);
    slice('user_annotation', 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', PID, THREAD, at + 50, 2000);
    if (modules)
      slice('python_function', 'nn.Module: Net_0', PID, THREAD, at + 2_150, 4_500, { 'Python id': 10 * i + 1 });
    for (let k = 0; k < matmuls; k++) {
      const t = at + 2_200 + k * 1_000;
      const correlation = id++;
      if (modules)
        slice('python_function', 'nn.Module: Linear_0', PID, THREAD, t - 10, 320, {
          'Python id': 10 * i + 2 + k,
          'Python parent id': 10 * i + 1,
        });
      slice('cpu_op', 'aten::linear', PID, THREAD, t, 300, {
        'External id': correlation,
        'Input Dims': [
          [8, 64],
          [64, 64],
        ],
      });
      slice('cpu_op', 'aten::addmm', PID, THREAD, t + 20, 250, {
        'External id': correlation,
      });
      slice('cuda_runtime', 'cudaLaunchKernel', PID, THREAD, t + 100, 20, { correlation, 'External id': correlation });
      slice('kernel', `gemm_128x128_${k % 2 ? 'nt' : 'nn'}`, 0, STREAM, t + 200, 700 * slow, {
        correlation,
        'External id': correlation,
        stream: STREAM,
        device: 0,
        grid: [16, 8, 1],
        block: [128, 1, 1],
        'est. achieved occupancy %': 50,
        'registers per thread': 96,
      });
      events.push({
        ph: 's',
        cat: 'ac2g',
        name: 'ac2g',
        id: correlation,
        pid: PID,
        tid: THREAD,
        ts: t + 100,
      });
      events.push({
        ph: 'f',
        bp: 'e',
        cat: 'ac2g',
        name: 'ac2g',
        id: correlation,
        pid: 0,
        tid: STREAM,
        ts: t + 200,
      });
      bytes += k === matmuls - 1 ? -4_000_000 : 1_000_000;
      events.push({
        ph: 'i',
        s: 't',
        cat: 'cpu_instant_event',
        name: '[memory]',
        pid: PID,
        tid: THREAD,
        ts: t + 60,
        args: {
          'Device Type': 1,
          'Device Id': 0,
          Addr: 1000 + id,
          Bytes: k === matmuls - 1 ? -4_000_000 : 1_000_000,
          'Total Allocated': bytes,
          'Total Reserved': 20_000_000,
        },
      });
    }
    if (ranks > 1) {
      const correlation = id++;
      slice('cuda_runtime', 'cudaLaunchKernel', PID, THREAD, at + 7_300, 20, { correlation });
      slice('kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 0, NCCL, at + 7_400, 1_000 + 200 * (ranks - rank), {
        correlation,
        stream: NCCL,
        device: 0,
        'Collective name': 'allreduce',
        'In msg nelems': 1_000_000,
        dtype: 'Float',
        'Group size': ranks,
      });
    }
    slice('user_annotation', 'Optimizer.step#AdamW.step', PID, THREAD, at + 8_900, 600);
  }
  const trace = {
    schemaVersion: 1,
    deviceProperties: [
      {
        id: 0,
        name: 'Test GPU',
        totalGlobalMem: 80_000_000_000,
        computeMajor: 8,
        computeMinor: 0,
      },
    ],
    traceEvents: events,
    baseTimeNanoseconds: 1_763_000_000_000_000_000,
  };
  if (rank !== null) trace.distributedInfo = { backend: 'nccl', rank, world_size: ranks };
  return trace;
}

/** A trace with one of each fault that a writer may make, beside slices that are right. */
export function odd() {
  const at = (ph, name, ts, more = {}) => ({ ph, name, cat: 'cpu_op', pid: 1, tid: 2, ts, ...more });
  return {
    schemaVersion: 1,
    traceEvents: [
      at('X', 'aten::mm', 0, { dur: 100 }),
      at('X', 'entangle', 8, { dur: 2, cat: 'quantum_op' }),
      at('X', 'negative', 120, { dur: -3 }),
      at('B', 'no end', 130, { tid: 3 }),
      at('E', 'no beginning', 5, { tid: 4 }),
      at('X', 'crossing', 50, { dur: 100 }),
      at('?', 'unknown', 9),
      at('X', 'far', 900_000_000_000, { dur: 1 }),
      at('b', 'request', 0, { id: 1 }),
      at('b', 'request', 5, { id: 1 }),
      at('e', 'request', 9, { id: 1 }),
    ],
  };
}

let stamp = 1_794_737_034_369_441_671n;
/** Writes a trace where torch's handler for TensorBoard would, with its time (in seconds, or the next one) in its name. */
export function writeTrace(logdir, run, worker, trace, { cut = 1, seconds } = {}) {
  mkdirSync(join(logdir, run), { recursive: true });
  const bytes = gzipSync(typeof trace === 'string' ? trace : JSON.stringify(trace));
  const time = seconds === undefined ? stamp++ : BigInt(seconds) * 1_000_000_000n;
  const file = join(logdir, run, `${worker}.${time}.pt.trace.json.gz`);
  writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * cut)));
  return file;
}
