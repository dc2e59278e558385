// Formulas: the server takes them out of the Markdown and leaves placeholders (src/markup/maths.h), and KaTeX renders
// them there. This module is loaded only if a text has formulas. KaTeX makes DOM nodes, not HTML; commands that load or
// link anything are disabled.
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
    // the formula as it was logged, with the error
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
