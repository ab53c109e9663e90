import type { AttackedService } from '../attacks/attacked-service.ts';
import { C1 } from '../attacks/attacked-service.ts';
import type { Browser } from '../support/browser.ts';
import { type HostileRequest, PLACEHOLDERS } from './hostile-request.ts';

/**
 * A signed-in user whose browser sends the requests. Replaces placeholders by the current values. Signs in once more
 * after a request has ended the session.
 */
export class Victim {
  readonly #attacked: AttackedService;
  #browser: Browser | undefined;
  #csrf = '';
  #grantId = '';
  #isGrantUsed = false;

  constructor(attacked: AttackedService) {
    this.#attacked = attacked;
  }

  get browser(): Browser {
    if (this.#browser === undefined) throw new Error('no user is signed in yet');
    return this.#browser;
  }

  /** A grant of this user that waits for consent. */
  get grantId(): string {
    return this.#grantId;
  }

  async renewSession(): Promise<void> {
    this.#browser = await this.#attacked.signedIn('amira');
    await this.browser.get('/');
    this.#csrf = this.browser.page.forms[0]?.inputs.get('csrf') ?? '';
  }

  async renewGrant(): Promise<void> {
    await this.browser.open(this.#attacked.authorizeUrl(C1, { prompt: 'consent' }));
    this.#grantId = new URL(this.browser.page.url).pathname.split('/').at(-1) ?? '';
    this.#isGrantUsed = false;
  }

  /** Restores the state after a request that changed these tables. */
  async recover(changed: readonly string[]): Promise<void> {
    if (changed.includes('user_sessions')) await this.renewSession();
    if (changed.includes('oauth2_authorization_grants')) await this.renewGrant();
  }

  /** Notes that a request may have ended the grant. `prepare` replaces it for the next request that contains it. */
  markGrantUsed(): void {
    this.#isGrantUsed = true;
  }

  /** Does what `readyToSend` does, with a grant that still waits for consent. */
  async prepare(request: HostileRequest): Promise<HostileRequest> {
    const { target, headers, body } = request;
    const texts = [target, ...headers.map(([, value]) => value), ...(typeof body === 'string' ? [body] : [])];
    if (this.#isGrantUsed && texts.some((text) => text.includes(PLACEHOLDERS.grantId))) await this.renewGrant();
    return this.readyToSend(request);
  }

  /** Fills in the placeholders, and adds a new client address if the request has none. */
  readyToSend(request: HostileRequest): HostileRequest {
    const headers = request.headers.map(([name, value]): [string, string] => [name, this.#filledIn(value)]);
    const isAddressed = headers.some(([name]) => name === 'X-Forwarded-For');
    if (!isAddressed) headers.push(['X-Forwarded-For', this.#attacked.newAddress()]);
    const { body } = request;
    return {
      ...request,
      path: this.#filledIn(request.path),
      target: this.#filledIn(request.target),
      headers,
      ...(typeof body === 'string' ? { body: this.#filledIn(body) } : {}),
    };
  }

  #filledIn(text: string): string {
    return text
      .replaceAll(PLACEHOLDERS.cookies, cookieHeader(this.browser))
      .replaceAll(PLACEHOLDERS.csrf, this.#csrf)
      .replaceAll(PLACEHOLDERS.grantId, this.#grantId);
  }
}

export function cookieHeader({ cookies }: Browser): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}
