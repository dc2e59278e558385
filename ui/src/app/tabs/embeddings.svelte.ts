// Which runs have an embedding. It is told by files beside the event files, which the server looks for only when it is asked: so the
// page asks when somebody looks, that is, opens the list of tabs or the tab itself.
import { fetchOnce } from '../../data/fetch.once';

class Embeddings {
  runs = $state.raw<readonly string[]>([]);
  #isAsking = false;

  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const url = new URL('data/plugin/projector/runs', document.baseURI).href;
    void fetchOnce<string[]>({ url, as: 'json' }).then((reply) => {
      this.#isAsking = false;
      if (reply.ok && Array.isArray(reply.value)) this.runs = reply.value;
    });
  }
}

export const embeddings = new Embeddings();
