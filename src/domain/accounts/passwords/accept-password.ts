import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  ACCEPTED_ACCOUNT_COLUMNS,
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from './accepted-password.ts';

const accept = statement<{ user_id: string }, AcceptedPasswordParams>(
  'accept-password',
  `with ${acceptedPasswordCtes}
  select ${ACCEPTED_ACCOUNT_COLUMNS} from account join proven on proven.user_id = account.user_id`,
);

/**
 * Records a successful password check: refunds the rate limit tokens of the check and clears the failure count. For
 * callers that renew no browser session.
 * @returns false if the password was changed since the check, or the account is locked or deactivated
 */
export async function acceptPassword(queryable: Queryable, accepted: AcceptedPassword, now: number): Promise<boolean> {
  return (await queryable.first(accept, acceptedPasswordParams(accepted, now))) !== undefined;
}
