/** Passkeys. */
import type { Protection } from './protection.ts';

const SIGN_IN = 'src/features/login/passkey.test.ts';
const OFFER = 'src/features/login/passkey-offer.test.ts';
const CEREMONY = 'src/protocol/webauthn/ceremony.test.ts';

export const PASSKEYS: readonly Protection[] = [
  {
    name: 'passkey-backup-eligibility',
    what: 'the backup eligibility of a passkey cannot change',
    attack: 90,
    removals: [
      {
        text: 'taken.backup_eligible !== null && taken.backup_eligible !== isBackupEligible',
        instead: 'taken.backup_eligible === undefined',
      },
    ],
    test: 'src/features/login/passkey.test.ts',
    testName: 'is rejected (browser-flows 15.9)',
  },
  {
    name: 'passkey-origin',
    what: 'a passkey used at another site is rejected',
    attack: 90,
    removals: [{ text: "  if (client.origin !== party.origin) return 'wrong_origin';\n" }],
    test: SIGN_IN,
    testName: 'another origin',
  },
  {
    name: 'passkey-frame',
    what: 'a passkey used in a frame of another site is rejected',
    attack: 90,
    removals: [{ text: "  if (client.isCrossOrigin) return 'cross_origin';\n" }],
    test: SIGN_IN,
    testName: 'a frame of another site',
  },
  {
    name: 'passkey-verified',
    what: 'a passkey counts as two factors only with user verification',
    attack: 90,
    removals: [{ text: "  if (!authenticator.isUserVerified) return 'user_not_verified';\n" }],
    test: SIGN_IN,
    testName: 'no user verification',
  },
  {
    name: 'passkey-signature',
    what: 'only the key of a passkey signs in its user',
    attack: 90,
    removals: [
      {
        text: "isSignedByCredential(spki, signed, assertion.signature) ? undefined : 'wrong_signature'",
        instead: 'isSignedByCredential(spki, signed, assertion.signature) ? undefined : undefined',
      },
    ],
    test: CEREMONY,
    testName: 'a signature by another key is rejected',
  },
  {
    name: 'passkey-challenge-once',
    what: 'a challenge can be used once',
    attack: 90,
    removals: [
      {
        text: 'export const TAKE_CHALLENGE = `delete from webauthn_challenges c\n',
        instead: 'export const TAKE_CHALLENGE = `update webauthn_challenges c set purpose = c.purpose\n',
      },
    ],
    test: SIGN_IN,
    testName: 'consumes its challenge, whatever the result',
  },
  {
    name: 'passkey-challenge-browser',
    what: 'a challenge can only be used in the browser that requested it',
    attack: 90,
    removals: [
      {
        text: '(c.login_id = :loginId::uuid or c.user_session_id = :sessionId::uuid)',
        instead: '(true or c.login_id = :loginId::uuid or c.user_session_id = :sessionId::uuid)',
      },
    ],
    test: SIGN_IN,
    testName: 'must be used by the same browser within five minutes',
  },
  {
    name: 'passkey-owner',
    what: 'after a password, only a passkey of the same user completes the sign-in',
    attack: 90,
    removals: [
      {
        text: "  if (expected !== 'anybody' && (expected === undefined || toUuid(expected) !== owner)) return false;\n",
      },
    ],
    test: SIGN_IN,
    testName: 'must belong to the user whose password was entered',
  },
  {
    name: 'passkey-counter',
    what: 'a cloned passkey is detected when its counter decreases',
    attack: 90,
    removals: [
      {
        text: '  if (stored === 0 || signCount > stored) return { ok: true, proof };\n',
        instead: '  if (stored >= 0) return { ok: true, proof };\n',
      },
      { text: '\n    and (k.sign_count = 0 or k.sign_count < :signCount::bigint)' },
    ],
    test: SIGN_IN,
    testName: 'with a decreased counter is rejected, with a warning',
  },
  {
    name: 'passkey-offer-declined',
    what: 'a user who asked not to be offered a passkey again is not',
    attack: 90,
    removals: [
      { text: 'where offer.declined_at is null and offer.offered_at <=', instead: 'where offer.offered_at <=' },
    ],
    test: OFFER,
    testName: 'is never made again',
  },
  {
    name: 'passkey-offer-once',
    what: 'a passkey is offered at most once in 30 days',
    attack: 90,
    removals: [{ text: ' and offer.offered_at <= :since::timestamptz' }],
    test: OFFER,
    testName: 'is made at most once in 30 days',
  },
  {
    name: 'passkey-offer-recent',
    what: 'the offer does not let an old session add a passkey',
    attack: 90,
    removals: [
      { text: '  if (viewer.session.authenticatedAt <= since) return undefined;\n' },
      { text: ' and offer.offered_at > :since::timestamptz' },
    ],
    test: OFFER,
    testName: 'closes ten minutes after the sign-in',
  },
  {
    name: 'passkey-last-way',
    what: 'the last sign-in method cannot be removed',
    attack: 101,
    removals: [{ text: 'where k.id = own.id and own.has_other', instead: 'where k.id = own.id' }],
    test: 'src/features/account-api/passkeys.test.ts',
    testName: 'of two passkeys that are the only sign-in methods, two concurrent removals take one',
  },
];
