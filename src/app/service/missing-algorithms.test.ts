import { expect, test } from 'vitest';
import { readSigningKeys } from '#domain/keys/read-signing-keys.ts';
import { newId } from '#platform/base/ids.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { warnOfMissingAlgorithms, warnOfUnsignableTokens } from './start-checks.ts';

const RSA = {
  authorizationSignedResponseAlg: 'RS256',
  idTokenSignedResponseAlg: 'RS256',
  introspectionSignedResponseAlg: 'RS256',
} as const;
const UNSIGNED = { userinfoSignedResponseAlg: undefined };

test('a start lists the clients whose responses no key can sign, and the available algorithms', () => {
  const log = new RecordingLog();
  const keys = readSigningKeys(testSigningKeys());
  const [served, unserved, other] = [newId<'client'>(1), newId<'client'>(2), newId<'client'>(3)];
  const fine = {
    ...RSA,
    clientId: served,
    idTokenSignedResponseAlg: 'ES256',
    userinfoSignedResponseAlg: 'EdDSA',
  } as const;
  warnOfMissingAlgorithms([fine, { ...RSA, ...UNSIGNED, clientId: unserved }], keys, log);
  expect(log.lines).toEqual([]);
  warnOfMissingAlgorithms(
    [
      fine,
      { ...RSA, ...UNSIGNED, clientId: unserved, idTokenSignedResponseAlg: 'RS512' },
      { ...RSA, clientId: other, introspectionSignedResponseAlg: 'ES384', userinfoSignedResponseAlg: 'PS256' },
    ],
    keys,
    log,
  );
  const missing = [`${unserved}:id_token=RS512`, `${other}:userinfo=PS256`, `${other}:introspection=ES384`];
  expect(log.lines).toMatchObject([
    { level: 'warn', event: 'startup', fields: { clients: missing.join(' '), available: 'RS256 ES256 EdDSA' } },
  ]);
});

test('a start lists the resource servers whose access tokens no key can sign', () => {
  const log = new RecordingLog();
  const keys = readSigningKeys(testSigningKeys());
  const resource = { scopes: [], resourceTokenTtlSeconds: undefined };
  const [opaque, signed] = [
    { ...resource, identifier: 'https://opaque.example', tokenAlgorithm: undefined },
    { ...resource, identifier: 'https://signed.example', tokenAlgorithm: 'ES256' } as const,
  ];
  warnOfUnsignableTokens([opaque, signed], keys, log);
  expect(log.lines).toEqual([]);
  warnOfUnsignableTokens([opaque, { ...signed, tokenAlgorithm: 'PS384' }], keys, log);
  expect(log.lines).toMatchObject([
    { level: 'warn', event: 'startup', fields: { resources: 'https://signed.example=PS384' } },
  ]);
});
