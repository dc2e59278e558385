// Files that are dragged over an element and dropped on it. Its handlers are written out at the element: spread attributes would bring
// a part of Svelte that nothing else needs.
export function dropsFiles(onfile: (file: File) => void) {
  let isOver = $state(false);
  return {
    get isOver() {
      return isOver;
    },
    over(e: DragEvent) {
      if (!e.dataTransfer?.types.includes('Files')) return;
      e.preventDefault();
      isOver = true;
    },
    leave() {
      isOver = false;
    },
    drop(e: DragEvent) {
      isOver = false;
      const file = e.dataTransfer?.files.item(0);
      if (!file) return;
      e.preventDefault();
      onfile(file);
    },
  };
}
