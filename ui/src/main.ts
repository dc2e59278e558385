// Where the page begins: the view from the address, the data from the server, the texts, the shell on the page.
import './app/app.css';
import { mount } from 'svelte';
import { address } from './app/address';
import App from './app/App.svelte';
import { languageOf, useLanguage } from './app/i18n.svelte';
import { DASHBOARDS } from './dashboards';
import { warmUp } from './data/fetcher';
import { hub } from './data/hub.svelte';
import { loadPart } from './data/part';
import { settings } from './app/settings.svelte';
import { loadTastes } from './app/tastes';
import { themeOf } from './base/tensorboard';
import { view } from './app/view.svelte';

settings.forced = themeOf(location.search);
document.documentElement.dataset.theme = settings.dark ? 'dark' : 'light';
address.open(view.open(location, loadTastes(settings.savePins)));
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
// the open dashboard's code comes while the data does
const code = DASHBOARDS.find((d) => d.id === view.tab)?.load?.();

// what is here already when the script runs is put on the page in one go; what is late finds the shell there
const PATIENCE_MS = 60;
const target = document.getElementById('app');
const late = new Promise((done) => setTimeout(done, PATIENCE_MS));
const put = Promise.race([Promise.allSettled([known, code]), late]);
void Promise.all([put, texts]).then(() => target && mount(App, { target }));
