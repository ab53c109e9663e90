import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import type { Route } from '#platform/http/route.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { Browser, type Page } from '../support/browser.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { parseRequestLine } from '../support/log-expression.ts';
import { RESOURCES, type ServiceOptions, startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { jsonOf, type RawRequest, type RawResponse, sendRequest, textMember } from './raw-http.ts';
import { changedTables, TableReader, type TableStates } from './table-states.ts';

export const ISSUER = 'https://auth.example.test/';
export const PASSWORD = 'correct horse battery staple';
export const HOMESERVER_SECRET = 'the-secret-that-the-homeserver-shares';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
/** The S256 challenge of `VERIFIER`. */
export const CHALLENGE = sha256(VERIFIER).toString('base64url');
/** An ID that no row has. */
export const UNKNOWN_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T00';

export interface AttackedClient<Secret extends string | undefined = string | undefined> {
  readonly id: string;
  /** Undefined for a public client. */
  readonly secret: Secret;
  readonly callback: string;
}

/** The clients of security 1.1. */
export const C1 = client('C1', 'the-secret-of-the-first-client', 'https://app.example/cb');
export const C2 = client('C2', 'the-secret-of-the-second-client', 'https://other.example/cb');
/** Has two redirect URIs. */
export const C3 = client('C3', 'the-secret-of-the-third-client', 'https://app.example/cb');
/** Its redirect URI has a query. */
export const CQ = client('CQ', 'the-secret-of-the-client-with-a-query', 'https://app.example/cb?keep=1');
/** Registered for `client_secret_post`. */
export const CP = client('CP', 'the-secret-that-stands-in-the-form', 'https://post.example/cb');
export const P1 = client('P1', undefined, 'https://spa.example/cb');
/** Native, with a loopback redirect URI. */
export const PN = client('PN', undefined, 'http://127.0.0.1/cb');
/** Post-logout redirect URI of C1. */
export const SIGNED_OUT = 'https://app.example/signed-out';
export const SECOND_CALLBACK = 'https://app.example/second';

function client<Secret extends string | undefined>(
  name: string,
  secret: Secret,
  callback: string,
): AttackedClient<Secret> {
  return { id: `01JD3Q5Z8W2N4K6M7P9R0S1T${name}`, secret, callback };
}

function clientSettings(method: string, { id, secret, callback }: AttackedClient, more: readonly string[] = []) {
  const redirect_uris = [callback, ...more];
  const base = { client_id: id, client_auth_method: method, client_name: `Client ${id.slice(-2)}`, redirect_uris };
  return secret === undefined ? base : { ...base, client_secret: secret };
}

const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };

export const CLIENT_SETTINGS = [
  { ...clientSettings('client_secret_basic', C1), post_logout_redirect_uris: [SIGNED_OUT] },
  clientSettings('client_secret_basic', C2),
  clientSettings('client_secret_basic', C3, [SECOND_CALLBACK]),
  clientSettings('client_secret_basic', CQ),
  clientSettings('client_secret_post', CP),
  clientSettings('none', P1),
  clientSettings('none', PN),
];

/** Settings with limits that are never reached by accident. */
export const SETTINGS = {
  http: { public_base: ISSUER },
  clients: CLIENT_SETTINGS,
  homeserver: { kind: 'none', homeserver: 'example.test', secret: HOMESERVER_SECRET },
  rate_limiting: {
    login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT },
    registration: HIGH_LIMIT,
    account_recovery: { per_ip: HIGH_LIMIT, per_address: HIGH_LIMIT },
    registration_check: HIGH_LIMIT,
    client_registration: { per_ip: HIGH_LIMIT },
  },
  policy: { data: { admin_users: ['adele'] } },
  account: { login_with_email_allowed: true, password_registration_enabled: true, password_recovery_enabled: true },
};

/** The tokens of one session, and its owner. */
export interface HeldTokens {
  readonly code: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly answer: RawResponse;
}

