import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import { startBrowserSession } from '#domain/browser-sessions/start-browser-session.ts';
import type { Clock } from '#platform/base/clock.ts';
import { type RegistrationId, toUuid } from '#platform/base/ids.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { createUser } from '../create-user.ts';
import { setPassword } from '../passwords/set-password.ts';
import type { User } from '../user.ts';
import {
  type Registration,
  type RegistrationRow,
  registrationColumns,
  registrationState,
  toRegistration,
} from './registration.ts';
import { findNameProblems, type NamePolicy } from './registration-policy.ts';

type LockedRegistrationRow = RegistrationRow & {
  readonly password_hash: string | null;
  readonly password_scheme_version: number | null;
  readonly terms_uri: string | null;
  readonly locale: string | null;
};

/** Others that finish the same registration wait. */
const lockRegistration = statement<LockedRegistrationRow, { readonly id: string }>(
  'lock-registration',
  `select ${registrationColumns}, password_hash, password_scheme_version, terms_uri, locale
  from user_registrations where id = :id::uuid for update`,
);

/** Clears the hash, which the account has now. */
const completeRegistration = statement<never, { readonly now: Date; readonly id: string }>(
  'complete-registration',
  `update user_registrations set completed_at = :now::timestamptz, password_hash = null, password_scheme_version = null
  where id = :id::uuid and completed_at is null`,
);

/** The terms as they were accepted when the registration began. */
const insertTerms = statement<never, { readonly userId: string; readonly registrationId: string }>(
  'insert-accepted-terms',
  `insert into user_terms (user_id, terms_uri, accepted_at)
  select :userId::uuid, terms_uri, created_at from user_registrations where id = :registrationId::uuid and terms_uri is not null`,
);

export interface FinishDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly namePolicy: NamePolicy;
  readonly protocolName: string;
  /** Seconds that a person has for all steps. */
  readonly ttlSeconds: number;
  /** People may make accounts for themselves with a password. */
  readonly isRegistrationOpen: boolean;
}

export interface Finish {
  readonly id: RegistrationId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type FinishOutcome =
  | {
      readonly ok: true;
      readonly user: User;
      readonly session: SessionCredentials;
      readonly action: PostAuthAction | undefined;
    }
  | { readonly ok: false; readonly reason: 'unknown' }
  | {
      readonly ok: false;
      /** `closed`: registration was closed. `name-lost`, `display-name`: the step that is missing. */
      readonly reason: 'completed' | 'expired' | 'closed' | 'name-lost' | 'display-name';
      readonly action: PostAuthAction | undefined;
    };

/**
 * Creates the account of a complete registration and signs the person in: the checks of browser-flows 5.10, in that
 * order, and all writes in one transaction that locks the registration.
 */
export async function finishRegistration(deps: FinishDeps, finish: Finish): Promise<FinishOutcome> {
  return await deps.database.transaction(
    async (transaction) => {
      const row = await transaction.first(lockRegistration, { id: toUuid(finish.id) });
      if (row === undefined) return { ok: false, reason: 'unknown' };
      const registration = toRegistration(row, deps.protocolName);
      const { action } = registration;
      const now = deps.clock.now();
      const state = registrationState(registration, deps.ttlSeconds, now);
      if (state !== 'open') return { ok: false, reason: state, action };
      if (!deps.isRegistrationOpen) return { ok: false, reason: 'closed', action };
      const problems = await findNameProblems(transaction, registration.username, deps.namePolicy);
      if (problems.length > 0) return { ok: false, reason: 'name-lost', action };
      if (registration.displayName === undefined) return { ok: false, reason: 'display-name', action };
      return await createAccount(transaction, { registration, row, finish, now });
    },
    { isRepeatable: true },
  );
}

async function createAccount(
  transaction: Transaction,
  facts: {
    readonly registration: Registration;
    readonly row: LockedRegistrationRow;
    readonly finish: Finish;
    readonly now: number;
  },
): Promise<FinishOutcome> {
  const { registration, row, finish, now } = facts;
  const { action, displayName, username } = registration;
  const { address, userAgent } = finish;
  const locale = row.locale ?? undefined;
  const userId = await createUser(transaction, { username, displayName, locale, canRequestAdmin: false, now });
  // Another registration of this name finished first; nothing is written yet.
  if (userId === undefined) return { ok: false, reason: 'name-lost', action };
  await setPassword(transaction, { user: userId, stored: storedHash(row), now });
  const session = await startBrowserSession(transaction, { userId, address, userAgent, now });
  await transaction.execute(insertTerms, { userId: toUuid(userId), registrationId: row.id });
  await recordAuditEvent(transaction, {
    kind: 'registered',
    at: now,
    userId,
    sessionId: session.id,
    address,
    userAgent,
  });
  await transaction.execute(completeRegistration, { now: new Date(now), id: row.id });
  const user = {
    id: userId,
    username,
    displayName,
    locale,
    canRequestAdmin: false,
    isLocked: false,
    isDeactivated: false,
  };
  return { ok: true, user, session, action };
}

function storedHash(row: LockedRegistrationRow): StoredHash {
  if (row.password_hash === null || row.password_scheme_version === null) {
    throw new Error('an open registration has no password');
  }
  return { hash: row.password_hash, schemeVersion: row.password_scheme_version };
}
