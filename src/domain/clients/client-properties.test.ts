import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseClient } from '#config/sections/clients.ts';
import { newId } from '#platform/base/ids.ts';
import { metadataOf, propertiesOf } from './client-properties.ts';

const uri = fc.constantFrom('https://a.example/cb', 'https://b.example/', 'com.example.app:/cb');
const properties = fc.record(
  {
    client_auth_method: fc.constantFrom('none', 'client_secret_basic', 'client_secret_post', 'client_secret_jwt'),
    redirect_uris: fc.array(uri, { maxLength: 3 }),
    post_logout_redirect_uris: fc.array(uri, { maxLength: 2 }),
    backchannel_logout_uri: fc.constant('https://a.example/logout'),
    client_name: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' }),
    application_type: fc.constantFrom('web', 'native'),
    client_uri: fc.webUrl({ validSchemes: ['https'] }),
    grant_types: fc.constantFrom(['authorization_code'], ['authorization_code', 'refresh_token']),
    scope: fc.constantFrom('openid', 'openid email'),
    first_party: fc.boolean(),
    default_max_age: fc.nat(100_000),
    require_auth_time: fc.boolean(),
    id_token_claims: fc.boolean(),
    claims: fc.constant({ tenant: 'north' }),
    strict_auth_method: fc.boolean(),
    dpop_bound_access_tokens: fc.boolean(),
    default_acr_values: fc.constantFrom([], ['urn:a', 'urn:b']),
    id_token_signed_response_alg: fc.constantFrom('RS256', 'ES256'),
    userinfo_signed_response_alg: fc.constantFrom('RS256', 'PS256'),
  },
  { requiredKeys: ['client_auth_method', 'redirect_uris'] },
);

test('properties survive being stored and read: a change of one property changes no other', () => {
  fc.assert(
    fc.property(properties, (given) => {
      const usesSecret = given.client_auth_method !== 'none';
      const identity = { client_id: newId(0), ...(usesSecret && { client_secret: 'x'.repeat(64) }) };
      const parsed = parseClient({ ...identity, ...given }, 'https://login.example/');
      if (!parsed.ok) throw new Error(`${String(parsed.path)}: ${parsed.message}`);
      const metadata = metadataOf(parsed.client);
      const again = parseClient({ ...identity, ...propertiesOf(metadata) }, 'https://login.example/');
      if (!again.ok) throw new Error(`${String(again.path)}: ${again.message}`);
      expect(metadataOf(again.client)).toEqual(metadata);
    }),
  );
});
