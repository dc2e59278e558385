// One event stream for all tabs of a browser: a shared worker holds it and passes each event on to every tab.
// Ports say { url } once, and { bye } when their page goes; they get StreamNews.
import type { StreamNews } from './stream.news';
import { Stream } from './stream.source';

const ports = new Set<MessagePort>();
let stream: Stream | null = null;
/** The last event: a tab that connects later may hold older data and gets it at once. */
let newest: StreamNews = {};

function tell(news: StreamNews): void {
  if (news.version !== undefined) newest = { version: news.version, instance: news.instance, jobs: news.jobs };
  for (const port of ports) port.postMessage(news);
}

(self as unknown as { onconnect: (e: MessageEvent) => void }).onconnect = (e) => {
  const port = e.ports[0];
  port.onmessage = ({ data }: MessageEvent<{ url?: string; bye?: boolean }>) => {
    if (data.bye) {
      ports.delete(port);
      if (ports.size > 0) return;
      stream?.close();
      stream = null;
      newest = {};
    } else if (data.url) {
      ports.add(port); // also a page that the browser kept and shows again
      stream ??= new Stream(data.url, tell);
      if (stream.isOpen) port.postMessage({ ...newest, open: true } satisfies StreamNews);
    }
  };
  port.start();
};
