// The x axis and the selection of steps: the unit of x, the position or range that is selected on each card, and whether
// all cards share one selection (linked time). All of it is in the address and common to all dashboards.
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

/** What is selected on charts: nothing, one position or a range. */
export type Selecting = 'off' | 'step' | 'range';

class Steps {
  x = $state<X>('step');
  selecting = $state<Selecting>('off');
  linked = $state(false); // all cards share one selection
  private places = $state.raw<Places>(new Map());
  /** true while a handle is being dragged */
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

  /** Changes the x axis. Selections are removed, because positions on another axis mean nothing on this one. */
  setX(x: X): void {
    this.x = x;
    this.places = this.stepsOfRuns();
  }

  /** The steps of cards that show one run. They do not depend on the x axis. */
  private stepsOfRuns(): Places {
    return new Map([...this.places].filter(([card]) => card !== COMMON && cardOf(card).run !== undefined));
  }

  /** The step that a card of one run shows; null means its newest. Linked cards show the common step, if x is steps. */
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

  /** The common step, for all cards that have not chosen their own; null: each card shows its newest step. */
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
  /** Has the card chosen its own step? */
  hasOwn(card: string): boolean {
    return !this.isStepLinked && this.places.has(card);
  }
  /** Makes the card follow the common step again. */
  dropOwn(card: string): void {
    const next = new Map(this.places);
    if (next.delete(card)) this.places = next;
  }

  private get isStepLinked(): boolean {
    return this.linked && this.x === 'step';
  }

  /** Can anything be selected? Not if x is another metric, because one value of it may belong to many steps. */
  get possible(): boolean {
    return metricOf(this.x) === null;
  }

  get on(): boolean {
    return this.selecting !== 'off' && this.possible;
  }

  /**
   * The selection of a card; null if it was removed. A card without its own selection has the common one; by default, the
   * newest point or the whole range.
   */
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

  /**
   * Links or unlinks the cards. When linked, all cards get the selection of this card. When unlinked, each card keeps the
   * common selection until it is changed.
   */
  toggleLink(card: string): void {
    if (!this.linked) {
      const place = this.places.get(card) ?? this.places.get(COMMON);
      this.places = place === undefined ? new Map() : new Map([[COMMON, place]]);
    }
    this.linked = !this.linked;
  }
}

export const steps = new Steps();
