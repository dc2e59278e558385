// The tag filter: a regular expression for tags, common to all dashboards. While the typed text is not a valid
// expression, the last valid one is used.
import { compileRegex, fields, view } from '../../public';

class TagFilter {
  text = $state('');
  private good = /(?:)/i;

  constructor() {
    view.add('', [fields.text('tags', this, 'text')]);
  }

  error = $derived.by(() => {
    const regex = compileRegex(this.text);
    return regex.ok ? '' : regex.error.message;
  });
  private readonly regex = $derived.by(() => {
    const regex = compileRegex(this.text);
    if (regex.ok) this.good = regex.value;
    return this.good;
  });

  get isOn(): boolean {
    return this.text !== '';
  }
  passes(tag: string): boolean {
    return this.text === '' || this.regex.test(tag);
  }
  /** Sets the filter so that only this tag matches. */
  only(tag: string): void {
    this.text = `^${tag.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
  }
}

export const tagFilter = new TagFilter();
