import { parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import type { UserEmail } from '#domain/accounts/list-user-emails.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { lockEmails, removeEmail } from '#domain/accounts/user-emails.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { UpstreamProviders } from '#domain/upstream/upstream-providers.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type ChangedBy, type EmailChangeDeps, recordEmailChange } from './record-email-change.ts';

export interface RemoveEmailDeps extends EmailChangeDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly upstream: { readonly providers: Pick<UpstreamProviders, 'enabled'> };
  /** The last address cannot be removed unless the account has another way to sign in. */
  readonly keepsOneEmail: boolean;
}

/** `last`: without this address, the user could not regain access to the account. */
export type RemoveEmailOutcome = 'removed' | 'not-found' | 'last';

/** Users who sign in through an upstream provider do not depend on email. */
const findOtherWay = statement<
  { has_other_way: boolean },
  { readonly userId: string; readonly providerIds: readonly string[] }
>(
  'find-way-in-without-email',
  `select exists (
    select from upstream_links l where l.user_id = :userId::uuid and l.provider_id = any(:providerIds::uuid[])
  ) as has_other_way`,
);

/**
 * Removes an address from an account, along with the recovery tickets that were sent there. If two requests remove the
 * last two addresses concurrently, the second one finds that its address is the last.
 */
export async function removeOwnEmail(
  deps: RemoveEmailDeps,
  { userId: user, email: text, emailKey: key }: UserEmail,
  { record, ...by }: ChangedBy & { readonly record: RecordAction | undefined },
): Promise<RemoveEmailOutcome> {
  const { database, clock, log, keepsOneEmail, upstream } = deps;
  const email = parseStoredEmailAddress(text) ?? { address: text, key };
  const outcome = await refusableTransaction<RemoveEmailOutcome>(
    database,
    async (transaction, refuse) => {
      const own = await lockEmails(transaction, user);
      if (own === undefined || !own.includes(key)) return 'not-found';
      if (keepsOneEmail && own.length === 1) {
        const providerIds = upstream.providers.enabled.map(({ id }) => toUuid(id));
        const row = await transaction.first(findOtherWay, { userId: toUuid(user), providerIds });
        if (row?.has_other_way !== true) return 'last';
      }
      await recordEmailChange(deps, transaction, 'email_removed', { ...by, user, email, now: clock.now() });
      if (!(await removeEmail(transaction, user, key))) return refuse('not-found');
      await record?.(transaction);
      return 'removed';
    },
    { isRepeatable: true },
  );
  if (outcome === 'removed') log.info('email.removed', 'email address removed', { user });
  return outcome;
}
