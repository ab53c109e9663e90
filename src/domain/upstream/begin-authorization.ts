import { createHash } from 'node:crypto';
import type { PresentedInvitation } from '#domain/accounts/registrations/invitation.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { CODE_CHALLENGE_METHOD } from '#protocol/oauth/pkce.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import type { UpstreamAuthorizationId } from '#vocabulary/ids.ts';
import { sealAuthorizationSecrets } from './sealed-columns.ts';
import { asksForIdToken, type UpstreamProvider } from './upstream-providers.ts';

export interface BeginDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

export interface Beginning {
  readonly provider: UpstreamProvider;
  readonly metadata: ProviderMetadata;
  readonly redirectUri: string;
  /** Parameters added by the operator. The request's own parameters take precedence. */
  readonly additional: readonly (readonly [name: string, value: string])[];
  /** Whether the user must reauthenticate. */
  readonly isReauthentication: boolean;
  /** What the user came with, for a new account. */
  readonly invitation: PresentedInvitation | undefined;
}

export interface BegunAuthorization {
  readonly id: UpstreamAuthorizationId;
  /** Stored only in the browser. */
  readonly state: string;
  /** URL where the user signs in. */
  readonly location: string;
}

/**
 * Stores an attempt to sign in through a provider and returns the URL of the authorization request (RFC 6749 4.1.1).
 * Undefined if `config sync` has disabled the provider since this process read its configuration.
 */
export async function beginAuthorization(
  { database, clock, keyRing }: BeginDeps,
  { provider, metadata, redirectUri, additional, isReauthentication, invitation }: Beginning,
): Promise<BegunAuthorization | undefined> {
  const now = clock.now();
  const id = newId<'upstream-authorization'>(now);
  const state = randomBase64Url();
  const nonce = asksForIdToken(provider) ? randomBase64Url() : undefined;
  const { pkceMethod } = provider;
  const hasPkce = pkceMethod === 'always' || (pkceMethod === 'auto' && metadata.hasPkce);
  const verifier = hasPkce ? randomBase64Url() : undefined;
  const stored = await database.execute(insertAuthorization, {
    id: toUuid(id),
    providerId: toUuid(provider.id),
    stateHash: sha256(state),
    secrets: sealAuthorizationSecrets(keyRing, id, {
      nonce,
      verifier,
      isReauthentication,
      registrationToken: invitation?.token,
      invitationProof: invitation?.proof,
    }),
    now: new Date(now),
  });
  if (stored === 0) return undefined;
  const location = new URL(metadata.authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    state,
    nonce,
    code_challenge: verifier === undefined ? undefined : createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: verifier === undefined ? undefined : CODE_CHALLENGE_METHOD,
    response_mode: provider.responseMode,
    ...(isReauthentication && { prompt: 'login', max_age: '0' }),
  };
  for (const [name, value] of [...additional, ...Object.entries(parameters)]) {
    if (value !== undefined) location.searchParams.set(name, value);
  }
  return { id, state, location: location.href };
}

const insertAuthorization = statement<
  never,
  {
    readonly id: string;
    readonly providerId: string;
    readonly stateHash: Buffer;
    readonly secrets: Buffer;
    readonly now: Date;
  }
>(
  'insert-upstream-authorization',
  `insert into upstream_authorizations (id, provider_id, state_hash, secrets_sealed, created_at)
   select :id::uuid, p.id, :stateHash::bytea, :secrets::bytea, :now::timestamptz
     from upstream_providers p where p.id = :providerId::uuid and ${providerIsEnabled('p')}`,
);
