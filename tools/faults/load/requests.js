import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
/** A service answers within its own time limit of fifteen seconds, but for a write that it had begun by then. */
const REQUEST_MS = 30_000;
const UNAVAILABLE = 503;
/** How a form says so. */
const TRY_LATER = /data-error-code="homeserver_unavailable"/;
/** How the service says that something is over. */
const OVER = [
  { status: 400, says: /"error":"(?:invalid_grant|expired_token)"/ },
  { status: 410, says: /data-error-code="(?:expired|expired_token|registration_expired)"/ },
  // A form is shown once more.
  { status: 200, says: /data-error-code="(?:csrf_expired|invalid_code)"/ },
  { status: 200, says: /"status":"EXPIRED_RECOVERY_TICKET"/ },
  // Only of the administrator's: no other access token is sent along that is ever over.
  { status: 401, says: /"invalid_token"/ },
];
/** How it says so once the clean-up, which waits for days, has removed what had begun before. */
const REMOVED = [
  { status: 404, says: /data-error-code="(?:not_found|registration_not_found|device_code_not_found)"/ },
  { status: 200, says: /"status":"NO_SUCH_RECOVERY_TICKET"/ },
];

/** Nothing is known about the outcome of a request, unless it was never sent. */
export class Unanswered extends Error {
  /** @param wasSent false: whatever it asked for cannot have happened */
  constructor(what, wasSent, cause) {
    super(`${what} was not answered`, { cause });
    this.wasSent = wasSent;
  }
}

/** Requests to any of the instances, as a load balancer spreads them, and what became of them. */
export class Requests {
  /** Requests by what became of them. */
  counts = { acknowledged: 0, signIns: 0, unavailable: 0, cut: 0, failedSignIns: 0 };
  /** How often each kind of request was told that what it goes on with is over, since clocks were set. */
  over = {};
  /** How often each kind of request was answered that the service is not available. */
  unavailable = {};
  /** Connections that were refused, so that the request went to another instance. */
  retries = 0;
  /** What must never be: a wrong answer, or an error other than 503. */
  faults = [];
  /** The longest that a request with an answer took. */
  slowestMs = 0;
  /** What that was. */
  slowest = '';
  #bases;
  #publicBase;
  #moment;

  /** @param bases of the instances that take requests, which may change at any time */
  constructor({ bases, publicBase, moment }) {
    this.#bases = bases;
    this.#publicBase = publicBase;
    this.#moment = moment;
  }

  /** What was refused before the load began does not count. */
  forgetUnavailable() {
    this.counts.unavailable = 0;
    this.unavailable = {};
  }

  /** Asks for an access token, a revocation and so on. @returns the JSON of the answer */
  async client(path, fields) {
    const answer = await this.send('POST', path, new URLSearchParams(fields), { authorization: AUTHORIZATION });
    return answer.json;
  }