export interface AttackedOptions {
  /** Statuses of 500 and above that the file's tests provoke. */
  readonly expectedStatuses?: readonly number[];
  /** Texts in the ERROR lines that the file's tests provoke. */
  readonly expectedErrors?: readonly string[];
  /** Starts the password strength estimator, because the tests set passwords. */
  readonly arePasswordsChosen?: boolean;
  /** Called at startup. Creates the client for outbound requests. */
  readonly outbound?: () => OutboundHttp;
}

/**
 * The complete service for one file of attack tests, with users to attack: `amira` and `bruno`, `lena` (locked), `dana`
 * (deactivated) and `adele`, who may request the admin scope. Registers hooks that start and stop the service and run
 * the common checks after each test (security 1.2: G1, G2, G3, G5).
 */
export function attackedService(
  settings: Readonly<Record<string, unknown>> = {},
  options: AttackedOptions = {},
): AttackedService {
  const attacked = new AttackedService({ ...SETTINGS, ...settings }, options);
  beforeAll(async () => await attacked.start());
  afterEach(async () => await attacked.check());
  afterAll(async () => await attacked.stop());
  return attacked;
}

export class AttackedService {
  readonly clock = new FakeClock();
  /** Each may appear in the response that issues it, but never in a log line. */
  readonly secrets = new Set<string>([HOMESERVER_SECRET, PASSWORD]);
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #expectedStatuses: readonly number[];
  readonly #expectedErrors: readonly string[];
  readonly #arePasswordsChosen: boolean;
  readonly #outbound: AttackedOptions['outbound'];
  #strengthWorker: URL | undefined;
  #service: TestService | undefined;
  #tables: TableReader | undefined;
  #checkedLines = 0;
  #browsers = 0;

  constructor(settings: Readonly<Record<string, unknown>>, options: AttackedOptions) {
    this.#settings = settings;
    this.#expectedStatuses = options.expectedStatuses ?? [];
    this.#expectedErrors = options.expectedErrors ?? [];
    this.#arePasswordsChosen = options.arePasswordsChosen ?? false;
    this.#outbound = options.outbound;
    for (const { secret } of [C1, C2, C3, CQ, CP]) this.secrets.add(secret);
  }

  get service(): TestService {
    if (this.#service === undefined) throw new Error('the service was not started');
    return this.#service;
  }

  async start(): Promise<void> {
    if (this.#arePasswordsChosen) {
      this.#strengthWorker = await bundleWorker(
        new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
      );
    }
    this.#service = await startService(this.#settings, this.#serviceOptions());
    this.#tables = new TableReader(this.service.database);
    for (const username of ['amira', 'bruno', 'lena', 'dana', 'adele']) {
      await this.service.registerUser(username, PASSWORD);
    }
    await this.change("update users set locked_at = created_at where username = 'lena'");
    await this.change("update users set deactivated_at = created_at where username = 'dana'");
  }

  async stop(): Promise<void> {
    await this.service.stop();
  }

