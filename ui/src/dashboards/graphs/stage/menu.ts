// The entries of the context menu of the stage, for a box and for the background.
import { copyText, type MenuItem } from '../../../public';
import type { Camera } from './camera.svelte';
import { OPEN, SERIES } from '../drawing/drawing';
import type { GraphState } from '../state.svelte';
import { tt } from '../texts';
import { graphView as v } from '../view.svelte';

export function boxItems(graph: GraphState, i: number, toggle: () => void): MenuItem[] {
  const { drawing } = graph;
  if (!drawing) return [];
  const name = drawing.of.boxes.name[i];
  const items: MenuItem[] = [];
  if (drawing.canOpen(i))
    items.push({ label: tt(drawing.has(i, OPEN) ? 'close' : 'open'), hint: 'Enter', run: toggle });
  items.push(
    { label: tt('trace'), hint: 'I', checked: v.trace, run: () => (v.trace = !v.trace) },
    { label: tt('pathTo'), run: () => (graph.picking = true) },
    { label: '', separator: true },
  );
  if (drawing.of.boxes.kind[i] === SERIES) items.push({ label: tt('ungroup'), run: () => graph.ungroup(name) });
  const isAside = graph.isAside(i);
  items.push(
    { label: tt(isAside ? 'toMain' : 'toSide'), run: () => graph.moveAside(name, !isAside) },
    { label: tt('copyName'), run: () => void copyText(name) },
  );
  return items;
}

export function stageItems(graph: GraphState, camera: Camera): MenuItem[] {
  const { drawing } = graph;
  if (!drawing) return [];
  return [
    { label: tt('fit'), run: () => camera.fit(drawing.of.w, drawing.of.h) },
    { label: tt('closeAll'), disabled: drawing.open.length === 0, run: () => (v.open = []) },
  ];
}
