// One event stream for all tabs of a browser: a shared worker holds it and tells every tab of each new version.
// Ports say { url } once; they get { version }, or { open: false } when the stream is gone.
import { versionOf, type StreamNews } from './stream.news';

const ports = new Set<MessagePort>();
let source: EventSource | null = null;

function tell(news: StreamNews): void {
  for (const port of ports) port.postMessage(news);
}

function start(url: string): void {
  if (source && source.readyState !== EventSource.CLOSED) {
    if (source.readyState === EventSource.OPEN) tell({ open: true });
    return;
  }
  source = new EventSource(url);
  source.onopen = () => tell({ open: true });
  source.onmessage = (e) => {
    const version = versionOf(String(e.data));
    if (version !== undefined) tell({ version });
  };
  source.onerror = () => tell({ open: false });
}

(self as unknown as { onconnect: (e: MessageEvent) => void }).onconnect = (e) => {
  const port = e.ports[0];
  ports.add(port);
  port.onmessage = (m: MessageEvent<{ url?: string; bye?: boolean }>) => {
    if (m.data.bye) {
      ports.delete(port);
      if (ports.size === 0) {
        source?.close();
        source = null;
      }
    } else if (m.data.url) start(m.data.url);
  };
  port.start();
};
