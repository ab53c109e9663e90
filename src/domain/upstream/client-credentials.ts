/** Client authentication at a provider's token endpoint (RFC 6749 2.3.1, OpenID Connect Core 1.0 9). */
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { hashOfAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import type { ProviderMetadata } from '#protocol/oidc/provider-metadata.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface CredentialDeps {
  readonly signingKeys: Pick<SigningKeys, 'signJwt'>;
  readonly clock: Clock;
}

/** What a token request contains in addition to its grant. */
export interface SentCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 300;
const APPLE_AUDIENCE = 'https://appleid.apple.com';
const APPLE_SECONDS = 60;

/** @throws Error if no signing key has the algorithm that the provider requires */
export async function credentialsFor(
  deps: CredentialDeps,
  provider: UpstreamProvider,
  metadata: ProviderMetadata,
): Promise<SentCredentials> {
  const { clientId, clientSecret, authMethod } = provider;
  const secret = clientSecret?.reveal() ?? '';
  switch (authMethod) {
    case 'none':
      return { headers: {}, fields: { client_id: clientId } };
    case 'client_secret_basic': {
      const pair = `${formEncoded(clientId)}:${formEncoded(secret)}`;
      return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, fields: {} };
    }
    case 'client_secret_post':
      return { headers: {}, fields: { client_id: clientId, client_secret: secret } };
    case 'client_secret_jwt':
    case 'private_key_jwt':
      return {
        headers: {},
        fields: {
          client_id: clientId,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await clientAssertion(deps, provider, metadata, secret),
        },
      };
    case 'sign_in_with_apple':
      return { headers: {}, fields: { client_id: clientId, client_secret: appleSecret(deps, provider) } };
  }
}

async function clientAssertion(
  { signingKeys, clock }: CredentialDeps,
  { clientId, authMethod, authSigningAlg }: UpstreamProvider,
  { tokenEndpoint }: ProviderMetadata,
  secret: string,
): Promise<string> {
  if (authSigningAlg === undefined) throw new Error('no signing algorithm is configured');
  const now = epochSeconds(clock.now());
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: tokenEndpoint,
    jti: randomBase64Url(),
    iat: now,
    exp: now + ASSERTION_SECONDS,
  };
  if (authMethod === 'private_key_jwt') return await signingKeys.signJwt(claims, { alg: authSigningAlg });
  const content = jwtContent({ alg: authSigningAlg, typ: 'JWT' }, claims);
  return `${content}.${createHmac(hashOfAlgorithm(authSigningAlg), secret).update(content).digest('base64url')}`;
}

/**
 * Apple expects a JWT instead of a secret. It is created per request, so that a leaked one is useless a minute later.
 */
function appleSecret({ clock }: CredentialDeps, { clientId, signInWithApple }: UpstreamProvider): string {
  if (signInWithApple === undefined) throw new Error('the key of Sign in with Apple is not configured');
  const { keyId, privateKey, teamId } = signInWithApple;
  const now = epochSeconds(clock.now());
  const content = jwtContent(
    { alg: 'ES256', kid: keyId, typ: 'JWT' },
    { iss: teamId, sub: clientId, aud: APPLE_AUDIENCE, iat: now, exp: now + APPLE_SECONDS },
  );
  const key = createPrivateKey(privateKey.reveal());
  // RFC 7518 3.4: the fixed-length format, not DER.
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function jwtContent(header: object, claims: object): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

/** RFC 6749 2.3.1 requires form encoding of both parts before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
