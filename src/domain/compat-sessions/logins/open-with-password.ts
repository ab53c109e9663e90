import {
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import { refundTokens } from '#domain/rate-limits/rate-limits.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  type ClientDevice,
  claimSpace,
  type OpenCompatSessionDeps,
  type OpenCompatSessionOutcome,
  type OpenedRow,
  openCompatSession,
  openCompatSessionSql,
  type RoomParams,
  type SessionParams,
  type Waiting,
} from './open-compat-session.ts';

/**
 * Opens the session of a client whose person gave the right password (chat-compat 5.5), once the homeserver knows its
 * device. Throws what `claimDevice` throws. Two statements.
 */
export async function openCompatSessionWithPassword(
  deps: OpenCompatSessionDeps,
  accepted: AcceptedPassword,
  device: ClientDevice,
  waiting: Waiting,
): Promise<OpenCompatSessionOutcome> {
  let isRefunding = false;
  const proof = (now: number) => {
    isRefunding = true;
    return acceptedPasswordParams(accepted, now);
  };
  const take = (params: RoomParams) => deps.database.first(claimSpace, params);
  try {
    return await openCompatSession(
      deps,
      { user: accepted.user, take, statement: openWithPassword, params: proof },
      device,
      waiting,
    );
  } finally {
    // Only failures count, and the statement that gives tokens back was not sent.
    if (!isRefunding) await refundTokens(deps.database, accepted.charges);
  }
}

const openWithPassword = statement<OpenedRow, AcceptedPasswordParams & SessionParams>(
  'open-compat-session-with-password',
  openCompatSessionSql(acceptedPasswordCtes),
);
