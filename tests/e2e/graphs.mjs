// Graphs for the browser tests, as TensorFlow encodes them: GraphDef {node 1*, versions 4}, NodeDef {name 1, op 2,
// input 3*, device 4, attr 5*}, AttrValue {list 1, s 2, i 3, type 6, shape 7}, RunMetadata {step_stats 1, function_graphs 4}.
import { wire } from './logs.mjs';

const { bytes, int } = wire;
const shape = (dims) => dims.map((size) => bytes(2, int(1, size)));
const attr = (key, ...value) => bytes(5, bytes(1, key), bytes(2, ...value));

/** { name, op, inputs, shape, params, device, attrs } as a NodeDef. */
function node({ name, op, inputs = [], shape: dims, params, device, attrs = {} }) {
  return bytes(
    1,
    bytes(1, name),
    bytes(2, op),
    ...inputs.map((input) => bytes(3, input)),
    ...(device ? [bytes(4, device)] : []),
    ...(dims ? [attr('_output_shapes', bytes(1, bytes(7, ...shape(dims))))] : []),
    ...(params ? [attr('dtype', int(6, 1)), attr('shape', bytes(7, ...shape(params)))] : []),
    ...Object.entries(attrs).map(([key, value]) =>
      attr(key, typeof value === 'string' ? bytes(2, value) : int(3, value)),
    ),
  );
}
export const graphDef = (nodes) => Buffer.concat([...nodes.map(node), bytes(4, int(1, 1395))]);

const GPU = '/job:localhost/replica:0/task:0/device:GPU:0';
const CPU = '/job:localhost/replica:0/task:0/device:CPU:0';

/** Times in microseconds and bytes by the name of the operation; what `isCpu` holds for was measured on the CPU. */
export function runMetadata(stats, isCpu = () => false) {
  const nodes = (device) =>
    Object.entries(stats)
      .filter(([name]) => isCpu(name) === (device === CPU))
      .map(([name, [micros, size]]) =>
        bytes(2, bytes(1, name), int(2, 1000), int(5, micros), bytes(6, bytes(1, 'gpu_bfc'), int(2, size))),
      );
  return bytes(1, ...[GPU, CPU].map((device) => bytes(1, bytes(1, device), ...nodes(device))));
}

/** The measurements of one operation with the tensor that it gave: NodeExecStats {output 7 {slot 1, tensor 3 {shape 2,
 * allocation 4 {requested_bytes 1}}}}. */
export function measuredOutput(name, micros, dims, size) {
  const tensor = bytes(3, int(1, 1), bytes(2, ...shape(dims)), bytes(4, int(1, size)));
  const node = bytes(2, bytes(1, name), int(2, 1000), int(5, micros), bytes(7, int(1, 0), tensor));
  return bytes(1, bytes(1, bytes(1, GPU), node));
}

/** What tf.summary.trace_export writes of a function: RunMetadata {function_graphs 4 {pre_optimization_graph 2}}. */
export const traced = (graph) => bytes(4, bytes(2, graph));

/** The JSON of a Keras model of two layers. */
export const kerasModel = () =>
  JSON.stringify({
    class_name: 'Sequential',
    config: {
      name: 'digits',
      layers: [
        { class_name: 'InputLayer', config: { name: 'pixels', batch_shape: [null, 784] } },
        {
          class_name: 'Dense',
          config: { name: 'logits', units: 10, use_bias: true },
          build_config: { input_shape: [null, 784] },
        },
      ],
    },
  });

/** The JSON of a Keras model whose names Keras counted from `first` on, as in a process that made other models before. */
export function numberedKeras(first, units) {
  const numbered = (name, n) => (n ? `${name}_${n}` : name);
  const dense = (n, out, input) => ({
    class_name: 'Dense',
    config: { name: numbered('dense', n), units: out, use_bias: true },
    build_config: { input_shape: [null, input] },
  });
  const input = {
    class_name: 'InputLayer',
    config: {
      name: numbered('input_layer', first),
      batch_shape: [null, 784],
    },
  };
  return JSON.stringify({
    class_name: 'Sequential',
    config: {
      name: numbered('sequential', first),
      layers: [input, dense(first, 32, 784), dense(first + 1, units, 32)],
    },
  });
}

/** An ONNX model: y = relu(x · fc.weight), a weight of 4 × 3. ModelProto {ir_version 1, graph 7}, GraphProto {node 1*, initializer 5*, input
 * 11*, output 12*}. */
