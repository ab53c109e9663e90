/**
 * Handles a code from a provider: the token request, the validation of the ID token, and userinfo. This module does not
 * write to the database. Nothing that a provider sends is displayed, and only its errors are logged.
 */

import type { PublishedKeys } from '#domain/keys/published-keys.ts';
import { foreignText } from '#platform/base/foreign-text.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { isObject } from '#platform/base/objects.ts';
import { parseJson } from '#platform/http/json-body.ts';
import { CALL_TOTAL_MS, type OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { CompactJws } from '#protocol/jose/compact-jws.ts';
import { idTokenProblem, issuedForUsProblem } from '#protocol/oidc/id-token-checks.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import { type CredentialDeps, credentialsFor } from './client-credentials.ts';
import type { ProviderErrorCode } from './provider-errors.ts';
import type { ProviderStates } from './provider-states.ts';
import type { AuthorizationSecrets } from './sealed-columns.ts';
import { asksForIdToken, type UpstreamProvider } from './upstream-providers.ts';
import { verifySignature } from './verify-signature.ts';

export interface AskDeps extends CredentialDeps {
  readonly activity: { readonly providers: Pick<ProviderStates, 'failed'> };
  readonly outbound: Pick<OutboundHttp, 'call'>;
  readonly upstream: { readonly keys: PublishedKeys };
  readonly log: Log;
}

export interface Question {
  readonly provider: UpstreamProvider;
  readonly metadata: ProviderMetadata;
  readonly redirectUri: string;
  readonly code: string;
  readonly secrets: AuthorizationSecrets;
}

type Claims = Readonly<Record<string, unknown>>;

export interface ProvidedClaims {
  readonly idTokenClaims: Claims;
  readonly userinfoClaims: Claims;
}

/** Limit for tokens and userinfo. Users in thousands of groups exist. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';
/** Reasons for requests that were not sent, which say nothing about the provider. */
const OWN_LIMITS: ReadonlySet<string> = new Set(['busy', 'resting']);

/** Returns the claims. Returns undefined and logs the reason if the provider's response is invalid. */
export async function requestClaims(deps: AskDeps, question: Question): Promise<ProvidedClaims | undefined> {
  // One time limit for both requests, because a user is waiting.
  const until = performance.now() + CALL_TOTAL_MS;
  try {
    const tokens = await requestTokens(deps, question, until);
    const idTokenClaims = await checkIdToken(deps, question, tokens);
    const userinfoClaims = await fetchUserinfo(deps, question, { tokens, idTokenClaims, until });
    return { idTokenClaims, userinfoClaims };
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    deps.log.warn('upstream.failed', 'unexpected response from a sign-in provider', {
      provider: question.provider.id,
      problem: error.message,
    });
    if (error.code !== undefined) deps.activity.providers.failed(question.provider.id, error.code, deps.clock.now());
    return undefined;
  }
}

/** Describes a problem for the log. Contains only error texts of the provider's response. */
class Unusable extends Error {
  /** What administrators see. Undefined for what every visitor can cause, for example with a made-up code. */
  readonly code: ProviderErrorCode | undefined;

  constructor(problem: string, code?: ProviderErrorCode) {
    super(problem);
    this.code = code;
  }
}

interface Tokens {
  readonly accessToken: string | undefined;
  readonly idToken: string | undefined;
}

/** RFC 6749 4.1.3. */
async function requestTokens(deps: AskDeps, question: Question, until: number): Promise<Tokens> {
  const { provider, metadata, redirectUri, code, secrets } = question;
  const { headers, fields } = await sentCredentials(deps, provider, metadata);
  const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...fields });
  if (secrets.verifier !== undefined) form.set('code_verifier', secrets.verifier);
  const response = await deps.outbound.call(metadata.tokenEndpoint, {
    ...boundsOf(provider, until),
    method: 'POST',
    // GitHub responds with a form unless the request asks for JSON.
    headers: { accept: 'application/json', 'content-type': FORM, ...headers },
    body: form.toString(),
  });
  if (!response.ok) {
    throw new Unusable(
      `token endpoint: no response: ${response.reason}`,
      OWN_LIMITS.has(response.reason) ? undefined : 'token_unavailable',
    );
  }
  const body = objectOf(response.body);
  if (response.status !== 200 || body?.['error'] !== undefined) {
    throw new Unusable(`token endpoint: status ${response.status}${errorOf(body)}`, refusalCode(response.status, body));
  }
  if (body === undefined) throw new Unusable('token endpoint: the response is not a JSON object', 'token_invalid');
  const { access_token: accessToken, id_token: idToken } = body;
  if (accessToken !== undefined && !isToken(accessToken))
    throw new Unusable('token endpoint: invalid access_token', 'token_invalid');
  if (idToken !== undefined && !isToken(idToken))
    throw new Unusable('token endpoint: invalid id_token', 'token_invalid');
  return { accessToken, idToken };
}

/** @param until deadline on the `performance.now` clock */
function boundsOf({ id }: UpstreamProvider, until: number) {
  const totalMs = Math.max(1, Math.ceil(until - performance.now()));
  return { server: `upstream:${id}`, totalMs, maxBodyBytes: MAX_RESPONSE_BYTES, hasBreaker: true } as const;
}

async function sentCredentials(deps: AskDeps, provider: UpstreamProvider, metadata: ProviderMetadata) {
  try {
    return await credentialsFor(deps, provider, metadata);
  } catch (error) {
    throw new Unusable(`client authentication: ${describeError(error).message}`, 'client_rejected');
  }
}

