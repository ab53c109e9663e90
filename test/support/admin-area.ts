import { createHash } from 'node:crypto';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import { Browser, type Page } from './browser.ts';
import type { TestService } from './service.ts';

const VERIFIER = 'v'.repeat(43);
/** What a browser sends for a `fetch` of the area's own page. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' };

/** An administrator's browser, with the requests that the script of the admin area makes. */
export class AdminAreaBrowser {
  readonly browser: Browser;
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
    this.browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  }

  async signIn(username: string, password: string): Promise<this> {
    await this.browser.get('login');
    const { status } = await this.browser.submit({ username, password });
    if (status !== 303) throw new Error(`sign-in was answered ${status}`);
    return this;
  }

  get redirectUri(): string {
    return `${this.#service.publicBase}admin/callback`;
  }

  /** The parameters of the silent authorization request. */
  parameters(changed: Readonly<Record<string, string | undefined>> = {}): URLSearchParams {
    const all = {
      client_id: ADMIN_AREA_CLIENT_ID,
      response_type: 'code',
      redirect_uri: this.redirectUri,
      scope: 'urn:mas:admin',
      prompt: 'none',
      state: 'state-of-the-area',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
      ...changed,
    };
    return new URLSearchParams(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** Sends the silent authorization request. */
  async authorize(changed: Readonly<Record<string, string | undefined>> = {}, headers = OWN_PAGE): Promise<Page> {
    return await this.browser.get(`authorize?${this.parameters(changed)}`, headers);
  }

  /** Returns the parameters that the silent request ends with. */
  async answer(): Promise<URLSearchParams> {
    const { location = '' } = await this.authorize();
    return new URL(location).searchParams;
  }

  async redeem(code: string): Promise<Response> {
    return await fetch(`${this.#service.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: ADMIN_AREA_CLIENT_ID,
        redirect_uri: this.redirectUri,
        code,
        code_verifier: VERIFIER,
      }),
    });
  }

  /** Returns an access token as the area gets it. */
  async token(): Promise<string> {
    const response = await this.redeem((await this.answer()).get('code') ?? '');
    const body: { readonly access_token?: string } = await response.json();
    if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
    return body.access_token;
  }
}
