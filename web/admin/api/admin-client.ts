import type { AdminConfig } from '../config.ts';
import { AccessToken, type Refusal } from './access-token.ts';

/** Why a request has no result. */
export type Problem =
  | { readonly kind: 'network' }
  /** The area has no access; the frame explains why. */
  | { readonly kind: 'no-access' }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly status: number;
      readonly detail: string | undefined;
      /** Identifies the request in the log. */
      readonly requestId: string | undefined;
    };

export type Answer<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly problem: Problem };

export type Parameters = Readonly<Record<string, string | undefined>>;

interface ErrorDocument {
  readonly errors?: readonly { readonly code?: string; readonly title?: string; readonly id?: string }[];
}

/** Calls the admin API. Gets its access tokens itself. */
export class AdminClient {
  readonly #api: string;
  readonly #token: AccessToken;
  readonly #onNoAccess: (refusal: Refusal) => void;

  /** @param onNoAccess called if the user may not, or not without signing in again, use the area */
  constructor(config: AdminConfig, onNoAccess: (refusal: Refusal) => void) {
    this.#api = `${config.base}api/admin/v1/`;
    this.#token = new AccessToken(config);
    this.#onNoAccess = onNoAccess;
  }

  /** @param path below the API, with its query */
  async get<Data>(path: string, signal?: AbortSignal): Promise<Answer<Data>> {
    return await this.#send<Data>(path, { method: 'GET', ...(signal !== undefined && { signal }) });
  }

  async post<Data>(path: string, body: object = {}): Promise<Answer<Data>> {
    const headers = { 'content-type': 'application/json' };
    return await this.#send<Data>(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #send<Data>(path: string, init: RequestInit, isRepeated = false): Promise<Answer<Data>> {
    const access = await this.#token.get();
    if (!access.ok) return this.#withoutAccess(access.refusal);
    const headers = { accept: 'application/json', ...init.headers, authorization: `Bearer ${access.token}` };
    let response: Response;
    try {
      response = await fetch(this.#api + path, { ...init, headers, credentials: 'omit', cache: 'no-store' });
    } catch {
      return { ok: false, problem: { kind: 'network' } };
    }
    if (response.status === 401) {
      // The session or the token has ended. The request was not carried out, so it can be sent once more.
      this.#token.drop(access.token);
      if (!isRepeated) return await this.#send<Data>(path, init, true);
      return this.#withoutAccess({ kind: 'sign-in' });
    }
    if (response.ok) {
      try {
        return { ok: true, data: await response.json() };
      } catch {
        // The connection was lost, or the user has left the page, before the whole body arrived.
        return { ok: false, problem: { kind: 'network' } };
      }
    }
    const problem = await problemOf(response);
    return problem.code === 'insufficient_scope' ? this.#withoutAccess({ kind: 'no-right' }) : { ok: false, problem };
  }

  #withoutAccess(refusal: Refusal): { readonly ok: false; readonly problem: Problem } {
    if (refusal.kind === 'network') return { ok: false, problem: { kind: 'network' } };
    this.#onNoAccess(refusal);
    return { ok: false, problem: { kind: 'no-access' } };
  }
}

async function problemOf(response: Response): Promise<Extract<Problem, { readonly kind: 'refused' }>> {
  const [error] = (await documentOf(response)).errors ?? [];
  return {
    kind: 'refused',
    code: error?.code ?? '',
    status: response.status,
    detail: error?.title,
    requestId: error?.id,
  };
}

async function documentOf(response: Response): Promise<ErrorDocument> {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

/** Returns a path with a query; parameters without a value are omitted. */
export function withParameters(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
