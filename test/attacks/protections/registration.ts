/** Account registration. */
import type { Protection } from './protection.ts';

export const REGISTRATION: readonly Protection[] = [
  {
    name: 'captcha-fail-closed',
    what: 'registration fails while the CAPTCHA provider does not respond',
    attack: 125,
    removals: [
      {
        text: "if (typeof said === 'string') return this.#fail(form, said);",
        instead: "if (typeof said === 'string') return PASSED;",
      },
    ],
    test: 'src/features/registration/captcha.test.ts',
    testName: 'and the page says why',
  },
  {
    name: 'captcha-host',
    what: 'a CAPTCHA solved on another site is rejected',
    attack: 125,
    removals: [{ text: "said['hostname'] === host ? PASSED", instead: 'host !== undefined ? PASSED' }],
    test: 'src/features/registration/captcha.test.ts',
    testName: 'names another host',
  },
  {
    name: 'captcha-checks-of-address',
    what: 'CAPTCHA verifications are limited per address',
    attack: 125,
    removals: [{ text: 'const CHECKS = { burst: 30,', instead: 'const CHECKS = { burst: 3_000,' }],
    test: 'src/features/registration/captcha.test.ts',
    testName: 'allows one address a burst of 30 verifications',
  },
  {
    name: 'registration-name-at-homeserver',
    what: 'usernames taken or reserved at the homeserver cannot be registered',
    attack: 82,
    removals: [
      {
        text: "if (requested.ok && requested.value) return 'available';",
        instead: "if (requested.ok) return 'available';",
      },
    ],
    test: 'src/features/registration/homeserver.test.ts',
    testName: 'is unavailable: it',
  },
  {
    name: 'registration-name-unknown',
    what: 'usernames that the homeserver cannot confirm are not registered',
    attack: 82,
    removals: [{ text: "  return 'homeserver-unavailable';", instead: "  return 'available';" }],
    test: 'src/features/registration/homeserver.test.ts',
    testName: 'the form says so, keeps the input, and writes nothing',
  },
  {
    name: 'registration-tokens-of-address',
    what: 'attempts at registration tokens are limited per address',
    attack: 92,
    removals: [
      {
        text: "{ name: 'registration-token', limiter, address }",
        instead: "{ name: 'registration-token', limiter: { burst: 1000, perSecond: limiter.perSecond }, address }",
      },
    ],
    test: 'src/features/registration/token.test.ts',
    testName: 'is rate limited by address, however it is sent; valid ones cost nothing',
  },
  {
    name: 'invitation-proof',
    what: 'only the link in the latest email confirms the invited address',
    attack: 201,
    removals: [{ text: 'equalSecrets(proof, invitationProof(secretKeys, tokenId, queuedAt))', instead: 'true' }],
    test: 'src/features/registration/invited.test.ts',
    testName: 'needs a code if the proof',
  },
  {
    name: 'invitation-proofs-of-address',
    what: 'wrong proofs of an invitation are limited per address',
    attack: 201,
    removals: [{ text: '  if (proof !== undefined && !isVerified) await chargeAddress(deps, charge);\n' }],
    test: 'src/features/registration/invited.test.ts',
    testName: 'needs a code if the proof',
  },
  {
    name: 'invited-address-is-fixed',
    what: 'the address of an invitation cannot be replaced',
    attack: 201,
    removals: [{ text: 'hasFixedEmail: invitation?.email !== undefined,', instead: 'hasFixedEmail: false,' }],
    test: 'src/features/registration/invited.test.ts',
    testName: 'cannot be replaced (S-201)',
  },
  {
    name: 'invited-address-at-the-end',
    what: 'an invitation for another address creates no account',
    attack: 201,
    removals: [{ text: "\n        and ${tokenFitsEmail('t', 'given.email_key')}" }],
    test: 'src/features/registration/invited.test.ts',
    testName: 'another address that the provider determines',
  },
  {
    name: 'registration-token-limit',
    what: 'a registration token is counted only while it allows another account',
    attack: 100,
    removals: [
      {
        text: 'where r.id = :registrationId::uuid)\n    and ',
        instead: 'where r.id = :registrationId::uuid) or false and ',
      },
    ],
    test: 'src/features/registration/token.test.ts',
    testName: 'acceptance check 14',
  },
  {
    name: 'registrations-of-address',
    what: 'registrations are limited per address',
    attack: 95,
    removals: [{ text: "  if (!charged.ok) return { ...charged, reason: 'rate-limited' };\n" }],
    test: 'test/attacks/flows-begun.test.ts',
    testName: '(S-95)',
  },
  {
    name: 'reserved-names',
    what: 'usernames of administrators are reserved',
    attack: 177,
    removals: [{ text: "if (policy.reservedUsernames.has(foldUsername(name))) problems.add('username-reserved');" }],
    test: 'test/attacks/registration.test.ts',
    testName: 'S-177',
  },
  {
    name: 'identifiers-are-no-names',
    what: 'usernames that look like identifiers cannot be registered',
    attack: 177,
    removals: [{ text: "  if (isIdentifier(name)) problems.push('username-identifier');\n" }],
    test: 'test/attacks/registration.test.ts',
    testName: 'a name that looks like an identifier',
  },
  {
    name: 'identifiers-before-names',
    what: 'an identifier given by an operator is never interpreted as a username',
    attack: 177,
    removals: [{ text: "  if (id !== undefined) return { kind: 'id', id };\n" }],
    test: 'src/cli/accounts.test.ts',
    testName: 'treat an account ID, in either case or as UUID, only as an ID',
  },
  {
    name: 'former-session-ends',
    what: 'a session replaced by that of a new account ends, including copies of its cookie',
    attack: 61,
    removals: [{ text: '  await finish.endFormerSession?.(transaction, now);\n' }],
    test: 'src/features/registration/steps.test.ts',
    testName: 'is signed out only in this browser by the end of the registration',
  },
  {
    name: 'email-policy-at-the-end',
    what: 'an address banned during a registration gets no account',
    attack: 124,
    removals: [
      {
        text: `      if (row.email !== null && !checkEmail(row.email, deps.emailPolicy).ok)
        return { ok: false, reason: 'outdated', action };
`,
      },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'an address that policy bans later',
  },
  {
    name: 'estimates-of-address',
    what: 'one password estimate runs per address',
    attack: 183,
    removals: [{ text: '      if (busy.has(address)) continue;\n' }],
    test: 'src/domain/accounts/passwords/strength-estimator.test.ts',
    testName: '(S-183)',
  },
  {
    name: 'estimates-waiting',
    what: 'few password estimates wait per address',
    attack: 183,
    removals: [
      {
        text: "    if (hasTooMany) throw overloaded('too many password estimates from one address are queued');\n",
      },
    ],
    test: 'test/attacks/registration.test.ts',
    testName: 'sixteen passwords',
  },
  {
    name: 'email-code-tries',
    what: 'few wrong codes in a row are allowed per address',
    attack: 91,
    removals: [
      {
        text: '      and exists (select from charged)\n    returning a.tries',
        instead: '    returning a.tries',
      },
      { text: '  if (row === undefined || !row.is_charged) {', instead: '  if (row === undefined) {' },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'limits parallel guesses like sequential ones',
  },
  {
    name: 'email-code-tries-in-all',
    what: 'after 30 codes, an address must restart',
    attack: 91,
    removals: [{ text: `\${authentication}.tries < \${MAX_CODE_TRIES}`, instead: 'true' }],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'stops working after 30 attempts, with none left until another code is requested',
  },
  {
    name: 'email-code-of-last-mail',
    what: 'only the code in the latest email works',
    attack: 91,
    removals: [{ text: '  const mail = row.mails;', instead: '  const mail = row.mails - row.mails + 1;' }],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'is void once another was requested, even before that one was mailed',
  },
  {
    name: 'email-code-lifetime',
    what: 'a code works for five minutes',
    attack: 91,
    removals: [{ text: 'a.code_expires_at <= :now::timestamptz as is_late', instead: 'false as is_late' }],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'works for five minutes',
  },
  {
    name: 'email-code-mails',
    what: 'the number of codes per address and hour is limited',
    attack: 94,
    removals: [
      {
        text: 'unknownNameKey(keyRing, mail.emailKey)',
        instead: 'unknownNameKey(keyRing, mail.authentication)',
      },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'allow an address three mails an hour, across all requesters',
  },
  {
    name: 'email-taken-untold',
    what: 'no code is sent to an address that belongs to an account',
    attack: 82,
    removals: [
      { text: 'and a.mails = asked.mails and not exists (select from owner)', instead: 'and a.mails = asked.mails' },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'check 15',
  },
  {
    name: 'email-proven-before-account',
    what: 'no account is created before its address is verified',
    attack: 124,
    removals: [
      {
        text: "      if (row.has_email && row.is_email_proven !== true) return { ok: false, reason: 'verify-email', action };\n",
      },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'cannot be skipped (S-124)',
  },
  {
    name: 'email-proven-stays',
    what: 'a verified address cannot be replaced',
    attack: 124,
    removals: [
      { text: 'former.completed_at is not null', instead: 'false' },
      {
        text: "  if (email === undefined || email.state === 'proven') {",
        instead: '  if (email === undefined) {',
      },
    ],
    test: 'src/features/registration/verify-email.test.ts',
    testName: 'is not accepted once one is verified',
  },
  {
    name: 'email-of-one-account',
    what: 'of several registrations with one address, one becomes an account',
    attack: 99,
    removals: [
      { text: "      if (row.is_email_taken) return { ok: false, reason: 'email-in-use', action };\n" },
      { text: "    if (!isAdded) return { ok: false, reason: 'email-in-use', action };\n" },
    ],
    test: 'src/domain/accounts/registrations/races.test.ts',
    testName: 'for one verified address: one account each, the others learn that it is in use (S-99)',
  },
  {
    name: 'registration-of-banned-requesters',
    what: 'banned requesters get no account, regardless of where the form was sent from',
    attack: 95,
    removals: [
      { text: "      if (bannedBy !== undefined) return { ok: false, reason: 'requester-banned', action };\n" },
    ],
    test: 'src/features/registration/register-with-password.test.ts',
    testName: 'creates no account for a banned requester, even if an allowed one sent the form',
  },
];
