/** Simulates users and clients, and records every response in a journal. */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { loadTypeScript } from '../browser/load-typescript.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');

export const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
export const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
export const CALLBACK = 'https://app.example/callback';
export const USERNAME = 'amira';
export const PASSWORD = 'plum granite lantern 47';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
/** Longer than the service's request timeout of fifteen seconds. */
const REQUEST_MS = 20_000;
const PAUSE_MS = 50;
const REFRESHING = 4;

export class Load {
  /** Tokens issued and not revoked, and tokens with an acknowledged revocation. */
  live = new Set();
  revoked = new Set();
  /** Wrong responses, and errors other than 503. */
  faults = [];
  /** Requests by outcome. */
  counts = { acknowledged: 0, signIns: 0, unavailable: 0, cut: 0, failedSignIns: 0 };
  /** What the last failed sign-in ended on. */
  lastFailure = '';
  /** Duration of the slowest request with a response, except the pages of a sign-in. */
  slowestMs = 0;
  #sessions = [];
  #bases;
  #isOn = false;
  #working = [];

  constructor(bases) {
    this.#bases = bases;
  }

  async prepare() {
    for (let count = 0; count < REFRESHING; count += 1) this.#sessions.push(await this.signIn());
  }

  /** @param more number of concurrent introspections to add */
  start(more = 2) {
    this.#isOn = true;
    const loops = [
      ...this.#sessions.map((session) => () => this.#refresh(session)),
      ...[1, 2].map(() => () => this.#issueAndRevoke()),
      ...Array.from({ length: more }, () => () => this.#introspect()),
      () => this.#signInAndKeep(),
    ];
    this.#working = loops.map((step) => this.#repeat(step));
  }

  async stop() {
    this.#isOn = false;
    await Promise.all(this.#working);
  }

  /** Signs in to a client, from the first page to the tokens. Throws if a step gets no response. */
  async signIn() {
    const base = this.#base();
    const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
    const query = new URLSearchParams({
      ...{ client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
    });
    const { status, text } = await browser.open(`/authorize?${query}`);
    if (status !== 200) throw new Error(`${status} in place of the sign-in page: ${text}`);
    await browser.submit({ username: USERNAME, password: PASSWORD });
    const page = await browser.follow();
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
    const answer = await this.#post('oauth2/token', grant);
    if (answer === undefined) throw new Error('no tokens');
    const { access_token, refresh_token } = answer;
    this.live.add(access_token);
    return { accessToken: access_token, refreshToken: refresh_token, isRefreshing: false };
  }

  /**
   * Checks that all acknowledged changes are in effect.
   * @returns the number of facts compared
   */
  async compare() {
    let compared = 0;
    for (const [tokens, isLive] of [
      [this.live, true],
      [this.revoked, false],
    ]) {
      for (const token of tokens) {
        const { active } = await this.#mustPost('oauth2/introspect', { token });
        compared += 1;
        if (active !== isLive) this.faults.push(isLive ? 'an issued token is lost' : 'a revocation is lost');
      }
    }
    for (const session of this.#sessions) {
      compared += 1;
      await this.#refresh(session, true);
    }
    return compared;
  }

  async #repeat(step) {
    while (this.#isOn) {
      try {
        if (!(await step())) await pause(PAUSE_MS);
      } catch (error) {
        this.faults.push(String(error?.stack ?? error));
        return;
      }
    }
  }

  async #refresh(session, isRequired = false) {
    // The former access token may be revoked as soon as this is sent.
    this.live.delete(session.accessToken);
    const fields = { grant_type: 'refresh_token', refresh_token: session.refreshToken };
    const answer = await (isRequired ? this.#mustPost : this.#post).call(this, 'oauth2/token', fields);
    if (answer === undefined) return false;
    session.accessToken = answer.access_token;
    session.refreshToken = answer.refresh_token;
    this.live.add(session.accessToken);
    return true;
  }

  async #issueAndRevoke() {
    const issued = await this.#post('oauth2/token', { grant_type: 'client_credentials' });
    if (issued === undefined) return false;
    const token = issued.access_token;
    this.live.add(token);
    if (randomInt(4) === 0) return true;
    this.live.delete(token);
    if ((await this.#post('oauth2/revoke', { token })) === undefined) return false;
    this.revoked.add(token);
    return true;
  }

  async #introspect() {
    const isLive = randomInt(2) === 0;
    const tokens = isLive ? this.live : this.revoked;
    const token = [...tokens].at(-1 - randomInt(Math.max(1, Math.min(tokens.size, 20))));
    if (token === undefined) return false;
    const answer = await this.#post('oauth2/introspect', { token });
    if (answer === undefined) return false;
    // It may have been revoked or refreshed since the request was sent.
    if (answer.active !== isLive && tokens.has(token)) {
      this.faults.push(isLive ? 'a live token was refused' : 'a revoked token was accepted');
    }
    return true;
  }

  async #signInAndKeep() {
    try {
      await this.signIn();
      this.counts.signIns += 1;
      return true;
    } catch (error) {
      this.lastFailure = String(error);
      this.counts.failedSignIns += 1;
      // Pages during the outage have no form, and cut connections throw: the next attempt starts from the first page.
      return false;
    }
  }

  async #mustPost(path, fields) {
    const answer = await this.#post(path, fields);
    if (answer === undefined) throw new Error(`${path} is not available`);
    return answer;
  }

  /** Returns undefined if the outcome is unknown or the request failed. */
  async #post(path, fields) {
    const startedAt = performance.now();
    try {
      const response = await fetch(this.#base() + path, {
        ...{ method: 'POST', headers: { authorization: AUTHORIZATION }, body: new URLSearchParams(fields) },
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      if (response.status === 503) {
        this.counts.unavailable += 1;
        return undefined;
      }
      if (response.status !== 200) {
        this.faults.push(`${path} answered ${response.status}: ${text}`);
        return undefined;
      }
      this.counts.acknowledged += 1;
      return text === '' ? {} : JSON.parse(text);
    } catch (error) {
      if (error.name === 'TimeoutError') this.faults.push(`${path} was not answered within ${REQUEST_MS / 1000} s`);
      this.counts.cut += 1;
      return undefined;
    }
  }

  #base() {
    return this.#bases[randomInt(this.#bases.length)];
  }
}
