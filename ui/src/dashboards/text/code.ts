// Syntax colours: highlight.js with ten languages, loaded only if a text has a block of code. The language is detected
// automatically, because the sanitizer removes the language that Markdown gives; if the detection is not reliable, the
// code has no colours.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import diff from 'highlight.js/lib/languages/diff';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import DOMPurify from 'dompurify';

const LANGUAGES = { bash, c, cpp, diff, javascript, json, python, sql, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const MOST = 20_000; // longest block of code, in characters, that is coloured
const LEAST_RELEVANCE = 4;
const purify = DOMPurify(window);

export function colourCode(box: HTMLElement): void {
  for (const block of box.querySelectorAll<HTMLElement>('pre > code')) {
    const text = block.textContent ?? '';
    if (text.length > MOST || block.childElementCount > 0) continue;
    const { value, relevance } = hljs.highlightAuto(text);
    if (relevance < LEAST_RELEVANCE) continue;
    block.replaceChildren(
      purify.sanitize(value, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true }),
    );
    block.classList.add('hljs');
  }
}
