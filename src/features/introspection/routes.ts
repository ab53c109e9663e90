/**
 * `POST /oauth2/introspect` (RFC 7662): the state of a token, for the homeserver with its shared secret and for
 * confidential clients. Every token that is not live gets the same response: `{"active": false}`.
 */

import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { jwtAccessTokenHash } from '#domain/oauth-sessions/access-token-hash.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { exactTokenKindLabel } from '#oauth-endpoint/count-results.ts';
import { readOAuthForm, required } from '#oauth-endpoint/oauth-form.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { sha256 } from '#platform/base/secret.ts';
import { acceptsMediaType } from '#platform/http/accept.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { Database } from '#platform/postgres/database.ts';
import { tokenOrigin } from '#protocol/oauth/chat-client-token.ts';
import { CREDENTIAL_PARAMETERS, parseBearer } from '#protocol/oauth/presented-credentials.ts';
import type { TokenSource } from '#protocol/oauth/token-format.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { introspectChatClient } from './compat-token.ts';
import { introspectOAuth } from './oauth-token.ts';
import { introspectPersonal } from './personal-token.ts';
import {
  type Caller,
  INACTIVE,
  type Introspection,
  type IntrospectionDeps,
  type IntrospectSource,
  type PresentedToken,
} from './token-source.ts';

interface RouteDeps extends IntrospectionDeps {
  readonly authentication: ClientAuthentication;
}

const SOURCES: Readonly<Record<TokenSource, IntrospectSource>> = {
  oauth: introspectOAuth,
  'chat-client': introspectChatClient,
  personal: introspectPersonal,
};

/** Includes client credentials, even for the homeserver, which has none. */
const SINGLE_NAMES = ['token', 'token_type_hint', ...CREDENTIAL_PARAMETERS];
const SIGNED_MEDIA_TYPE = 'application/token-introspection+jwt';

export function mount(core: Core): Route[] {
  const authentication = new ClientAuthentication(core, '/oauth2/introspect');
  const deps = { ...core, authentication, settings: tokenSettings(core.config) };
  return [
    {
      method: 'POST',
      path: '/oauth2/introspect',
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      priority: true,
      capacity: 'essential',
      handle: async (context) => {
        const form = await readOAuthForm(context, SINGLE_NAMES);
        try {
          return await respondToCaller(deps, context, form);
        } catch (error) {
          const isRefusal = error instanceof LatchkeyError && ERRORS[error.code].kind === 'refusal';
          metrics?.count('latchkey_oauth2_introspections_total', {
            kind: exactTokenKindLabel(form.get('token')),
            result: isRefusal ? 'refused' : 'error',
          });
          throw error;
        }
      },
    },
  ];
}

async function respondToCaller(deps: RouteDeps, context: RequestContext, form: FormParameters): Promise<HttpResponse> {
  const bearer = parseBearer(context.headers.authorization);
  if (bearer.kind === 'absent') return await respondToClient(deps, context, form);
  if (form.has('client_secret') || form.has('client_assertion')) {
    throw new LatchkeyError('invalid_request', { description: 'Use only one authentication method.' });
  }
  return await respondToHomeserver(deps, context, form, bearer.kind === 'token' ? bearer.token : bearer.text);
}

async function respondToHomeserver(
  deps: RouteDeps,
  context: RequestContext,
  form: FormParameters,
  secret: string,
): Promise<HttpResponse> {
  const expected = deps.config.homeserver.secret;
  if (expected === undefined || expected.isEmpty || !expected.matches(secret)) {
    deps.log.info('auth.refused', 'token introspection refused', { code: 'bad_homeserver_secret' });
    throw denied('The bearer token is not the homeserver secret.', 'Bearer error="invalid_token"');
  }
  context.setRequester({ kind: 'homeserver' });
  const caller = {
    client: undefined,
    maySee: () => true,
    maySeeAll: true,
    // The response contains the device ID.
    knowsDevices: context.headers['x-mas-supports-device-id'] === '1',
  };
  const outcome = await introspect(deps, deps.database, form, caller);
  // The homeserver has no client record that could change.
  const known = outcome === 'client-changed' ? INACTIVE : outcome;
  countIntrospection(form, known);
  return responseFor(known);
}

