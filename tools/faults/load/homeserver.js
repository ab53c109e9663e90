import { setTimeout as pause } from 'node:timers/promises';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
const TOKENS = 20;
const TICK_MS = 20;
/** Longer than the service's request timeout. */
const REQUEST_MS = 20_000;

/** A homeserver that introspects tokens at a fixed rate, without waiting for earlier responses. */
export class Homeserver {
  /** Latencies of the responses, in milliseconds. */
  answered = [];
  refused = 0;
  slowestMs = 0;
  faults = [];
  #base;
  #tokens = [];

  /** @param base URL of the only instance that it uses */
  static async at(base) {
    const homeserver = new Homeserver();
    homeserver.#base = base;
    while (homeserver.#tokens.length < TOKENS) {
      const { json } = await homeserver.#post('oauth2/token', { grant_type: 'client_credentials' });
      homeserver.#tokens.push(json.access_token);
    }
    return homeserver;
  }

  /**
   * Sends introspections for this number of seconds.
   * @returns after all responses have arrived
   */
  async introspect(perSecond, seconds) {
    const startedAt = performance.now();
    const under = new Set();
    for (let sent = 0; sent < perSecond * seconds; ) {
      for (; sent < ((performance.now() - startedAt) / 1_000) * perSecond; sent += 1) {
        const asked = this.#introspect(this.#tokens[sent % TOKENS]);
        under.add(asked);
        void asked.then(() => under.delete(asked));
      }
      await pause(TICK_MS);
    }
    await Promise.all(under);
  }

  async #introspect(token) {
    const startedAt = performance.now();
    try {
      const { status, retryAfter, json } = await this.#post('oauth2/introspect', { token });
      const tookMs = performance.now() - startedAt;
      this.slowestMs = Math.max(this.slowestMs, tookMs);
      if (status === 503 && retryAfter !== null) this.refused += 1;
      else if (status === 200 && json.active === true) this.answered.push(tookMs);
      else this.faults.push(`an introspection was answered ${status} ${JSON.stringify(json)}`);
    } catch (error) {
      this.faults.push(`an introspection was not answered: ${error.cause?.code ?? error.name}`);
    }
  }

  async #post(path, fields) {
    const response = await fetch(this.#base + path, {
      ...{ method: 'POST', headers: { authorization: AUTHORIZATION }, body: new URLSearchParams(fields) },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return {
      ...{ status: response.status, retryAfter: response.headers.get('retry-after') },
      json: await response.json(),
    };
  }
}
