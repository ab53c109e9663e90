import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { endTrust } from '#domain/second-factors/trusted-browsers.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import {
  type EnabledMethods,
  hasUsableLink,
  hasUsablePasskey,
  hasUsablePassword,
} from '#domain/upstream/login-methods.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';

export interface PasskeyRemovalDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly signIn: { readonly methods: EnabledMethods };
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface PasskeyRemoval {
  readonly userId: UserId;
  readonly passkeyId: PasskeyId;
  /** IP address of the request, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Language of the request, for the email. */
  readonly language: string;
}

/** `last-login-method`: the account has no other sign-in method. */
export type PasskeyRemovalOutcome = 'removed' | 'not-found' | 'last-login-method';

/**
 * Deletes a passkey of an account, which must keep another sign-in method. A separate statement locks the account, so
 * that the next one sees what concurrent removals have committed. Two removals can therefore not delete the last two
 * methods.
 */
export async function removePasskey(deps: PasskeyRemovalDeps, removal: PasskeyRemoval): Promise<PasskeyRemovalOutcome> {
  const { database, clock, signIn, sendsNotices } = deps;
  const { passkeyId, address, userAgent, language } = removal;
  const userId = toUuid(removal.userId);
  const now = clock.now();
  return await database.transaction<PasskeyRemovalOutcome>(
    async (transaction) => {
      if ((await transaction.first(lockAccount, { userId })) === undefined) return 'not-found';
      const row = await transaction.first(removeOwn, {
        ...signIn.methods,
        userId,
        passkeyId: toUuid(passkeyId),
        now: new Date(now),
        auditEventId: newAuditEventId(now),
        ip: address ?? null,
        userAgent: userAgent ?? null,
        isTold: sendsNotices,
        language,
        queuedBy: queuedBy(),
      });
      if (row === undefined) return 'not-found';
      if (!row.is_removed) return 'last-login-method';
      // The device may be lost and have a trusted browser.
      await endTrust(transaction, removal.userId);
      return 'removed';
    },
    { isRepeatable: true },
  );
}

const lockAccount = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-remove-passkey',
  `select u.id from users u where ${accountIsUsable('u')} and u.id = :userId::uuid for no key update`,
);

const removeOwn = statement<
  { is_removed: boolean },
  EnabledMethods & {
    readonly userId: string;
    readonly passkeyId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly isTold: boolean;
    readonly language: string;
    readonly queuedBy: string | null;
  }
>(
  'remove-passkey',
  `with own as materialized (
    select k.id, k.name,
           ${hasUsablePassword(':userId::uuid')} or ${hasUsableLink(':userId::uuid')}
             or ${hasUsablePasskey(':userId::uuid', 'device.id <> :passkeyId::uuid')} as has_other
      from user_passkeys k where k.id = :passkeyId::uuid and k.user_id = :userId::uuid
  ), removed as (
    delete from user_passkeys k using own where k.id = own.id and own.has_other
    returning own.name
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'passkey_removed', :userId::uuid, null, null, :ip::inet, :userAgent::text,
           jsonb_build_object('passkey', removed.name), :now::timestamptz
      from removed
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id, removed.name from removed where :isTold::boolean',
    notice: 'factor_changed',
    eventId: ':auditEventId::uuid',
    detail: `jsonb_build_object('change', 'passkey_removed', 'passkey', told_user.name)`,
    language: ':language::text',
    now: ':now::timestamptz',
  })}
  select exists (select from removed) as is_removed from own`,
);

const deleteOfUser = statement<never, { readonly userId: string }>(
  'delete-passkeys-of-user',
  'delete from user_passkeys where user_id = :userId::uuid',
);

/** Deletes all passkeys of an account that ends. */
export async function deletePasskeys(transaction: Queryable, user: UserId): Promise<void> {
  await transaction.execute(deleteOfUser, { userId: toUuid(user) });
}
