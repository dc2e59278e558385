// Where the page begins: the view from the address, the data from the server, the shell on the page.
import './app/app.css';
import { mount } from 'svelte';
import App from './app/App.svelte';
import { DASHBOARDS } from './dashboards';
import { hub } from './data/hub.svelte';
import { settings } from './app/settings.svelte';
import { view } from './app/view.svelte';

document.documentElement.dataset.theme = settings.dark ? 'dark' : 'light';
const opened = view.open(location);
history.replaceState(null, '', location.pathname + opened.search + opened.hash);
view.note(opened.hash);
void hub.start();
// the open dashboard's code comes while the data does
void DASHBOARDS.find((d) => d.id === view.tab)?.load?.();

const target = document.getElementById('app');
if (target) mount(App, { target });