export function onnxModel() {
  const dims = (sizes) => bytes(2, bytes(1, int(1, 1), bytes(2, ...sizes.map((n) => bytes(1, int(1, n))))));
  const op = (name, kind, inputs, output) =>
    bytes(1, ...inputs.map((input) => bytes(1, input)), bytes(2, output), bytes(3, name), bytes(4, kind));
  const weight = bytes(5, int(1, 4), int(1, 3), int(2, 1), bytes(8, 'fc.weight'), bytes(9, Buffer.alloc(48)));
  return Buffer.concat([
    int(1, 8),
    bytes(
      7,
      op('/fc/MatMul', 'MatMul', ['x', 'fc.weight'], 'h'),
      op('/Relu', 'Relu', ['h'], 'y'),
      bytes(2, 'net'),
      weight,
      bytes(11, bytes(1, 'x'), dims([2, 4])),
      bytes(12, bytes(1, 'y'), dims([2, 3])),
    ),
  ]);
}

/** A graph with one of everything that has a control: a large and a small tensor, a control edge, a constant, XLA clusters, an
 * operation that no TPU runs, equal scopes, and one that so many use that it stands aside. */
export function everything() {
  const users = 'abcdefghijklmnop';
  return graphDef([
    { name: 'in', op: 'Placeholder', shape: [8, 32], device: CPU },
    { name: 'init', op: 'NoOp' },
    {
      name: 'enc/big',
      op: 'MatMul',
      inputs: ['in'],
      shape: [1000, 1000],
      device: GPU,
      attrs: { transpose_note: 'no' },
    },
    { name: 'small', op: 'Relu', inputs: ['in'], shape: [1], device: CPU },
    { name: 'half', op: 'Const', shape: [1] },
    { name: 'join', op: 'AddV2', inputs: ['enc/big', 'small', 'half', '^init'], shape: [1000, 1000], device: GPU },
    { name: 'xla_a', op: 'Mul', inputs: ['join'], attrs: { _XlaCluster: 'cluster_1' } },
    { name: 'xla_b', op: 'Sub', inputs: ['xla_a'], attrs: { _XlaCluster: 'cluster_1' } },
    { name: 'xla_c', op: 'Neg', inputs: ['xla_b'], attrs: { _XlaCluster: 'cluster_2' } },
    { name: 'host/call', op: 'PyFunc', inputs: ['xla_c'] },
    { name: 'host/relu', op: 'Relu', inputs: ['host/call'] },
    { name: 'left/tanh', op: 'Tanh', inputs: ['host/relu'] },
    { name: 'right/tanh', op: 'Tanh', inputs: ['host/relu'] },
    { name: 'many/hub', op: 'Identity', inputs: ['right/tanh'] },
    ...[...users].map((letter, i) => ({
      name: `many/${letter}_user`,
      op: 'Abs',
      inputs: [...(i ? [`many/${users[i - 1]}_user`] : []), 'many/hub'],
    })),
  ]);
}

/** A vision transformer as TensorFlow 1 would log it: blocks that repeat, a residual way, a step that all use. */
export function transformer(blocks = 12, change = () => {}) {
  const nodes = [];
  const stats = {};
  const wide = [64, 197, 768];
  const add = (name, op, inputs, more = {}) => {
    nodes.push({ name, op, inputs, device: GPU, shape: wide, ...more });
    stats[name] = [20 + ((name.length * 37) % 90) + (op === 'MatMul' ? 400 : 0), 1_000_000];
    return name;
  };
  const weight = (name, dims) => add(name, 'VarHandleOp', [], { params: dims, shape: [] });
  const dense = (scope, input, from, to, op = 'MatMul') => {
    const w = weight(`${scope}/kernel`, [from, to]);
    const b = weight(`${scope}/bias`, [to]);
    const product = add(`${scope}/MatMul`, op, [input, `${scope}/read`], {
      shape: [64, 197, to],
    });
    add(`${scope}/read`, 'ReadVariableOp', [w], { shape: [from, to] });
    return add(`${scope}/BiasAdd`, 'BiasAdd', [product, b], {
      shape: [64, 197, to],
    });
  };
  add('image', 'Placeholder', [], { shape: [64, 224, 224, 3], device: '' });
  add('global_step', 'ReadVariableOp', [], { shape: [] });
  let x = dense('vit/patch_embed', 'image', 768, 768, 'Conv2D');
  for (let i = 0; i < blocks; i++) {
    const at = `vit/blocks/block_${i}`;
    const norm1 = add(`${at}/norm1/LayerNorm`, 'LayerNorm', [x]);
    const qkv = dense(`${at}/attn/qkv`, norm1, 768, 2304);
    const q = add(`${at}/attn/q`, 'Slice', [qkv]);
    const k = add(`${at}/attn/k`, 'Slice', [qkv]);
    const v = add(`${at}/attn/v`, 'Slice', [qkv]);
    const scores = add(`${at}/attn/scores`, 'BatchMatMulV2', [q, k], {
      shape: [64, 12, 197, 197],
    });
    const soft = add(`${at}/attn/softmax`, 'Softmax', [scores], {
      shape: [64, 12, 197, 197],
    });
    const mixed = add(`${at}/attn/mixed`, 'BatchMatMulV2', [soft, v]);
    const attn = dense(`${at}/attn/proj`, mixed, 768, 768);
    const first = add(`${at}/add_a`, 'AddV2', [x, attn]);
    const norm2 = add(`${at}/norm2/LayerNorm`, 'LayerNorm', [first]);
    const act = add(`${at}/mlp/gelu`, 'Gelu', [dense(`${at}/mlp/fc1`, norm2, 768, 3072)], {
      shape: [64, 197, 3072],
    });
    const mlp = dense(`${at}/mlp/fc2`, act, 3072, 768);
    x = add(`${at}/add_b`, 'AddV2', [first, mlp]);
  }
  const norm = add('vit/norm/LayerNorm', 'LayerNorm', [x]);
  const head = dense('vit/head', norm, 768, 1000);
  add('loss/labels', 'Const', [], { shape: [64], device: '' });
  add('loss/entropy', 'SparseSoftmaxCrossEntropyWithLogits', [head, 'loss/labels'], { shape: [64] });
  add('loss/mean', 'Mean', ['loss/entropy'], { shape: [] });
  change(nodes);
  return {
    graph: graphDef(nodes),
    stats: runMetadata(stats, (name) => name.startsWith('loss/')),
    nodes,
  };
}