  /** @param body a form, or what is sent as JSON. @returns status, text and, where it is some, JSON of the answer */
  async send(method, path, body, headers = {}, expected = [200]) {
    const isForm = body === undefined || body instanceof URLSearchParams;
    return await this.answer(`${method} ${path}`, expected, async (base) => {
      const response = await fetch(base + path, {
        ...{ method, redirect: 'manual', signal: AbortSignal.timeout(REQUEST_MS) },
        headers: { ...headers, ...(!isForm && { 'content-type': 'application/json' }) },
        body: isForm ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      const retryAfter = response.headers.get('retry-after');
      return { status: response.status, retryAfter, text, json: isJson ? JSON.parse(text) : {} };
    });
  }

  /** A browser with cookies of its own. */
  visitor() {
    return new Visitor(this, this.#publicBase);
  }

  /**
   * Sends a request, and once more where the connection was refused.
   * @param send resolves with `{ status, retryAfter, text }`. @throws Unanswered
   */
  async answer(what, expected, send) {
    const startedAt = performance.now();
    const answer = await this.#sendToOneOrTheOther(send).catch((error) => {
      this.counts.cut += 1;
      if (error.name === 'TimeoutError') this.faults.push(`${what} was not answered within ${REQUEST_MS / 1000} s`);
      throw new Unanswered(what, !isRefused(error), error);
    });
    const tookMs = performance.now() - startedAt;
    if (tookMs > this.slowestMs) [this.slowestMs, this.slowest] = [tookMs, kindOf(what)];
    if (answer.status === UNAVAILABLE) {
      this.counts.unavailable += 1;
      const kind = kindOf(what);
      this.unavailable[kind] = (this.unavailable[kind] ?? 0) + 1;
      if (!/^\d+$/.test(answer.retryAfter ?? '')) this.faults.push(`${what} was refused without Retry-After`);
      throw new Unanswered(what, true);
    }
    if (this.#moment.hasPassed && isAmong(this.#moment.endsTokens ? [...OVER, ...REMOVED] : OVER, answer)) {
      const kind = kindOf(what);
      this.over[kind] = (this.over[kind] ?? 0) + 1;
      throw new Unanswered(what, true);
    }
    if (!expected.includes(answer.status)) {
      this.faults.push(`${what} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
      throw new Unanswered(what, true);
    }
    this.counts.acknowledged += 1;
    return answer;
  }

  async #sendToOneOrTheOther(send) {
    const first = this.#choose();
    try {
      return await send(first);
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.retries += 1;
      return await send(this.#choose(first));
    }
  }

  #choose(refused) {
    const others = this.#bases.filter((base) => base !== refused);
    const bases = others.length > 0 ? others : [refused ?? this.#publicBase];
    return bases[randomInt(bases.length)];
  }
}

/** A `Browser` whose requests go to any of the instances. */
class Visitor {
  #requests;
  #browser;
  #listener = '';

  constructor(requests, publicBase) {
    this.#requests = requests;
    const listener = () => this.#listener;
    this.#browser = new Browser({
      publicBase,
      // As people are, each is somewhere else: an address has a share of what passwords cost.
      headers: { 'x-forwarded-for': `198.18.${randomInt(256)}.${randomInt(256)}` },
      get listener() {
        return listener();
      },
    });
  }

  get shown() {
    return this.#browser.shown;
  }

  get cookies() {
    return this.#browser.cookies;
  }

  async get(address, expected = [200, 303]) {
    return await this.#answer(`GET ${address}`, expected, () => this.#browser.get(address));
  }

  /** Follows the redirects of the last answer. */
  async follow() {
    return await this.#answer(`what ${this.shown.url} leads to`, [200, 303], () => this.#browser.follow());
  }

  /** Sends a form of the page shown, which is right where it leads on. */
  async submit(fields, { expected = [303], ...options } = {}) {
    const what = `the form of ${this.shown.url}`;
    return await this.#answer(what, expected, () => this.#browser.submit(fields, options));
  }

  /** Asks as the script of a page does. @returns `data` of the answer */
  async graphql(query, variables) {
    const headers = { 'content-type': 'application/json', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    const body = JSON.stringify({ query, variables });
    const { text } = await this.#answer('POST /graphql', [200], async () => {
      const shown = await this.#browser.postRaw('/graphql', body, headers);
      const isUnavailable = shown.status === 200 && /"code":"(?:UNAVAILABLE|TIMEOUT)"/.test(shown.body);
      // The header goes with the status only.
      return isUnavailable ? { ...shown, status: UNAVAILABLE, headers: { 'retry-after': '0' } } : shown;
    });
    const { data, errors } = JSON.parse(text);
    if (errors !== undefined) throw new Error(`/graphql answered ${text}`);
    return data;
  }

  async #answer(what, expected, load) {
    return await this.#requests.answer(what, expected, async (base) => {
      this.#listener = base.slice(0, -1);
      const { status: shown, headers, location, body } = await withinTime(load());
      // A form is shown once more, without the header that goes with the status.
      const status = shown === 200 && TRY_LATER.test(body) ? UNAVAILABLE : shown;
      if (status !== shown) headers['retry-after'] ??= '0';
      return { status, retryAfter: headers['retry-after'], headers, location, text: body };
    });
  }
}

/** @param ways how somebody is told that their code, form, link or token is no longer good */
function isAmong(ways, { status, text }) {
  return ways.some(({ status: own, says }) => status === own && says.test(text));
}

/** Without address, query and names, of which each request has others. */
function kindOf(what) {
  return what
    .replace(/https?:\/\/[^/]+/, '')
    .replace(/\?\S*/, '')
    .replace(/\/[^/ ]*\d[^/ ]*/g, '/…');
}

/** Pages are not asked for with a time limit of their own. */
async function withinTime(work) {
  const ending = new AbortController();
  const limit = pause(REQUEST_MS, undefined, { signal: ending.signal }).then(
    () => Promise.reject(new DOMException('no answer', 'TimeoutError')),
    () => undefined,
  );
  try {
    return await Promise.race([work, limit]);
  } finally {
    ending.abort();
  }
}

function isRefused(error) {
  return [error.code, error.cause?.code].includes('ECONNREFUSED');
}
