/** An admin API client. It checks every response against the API description. */
import { expect } from 'vitest';
import type { Operation } from '#features/admin-api/definition/operation.ts';
import { adminCode } from '#features/admin-api/error-format.ts';
import { OPERATIONS } from '#features/admin-api/operations.ts';
import type { TestService } from './service.ts';

export interface AdminResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if the response has no body. */
  readonly body: AdminBody;
}

interface AdminRecord {
  readonly type: string;
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: { readonly self: string };
  /** In lists. */
  readonly meta?: { readonly page: { readonly cursor: string } };
}

/** Members of all response documents. */
export interface AdminBody {
  readonly data?: AdminRecord & readonly AdminRecord[];
  readonly meta?: { readonly count: number; readonly client_secret?: string };
  readonly links?: Readonly<Record<string, string>>;
  readonly errors?: readonly {
    readonly title: string;
    readonly status: string;
    readonly code: string;
    readonly detail?: string;
    readonly source?: unknown;
    readonly id: string;
  }[];
}

const BASE = '/api/admin/v1';

export class AdminClient {
  readonly #service: Pick<TestService, 'address'>;
  readonly token: string;

  constructor(service: Pick<TestService, 'address'>, token: string) {
    this.#service = service;
    this.token = token;
  }

  async get(path: string): Promise<AdminResponse> {
    return await this.send('GET', path);
  }

  async post(path: string, body?: unknown): Promise<AdminResponse> {
    return await this.send('POST', path, body);
  }

  async delete(path: string): Promise<AdminResponse> {
    return await this.send('DELETE', path);
  }

  /** Sends a request for a file, whose response is not read. @param path relative to the API */
  async download(path: string, init: { accept: string; method?: string; signal?: AbortSignal }): Promise<Response> {
    const { accept, ...rest } = init;
    return await fetch(`${this.#service.address}${BASE}/${path}`, {
      ...rest,
      headers: { authorization: `Bearer ${this.token}`, accept },
    });
  }

  /** @param path relative to the API, or as it appears in a link */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AdminResponse> {
    const address = path.startsWith('/') ? path : `${BASE}/${path}`;
    const response = await fetch(this.#service.address + address, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isDocument = response.headers.get('content-type') === 'application/json';
    const result = { status: response.status, headers: response.headers, body: isDocument ? JSON.parse(text) : {} };
    expectDescribed(method, address, result);
    return result;
  }
}

function expectDescribed(method: string, address: string, { status, body }: AdminResponse): void {
  const operation = operationAt(method, address.replace(/\?.*/, ''));
  if (operation === undefined) return;
  const described = operation.answers.find((one) => one.status === status);
  if (described !== undefined) {
    described.schema?.parse(body);
    return;
  }
  const code = body.errors?.[0]?.code;
  const everywhere = ['missing_token', 'invalid_token', 'insufficient_scope', 'rate_limited', 'unsupported_media_type'];
  const ofBodies = ['invalid_request', 'body_too_large'];
  expect([...operation.errors.map(adminCode), ...everywhere, ...ofBodies], `${method} ${address}`).toContain(code);
}

function operationAt(method: string, path: string): Operation | undefined {
  return OPERATIONS.find((operation) => {
    const pattern = operation.path.replace(/:[a-z]+/g, '[^/]+');
    return operation.method === method && new RegExp(`^${BASE}/${pattern}$`).test(path);
  });
}
