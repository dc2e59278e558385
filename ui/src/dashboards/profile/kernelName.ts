// C++ names of kernels as people say them: without what stands before most of them, which would be all that a column or a
// slice has room for. `void at::native::(anonymous namespace)::fill<float>(at::Tensor)` is `fill<float>(Tensor)`.

const IS_SIGNATURE = /^void |::.*[<(]/;
const NAMESPACES = /\b(?:[A-Za-z_]\w*::)+(?=[A-Za-z_])/g;

export function kernelName(name: string): string {
  if (!IS_SIGNATURE.test(name)) return name;
  return name
    .replace(/^void /, '')
    .replaceAll('(anonymous namespace)::', '')
    .replace(NAMESPACES, '');
}

const MOST = 80; // letters
/** The same within a sentence, which names of a thousand letters would bury. */
export function inSentence(name: string): string {
  const letters = [...kernelName(name)];
  return letters.length > MOST ? `${letters.slice(0, MOST - 1).join('')}…` : letters.join('');
}
