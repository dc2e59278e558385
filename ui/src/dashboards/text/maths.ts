// Formulas: the server took them out of the Markdown and left marks (src/markup/maths.h); here KaTeX draws them in their
// place. Loaded only when a text has one. KaTeX makes nodes, no HTML; commands that load or link something are off.
import katex from 'katex';
import 'katex/dist/katex.min.css';
import type { Formula } from '../../public';

const MARK = /\uE000(\d{1,4})\uE001/;

function draw({ tex, display }: Formula): HTMLElement {
  const span = document.createElement('span');
  span.className = display ? 'formula display' : 'formula';
  try {
    katex.render(tex, span, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxSize: 20,
      maxExpand: 300,
    });
  } catch (e) {
    // as it was logged, with the reason
    const source = document.createElement('code');
    source.textContent = tex;
    source.title = e instanceof Error ? e.message : '';
    span.classList.add('wrong');
    span.replaceChildren(source);
  }
  return span;
}

export function drawMaths(box: HTMLElement, formulas: readonly Formula[]): void {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) texts.push(node as Text);
  for (let text of texts)
    for (let found = MARK.exec(text.data); found; found = MARK.exec(text.data)) {
      const formula = formulas.at(Number(found[1]));
      const mark = text.splitText(found.index);
      const rest = mark.splitText(found[0].length);
      if (formula) mark.replaceWith(draw(formula));
      else mark.remove();
      text = rest;
    }
}