/** One level of many operations. */
export function flat(count) {
  return graphDef(
    Array.from({ length: count }, (_, i) => ({
      name: `op${i}x`,
      op: ['MatMul', 'Relu', 'Mul', 'Sigmoid', 'Softmax'][(i * 7) % 5],
      inputs: i ? [`op${i - 1}x`, ...(i % 9 === 0 && i > 40 ? [`op${i - 31}x`] : [])] : [],
    })),
  );
}

/** FunctionDef {signature 1, node_def 3*, ret 4*}: x -> square(x), called once. */
export function calls() {
  const arg = (name) => [bytes(1, name), int(3, 1)];
  const signature = bytes(1, bytes(1, 'square_fn'), bytes(2, ...arg('x')), bytes(3, ...arg('y')));
  const body = bytes(3, bytes(1, 'square'), bytes(2, 'Square'), bytes(3, 'x'));
  const ret = bytes(4, bytes(1, 'y'), bytes(2, 'square:y:0'));
  const library = bytes(2, bytes(1, signature, body, ret));
  const f = bytes(5, bytes(1, 'f'), bytes(2, bytes(10, bytes(1, 'square_fn'))));
  const call = bytes(1, bytes(1, 'call'), bytes(2, 'StatefulPartitionedCall'), bytes(3, 'in'), f);
  return Buffer.concat([
    graphDef([
      { name: 'in', op: 'Placeholder' },
      { name: 'out', op: 'Relu', inputs: ['call'] },
    ]),
    call,
    library,
  ]);
}

/** A scope with very many children: each fed by one before it. */
export function wide(count) {
  return graphDef(
    Array.from({ length: count }, (_, i) => ({
      name: `net/op${i}x`,
      op: ['MatMul', 'Relu', 'Mul', 'Sigmoid', 'Softmax'][(i * 7) % 5],
      inputs: i ? [`net/op${i - 1}x`] : [],
    })),
  );
}

/** Blocks of a thousand operations each, in a row; written by hand, since a million nodes are. */
export function long(blocks) {
  const out = Buffer.allocUnsafe(blocks * 1000 * 64);
  let at = 0;
  const field = (number, text) => {
    out[at++] = (number << 3) | 2;
    out[at++] = text.length;
    at += out.latin1Write(text, at);
  };
  let before = '';
  for (let b = 0; b < blocks; b++)
    for (let i = 0; i < 1000; i++) {
      const name = `net/block_${b}/n${i}x`;
      const op = i % 2 ? 'Relu' : 'MatMul';
      out[at++] = (1 << 3) | 2;
      out[at++] = name.length + op.length + 4 + (before ? before.length + 2 : 0);
      field(1, name);
      field(2, op);
      if (before) field(3, before);
      before = name;
    }
  return out.subarray(0, at);
}

/** A function that calls itself, called once. */
export function recursion() {
  const signature = bytes(1, bytes(1, 'f'));
  const again = bytes(3, bytes(1, 'again'), bytes(2, 'f'));
  const work = bytes(3, bytes(1, 'work'), bytes(2, 'NoOp'));
  return Buffer.concat([graphDef([{ name: 'call', op: 'f' }]), bytes(2, bytes(1, signature, again, work))]);
}
