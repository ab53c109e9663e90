/** Lifetimes and bindings of sealed values and remembered proofs, see the list in `sealed-values.ts`. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLogoutRequest, sealLogoutRequest } from '#browser/logout-request.ts';
import { Notices } from '#browser/notices.tsx';
import { isReauthRequest, sealReauthRequest } from '#browser/upstream-reauth.ts';
import {
  issueRegistrationToken,
  openRegistrationToken,
} from '#domain/accounts/registrations/issue-registration-token.ts';
import { type DeviceCodeGrantRow, sealUserCode, toDeviceCodeGrant } from '#domain/authorizations/device-code-grant.ts';
import { openSecret, sealFormerSecret, sealSecret } from '#domain/clients/client.ts';
import { openSecretKeys } from '#domain/keys/secret-keys.ts';
import { newSealedSetup, openSetup } from '#domain/second-factors/factor-setup.ts';
import {
  openAuthorizationSecrets,
  openResponse,
  sealAuthorizationSecrets,
  sealResponse,
} from '#domain/upstream/sealed-columns.ts';
import { opensBindTicket, sealBindTicket } from '#features/authorization/browser-binding.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { Cookies } from '#platform/http/cookies.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { DeviceCodeGrantId } from '#vocabulary/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { TEST_KEYS } from '../support/route-server.ts';
import { silentLog } from '../support/silent-log.ts';
import { PROTECTIONS, readSource } from './protections/index.ts';
import { SEALED_VALUES } from './sealed-values.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const NOW = Date.UTC(2026, 5, 1, 12);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

describe('the list of sealed values and remembered proofs', () => {
  const source = readSource(ROOT);

  test('names every place in the source that seals or remembers a value', () => {
    const sealing = [...source].flatMap(([file, text]) => {
      if (/\/(?:sealing|replayed-values)\.ts$/.test(file)) return [];
      const sealed = text.split(/(?:keys|keyRing|KeyRing)\.seal\(/).length - 1;
      const remembered = text.split(/kind: '(?:dpop-proof|client-assertion|upstream-logout|totp-code)'/).length - 1;
      return new Array<string>(sealed + remembered).fill(file);
    });
    expect(sealing.toSorted()).toEqual(SEALED_VALUES.map(({ file }) => file).toSorted());
    const callers = [...source].filter(([, text]) =>
      /\b(?:consumeOnce|onceFor)\(\s*(?:database|transaction|this)/.test(text),
    );
    const known = new Set(['src/domain/limits/replayed-values.ts', ...SEALED_VALUES.map(({ file }) => file)]);
    expect(callers.map(([file]) => file).filter((file) => !known.has(file))).toEqual([]);
  });

  test('has each label, and only names existing protections', () => {
    const names = new Set(PROTECTIONS.map(({ name }) => name));
    for (const { file, label, protections } of SEALED_VALUES) {
      expect(source.get(file), file).toContain(label);
      expect(protections.filter((name) => !names.has(name))).toEqual([]);
    }
  });
});

describe('a reauthentication request sent to a provider', () => {
  const session = newId<'browser-session'>(NOW);
  const sealed = sealReauthRequest(TEST_KEYS, session, NOW);

  test('is valid for an hour', () => {
    expect(isReauthRequest(TEST_KEYS, sealed, session, NOW + HOUR - 1)).toBe(true);
    expect(isReauthRequest(TEST_KEYS, sealed, session, NOW + HOUR)).toBe(false);
  });

  test('is invalid in another session, or without one', () => {
    expect(isReauthRequest(TEST_KEYS, sealed, newId<'browser-session'>(NOW), NOW)).toBe(false);
    expect(isReauthRequest(TEST_KEYS, sealed, undefined, NOW)).toBe(false);
  });
});

test('a notice is shown for a minute', () => {
  const clock = new FakeClock();
  const notices = new Notices({ keyRing: TEST_KEYS, clock });
  const [name, value] = notices.field('login_expired');
  const query = FormParameters.of({ [name]: value });
  clock.advanceSeconds(59.9);
  expect(notices.read({ query })).toBe('login_expired');
  clock.advanceSeconds(0.1);
  expect(notices.read({ query })).toBeUndefined();
});

test('a sign-out request sealed for a URL is invalid in a form, and vice versa', () => {
  const request = { clientId: undefined, redirectUri: undefined, state: 'st', oauthSessionId: undefined };
  for (const [use, other] of [
    ['posted', 'confirmation'],
    ['confirmation', 'posted'],
  ] as const) {
    const sealed = sealLogoutRequest(TEST_KEYS, use, request, NOW);
    expect(openLogoutRequest(TEST_KEYS, use, sealed)).toEqual({ request, sealedAt: NOW });
    expect(openLogoutRequest(TEST_KEYS, other, sealed)).toBeUndefined();
  }
});

test('the ticket of a posted request is valid for a minute and for that request only', () => {
  const id = newId<'authorization-grant'>(NOW);
  const ticket = sealBindTicket(TEST_KEYS, id, NOW);
  expect(opensBindTicket(TEST_KEYS, id, ticket, NOW + 60 * SECOND - 1)).toBe(true);
  expect(opensBindTicket(TEST_KEYS, id, ticket, NOW + 60 * SECOND)).toBe(false);
  expect(opensBindTicket(TEST_KEYS, newId<'authorization-grant'>(NOW), ticket, NOW)).toBe(false);
});

test('a sealed cookie is invalid under another name', () => {
  const cookies = new Cookies({
    keys: TEST_KEYS,
    address: { isHttps: true, basePath: '/' },
    log: silentLog,
    prefix: 'latchkey_',
  });
  const sealed = cookies.seal({ name: 'login' }, 'value');
  expect(cookies.unseal({ name: 'login' }, sealed)).toEqual({ document: 'value' });
  expect(cookies.unseal({ name: 'session' }, sealed)).toBeUndefined();
});

describe('a sealed column decrypts only in its own row and column', () => {
  test('of a sign-in through a provider', () => {
    const [id, other] = [newId<'upstream-authorization'>(NOW), newId<'upstream-authorization'>(NOW)];
    const secrets = {
      nonce: 'n',
      verifier: 'v',
      isReauthentication: true,
      registrationToken: undefined,
      invitationProof: undefined,
    };
    const response = { idTokenClaims: { sub: 's' }, userinfoClaims: {}, extraCallbackParameters: {} };
    const sealed = sealAuthorizationSecrets(TEST_KEYS, id, secrets);
    const sealedResponse = sealResponse(TEST_KEYS, id, response);
    expect(openAuthorizationSecrets(TEST_KEYS, id, sealed)).toEqual(secrets);
    expect(openResponse(TEST_KEYS, id, sealedResponse)).toEqual(response);
    expect(() => openAuthorizationSecrets(TEST_KEYS, other, sealed)).toThrow();
    expect(() => openResponse(TEST_KEYS, other, sealedResponse)).toThrow();
    expect(() => openResponse(TEST_KEYS, id, sealed)).toThrow();
  });

  test('of the setup of a second factor', () => {
    const [id, other] = [newId<'pending-login'>(NOW), newId<'pending-login'>(NOW)];
    const sealed = newSealedSetup(TEST_KEYS, id);
    expect(openSetup(TEST_KEYS, id, sealed).recoveryCodes).toEqual([]);
    expect(() => openSetup(TEST_KEYS, other, sealed)).toThrow();
  });

  test('of a client secret', () => {
    const [uuid, other] = [randomUUID(), randomUUID()];
    const sealed = sealSecret(uuid, 'hush', TEST_KEYS);
    expect(openSecret(uuid, sealed, TEST_KEYS).reveal()).toBe('hush');
    expect(() => openSecret(other, sealed, TEST_KEYS)).toThrow();
  });

  test('of a former client secret, which is not the current one', () => {
    const uuid = randomUUID();
    expect(() => openSecret(uuid, sealFormerSecret(uuid, 'hush', TEST_KEYS), TEST_KEYS)).toThrow();
  });

  test('of the user code of a device', () => {
    const [id, other] = [newId<'device-code-grant'>(NOW), newId<'device-code-grant'>(NOW)];
    const sealed = sealUserCode('BCDFGHJK', id, TEST_KEYS);
    expect(toDeviceCodeGrant(deviceRow(id, sealed), TEST_KEYS).userCode).toBe('BCDFGHJK');
    expect(() => toDeviceCodeGrant(deviceRow(other, sealed), TEST_KEYS)).toThrow('cannot be decrypted');
    // The same ID in another table.
    expect(() => openRegistrationToken(TEST_KEYS, id, sealed)).toThrow('cannot be decrypted with any configured key');
  });

  describe('of the database', () => {
    const clock = new FakeClock();
    let testDatabase: TestDatabase;
    beforeAll(async () => {
      testDatabase = await createTestDatabase();
    });
    afterAll(async () => await testDatabase.drop());

    test('of a registration token', async () => {
      const { database } = testDatabase;
      const secretKeys = { registrationTokens: randomBytes(32) };
      const issue = async (token: string) =>
        await issueRegistrationToken(
          { database, clock, keyRing: TEST_KEYS, secretKeys },
          { token, usageLimit: undefined, expiresAt: undefined },
        );
      const [own, other] = [await issue('own-token'), await issue('other-token')];
      const rows = await sql<{ id: string; token_sealed: Buffer }>(
        database,
        'select id, token_sealed from user_registration_tokens order by id',
      );
      const sealedOf = (token: typeof own): Buffer =>
        rows.find(({ id }) => token !== undefined && id === toUuid(token.id))?.token_sealed ?? Buffer.alloc(0);
      const id = own?.id ?? '';
      expect(openRegistrationToken(TEST_KEYS, id, sealedOf(own))).toBe('own-token');
      expect(() => openRegistrationToken(TEST_KEYS, id, sealedOf(other))).toThrow(
        'cannot be decrypted with any configured key',
      );
    });

    test('of a key that survives a root key change', async () => {
      const { database } = testDatabase;
      const deps = { database, keyRing: TEST_KEYS, clock };
      await openSecretKeys(deps);
      await sql(
        database,
        `update secret_keys set key_sealed = other.key_sealed from secret_keys other
         where secret_keys.purpose = 'recovery-codes' and other.purpose = 'registration-tokens'`,
      );
      await expect(openSecretKeys(deps)).rejects.toThrow('the key for recovery-codes');
    });
  });
});

function deviceRow(id: DeviceCodeGrantId, sealed: Buffer): DeviceCodeGrantRow {
  return {
    grant_id: toUuid(id),
    grant_client_id: randomUUID(),
    grant_scope: ['openid'],
    grant_resources: [],
    grant_user_code_sealed: sealed,
    grant_ip: null,
    grant_user_agent: null,
    grant_created_at: NOW,
    grant_expires_at: NOW + HOUR,
    grant_user_session_id: null,
    grant_is_fulfilled: false,
    grant_is_rejected: false,
    grant_is_exchanged: false,
  };
}
