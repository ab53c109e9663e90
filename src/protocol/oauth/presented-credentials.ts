/** Credentials of a request before any lookup: client credentials in the header or form, and bearer tokens. */
import { isUtf8 } from 'node:buffer';
import type { FormParameters } from '#platform/http/form-parameters.ts';

/**
 * The credentials that a client presented in a request (RFC 6749 2.3.1, RFC 7521 4.2). `candidates` are the possible
 * readings of a Basic header, to be tried in this order.
 */
export type PresentedCredentials =
  | {
      readonly method: 'client_secret_basic';
      readonly candidates: readonly IdAndSecret[];
      /** The form repeats the secret from the header. */
      readonly isInFormToo: boolean;
    }
  | { readonly method: 'client_secret_post'; readonly clientId: string; readonly secret: string }
  | { readonly method: 'none'; readonly clientId: string }
  | { readonly method: 'assertion'; readonly assertion: string; readonly clientId: string | undefined }
  | { readonly method: 'absent' }
  | { readonly method: 'ambiguous'; readonly description: string };

export interface IdAndSecret {
  readonly clientId: string;
  readonly secret: string;
}

const JWT_BEARER_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Form parameters that contain client credentials. */
export const CREDENTIAL_PARAMETERS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const BASIC = /^basic(?: +|$)/i;
/** Text that form decoding leaves unchanged. */
const UNENCODED = /^[^%+\0]*$/;

export function presentedCredentials(authorization: string | undefined, form: FormParameters): PresentedCredentials {
  const repeated = CREDENTIAL_PARAMETERS.find((name) => form.isRepeated(name));
  if (repeated !== undefined) return ambiguous(`${repeated} must not be given more than once`);
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  const hasAssertion = assertion !== undefined || form.has('client_assertion_type');

  if (authorization !== undefined) {
    if (!BASIC.test(authorization)) return { method: 'absent' };
    if (hasAssertion) return ambiguous('use only one method of client authentication');
    return basicCredentials(authorization, clientId, secret);
  }
  if (hasAssertion) {
    if (secret !== undefined) return ambiguous('use only one method of client authentication');
    if (form.get('client_assertion_type') !== JWT_BEARER_ASSERTION || assertion === undefined) {
      return ambiguous('client_assertion requires client_assertion_type jwt-bearer, and vice versa');
    }
    return { method: 'assertion', assertion, clientId };
  }
  if (clientId === undefined) {
    return secret === undefined ? { method: 'absent' } : ambiguous('client_secret was sent without client_id');
  }
  return secret === undefined ? { method: 'none', clientId } : { method: 'client_secret_post', clientId, secret };
}

function basicCredentials(
  authorization: string,
  bodyClientId: string | undefined,
  bodySecret: string | undefined,
): PresentedCredentials {
  const encoded = authorization.slice(BASIC.exec(authorization)?.[0].length).trimEnd();
  const text = BASE64.test(encoded) ? decodeUtf8(Buffer.from(encoded, 'base64')) : undefined;
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon === -1) return ambiguous('the Authorization header cannot be decoded');
  const raw = { clientId: text.slice(0, colon), secret: text.slice(colon + 1) };
  // RFC 6749 2.3.1 requires form encoding of both halves, which clients often omit.
  const decoded = { clientId: formDecode(raw.clientId), secret: formDecode(raw.secret) };
  const candidates: IdAndSecret[] = [];
  if (decoded.clientId !== undefined && decoded.secret !== undefined) {
    candidates.push({ clientId: decoded.clientId, secret: decoded.secret });
  }
  if (decoded.clientId !== raw.clientId || decoded.secret !== raw.secret) candidates.push(raw);
  const ofClient = candidates.filter(
    ({ clientId }) => bodyClientId === undefined || clientId.toUpperCase() === bodyClientId.toUpperCase(),
  );
  if (ofClient.length === 0) return ambiguous('client_id differs from the Authorization header');
  const fitting = ofClient.filter(({ secret }) => bodySecret === undefined || secret === bodySecret);
  if (fitting.length === 0) return ambiguous('client_secret differs from the Authorization header');
  return { method: 'client_secret_basic', candidates: fitting, isInFormToo: bodySecret !== undefined };
}

function ambiguous(description: string): PresentedCredentials {
  return { method: 'ambiguous', description };
}

function decodeUtf8(bytes: Buffer): string | undefined {
  const text = isUtf8(bytes) ? bytes.toString() : undefined;
  return text?.includes('\0') === true ? undefined : text;
}

function formDecode(text: string): string | undefined {
  if (UNENCODED.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** An `Authorization` header with the Bearer scheme (RFC 6750 2.1). */
export type BearerCredentials =
  | { readonly kind: 'token'; readonly token: string }
  /** The header is absent or has another scheme. */
  | { readonly kind: 'absent' }
  /** Not in token format, but possibly a shared secret. */
  | { readonly kind: 'malformed'; readonly text: string };

const BEARER = /^bearer(?:$| +)/i;
const DPOP = /^dpop(?:$| +)/i;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

export function parseBearer(authorization: string | undefined): BearerCredentials {
  return parseScheme(BEARER, authorization);
}

/** Does the same for the scheme of bound tokens (RFC 9449 7.1). */
export function parseDpop(authorization: string | undefined): BearerCredentials {
  return parseScheme(DPOP, authorization);
}

function parseScheme(pattern: RegExp, authorization: string | undefined): BearerCredentials {
  const scheme = authorization === undefined ? undefined : pattern.exec(authorization);
  if (authorization === undefined || scheme === undefined || scheme === null) return { kind: 'absent' };
  const text = authorization.slice(scheme[0].length);
  return TOKEN.test(text) ? { kind: 'token', token: text } : { kind: 'malformed', text };
}
