import { expect, test } from 'vitest';
import { readSigningKeys } from '#domain/signing-keys/read-signing-keys.ts';
import { newId } from '#platform/base/ids.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { warnOfMissingAlgorithms } from './start-checks.ts';

test('a start names the clients whose ID tokens no key can sign, and the algorithms that there are', () => {
  const log = new RecordingLog();
  const keys = readSigningKeys(testSigningKeys());
  const [served, unserved] = [newId<'client'>(1), newId<'client'>(2)];
  warnOfMissingAlgorithms([{ clientId: served, idTokenSignedResponseAlg: 'ES256' }], keys, log);
  expect(log.lines).toEqual([]);
  warnOfMissingAlgorithms(
    [
      { clientId: served, idTokenSignedResponseAlg: 'EdDSA' },
      { clientId: unserved, idTokenSignedResponseAlg: 'RS512' },
    ],
    keys,
    log,
  );
  expect(log.lines).toMatchObject([
    { level: 'warn', event: 'startup', fields: { clients: `${unserved}=RS512`, available: 'RS256 ES256 EdDSA' } },
  ]);
});
