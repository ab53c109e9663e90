import type { Core } from '#domain/core.ts';
import { newTotpSecret } from '#domain/records/totp-secret.ts';
import { storeTotp } from '#domain/second-factors/store-totp.ts';
import { parseId } from '#platform/base/ids.ts';
import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';
import { fromBase32 } from './totp.ts';

/** The authenticator app of a user with TOTP enabled. */
export interface AuthenticatorApp {
  readonly recoveryCodes: readonly string[];
  /** The code for a time step. @param away offset from now, in 30-second steps */
  code(away?: number): string;
}

/** Enables TOTP for an account, with the last used step far enough back that the current code is unused. */
export async function giveAuthenticatorApp(
  core: Pick<Core, 'clock' | 'database' | 'keyRing' | 'secretKeys' | 'sendsNotices'>,
  userId: string,
): Promise<AuthenticatorApp> {
  const { clock, database } = core;
  const user = parseId<'user'>(userId);
  if (user === undefined) throw new Error(`${userId} is not an account`);
  const secret = newTotpSecret();
  const step = totpStep(clock.now()) - 2;
  const verified = {
    user,
    secret,
    step,
    address: undefined,
    userAgent: undefined,
    language: 'en',
    now: clock.now() - 60_000,
  };
  const outcome = await database.transaction((transaction) => storeTotp(core, transaction, verified));
  if (!outcome.ok) throw new Error(outcome.reason);
  return appOf(core, secret, outcome.recoveryCodes);
}

/** Returns an app that holds the secret. */
function appOf(
  { clock }: Pick<Core, 'clock'>,
  secret: Buffer,
  recoveryCodes: readonly string[] = [],
): AuthenticatorApp {
  return { recoveryCodes, code: (away = 0) => totpCode(secret, totpStep(clock.now()) + away) };
}

/** Returns an app that holds the secret shown on a page. */
export function scannedApp(core: Pick<Core, 'clock'>, page: string): AuthenticatorApp {
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]+)<\/code>/.exec(page) ?? [];
  return appOf(core, fromBase32(secret.replaceAll(' ', '')));
}
