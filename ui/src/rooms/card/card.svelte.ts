// What the viewer does with single cards, of whatever dashboard: pinned ones in their order, those over the whole width,
// and the one that is shown at full size. A card is known by its key (base/address/card.ts).
import { fields, view } from '../../public';

class CardView {
  pins = $state.raw<readonly string[]>([]);
  wide = $state.raw<ReadonlySet<string>>(new Set());
  full = $state('');

  constructor() {
    view.add('', [
      fields.taste(fields.list('pins', this, 'pins')),
      fields.names('wide', this, 'wide'),
      fields.text('full', this, 'full'),
    ]);
  }

  isPinned(card: string): boolean {
    return this.pins.includes(card);
  }
  togglePin(card: string): void {
    this.pins = this.isPinned(card) ? this.pins.filter((pin) => pin !== card) : [...this.pins, card];
  }
  unpin(cards: readonly string[]): void {
    this.pins = this.pins.filter((pin) => !cards.includes(pin));
  }
  /** To be the n-th of these pinned cards; pins of other dashboards stay where they are. */
  movePin(card: string, to: number, among: readonly string[] = this.pins): void {
    const order = among.filter((pin) => pin !== card);
    order.splice(Math.max(0, Math.min(order.length, to)), 0, card);
    this.pins = this.pins.map((pin) => (among.includes(pin) ? (order.shift() ?? pin) : pin));
  }
  toggleWide(card: string): void {
    this.wide = fields.toggled(this.wide, card);
  }
}

export const cardView = new CardView();
