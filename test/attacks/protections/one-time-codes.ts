import type { Protection } from './protection.ts';

const CODES = 'src/domain/second-factors/one-time-codes.test.ts';
const API = 'src/features/account-api/one-time-codes.test.ts';

/** TOTP codes and recovery codes. */
export const ONE_TIME_CODES: readonly Protection[] = [
  {
    name: 'totp-step-once',
    what: 'a code from an app, and each earlier one, works once',
    attack: 90,
    removals: [
      {
        text: 'where id = :id::uuid and (last_used_step < :step::integer or last_used_step > :ofLater::integer)',
        instead: 'where id = :id::uuid and (true or last_used_step > :ofLater::integer)',
      },
    ],
    test: CODES,
    testName: 'are accepted one step early and late, in order, and each once',
  },
  {
    name: 'totp-step-of-later',
    what: 'a code accepted while the clock was ahead does not block codes until that time',
    attack: 'F-14',
    removals: [
      { text: ' or last_used_step > :ofLater::integer)', instead: ' or last_used_step > :ofLater::integer + 1e8)' },
    ],
    test: CODES,
    testName: 'F-14: from before the clock was set back do not block current ones, each of which works once',
  },
  {
    name: 'totp-step-remembered',
    what: 'a code used before the clock was set ahead and back cannot be reused',
    attack: 'F-14',
    removals: [
      {
        text: 'if (!(await consumeOnce(database, oneTime, now))) return',
        instead: 'if ((await consumeOnce(database, oneTime, now)) === undefined) return',
      },
    ],
    test: CODES,
    testName: 'F-14: from before the clock was set back do not block current ones, each of which works once',
  },
  {
    name: 'totp-code-of-setup',
    what: 'the code that set up an app cannot be used to sign in',
    attack: 90,
    removals: [
      {
        text: "    step,\n    now: new Date(now),\n  });\n  if (stored === undefined) return { ok: false, reason: 'already-enrolled' };",
        instead:
          "    step: 0,\n    now: new Date(now),\n  });\n  if (stored === undefined) return { ok: false, reason: 'already-enrolled' };",
      },
    ],
    test: CODES,
    testName: 'used for setup cannot be used to sign in',
  },
  {
    name: 'totp-secret-bound',
    what: 'a secret moved to another account cannot be opened',
    attack: 168,
    removals: [{ text: 'return `${table}|secret_sealed|${id}`;', instead: 'return `${table}|secret_sealed`;' }],
    test: CODES,
    testName: 'are not checked with a secret that was moved from another account (R-06)',
  },
  {
    name: 'recovery-code-once',
    what: 'a recovery code works once',
    attack: 90,
    removals: [
      {
        text: 'and code_hmac = :codeHmac::bytea and used_at is null\n    returning id',
        instead: 'and code_hmac = :codeHmac::bytea\n    returning id',
      },
    ],
    test: CODES,
    testName: 'sent twenty times at once are accepted once (S-90)',
  },
  {
    name: 'totp-enrolment-tries',
    what: 'five wrong codes end the setup of an app, also when sent in parallel',
    attack: 90,
    removals: [
      {
        text: "from own where e.id = own.id and not (${enrolmentIsExhausted('e')})",
        instead: 'from own where e.id = own.id',
      },
    ],
    test: API,
    testName: 'five wrong codes end the setup, even when concurrent, and the right one is then too late',
  },
  {
    name: 'totp-enrolment-of-session',
    what: 'an app can only be set up by the browser session that started it',
    attack: 90,
    removals: [
      {
        text: 'and e.user_id = :userId::uuid and e.user_session_id = :sessionId::uuid\n       and not',
        instead: 'and :userId::uuid is not null and :sessionId::uuid is not null\n       and not',
      },
      {
        text: 'delete from user_totp_enrolments e\n    where e.id = :id::uuid and e.user_id = :userId::uuid and e.user_session_id = :sessionId::uuid',
        instead:
          'delete from user_totp_enrolments e\n    where e.id = :id::uuid and :userId::uuid is not null and :sessionId::uuid is not null',
      },
    ],
    test: API,
    testName: 'rejects other browsers of the same user, and other users, who could add their own app',
  },
  {
    name: 'totp-enrolment-after-removal',
    what: 'a setup started in another browser is not completed after a removal',
    attack: 100,
    removals: [{ text: 'delete from user_totp_enrolments e where e.user_id = :userId::uuid', instead: 'select 1' }],
    test: API,
    testName: 'removing the app cancels a pending setup, so that it cannot be restored',
  },
  {
    name: 'factor-change-reauth',
    what: 'changing second factors requires a recent sign-in',
    attack: 123,
    removals: [
      { text: 'requireRecentAuthentication(context);\n    const started', instead: 'const started' },
      { text: 'requireRecentAuthentication(context);\n    const isRemoved', instead: 'const isRemoved' },
      { text: 'requireRecentAuthentication(context);\n    const recoveryCodes', instead: 'const recoveryCodes' },
    ],
    test: API,
    testName: 'each change requires a recent sign-in (R-32), which protects an unattended browser',
  },
  {
    name: 'factors-deactivated',
    what: 'second factors are deleted with their account',
    attack: 133,
    removals: [
      {
        text: '  await deleteOneTimeCodes(transaction, user);\n  if (isOwn',
        instead: '  if (isOwn',
      },
    ],
    test: API,
    testName: 'deactivation deletes the app and the recovery codes',
  },
];
