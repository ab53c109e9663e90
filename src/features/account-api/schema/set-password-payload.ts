/** The outcome of setting a password, for every way of proving ownership (account-graphql 5.2). */
import { passwordSuggestions } from '#browser/password-suggestions.ts';
import type { NewPasswordProblem } from '#domain/accounts/passwords/new-password.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { AccountContext } from '../context/account-context.ts';
import { payloadType } from './mutation.ts';

export const SetPasswordPayload = payloadType('SetPassword', {
  statuses: [
    'ACCOUNT_LOCKED',
    'ALLOWED',
    'EXPIRED_RECOVERY_TICKET',
    'INVALID_NEW_PASSWORD',
    'NOT_ALLOWED',
    'NOT_FOUND',
    'NO_CURRENT_PASSWORD',
    'NO_SUCH_RECOVERY_TICKET',
    'PASSWORD_CHANGES_DISABLED',
    'RECOVERY_TICKET_ALREADY_USED',
    'WRONG_PASSWORD',
  ],
  payload: {
    score: {
      type: 'Int',
      description: 'zxcvbn score of a rejected password, 0 to 4; null if it was rejected for another reason.',
    },
    suggestions: {
      type: ['String'],
      description: "Why a password was rejected and how to improve it, in the user's language.",
    },
  },
});

export type SetPassword = typeof SetPasswordPayload.$inferType;

/** The payload for a new password that is not allowed. */
export function invalidPassword(rejected: NewPasswordProblem, context: AccountContext): SetPassword {
  const { browser, core, request } = context;
  const translations = browser.pages.language(request);
  const suggestions = passwordSuggestions(translations, rejected, core.config.passwords.minimumLength);
  return { status: 'INVALID_NEW_PASSWORD', score: rejected.strength?.score, suggestions };
}

/** The error for outcomes without a status in the payload. */
export function limited(outcome: {
  readonly reason: 'rate-limited' | 'overloaded';
  readonly retryAfterSeconds: number;
}): LatchkeyError {
  const { reason, retryAfterSeconds } = outcome;
  return new LatchkeyError(reason === 'overloaded' ? 'overloaded' : 'rate_limited', { retryAfterSeconds });
}
