import type { Config } from '#config/config.ts';

/** Returns whether users can reset their password with a link sent by email. */
export function isRecoveryOpen({ account, passwords }: Pick<Config, 'account' | 'passwords'>): boolean {
  return passwords.enabled && account.passwordRecoveryEnabled;
}
