// English, the measure of the other catalogue.
export const texts = {
  markdown: 'Markdown',
  markdownTitle: 'Show texts as Markdown, or as they were logged',
  link: 'Link steps',
  linkTitle: 'All cards show the same step, as far as they have it',
  linkNot: 'Steps are linked when the horizontal axis of the time series is Step',
  step: 'Step of {name}',
  one: '1 text',
  count: '{n} of {total} texts',
  textOf: 'Text of {name}',
  copy: 'Copy text',
  cut: 'The first {part} of {whole} are shown.',
  all: 'Show all',
  empty: 'This text is empty.',
  gone: 'The log has changed: this text is no longer where it was.',
  unreadable: 'This text cannot be read ({code}).',
  previous: 'Previous step of the card',
  next: 'Next step of the card',
} as const;

export type Key = keyof typeof texts;