async function respondToClient(deps: RouteDeps, context: RequestContext, form: FormParameters): Promise<HttpResponse> {
  return await deps.authentication.act(context, form, async (client, database) => {
    if (client.authMethod === 'none') {
      throw denied('A public client cannot introspect tokens.', `Basic realm="${deps.config.http.issuer}"`);
    }
    const caller = {
      client,
      maySee: (owner: ClientId) => maySee(deps, client, owner),
      maySeeAll: maySee(deps, client, undefined),
      knowsDevices: false,
    };
    const outcome = await introspect(deps, database, form, caller);
    if (outcome === 'client-changed') return outcome;
    countIntrospection(form, outcome);
    const wantsSigned = acceptsMediaType(context.headers.accept, SIGNED_MEDIA_TYPE);
    // RFC 9701 8.1: a client that could be an attacker's gets no signed response that it could present to others.
    const maySign = client.isVouchedFor || outcome.owner === client.id;
    return wantsSigned && maySign ? await signedResponse(deps, client, outcome) : responseFor(outcome);
  });
}

function countIntrospection(form: FormParameters, { body }: Introspection): void {
  metrics?.count('latchkey_oauth2_introspections_total', {
    kind: exactTokenKindLabel(form.get('token')),
    result: body === INACTIVE.body ? 'inactive' : 'active',
  });
}

/** RFC 9701 5: the response as a JWT from this issuer for the caller. */
async function signedResponse(deps: IntrospectionDeps, client: Client, { body }: Introspection): Promise<HttpResponse> {
  const claims = {
    iss: deps.config.http.issuer,
    aud: client.identifier,
    iat: epochSeconds(deps.clock.now()),
    token_introspection: body,
  };
  const alg = client.introspectionSignedResponseAlg;
  const jwt = await deps.signingKeys.signJwt(claims, { alg, typ: 'token-introspection+jwt' });
  return { status: 200, headers: { 'content-type': SIGNED_MEDIA_TYPE, pragma: 'no-cache' }, body: jwt };
}

/** @param owner undefined for a chat client, which has no record */
function maySee(deps: IntrospectionDeps, client: Client, owner: ClientId | undefined): boolean {
  if (owner === client.id) return true;
  switch (deps.config.oauth.introspectionCallers) {
    case 'confidential':
      return true;
    case 'static':
      return client.isVouchedFor;
    case 'own':
      return false;
  }
}

async function introspect(
  deps: IntrospectionDeps,
  database: Database,
  form: FormParameters,
  caller: Caller,
): Promise<Introspection | 'client-changed'> {
  const presented = readToken(deps, required(form, 'token'), form.get('token_type_hint'));
  return presented === undefined ? INACTIVE : await SOURCES[presented.source](deps, database, presented, caller);
}

/** Returns undefined if the text is not a token, or if a known hint names another kind. Neither case needs a query. */
function readToken(deps: IntrospectionDeps, token: string, hint: string | undefined): PresentedToken | undefined {
  const origin = tokenOrigin(token);
  if (origin === undefined) {
    const tokenHash = hint === 'refresh_token' ? undefined : jwtAccessTokenHash(deps, token);
    return tokenHash && { source: 'oauth', kind: 'access-token', tokenHash, isJwt: true };
  }
  const { source, kind } = origin;
  if (hint === (kind === 'access-token' ? 'refresh_token' : 'access_token')) return undefined;
  return { source, kind, tokenHash: sha256(token), isJwt: false };
}

function responseFor({ body }: Introspection): HttpResponse {
  return json(200, body, { pragma: 'no-cache' });
}

/** 401: the challenge says how to authenticate. */
function denied(description: string, challenge: string): LatchkeyError {
  return new LatchkeyError('access_denied', { description, headers: { 'www-authenticate': challenge } });
}
