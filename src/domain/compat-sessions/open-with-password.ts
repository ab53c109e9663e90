import {
  type AcceptedPassword,
  type AcceptedPasswordParams,
  acceptedPasswordCtes,
  acceptedPasswordParams,
} from '#domain/accounts/passwords/accepted-password.ts';
import { refundTokens } from '#domain/limits/rate-limits.ts';
import { furtherFactorIsDue, type SecondFactorRules } from '#domain/records/due-factor.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  type ClientDevice,
  claimSpaceSql,
  type OpenCompatSessionDeps,
  type OpenCompatSessionOutcome,
  type OpenedRow,
  openCompatSession,
  openCompatSessionSql,
  type RoomParams,
  type RoomRow,
  type SessionParams,
  type Waiting,
} from './open-compat-session.ts';

/**
 * Opens a session after a correct password (chat-compat 5.5), once the homeserver knows the device. This flow cannot
 * ask for a second factor; users who have one must sign in with the browser. Throws like `claimDevice`. Runs two
 * statements.
 */
export async function openCompatSessionWithPassword(
  deps: OpenCompatSessionDeps & { readonly secondFactors: Pick<SecondFactorRules, 'policy'> },
  accepted: AcceptedPassword,
  device: ClientDevice,
  waiting: Waiting,
): Promise<OpenCompatSessionOutcome> {
  const secondFactor = deps.secondFactors.policy;
  let isRefunding = false;
  const proof = (now: number) => {
    isRefunding = true;
    return { ...acceptedPasswordParams(accepted, now), secondFactor };
  };
  const take = (params: RoomParams) => deps.database.first(claimWithPassword, { ...params, secondFactor });
  try {
    return await openCompatSession(
      deps,
      { user: accepted.user, take, unproven: 'factor-due', statement: openWithPassword, params: proof },
      device,
      waiting,
    );
  } finally {
    // Only failures count. The statement that refunds the tokens was not sent.
    if (!isRefunding) await refundTokens(deps.database, accepted.charges);
  }
}

const IS_ENOUGH = `not ${furtherFactorIsDue(':userId::uuid')}`;

const claimWithPassword = statement<RoomRow, RoomParams & { readonly secondFactor: string }>(
  'claim-device-with-password',
  claimSpaceSql(IS_ENOUGH),
);

const openWithPassword = statement<
  OpenedRow,
  AcceptedPasswordParams & SessionParams & { readonly secondFactor: string }
>('open-compat-session-with-password', openCompatSessionSql(acceptedPasswordCtes, { isEnough: IS_ENOUGH }));
