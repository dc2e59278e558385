// Where the page begins: the view from the address, the data from the server, the texts, the shell on the page.
import './app/app.css';
import { mount } from 'svelte';
import { address } from './app/view/address';
import App from './app/App.svelte';
import { codeOf, type LoadedView } from './app/tabs/dashboards';
import { languageOf, useLanguage } from './app/texts/i18n.svelte';
import { DASHBOARDS } from './dashboards';
import { warmUp } from './data/fetcher';
import { hub } from './data/hub.svelte';
import { loadPart } from './data/part';
import { settings } from './app/settings.svelte';
import { loadTastes } from './app/view/tastes';
import { isTensorBoardLink, themeOf, type Link } from './base/address/tensorboard.keys';
import { view } from './app/view/view.svelte';

settings.forced = themeOf(location.search);
document.documentElement.dataset.theme = settings.dark ? 'dark' : 'light';
hub.paused = !settings.live;
const wanted = languageOf(settings.language, navigator.languages ?? []);
// without texts there is nothing to show: they are tried again until they come
const texts = loadPart(
  () => useLanguage(wanted),
  () => undefined,
  new AbortController().signal,
);
const known = hub.start();
warmUp();

// what is here already when the script runs is put on the page in one go; what is late finds the shell there
const PATIENCE_MS = 60;
function show(link: Link): void {
  address.open(view.open(link, loadTastes(settings.savePins)));
  // the open dashboard's code comes while the data does
  const open = DASHBOARDS.find((d) => d.id === view.tab);
  let loaded: LoadedView | null = null;
  const code = codeOf(open)?.().then((module) => {
    // The view of the first dashboard is put on the page with the shell. Others come in a task of their own, so that
    // no task of the page is long.
    if (open === DASHBOARDS[0]) loaded = { tab: open.id, view: module.default };
  });
  const target = document.getElementById('app');
  const late = new Promise((done) => setTimeout(done, PATIENCE_MS));
  const put = Promise.race([Promise.allSettled([known, code]), late]);
  void Promise.all([put, texts]).then(() => target && mount(App, { target, props: { loaded } }));
}
if (!isTensorBoardLink(location)) show(location);
else
  void import('./base/address/tensorboard').then(
    ({ translated }) => show(translated(location)),
    () => show(location),
  );