  /** Runs `work` with a second instance that shares the database, keys and settings. */
  async withSecondInstance(work: (second: TestService) => Promise<void>): Promise<void> {
    const second = await startService(this.#settings, { ...this.#serviceOptions(), like: this.service });
    try {
      await work(second);
    } finally {
      await second.stop();
    }
  }

  /** Creates a browser with a separate address, so that tests do not share rate limits. */
  browser(options: { readonly address?: string; readonly at?: TestService } = {}): Browser {
    const address = options.address ?? this.newAddress();
    const { address: listener } = options.at ?? this.service;
    return new Browser({ listener, publicBase: ISSUER, headers: { 'x-forwarded-for': address } });
  }

  newAddress(): string {
    this.#browsers += 1;
    return `198.18.${this.#browsers >> 8}.${this.#browsers & 255}`;
  }

  async signedIn(username: string, browser: Browser = this.browser()): Promise<Browser> {
    await browser.get('/login');
    await browser.submit({ username, password: PASSWORD });
    if (browser.page.status !== 303) throw new Error(`signing in ${username} gave ${browser.page.status}`);
    this.secrets.add(browser.cookies.get('__Host-latchkey_session') ?? '');
    // Later requests must come after the sign-in.
    this.clock.advanceSeconds(1);
    return browser;
  }

  /**
   * Returns all routes of the listener, each with a matching URL. Excludes admin API routes, which read nothing before
   * authentication: `admin-api.test.ts` attacks them.
   */
  routes(filter: Partial<Pick<Route, 'method' | 'errorFormat'>> = {}): (Route & { readonly target: string })[] {
    return this.service.routes
      .filter(({ errorFormat, resource }) => errorFormat !== 'admin-json' && RESOURCES.includes(resource))
      .filter(({ method }) => filter.method === undefined || method === filter.method)
      .filter(({ errorFormat }) => filter.errorFormat === undefined || errorFormat === filter.errorFormat)
      .map((route) => ({ ...route, target: route.path.replaceAll(/:\w+/g, UNKNOWN_ID).replace('*', 'x.css') }));
  }

  async ask(request: RawRequest, at: TestService = this.service): Promise<RawResponse> {
    return await sendRequest(at.address, request);
  }

  /** Posts a form to a machine endpoint. */
  async post(
    path: string,
    form: Readonly<Record<string, string>> | string,
    authorization?: string,
    at?: TestService,
  ): Promise<RawResponse> {
    const headers: [string, string][] = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['X-Forwarded-For', this.newAddress()],
    ];
    if (authorization !== undefined) headers.push(['Authorization', authorization]);
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    return await this.ask({ method: 'POST', target: path, headers, body }, at);
  }

  /** Returns the URL of an authorization request. An `undefined` field omits the parameter. */
  authorizeUrl(asking: AttackedClient, fields: Readonly<Record<string, string | undefined>> = {}): string {
    const pkce = asking.secret === undefined ? { code_challenge: CHALLENGE, code_challenge_method: 'S256' } : {};
    const base = { redirect_uri: asking.callback, response_type: 'code', scope: 'openid', state: 'st' };
    const parameters = new URLSearchParams({ client_id: asking.id });
    for (const [name, value] of Object.entries({ ...base, ...pkce, ...fields })) {
      if (value !== undefined) parameters.set(name, value);
    }
    return `/authorize?${parameters}`;
  }

  /** Completes an authorization, including consent if asked. @returns the redirect URL at the client */
  async callbackOf(
    browser: Browser,
    asking: AttackedClient,
    fields: Readonly<Record<string, string | undefined>> = {},
  ): Promise<URL> {
    await browser.open(this.authorizeUrl(asking, fields));
    if (isConsent(browser.page)) await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const { location, status, url } = browser.page;
    if (location === undefined) throw new Error(`no way back to the client from ${url}: ${status}`);
    const callback = new URL(location);
    this.secrets.add(callback.searchParams.get('code') ?? PASSWORD);
    return callback;
  }

  /** Returns a code that has not been exchanged. */
  async code(
    browser: Browser,
    asking: AttackedClient,
    fields: Readonly<Record<string, string | undefined>> = {},
  ): Promise<string> {
    const code = (await this.callbackOf(browser, asking, fields)).searchParams.get('code');
    if (code === null) throw new Error('the client got no code');
    return code;
  }

  /** Exchanges a code with valid parameters, overridden by `fields`. */
  async exchange(
    asking: AttackedClient,
    code: string,
    fields: Readonly<Record<string, string>> = {},
    at?: TestService,
  ): Promise<RawResponse> {
    const proof = asking.secret === undefined ? { client_id: asking.id, code_verifier: VERIFIER } : {};
    const base = { grant_type: 'authorization_code', code, redirect_uri: asking.callback };
    return await this.post('/oauth2/token', { ...base, ...proof, ...fields }, basic(asking), at);
  }

  async refresh(
    asking: AttackedClient,
    refreshToken: string,
    fields: Readonly<Record<string, string>> = {},
    at?: TestService,
  ): Promise<RawResponse> {
    const proof = asking.secret === undefined ? { client_id: asking.id } : {};
    const base = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const response = await this.post('/oauth2/token', { ...base, ...proof, ...fields }, basic(asking), at);
    if (response.status === 200) this.held('', response);
    return response;
  }

