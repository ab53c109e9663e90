/** A chat client that sends plain requests, without a library. */
import type { TestService } from './service.ts';

export interface ChatResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Empty unless the response is a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A signed-in client. */
export interface ChatLogin {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly deviceId: string;
}

export class ChatClient {
  readonly #service: Pick<TestService, 'address'>;
  readonly #prefix: string;

  constructor(service: Pick<TestService, 'address'>, prefix = '/_chat/client/v3') {
    this.#service = service;
    this.#prefix = prefix;
  }

  async request(path: string, init: RequestInit = {}): Promise<ChatResponse> {
    const response = await fetch(`${this.#service.address}${this.#prefix}${path}`, { redirect: 'manual', ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const body: unknown = isJson ? JSON.parse(text) : {};
    return {
      status: response.status,
      headers: response.headers,
      body: typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body)) : {},
      text,
    };
  }

  /** @param body sent as JSON. Undefined sends neither a body nor a content type */
  async post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ChatResponse> {
    if (body === undefined) return await this.request(path, { method: 'POST', headers });
    return await this.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Attempts a password login. `fields` override or extend the request body. */
  async tryLogin(
    user: string,
    password: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<ChatResponse> {
    const identifier = { type: 'm.id.user', user };
    return await this.post('/login', { type: 'm.login.password', identifier, password, ...fields });
  }

  async login(user: string, password: string, fields: Readonly<Record<string, unknown>> = {}): Promise<ChatLogin> {
    const response = await this.tryLogin(user, password, fields);
    if (response.status !== 200) throw new Error(`no login: ${response.status} ${response.text}`);
    const { refresh_token: refreshToken } = response.body;
    return {
      accessToken: textOf(response, 'access_token'),
      refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
      deviceId: textOf(response, 'device_id'),
    };
  }
}

/** Returns a string member of a response. */
export function textOf(response: ChatResponse, name: string): string {
  const value = response.body[name];
  if (typeof value !== 'string') throw new Error(`${name} is not a string in ${response.text}`);
  return value;
}