async function checkIdToken(deps: AskDeps, question: Question, tokens: Tokens): Promise<Claims> {
  const { provider, metadata, secrets, code } = question;
  // An ID token that was not requested has no nonce, so it proves nothing.
  if (!asksForIdToken(provider)) return {};
  if (tokens.idToken === undefined) throw new Unusable('token endpoint: no id_token', 'token_invalid');
  const jws = await verifiedJws(
    deps,
    provider,
    metadata,
    { text: tokens.idToken, algorithm: provider.idTokenAlg },
    'ID token',
  );
  const problem = idTokenProblem(jws.claims, {
    issuer: metadata.issuer,
    clientId: provider.clientId,
    nonce: secrets.nonce,
    isNonceOptional: provider.isNonceOptional,
    algorithm: jws.algorithm,
    accessToken: tokens.accessToken,
    code,
    now: deps.clock.now(),
  });
  if (problem !== undefined) {
    throw new Unusable(`ID token: ${problem}`, problem.includes('nonce') ? undefined : 'id_token_invalid');
  }
  if (!isSubject(jws.claims['sub'])) throw new Unusable('ID token: invalid sub', 'id_token_invalid');
  return jws.claims;
}

/** OpenID Connect Core 1.0 5.3. */
async function fetchUserinfo(
  deps: AskDeps,
  question: Question,
  known: { readonly tokens: Tokens; readonly idTokenClaims: Claims; readonly until: number },
): Promise<Claims> {
  const { provider, metadata } = question;
  const { tokens, idTokenClaims, until } = known;
  const { accessToken } = tokens;
  if (!provider.fetchesUserinfo) return {};
  if (metadata.userinfoEndpoint === undefined)
    throw new Unusable('userinfo: no endpoint in the provider metadata', 'userinfo_failed');
  if (accessToken === undefined) throw new Unusable('token endpoint: no access_token', 'token_invalid');
  const response = await deps.outbound.call(metadata.userinfoEndpoint, {
    ...boundsOf(provider, until),
    method: 'GET',
    headers: {
      accept: provider.userinfoAlg === undefined ? 'application/json' : 'application/jwt',
      authorization: `Bearer ${accessToken}`,
      // GitHub rejects requests without a user agent.
      'user-agent': 'Latchkey',
    },
  });
  if (!response.ok) {
    throw new Unusable(
      `userinfo: no response: ${response.reason}`,
      OWN_LIMITS.has(response.reason) ? undefined : 'userinfo_failed',
    );
  }
  if (response.status !== 200) throw new Unusable(`userinfo: status ${response.status}`, 'userinfo_failed');
  const claims =
    provider.userinfoAlg === undefined
      ? objectOf(response.body)
      : await signedUserinfo(deps, question, provider.userinfoAlg, response.body.toString('latin1'));
  if (claims === undefined) throw new Unusable('userinfo: the response is not a JSON object', 'userinfo_failed');
  // 5.3.2: a substituted access token would return the claims of another user.
  const { sub } = idTokenClaims;
  if (sub !== undefined && claims['sub'] === undefined) throw new Unusable('userinfo: no sub', 'userinfo_failed');
  if (sub !== undefined && claims['sub'] !== sub)
    throw new Unusable('userinfo: sub differs from the ID token', 'userinfo_failed');
  return claims;
}

async function signedUserinfo(
  deps: AskDeps,
  { provider, metadata }: Question,
  algorithm: string,
  text: string,
): Promise<Claims> {
  const { claims } = await verifiedJws(deps, provider, metadata, { text: text.trim(), algorithm }, 'userinfo');
  const { issuer } = metadata;
  // The `iat` claim is optional here.
  const timed = { iat: deps.clock.now() / 1000, ...claims };
  const problem = issuedForUsProblem(timed, { issuer, clientId: provider.clientId, now: deps.clock.now() });
  if (problem !== undefined) throw new Unusable(`userinfo: ${problem}`, 'userinfo_failed');
  return claims;
}

async function verifiedJws(
  deps: Pick<AskDeps, 'upstream'>,
  provider: UpstreamProvider,
  metadata: ProviderMetadata,
  signed: { readonly text: string; readonly algorithm: string },
  kind: string,
): Promise<CompactJws> {
  const verified = await verifySignature(deps, provider, metadata, { ...signed, maxCharacters: MAX_RESPONSE_BYTES });
  if (!verified.ok) {
    const code = kind === 'userinfo' ? 'userinfo_failed' : 'id_token_invalid';
    throw new Unusable(`${kind}: ${verified.problem}`, verified.areKeysUnavailable ? 'keys_unreachable' : code);
  }
  return verified.jws;
}

/** The provider rejects this service, or has a problem. Other errors may be due to the code of the visitor. */
function refusalCode(status: number, body: Claims | undefined): ProviderErrorCode | undefined {
  const error = body?.['error'];
  if (status === 401 || error === 'invalid_client' || error === 'unauthorized_client') return 'client_rejected';
  return status >= 500 ? 'token_unavailable' : undefined;
}

const MAX_SUBJECT_CHARACTERS = 255;

/** OpenID Connect Core 1.0 2. */
function isSubject(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT_CHARACTERS;
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_RESPONSE_BYTES && /^[\x21-\x7e]+$/.test(value);
}

/** Returns the provider's error (RFC 6749 5.2). Microsoft Entra names the setting only in `error_description`. */
function errorOf(body: Claims | undefined): string {
  const texts = [body?.['error'], body?.['error_description']].flatMap((text) =>
    typeof text === 'string' && text !== '' ? [foreignText(text)] : [],
  );
  return texts.length === 0 ? '' : `, ${texts.join(': ')}`;
}

function objectOf(body: Buffer): Claims | undefined {
  try {
    const value = parseJson(body);
    return isObject(value) ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