  /** Signs the browser's user in to a client. */
  async tokens(
    browser: Browser,
    asking: AttackedClient,
    fields: Readonly<Record<string, string | undefined>> = {},
  ): Promise<HeldTokens> {
    const code = await this.code(browser, asking, fields);
    return this.held(code, await this.exchange(asking, code));
  }

  /** Returns the tokens in a response. */
  held(code: string, response: RawResponse): HeldTokens {
    const accessToken = textMember(response, 'access_token');
    const refreshToken = textMember(response, 'refresh_token');
    this.secrets.add(accessToken).add(refreshToken);
    return { code, accessToken, refreshToken, answer: response };
  }

  /** Introspects a token as the homeserver. */
  async introspect(token: string, at?: TestService): Promise<Readonly<Record<string, unknown>>> {
    return jsonOf(await this.post('/oauth2/introspect', { token }, `Bearer ${HOMESERVER_SECRET}`, at));
  }

  /** Changes rows directly. */
  async change(text: string, params: readonly unknown[] = []): Promise<void> {
    await sql(this.service.database, text, params);
  }

  async count(from: string, params: readonly unknown[] = []): Promise<number> {
    const rows = await sql<{ count: number }>(
      this.service.database,
      `select count(*)::integer as count from ${from}`,
      params,
    );
    return rows[0]?.count ?? -1;
  }

  async tableStates(): Promise<TableStates> {
    if (this.#tables === undefined) throw new Error('the service was not started');
    return await this.#tables.read();
  }

  /** Fails when `work` changes anything except rate limits and the audit trail (G4). */
  async changingNothing<T>(work: () => Promise<T>): Promise<T> {
    const before = await this.tableStates();
    const result = await work();
    expect(changedTables(before, await this.tableStates()), 'tables that changed').toEqual([]);
    return result;
  }

  /** Returns the CPU time of a request in milliseconds, as logged. */
  async cpuOf(request: RawRequest): Promise<number> {
    await this.ask(request);
    return this.lastCpu();
  }

  /** Returns the CPU time of the last request in milliseconds. */
  lastCpu(): number {
    const line = this.service.logLines().findLast((text) => text.includes(' http.server.response '));
    return parseRequestLine(line ?? '').cpu;
  }

  /** Checks the invariants after every attack (security 1.2). */
  async check(): Promise<void> {
    const health = await this.ask({ target: '/health' });
    expect(health.status, 'G5: health').toBe(200);
    const lines = this.service.requestLines();
    const fresh = lines.slice(this.#checkedLines);
    this.#checkedLines = lines.length;
    const failed = fresh.filter((line) => line.status >= 500 && !this.#expectedStatuses.includes(line.status));
    expect(failed, 'G1: answers of 500 and above').toEqual([]);
    // Every request gets a number, so duplicate and missing lines are detected.
    const numbers = lines
      .map((line) => Number(line.id.slice(line.id.lastIndexOf('-') + 1)))
      .toSorted((one, other) => one - other);
    expect(numbers, 'G2: one line for each request').toEqual(lines.map((_, index) => index + 1));
    const log = this.service.logLines().join('\n');
    const leaked = [...this.secrets].filter((secret) => secret !== '' && log.includes(secret));
    expect(leaked, 'G3: secrets in the log').toEqual([]);
  }

  #serviceOptions(): ServiceOptions {
    return {
      clock: this.clock,
      expectedErrors: [...this.#expectedStatuses.map((status) => `" ${status} `), ...this.#expectedErrors],
      ...(this.#strengthWorker === undefined ? {} : { strengthWorker: this.#strengthWorker }),
      ...(this.#outbound === undefined ? {} : { outbound: this.#outbound() }),
    };
  }
}

/** Returns the `Authorization` header of a confidential client, or undefined for public clients. */
export function basic({ id, secret }: AttackedClient): string | undefined {
  if (secret === undefined || id === CP.id) return undefined;
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

export function isConsent(page: Page): boolean {
  return new URL(page.url).pathname.startsWith('/consent/');
}
