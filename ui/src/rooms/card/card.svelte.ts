// What the viewer has chosen for single cards, in all dashboards: the pinned cards in their order, the cards that are as
// wide as the page, and the card at full size. A card is identified by its key (base/address/card.ts).
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
  /** Moves a pinned card to index `to` among these pinned cards. Pins of other dashboards stay where they are. */
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
