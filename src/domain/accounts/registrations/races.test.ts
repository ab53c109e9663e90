/**
 * Registrations that finish at the same time on two instances. A few run in parallel over many rounds, to hit different
 * interleavings.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowserSession } from '#domain/browser-sessions/start-browser-session.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';
import { checkEmailCode } from '../email-authentications/check-email-code.ts';
import type { EmailAuthenticationId } from '../email-authentications/email-authentication.ts';
import { emailCode } from '../email-authentications/email-code.ts';
import { emailPolicyOf } from '../email-authentications/email-policy.ts';
import { finishRegistration } from './finish-registration.ts';
import { namePolicyOf } from './registration-policy.ts';

const ROUNDS = 150;
const CONCURRENT = 4;
const TIMEOUT_MS = 300_000;
let secondDatabase: OpenDatabase;
let instances: readonly PageService[];

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());

beforeAll(async () => {
  const registration = { estimator };
  const first = await startPages(testDatabase.database, { registration });
  const { clock } = first;
  const connection = parseConnectionUri(testDatabase.connectionString);
  secondDatabase = await openDatabase({ connection, log: silentLog, clock });
  instances = [first, await startPages(secondDatabase, { clock, registration })];
});

afterAll(async () => {
  for (const instance of instances) await instance.stop();
  await secondDatabase.close();
});

function instanceOf(index: number): PageService {
  return instances[index % instances.length] ?? expect.fail('no instance');
}

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

/** Inserts an open registration with every step completed. */
async function insertRegistration(facts: {
  readonly username: string;
  /** Verified. */
  readonly email?: string;
  readonly tokenId?: string;
}): Promise<RegistrationId> {
  const now = instanceOf(0).clock.now();
  const id: RegistrationId = newId(now);
  await rows(
    `with authentication as (
       insert into user_email_authentications (id, email, email_key, locale, created_at, mails, completed_at)
       select $1::uuid, $3::text, $3::text, 'en', $5::timestamptz, 1, $5::timestamptz where $3::text is not null
     )
     insert into user_registrations (id, username, display_name, password_hash, password_scheme_version, locale,
       email_authentication_id, registration_token_id, created_at)
     values ($1::uuid, $2::text, $2::text, 'hash', 1, 'en', case when $3::text is null then null else $1::uuid end,
       $4::uuid, $5::timestamptz)`,
    toUuid(id),
    facts.username,
    facts.email ?? null,
    facts.tokenId ?? null,
    new Date(now),
  );
  return id;
}

/** Finishes all of them in parallel, alternating between the instances. @returns the outcome of each, sorted */
async function finishAll(ids: readonly RegistrationId[], isTokenRequired = false): Promise<string[]> {
  const outcomes = await Promise.all(
    ids.map(async (id, index) => {
      const { core } = instanceOf(index);
      const deps = {
        ...core,
        namePolicy: namePolicyOf(core),
        emailPolicy: emailPolicyOf(core),
        protocolName: core.config.protocolName,
        ttlSeconds: 3600,
        registrationMethods: { of: () => ({ isOpen: true, isTokenRequired, isEmailRequired: false }) },
        sendsMail: false,
        upstreamProofs: { lock: () => Promise.reject(new Error('not asked for')) },
      };
      const outcome = await finishRegistration(deps, {
        id,
        address: '192.0.2.1',
        userAgent: undefined,
        startBrowserSession,
      });
      return outcome.ok ? 'account' : outcome.reason;
    }),
  );
  return outcomes.toSorted();
}

function outcomes(loser: string): string[] {
  return ['account', ...Array.from({ length: CONCURRENT - 1 }, () => loser)].toSorted();
}

const EACH_ONCE = { users: ROUNDS, passwords: ROUNDS, sessions: ROUNDS, completed: ROUNDS };

/** Counts accounts with matching names and their data. Rolled-back accounts must leave nothing behind. */
async function counts(names: string): Promise<object | undefined> {
  const [row] = await rows<object>(
    `select count(*)::integer as users,
       (select count(*)::integer from user_passwords p where p.user_id = any (array_agg(u.id))) as passwords,
       (select count(*)::integer from user_sessions s where s.user_id = any (array_agg(u.id))) as sessions,
       (select count(*)::integer from user_registrations where username like $1::text and completed_at is not null)
         as completed
     from users u where u.username like $1::text`,
    names,
  );
  return row;
}

describe(`${ROUNDS} rounds of ${CONCURRENT} simultaneous registrations on two instances`, () => {
  async function contend(
    make: (round: number, contender: number) => Promise<RegistrationId>,
    loser: string,
    isTokenRequired = false,
  ): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ids = [];
      for (let contender = 0; contender < CONCURRENT; contender += 1) ids.push(await make(round, contender));
      expect(await finishAll(ids, isTokenRequired)).toEqual(outcomes(loser));
    }
  }

  test('for one username: one account each, the others have to choose another name (S-96)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await contend((round) => insertRegistration({ username: `name${round}` }), 'name-lost');
    expect(await counts('name%')).toEqual(EACH_ONCE);
  });

  test('for one verified address: one account each, the others learn that it is in use (S-99)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const make = (round: number, contender: number) =>
      insertRegistration({ username: `mail${round}-${contender}`, email: `mail${round}@mail.example` });
    await contend(make, 'email-in-use');
    expect(await counts('mail%')).toEqual(EACH_ONCE);
    expect(await rows('select count(*)::integer as count from user_emails')).toEqual([{ count: ROUNDS }]);
  });

  test('for one use of a token: one account each, the others need another token (S-100)', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { clock } = instanceOf(0);
    const tokenIds = Array.from({ length: ROUNDS }, () => toUuid(newId(clock.now())));
    await rows(
      `insert into user_registration_tokens (id, token_hmac, token_sealed, usage_limit, created_at)
       select id, uuid_send(id), '', 1, $2::timestamptz from unnest($1::uuid[]) as id`,
      tokenIds,
      new Date(clock.now()),
    );
    const make = (round: number, contender: number) =>
      insertRegistration({ username: `token${round}-${contender}`, tokenId: tokenIds[round] ?? '' });
    await contend(make, 'token', true);
    expect(await rows('select times_used, count(*)::integer from user_registration_tokens group by 1')).toEqual([
      { times_used: 1, count: ROUNDS },
    ]);
  });
});

test(`${ROUNDS} codes, each entered by ${CONCURRENT} at once on two instances: one verifies the address (S-100)`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { clock, keyRing } = instanceOf(0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const id: EmailAuthenticationId = newId(clock.now());
    await rows(
      `insert into user_email_authentications
         (id, email, email_key, locale, created_at, mails, code_of_mail, code_expires_at)
       values ($1::uuid, 'a@mail.example', 'a@mail.example', 'en', $2::timestamptz, 1, 1, $3::timestamptz)`,
      toUuid(id),
      new Date(clock.now()),
      new Date(clock.now() + 300_000),
    );
    const code = emailCode(keyRing, { authentication: id, mail: 1 });
    const checks = await Promise.all(
      Array.from({ length: CONCURRENT }, (_, index) => {
        const { core } = instanceOf(index);
        return checkEmailCode({ ...core, limits: core.config.rateLimiting }, id, code);
      }),
    );
    expect(checks.filter(({ ok }) => ok)).toHaveLength(1);
  }
});
