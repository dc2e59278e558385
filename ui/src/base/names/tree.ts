// Names such as a/b/c as a tree of folders. A folder with a single child is shown as one row with that child, so that
// nobody has to open five folders to find one run. The tree is built from all names; which names are listed, and in which
// order, is an argument of rowsOf, so a filter never changes the tree.

export interface TreeNode {
  /** a folder's path with "/" at its end; a leaf's name */
  key: string;
  label: string;
  /** index of the name; -1: a folder */
  leaf: number;
  children: TreeNode[];
}
export interface TreeRow {
  node: TreeNode;
  level: number;
  open: boolean;
  /** the listed leaves beneath a folder, in order */
  members: number[];
  /** are those all that are beneath it? */
  whole: boolean;
}

export function treeOf(names: readonly string[]): TreeNode[] {
  const root: TreeNode = { key: '', label: '', leaf: -1, children: [] };
  const folders = new Map<string, TreeNode>([['', root]]);
  const folderOf = (name: string): TreeNode => {
    let node = root;
    for (let at = name.indexOf('/'), from = 0; at >= 0; from = at + 1, at = name.indexOf('/', from)) {
      const key = name.slice(0, at + 1);
      let next = folders.get(key);
      if (!next) {
        next = { key, label: name.slice(from, at), leaf: -1, children: [] };
        folders.set(key, next);
        node.children.push(next);
      }
      node = next;
    }
    return node;
  };
  names.forEach((name, leaf) =>
    folderOf(name).children.push({ key: name, label: name.slice(name.lastIndexOf('/') + 1), leaf, children: [] }),
  );
  // children come after their folder in the map: from the end, every child is finished before its folder
  for (const folder of [...folders.values()].reverse()) folder.children = folder.children.map(merged);
  return root.children;
}

function merged(node: TreeNode): TreeNode {
  if (node.leaf >= 0 || node.children.length !== 1) return node;
  const only = node.children[0];
  return { ...only, label: `${node.label}/${only.label}` };
}

/** What is listed: leaves with a rank (>= 0) and their folders, least rank first. */
export function rowsOf(tree: readonly TreeNode[], rank: Float64Array, isOpen: (key: string) => boolean): TreeRow[] {
  interface Listed {
    node: TreeNode;
    rank: number;
    members: number[];
    total: number;
    inside: Listed[];
  }
  const list = (nodes: readonly TreeNode[]): { listed: Listed[]; total: number } => {
    const listed: Listed[] = [];
    let total = 0;
    for (const node of nodes) {
      if (node.leaf >= 0) {
        total++;
        if (rank[node.leaf] >= 0)
          listed.push({ node, rank: rank[node.leaf], members: [node.leaf], total: 1, inside: [] });
        continue;
      }
      const inside = list(node.children);
      total += inside.total;
      if (inside.listed.length === 0) continue;
      const members = inside.listed.flatMap((child) => child.members);
      listed.push({ node, rank: inside.listed[0].rank, members, total: inside.total, inside: inside.listed });
    }
    listed.sort((a, b) => a.rank - b.rank);
    return { listed, total };
  };
  const rows: TreeRow[] = [];
  const walk = (listed: Listed[], level: number) => {
    for (const { node, members, total, inside } of listed) {
      const open = node.leaf < 0 && isOpen(node.key);
      rows.push({ node, level, open, members, whole: members.length === total });
      if (open) walk(inside, level + 1);
    }
  };
  walk(list(tree).listed, 1);
  return rows;
}
