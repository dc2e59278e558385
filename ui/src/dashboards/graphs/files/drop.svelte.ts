// Drag and drop of files onto an element. The element must name each handler: spread attributes would add a part of
// Svelte's runtime that nothing else here needs.
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
