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
      /** The member of the body that was rejected (RFC 6901), for example `/username`. */
      readonly pointer: string | undefined;
      /** Identifies the request in the log. */
      readonly requestId: string | undefined;
    };

export type TestResponse<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly problem: Problem };

export interface Versioned<Data> {
  readonly document: Data;
  /** Its `ETag`. */
  readonly version: string | undefined;
}

export type Parameters = Readonly<Record<string, string | undefined>>;

interface ErrorDocument {
  readonly errors?: readonly {
    readonly code?: string;
    readonly title?: string;
    readonly id?: string;
    readonly source?: { readonly pointer?: string };
  }[];
}

/** What else a change says. */
interface ChangeOptions {
  /** The change is rejected if the record has another version (RFC 9110 13.1.1). */
  readonly ifMatch?: string | undefined;
  /** The change is rejected if a record exists already (RFC 9110 13.1.2). */
  readonly isFirst?: boolean;
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
  async get<Data>(path: string, signal?: AbortSignal): Promise<TestResponse<Data>> {
    return await this.#send(path, { method: 'GET', ...(signal !== undefined && { signal }) }, (of) => of.json());
  }

  /** Reads a record with its version, which a change can name. */
  async getVersion<Data>(path: string, signal?: AbortSignal): Promise<TestResponse<Versioned<Data>>> {
    return await this.#send(path, { method: 'GET', ...(signal !== undefined && { signal }) }, versioned<Data>);
  }

  /** Reads a file instead of a document. */
  async file(method: 'GET' | 'POST', path: string, accept: string): Promise<TestResponse<Blob>> {
    return await this.#send(path, { method, headers: { accept } }, (of) => of.blob());
  }

  /** Writes a file while it arrives. Nothing is written if it does not arrive completely. */
  async getToDisk(path: string, accept: string, target: WritableStream<Uint8Array>): Promise<TestResponse<undefined>> {
    const response = await this.#send(path, { method: 'GET', headers: { accept } }, async ({ body }) => {
      await body?.pipeTo(target);
      return undefined;
    });
    // After a failure of the request itself, the target is still open.
    if (!response.ok && !target.locked) await target.abort().catch(() => undefined);
    return response;
  }

  async post<Data>(path: string, body: object = {}, options: ChangeOptions = {}): Promise<TestResponse<Data>> {
    return await this.#change('POST', path, body, options);
  }

  async put<Data>(path: string, body: object = {}): Promise<TestResponse<Data>> {
    return await this.#change('PUT', path, body);
  }

  async patch<Data>(path: string, body: object, options: ChangeOptions = {}): Promise<TestResponse<Data>> {
    return await this.#change('PATCH', path, body, options);
  }

  async delete(path: string): Promise<TestResponse<undefined>> {
    return await this.#change('DELETE', path, undefined);
  }

  async #change<Data>(
    method: string,
    path: string,
    body: object | undefined,
    { ifMatch, isFirst = false }: ChangeOptions = {},
  ): Promise<TestResponse<Data>> {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(isFirst && { 'if-none-match': '*' }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return await this.#send(path, init, (of) => (of.status === 204 ? undefined : of.json()));
  }

  /** @param read reads the body of a success response */
  async #send<Data>(
    path: string,
    init: RequestInit,
    read: (response: Response) => Promise<Data> | Data,
    isRepeated = false,
  ): Promise<TestResponse<Data>> {
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
      if (!isRepeated) return await this.#send(path, init, read, true);
      return this.#withoutAccess({ kind: 'sign-in' });
    }
    if (response.ok) {
      try {
        return { ok: true, data: await read(response) };
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

async function versioned<Data>(response: Response): Promise<Versioned<Data>> {
  return { document: await response.json(), version: response.headers.get('etag') ?? undefined };
}

async function problemOf(response: Response): Promise<Extract<Problem, { readonly kind: 'refused' }>> {
  const [error] = (await documentOf(response)).errors ?? [];
  return {
    kind: 'refused',
    code: error?.code ?? '',
    status: response.status,
    detail: error?.title,
    pointer: error?.source?.pointer,
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
