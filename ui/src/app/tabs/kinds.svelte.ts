// The kinds of cards that dashboards offer to the time series page: which there are, and their code, which comes when there
// is something of the kind to show.
import { DASHBOARDS } from '../../dashboards';
import { hub } from '../../data/hub.svelte';
import { loadPart } from '../../data/part';
import { fetchAhead } from './ahead';
import type { CardKind, OfferedCards } from './dashboard';
import { withPartTexts } from '../texts/i18n.svelte';

const OFFERED = DASHBOARDS.flatMap((d) => (d.cards ? [{ ...d.cards, dashboard: d.id }] : []));

class CardKinds {
  #loaded = $state.raw<ReadonlyMap<string, CardKind>>(new Map());
  readonly #asked = new Set<string>();

  readonly plugins: readonly string[] = OFFERED.map(({ plugin }) => plugin);

  /** Those that have data. */
  present = $derived.by((): readonly OfferedCards[] =>
    OFFERED.filter(({ plugin }) => (hub.status?.plugins[plugin] ?? 0) > 0),
  );

  /** The kind of this plugin's cards; undefined until it is loaded. It is reactive. */
  of(plugin: string): CardKind | undefined {
    return this.#loaded.get(plugin);
  }

  /** Loads what is there to be shown. */
  need(plugin: string): void {
    const offered = OFFERED.find((one) => one.plugin === plugin);
    if (!offered || this.#asked.has(plugin)) return;
    this.#asked.add(plugin);
    fetchAhead(offered.dashboard);
    const never = new AbortController();
    void loadPart(
      () => withPartTexts(offered.load),
      () => void hub.checkPage(),
      never.signal,
    ).then((module) => {
      if (module) this.#loaded = new Map([...this.#loaded, [plugin, module.kind]]);
    });
  }
}

export const cardKinds = new CardKinds();
