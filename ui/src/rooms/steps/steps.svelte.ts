// Steps: what x is, which place or range on it is selected on which card, and whether all cards share one selection
// (linked time). All of it is in the address and the same for every dashboard.
import {
  asRange,
  asSingle,
  cardOf,
  COMMON,
  fields,
  isX,
  joinList,
  LAST,
  metricOf,
  readPlaces,
  shell,
  splitList,
  t,
  view,
  WHOLE,
  writePlaces,
  type Place,
  type Places,
  type X,
} from '../../public';

/** Is one place selected, or a range? */
export type Selecting = 'off' | 'step' | 'range';

class Steps {
  x = $state<X>('step');
  selecting = $state<Selecting>('off');
  linked = $state(false); // one selection for all cards
  private places = $state.raw<Places>(new Map());
  /** a handle is being dragged */
  held = $state(false);

  constructor() {
    view.add('', [
      fields.taste({
        key: 'x',
        write: () => (this.x === 'step' ? '' : this.x),
        read: (text) => (this.x = isX(text) ? text : 'step'),
      }),
      fields.taste(fields.choice('select', this, 'selecting', ['off', 'step', 'range'])),
      fields.taste(fields.flag('link', this, 'linked')),
      {
        key: 'at',
        write: () => joinList(writePlaces(this.places)),
        read: (text) => (this.places = readPlaces(splitList(text))),
      },
    ]);
  }

  /** Places of another axis mean nothing on this one. */
  setX(x: X): void {
    this.x = x;
    this.places = this.stepsOfRuns();
  }

  /** Places of cards of one run, which has its own steps: those do not depend on x. */
  private stepsOfRuns(): Places {
    return new Map([...this.places].filter(([card]) => card !== COMMON && cardOf(card).run !== undefined));
  }

  /** The step that a card of one run shows; null: its newest. Linked cards show that of all, where x is steps. */
  stepOf(card: string): number | null {
    const own = this.isStepLinked ? undefined : this.places.get(card);
    const place = own === undefined && this.x === 'step' ? this.places.get(COMMON) : own;
    const step = place ? (place.to ?? place.from) : Infinity;
    return Number.isFinite(step) ? step : null;
  }

  setStep(card: string, step: number | null): void {
    const next = new Map(this.places);
    next.set(this.isStepLinked ? COMMON : card, { from: step ?? Infinity, to: null });
    this.places = next;
  }

  /** The step that all cards without one of their own show; null: each its newest. */
  get master(): number | null {
    const place = this.x === 'step' ? this.places.get(COMMON) : undefined;
    const step = place ? (place.to ?? place.from) : Infinity;
    return Number.isFinite(step) ? step : null;
  }
  setMaster(step: number | null): void {
    const next = new Map(this.places);
    if (step === null) next.delete(COMMON);
    else next.set(COMMON, { from: step, to: null });
    this.places = next;
  }
  /** Has the card left the master? */
  hasOwn(card: string): boolean {
    return !this.isStepLinked && this.places.has(card);
  }
  /** It follows the master again. */
  dropOwn(card: string): void {
    const next = new Map(this.places);
    if (next.delete(card)) this.places = next;
  }

  private get isStepLinked(): boolean {
    return this.linked && this.x === 'step';
  }

  /** Along another metric one place may be many steps: nothing is selected there. */
  get possible(): boolean {
    return metricOf(this.x) === null;
  }

  get on(): boolean {
    return this.selecting !== 'off' && this.possible;
  }

  /** null removes the selection. A card whose own has not been set has the common one; at first the newest point, or all. */
  placeOf(card: string): Place | null {
    const own = this.linked ? undefined : this.places.get(card);
    const place = own === undefined ? this.places.get(COMMON) : own;
    return place === undefined ? (this.selecting === 'range' ? WHOLE : LAST) : place;
  }

  set(card: string, place: Place | null): void {
    const next = new Map(this.places);
    next.set(this.linked ? COMMON : card, place);
    this.places = next;
  }

  toggle(): void {
    if (!this.possible) {
      shell.say(t('select.notAlong', { tag: metricOf(this.x) ?? '' }));
      return;
    }
    this.selecting = this.on ? 'off' : 'step';
    if (!this.on) this.places = this.stepsOfRuns();
  }

  toggleRange(): void {
    const isRange = this.selecting === 'range';
    this.selecting = isRange ? 'step' : 'range';
    const change = isRange ? asSingle : asRange;
    this.places = new Map([...this.places].map(([card, place]) => [card, place && change(place)]));
  }

  /** Linked: all cards take the selection of this one. Apart again: each begins with what they had in common. */
  toggleLink(card: string): void {
    if (!this.linked) {
      const place = this.places.get(card) ?? this.places.get(COMMON);
      this.places = place === undefined ? new Map() : new Map([[COMMON, place]]);
    }
    this.linked = !this.linked;
  }
}

export const steps = new Steps();
