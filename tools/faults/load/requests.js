import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
/** Longer than the service's request timeout of fifteen seconds plus a write that had started by then. */
const REQUEST_MS = 30_000;
const UNAVAILABLE = 503;
/** Form error that corresponds to 503. */
const TRY_LATER = /data-error-code="homeserver_unavailable"/;
/** Responses for something that has expired. */
const OVER = [
  { status: 400, says: /"error":"(?:invalid_grant|expired_token)"/ },
  { status: 410, says: /data-error-code="(?:expired|expired_token|registration_expired)"/ },
  // The form is shown again.
  { status: 200, says: /data-error-code="(?:csrf_expired|invalid_code)"/ },
  { status: 200, says: /"status":"EXPIRED_RECOVERY_TICKET"/ },
  // Only for the administrator's token: no other access token that may have expired is sent.
  { status: 401, says: /"invalid_token"/ },
];
/** Responses after the cleanup, which waits for days, has deleted what was started before. */
const REMOVED = [
  { status: 404, says: /data-error-code="(?:not_found|registration_not_found|device_code_not_found)"/ },
  { status: 200, says: /"status":"NO_SUCH_RECOVERY_TICKET"/ },
];

/** The outcome of a request is unknown, unless it was never sent. */
export class Unanswered extends Error {
  /** @param wasSent false: the request cannot have had an effect */
  constructor(what, wasSent, cause) {
    super(`${what} was not answered`, { cause });
    this.wasSent = wasSent;
  }
}

/** Sends requests to the instances like a load balancer, and counts the outcomes. */
export class Requests {
  /** Requests by outcome. */
  counts = { acknowledged: 0, signIns: 0, unavailable: 0, cut: 0, failedSignIns: 0 };
  /** Number of "expired" responses by kind of request, after clock changes. */
  over = {};
  /** Number of "unavailable" responses by kind of request. */
  unavailable = {};
  /** Refused connections, after which the request went to another instance. */
  retries = 0;
  /** Wrong responses, and errors other than 503. */
  faults = [];
  /** Duration of the slowest request with a response. */
  slowestMs = 0;
  /** The slowest request. */
  slowest = '';
  #bases;
  #publicBase;
  #moment;

  /** @param bases URLs of the instances that take requests, which may change at any time */
  constructor({ bases, publicBase, moment }) {
    this.#bases = bases;
    this.#publicBase = publicBase;
    this.#moment = moment;
  }

  /** Errors before the load started do not count. */
  forgetUnavailable() {
    this.counts.unavailable = 0;
    this.unavailable = {};
  }

  /**
   * Sends a client request, such as a token request or a revocation.
   * @returns the JSON of the response
   */
  async client(path, fields) {
    const answer = await this.send('POST', path, new URLSearchParams(fields), { authorization: AUTHORIZATION });
    return answer.json;
  }

  /**
   * @param body a form, or an object to send as JSON
   * @returns status, text and, if it is JSON, the parsed body
   */
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

  /** Creates a browser with separate cookies. */
  visitor() {
    return new Visitor(this, this.#publicBase);
  }

  /**
   * Sends a request, and retries once if the connection was refused.
   * @param send resolves with `{ status, retryAfter, text }`
   * @throws Unanswered
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
      // Every user has a different address, because hashing has a budget per address.
      headers: { 'x-forwarded-for': `198.18.${randomInt(256)}.${randomInt(256)}` },
      get listener() {
        return listener();
      },
    });
  }

  get page() {
    return this.#browser.page;
  }

  get cookies() {
    return this.#browser.cookies;
  }

  async get(address, expected = [200, 303]) {
    return await this.#answer(`GET ${address}`, expected, () => this.#browser.get(address));
  }

  /** Follows the redirects of the last response. */
  async follow() {
    return await this.#answer(`what ${this.page.url} leads to`, [200, 303], () => this.#browser.follow());
  }

  /** Submits a form of the current page. A redirect is the expected response. */
  async submit(fields, { expected = [303], ...options } = {}) {
    const what = `the form of ${this.page.url}`;
    return await this.#answer(what, expected, () => this.#browser.submit(fields, options));
  }

  /**
   * Sends a query like the script of a page.
   * @returns `data` of the response
   */
  async graphql(query, variables) {
    const headers = { 'content-type': 'application/json', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    const body = JSON.stringify({ query, variables });
    const { text } = await this.#answer('POST /graphql', [200], async () => {
      const page = await this.#browser.postRaw('/graphql', body, headers);
      const isUnavailable = page.status === 200 && /"code":"(?:UNAVAILABLE|TIMEOUT)"/.test(page.body);
      // Only the 503 status has the header.
      return isUnavailable ? { ...page, status: UNAVAILABLE, headers: { 'retry-after': '0' } } : page;
    });
    const { data, errors } = JSON.parse(text);
    if (errors !== undefined) throw new Error(`/graphql answered ${text}`);
    return data;
  }

  async #answer(what, expected, load) {
    return await this.#requests.answer(what, expected, async (base) => {
      this.#listener = base.slice(0, -1);
      const { status: shown, headers, location, body } = await withinTime(load());
      // The form is shown again, without the header of a 503.
      const status = shown === 200 && TRY_LATER.test(body) ? UNAVAILABLE : shown;
      if (status !== shown) headers['retry-after'] ??= '0';
      return { status, retryAfter: headers['retry-after'], headers, location, text: body };
    });
  }
}

/** @param ways responses for a code, form, link or token that is no longer valid */
function isAmong(ways, { status, text }) {
  return ways.some(({ status: own, says }) => status === own && says.test(text));
}

/** Removes the URL, query and names, which differ for each request. */
function kindOf(what) {
  return what
    .replace(/https?:\/\/[^/]+/, '')
    .replace(/\?\S*/, '')
    .replace(/\/[^/ ]*\d[^/ ]*/g, '/…');
}

/** Page requests have no timeout themselves. */
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
