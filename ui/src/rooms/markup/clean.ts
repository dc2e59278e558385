// Sanitizes HTML that came from a log and makes DOM nodes of it. The server has sanitized it already (src/markup). This
// is a second, independent barrier, so that a bug in one of them is not enough: no script, style or form passes, and
// nothing that is loaded from elsewhere. Links open in a new tab and send no referrer.
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
  // The page's Content-Security-Policy allows no other images; a request would only cause an error in the console.
  if (node.tagName === 'IMG' && !/^data:image\//.test(node.getAttribute('src') ?? '')) node.removeAttribute('src');
});

/**
 * Lowers the level of headings in a text, so that they are below the title of the card in the outline of the page. They
 * keep their look.
 */
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

/** Is the text empty? The server renders an empty text as tables with one empty cell. */
export const isBlank = (html: string): boolean =>
  html.length < 1000 && html.replace(/<(?!img|hr)[^>]*>/gi, '').trim() === '';
