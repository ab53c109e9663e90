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
 * Does what a right password does and nothing more: gives the tokens of the check back and forgets the failures before
 * it. For callers without a browser session that it would renew.
 * @returns false when the password was changed since it was checked, or the account cannot be used any more
 */
export async function acceptPassword(queryable: Queryable, accepted: AcceptedPassword, now: number): Promise<boolean> {
  return (await queryable.first(accept, acceptedPasswordParams(accepted, now))) !== undefined;
}
