// Files that are dragged over an element and dropped on it.
export function dropsFiles(onfile: (file: File) => void) {
  let isOver = $state(false);
  return {
    get isOver() {
      return isOver;
    },
    handlers: {
      ondragover(e: DragEvent) {
        if (!e.dataTransfer?.types.includes('Files')) return;
        e.preventDefault();
        isOver = true;
      },
      ondragleave() {
        isOver = false;
      },
      ondrop(e: DragEvent) {
        isOver = false;
        const file = e.dataTransfer?.files.item(0);
        if (!file) return;
        e.preventDefault();
        onfile(file);
      },
    },
  };
}
