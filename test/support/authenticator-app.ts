import type { Core } from '#domain/core.ts';
import { storeTotp } from '#domain/one-time-codes/store-totp.ts';
import { newTotpSecret } from '#domain/one-time-codes/totp-secret.ts';
import { parseId } from '#platform/base/ids.ts';
import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';
import { fromBase32 } from './totp.ts';

/** The app of a person who has set up one-time codes. */
export interface AuthenticatorApp {
  readonly recoveryCodes: readonly string[];
  /** What it shows now. @param away steps of 30 seconds from now */
  code(away?: number): string;
}

/** Sets one up for an account, as long ago as no code of it was used. */
export async function giveAuthenticatorApp(
  core: Pick<Core, 'clock' | 'database' | 'keyRing' | 'secretKeys' | 'sendsNotices'>,
  userId: string,
): Promise<AuthenticatorApp> {
  const { clock, database } = core;
  const user = parseId<'user'>(userId);
  if (user === undefined) throw new Error(`${userId} is no account`);
  const secret = newTotpSecret();
  const step = totpStep(clock.now()) - 2;
  const proven = {
    user,
    secret,
    step,
    address: undefined,
    userAgent: undefined,
    language: 'en',
    now: clock.now() - 60_000,
  };
  const outcome = await database.transaction((transaction) => storeTotp(core, transaction, proven));
  if (!outcome.ok) throw new Error(outcome.reason);
  return appOf(core, secret, outcome.recoveryCodes);
}

/** The app into which a secret was typed. */
function appOf(
  { clock }: Pick<Core, 'clock'>,
  secret: Buffer,
  recoveryCodes: readonly string[] = [],
): AuthenticatorApp {
  return { recoveryCodes, code: (away = 0) => totpCode(secret, totpStep(clock.now()) + away) };
}

/** The app into which the secret was typed that a page shows. */
export function scannedApp(core: Pick<Core, 'clock'>, page: string): AuthenticatorApp {
  const [, secret = ''] = /<code[^>]*>([A-Z2-7 ]+)<\/code>/.exec(page) ?? [];
  return appOf(core, fromBase32(secret.replaceAll(' ', '')));
}
