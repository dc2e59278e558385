// What there is to know of one run: the summaries of all its metrics and the state of its files. Asked for when the
// drawer shows it, and again, not too often, when the run has news.
import { naturalCompare } from '../../base/natural';
import { api } from '../../data/api';
import { hub } from '../../data/hub.svelte';
import type { Cell, FileState, Run } from '../../data/types';

const EVERY_MS = 1500;

export class RunDetails {
  metrics = $state.raw<{ tag: string; cell: Cell }[]>([]);
  files = $state.raw<FileState[]>([]);
  problem = $state('');
  /** of which run these are */
  of = $state('');
  private loadedAt = 0;
  private asking: AbortController | null = null;

  /** Inside an effect. */
  follow(run: () => Run | undefined): void {
    let version = -1;
    let timer: ReturnType<typeof setTimeout> | undefined;
    $effect(() => {
      const now = run();
      if (!now || (now.name === this.of && now.version === version)) return;
      const wait = now.name === this.of ? Math.max(0, this.loadedAt + EVERY_MS - Date.now()) : 0;
      version = now.version;
      clearTimeout(timer);
      timer = setTimeout(() => void this.load(now), wait);
    });
    $effect(() => () => {
      clearTimeout(timer);
      this.asking?.abort();
    });
  }

  private async load(run: Run): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.loadedAt = Date.now();
    const tags = hub.tags
      .filter((tag) => tag.plugin === 'scalars' && (tag.runs === 'all' || tag.runs.includes(run.id)))
      .map((tag) => tag.tag);
    const [summaries, status] = await Promise.all([
      api.summaries(tags, [run.id], asking.signal),
      api.status(true, run.name),
    ]);
    if (asking.signal.aborted) return;
    if (!summaries.ok || !status.ok) {
      this.problem = !summaries.ok ? summaries.error.message : !status.ok ? status.error.message : '';
      return;
    }
    const metrics = summaries.value.tags.map((tag, i) => ({ tag, cell: summaries.value.cells[i][0] }));
    this.problem = '';
    this.metrics = metrics
      .filter((m): m is { tag: string; cell: Cell } => m.cell !== null)
      .sort((a, b) => naturalCompare(a.tag, b.tag));
    this.files = status.value.files ?? [];
    this.of = run.name;
  }
}
