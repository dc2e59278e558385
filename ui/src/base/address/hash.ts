// The view in the address: "#tab&key=value&key=value", the form TensorBoard's old dashboards use too, so that its
// links and ours are read by one reader. Values are percent-encoded as little as possible, to stay readable.

export interface Hash {
  tab: string;
  values: Map<string, string>;
}

export const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/%(2F|3A|2C|40|24)/g, (m) => decodeURIComponent(m));

export function parseHash(hash: string): Hash {
  const [tab, ...pairs] = hash.replace(/^#/, '').split('&');
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at > 0) values.set(decodePart(pair.slice(0, at)), decodePart(pair.slice(at + 1)));
  }
  return { tab: decodePart(tab), values };
}

export function formatHash(hash: Hash): string {
  let text = `#${encode(hash.tab)}`;
  for (const [key, value] of hash.values) text += `&${encode(key)}=${encode(value)}`;
  return text;
}

/** Lists of names inside one value: "," (or another sign) parts them, "\" keeps one that belongs to a name. */
export function joinList(items: Iterable<string>, sign = ','): string {
  const escape = (item: string) => item.replaceAll('\\', '\\\\').replaceAll(sign, `\\${sign}`);
  return [...items].map(escape).join(sign);
}

export function splitList(text: string, sign = ','): string[] {
  if (text === '') return [];
  const items: string[] = [];
  let item = '';
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && i + 1 < text.length) item += text[++i];
    else if (text[i] === sign) {
      items.push(item);
      item = '';
    } else item += text[i];
  }
  items.push(item);
  return items;
}
