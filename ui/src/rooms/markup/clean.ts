// Makes nodes of HTML that came from a log. The server has cleaned it already (src/markup); this is the second gate, so
// that a fault of one of them alone lets nothing through: no script, no style, no form, nothing that loads from
// elsewhere. Links open in a tab of their own and tell nothing of this page.
import DOMPurify from 'dompurify';

const TAGS =
  'a abbr b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li mark ol p pre s small span strong sub sup table tbody td tfoot th thead tr u ul'.split(
    ' ',
  );
const ATTRIBUTES = ['href', 'src', 'alt', 'title', 'align', 'colspan', 'rowspan', 'start'];

const purify = DOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  // the page's policy lets no other picture in; asking would only be told in the console
  if (node.tagName === 'IMG' && !/^data:image\//.test(node.getAttribute('src') ?? '')) node.removeAttribute('src');
});

/** Headings of a text are below the title of its card, whatever their level; they keep their look. */
function lowerHeadings(fragment: DocumentFragment): DocumentFragment {
  for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const lower = document.createElement('h4');
    lower.className = heading.tagName.toLowerCase();
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  }
  return fragment;
}

export function clean(html: string): DocumentFragment {
  const fragment = purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  return lowerHeadings(fragment);
}

/** Does it say nothing? Tables of one empty cell are what is made of an empty text. */
export const isBlank = (html: string): boolean =>
  html.length < 1000 && html.replace(/<(?!img|hr)[^>]*>/gi, '').trim() === '';
