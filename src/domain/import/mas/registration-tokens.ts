import { sealRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { mayBeRegistrationToken, registrationTokenHmac } from '#domain/accounts/registrations/registration-token.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { MasStep } from './mas-import.ts';

interface SourceToken {
  readonly id: string;
  readonly token: string;
  readonly usage_limit: number | null;
  readonly times_used: number;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

/**
 * Imports registration tokens. MAS allows a limit below the number of uses, and a limit of zero. Both mean that the
 * token is used up.
 */
export const registrationTokensStep: MasStep = {
  entity: 'registration tokens',
  tables: ['user_registration_tokens'],
  run: async ({ source, target, keyRing, secretKeys, now }) => {
    let [total, unusable, done] = [0, 0, 0];
    for await (const read of source.batches<SourceToken>(
      `select user_registration_token_id as id, token, usage_limit, times_used, created_at, last_used_at, expires_at, revoked_at
         from user_registration_tokens`,
    )) {
      total += read.length;
      const rows = read.filter(({ token }) => mayBeRegistrationToken(token));
      unusable += read.length - rows.length;
      const limits = rows.map(({ usage_limit: limit, times_used: used }) =>
        limit === null ? null : Math.max(limit, used, 1),
      );
      done += await target.execute(
        `insert into user_registration_tokens (id, token_hmac, token_sealed, usage_limit, times_used, created_at,
                                               last_used_at, expires_at, revoked_at)
         select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::integer[], $5::integer[], $6::timestamptz[],
                              $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
         on conflict do nothing`,
        [
          rows.map(({ id }) => id),
          rows.map(({ token }) => registrationTokenHmac(secretKeys, token)),
          rows.map(({ id, token }) => sealRegistrationToken(keyRing, fromUuid(id), token)),
          limits,
          rows.map(({ times_used }) => times_used),
          rows.map(({ created_at }) => created_at),
          rows.map(({ last_used_at }) => last_used_at),
          rows.map(({ expires_at }) => expires_at),
          rows.map(({ revoked_at, usage_limit }) => revoked_at ?? (usage_limit === 0 ? now : null)),
        ],
      );
    }
    return { done, skipped: { invalid: unusable, duplicate: total - unusable - done } };
  },
};
