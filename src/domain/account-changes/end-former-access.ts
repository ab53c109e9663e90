import { deletePassword } from '#domain/accounts/deactivation-mark.ts';
import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import { deleteEmailAuthentications } from '#domain/accounts/email-authentications/delete-email-authentications.ts';
import { listEmails, removeEmail } from '#domain/accounts/user-emails.ts';
import { deleteDataExports } from '#domain/data-exports/delete-data-exports.ts';
import { endAllSessions } from '#domain/oauth-sessions/end-all-sessions.ts';
import type { SignOutDeps } from '#domain/oauth-sessions/sign-out.ts';
import { deletePasskeys } from '#domain/passkeys/remove-passkey.ts';
import { deleteOneTimeCodes } from '#domain/second-factors/delete-one-time-codes.ts';
import { endTrust } from '#domain/second-factors/trusted-browsers.ts';
import type { FormerAccess } from '#domain/upstream/link-existing-account.ts';
import { unlinkAccount } from '#domain/upstream/unlink-account.ts';
import { deletePendingRecoveries } from './delete-recoveries.ts';

const EVERYTHING = new Set(['browser', 'oauth2', 'compat', 'personal'] as const);

/**
 * Ends all access to an account from before its new owner signed in through a provider that the operator trusts
 * (browser-flows 8.6).
 */
export function formerAccess(deps: Pick<SignOutDeps, 'scopeRules' | 'homeserver'>): FormerAccess {
  return {
    endCredentials: async (open, { user, now, address, userAgent }) => {
      await deletePassword(open, user);
      await deletePasskeys(open, user);
      await deleteOneTimeCodes(open, user);
      await endTrust(open, user);
      await unlinkAccount(open, user);
      await deleteDataExports(open, user);
      await endAllSessions(
        { ...deps, database: open },
        { userId: user, kinds: EVERYTHING, kept: undefined, now, by: { kind: 'person', address, userAgent } },
      );
    },
    // These addresses could receive a password reset.
    removeEmails: async (transaction, user, confirmedKey) => {
      const keys = (await listEmails(transaction, user))
        .map((address) => parseStoredEmailAddress(address)?.key ?? address)
        .filter((key) => key !== confirmedKey);
      for (const key of keys) await removeEmail(transaction, user, key);
      await deleteEmailAuthentications(transaction, keys);
      await deletePendingRecoveries(transaction, keys);
    },
  };
}
