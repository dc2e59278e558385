// What the first page is made of: the shell and the first dashboard, with all that they import.

export const FIRST = ['src/main.ts', 'src/dashboards/timeseries/View.svelte'];

/** What the first page reaches and does not use: `public.ts` and Svelte's runtime have it for other dashboards and for forms. It is
 * one file. A unit test (src/imports.test.ts) finds what is missing here. */
export const NOT_OF_FIRST =
  /\/src\/(?:widgets\/(?:Dialog|FindForm|Name|Popover)\.svelte|base\/(?:painter|numbers\/(?:parse|picoseconds))\.ts|widgets\/chart\/stats\.ts|data\/(?:job|layouts)\.ts)$|\/svelte\/src\/internal\/client\/dom\/(?:blocks\/html|elements\/bindings\/select)\.js$/;
