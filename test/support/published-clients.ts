import { createHash, randomBytes } from 'node:crypto';
import { Browser } from './browser.ts';
import { type HttpsPeer, startHttpsPeer } from './https-peer.ts';
import type { TestService } from './service.ts';

export const CALLBACK = 'http://127.0.0.1/callback';
/** Native apps listen on any free port (RFC 8252 7.3). */
export const LISTENING_AT = 'http://127.0.0.1:51004/callback';
export const USERNAME = 'amira';
export const PASSWORD = 'correct horse battery staple';

const VERIFIER = randomBytes(32).toString('base64url');

export interface DocumentResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (url: string) => string;
}

/** A client metadata document as MCP clients publish it. */
export function documentOf(url: string, more: object = {}): string {
  return JSON.stringify({
    client_id: url,
    client_name: 'Harbour',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...more,
  });
}

/** A host that serves client metadata documents (OAuth Client ID Metadata Document). */
export interface Publisher {
  readonly peer: HttpsPeer;
  /** The response to every request. */
  answer: DocumentResponse;
  /** Number of requests since the test last set it. */
  asked: number;
  /** Serves documents with these members. */
  publish(more?: object, headers?: Readonly<Record<string, string>>): void;
  /** Returns the URL of a document that has not been requested yet. */
  newClient(): string;
}

export async function startPublisher(): Promise<Publisher> {
  let documents = 0;
  const peer = await startHttpsPeer((request, response) => {
    publisher.asked += 1;
    const { status, headers, body } = publisher.answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body(`${peer.origin}${request.url}`));
  });
  const publisher: Publisher = {
    peer,
    answer: { status: 200, headers: {}, body: documentOf },
    asked: 0,
    publish(more = {}, headers = {}) {
      this.answer = { status: 200, headers, body: (url) => documentOf(url, more) };
    },
    newClient() {
      documents += 1;
      return `${peer.origin}/clients/${documents}.json`;
    },
  };
  return publisher;
}

export function authorizeUrl(clientId: string, fields: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: LISTENING_AT,
    response_type: 'code',
    scope: 'openid profile',
    state: 'st',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...fields,
  });
  return `/authorize?${query}`;
}

export function newBrowser(service: TestService): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

/** Opens the consent page. Signs in first if the browser has no session. */
export async function openConsent(
  browser: Browser,
  clientId: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const page = await browser.open(authorizeUrl(clientId, fields));
  if (new URL(page.url).pathname === '/login') {
    await browser.submit({ username: USERNAME, password: PASSWORD });
    await browser.follow();
  }
  return browser;
}

/** Gives consent. @returns the code */
export async function consent(browser: Browser): Promise<string> {
  const page = await browser.submit({ action: 'consent' }, { action: '/authorize' });
  return new URL(page.location ?? '').searchParams.get('code') ?? '';
}

export async function post(
  service: TestService,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(service.address + path, { method: 'POST', body: new URLSearchParams(fields), headers });
  const text = await response.text();
  const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
  return { status: response.status, body };
}

/** Exchanges the code. @param credentials only the client ID by default */
export async function redeem(
  service: TestService,
  clientId: string,
  code: string,
  credentials: Readonly<Record<string, string>> = { client_id: clientId },
) {
  const fields = { grant_type: 'authorization_code', code, redirect_uri: LISTENING_AT, code_verifier: VERIFIER };
  return await post(service, '/oauth2/token', { ...fields, ...credentials });
}

/** Signs in and exchanges the code. @returns the body of the token response */
export async function signInAt(
  service: TestService,
  clientId: string,
  browser = newBrowser(service),
): Promise<Record<string, unknown>> {
  await openConsent(browser, clientId);
  return (await redeem(service, clientId, await consent(browser))).body;
}

export function claimsOf(jwt: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString());
}
