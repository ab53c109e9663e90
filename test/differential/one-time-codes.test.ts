/** Holds `src/protocol/one-time-codes` against otpauth. */
import fc from 'fast-check';
import { HOTP, Secret, TOTP, URI } from 'otpauth';
import { describe, test } from 'vitest';
import { encodeBase32, otpauthUrl } from '#protocol/one-time-codes/otpauth-url.ts';
import { matchingTotpStep, totpCode } from '#protocol/one-time-codes/totp.ts';
import { compare, REJECTED } from './compare.ts';

const COUNT = 10_000;
const STEP_MS = 30_000;

const secrets = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes));
/** Until the year 5000. */
const times = fc.integer({ min: 0, max: 95_617_584_000_000 });
const names = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
);
/** Two steps of the secret in the examples of RFC 6238 that have the same code. */
const TWIN_STEPS = { secret: Buffer.from('12345678901234567890'), now: 910_737 * STEP_MS, away: 0 };

function secretOf(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}

describe('one-time codes as otpauth', () => {
  test('the code of every step', async () => {
    await compare({
      inputs: fc.record({ secret: secrets, step: fc.maxSafeNat() }),
      count: COUNT,
      ours: ({ secret, step }) => totpCode(secret, step),
      library: ({ secret, step }) => HOTP.generate({ secret: secretOf(secret), counter: step }),
      decisions: {},
    });
  });

  test('the step that a code belongs to', async () => {
    await compare({
      inputs: fc.record({ secret: secrets, now: times, away: fc.integer({ min: -3, max: 3 }) }),
      count: COUNT / 2,
      examples: [TWIN_STEPS, { ...TWIN_STEPS, now: 0 }],
      ours: ({ secret, now, away }) => {
        const step = Math.max(0, Math.floor(now / STEP_MS) + away);
        return matchingTotpStep(secret, totpCode(secret, step), now) ?? REJECTED;
      },
      library: ({ secret, now, away }) => {
        const step = Math.max(0, Math.floor(now / STEP_MS) + away);
        const shared = { secret: secretOf(secret), timestamp: now };
        const token = HOTP.generate({ secret: shared.secret, counter: step });
        const delta = TOTP.validate({ ...shared, token, window: 1 });
        return delta === null ? REJECTED : Math.floor(now / STEP_MS) + delta;
      },
      decisions: {
        'of two steps with one code ours is the later, so that the code is accepted once': (input, ours, library) =>
          input === TWIN_STEPS && ours === 910_738 && library === 910_737,
      },
    });
  });

  test('secrets for manual entry', async () => {
    await compare({
      inputs: secrets,
      count: COUNT,
      ours: encodeBase32,
      library: (secret) => secretOf(secret).base32,
      decisions: {},
    });
  });

  test('links, read back', async () => {
    await compare({
      inputs: fc.record({ secret: secrets, issuer: names, account: names }),
      count: COUNT,
      ours: ({ secret, issuer, account }) => ({ issuer, account, secret: encodeBase32(secret), digits: 6, period: 30 }),
      library: ({ secret, issuer, account }) => {
        const read = URI.parse(otpauthUrl({ issuer, account }, secret));
        if (!(read instanceof TOTP)) return REJECTED;
        const { digits, period } = read;
        return { issuer: read.issuer, account: read.label, secret: read.secret.base32, digits, period };
      },
      decisions: {
        'a colon separates the names of the label, so ours are without': ({ issuer, account }, _, library) =>
          library !== REJECTED &&
          library.issuer === issuer.replaceAll(':', ' ') &&
          library.account === account.replaceAll(':', ' '),
      },
    });
  });
});
