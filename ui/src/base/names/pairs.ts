// Finds tags, and runs, that are the same metric in training and in validation: train/loss and val/loss, loss and
// val_loss, and the runs X/train and X/validation that Keras writes.

const TRAIN = new Set(['train', 'training', 'trn']);
const HELD_OUT = new Set(['val', 'valid', 'validation', 'dev', 'eval', 'evaluation', 'test', 'testing']);

interface Part {
  role: 'train' | 'other' | '';
  stem: string; // the name without the word that tells its role
}

function partOf(name: string): Part {
  const words = name.split(/([/_.\-\s])/);
  const at = words.findIndex((word) => TRAIN.has(word.toLowerCase()) || HELD_OUT.has(word.toLowerCase()));
  if (at < 0) return { role: '', stem: name };
  const role = TRAIN.has(words[at].toLowerCase()) ? 'train' : 'other';
  const rest =
    at + 1 < words.length ? [...words.slice(0, at), ...words.slice(at + 2)] : words.slice(0, Math.max(0, at - 1));
  return { role, stem: rest.join('') };
}

/** Groups of two or more tags, the training tag first; a tag is in at most one group. */
export function pairTags(tags: readonly string[]): string[][] {
  const train = new Map<string, string>();
  const plain = new Map<string, string>();
  const others = new Map<string, string[]>();
  for (const tag of tags) {
    const { role, stem } = partOf(tag);
    if (stem === '') continue;
    if (role === 'other') others.set(stem, [...(others.get(stem) ?? []), tag]);
    else if (role === 'train' && !train.has(stem)) train.set(stem, tag);
    else if (role === '') plain.set(stem, tag);
  }
  const pairs: string[][] = [];
  for (const [stem, held] of others) {
    const first = train.get(stem) ?? plain.get(stem);
    if (first !== undefined) pairs.push([first, ...held]);
    else if (held.length > 1) pairs.push(held);
  }
  return pairs;
}

export type Role = 'train' | 'validation' | 'eval' | 'test';
const ROLES: ReadonlyMap<string, Role> = new Map([
  ...[...TRAIN].map((word) => [word, 'train'] as const),
  ...['val', 'valid', 'validation', 'dev'].map((word) => [word, 'validation'] as const),
  ...['eval', 'evaluation'].map((word) => [word, 'eval'] as const),
  ...['test', 'testing'].map((word) => [word, 'test'] as const),
]);

// "loss_train" and "loss_val" of torch's add_scalars; names such as "my_test" are seldom about data
const SUFFIX = /^(.+)_(train|training|val|valid|validation|eval)$/i;

/**
 * Which part of the data a run is about, by the last of its folders that says so, or else by the end of its last folder; and its
 * name without that.
 */
export function roleOf(name: string): { role: Role | ''; stem: string } {
  const folders = name.split('/');
  for (let i = folders.length - 1; i >= 0; i--) {
    const role = ROLES.get(folders[i].toLowerCase());
    if (role) return { role, stem: folders.toSpliced(i, 1).join('/') };
  }
  const [, stem, word] = SUFFIX.exec(folders.at(-1) ?? '') ?? [];
  const role = ROLES.get(word?.toLowerCase() ?? '');
  return role ? { role, stem: [...folders.slice(0, -1), stem].join('/') } : { role: '', stem: name };
}

/** The training run of a validation run: X/train for X/validation. */
export function trainingRun(name: string): string | null {
  const at = name.lastIndexOf('/');
  return HELD_OUT.has(name.slice(at + 1).toLowerCase()) ? `${name.slice(0, at + 1)}train` : null;
}
