import { describe, expect, test } from 'vitest';
import type { RefreshTokenRow } from './judge-refresh-token.ts';
import { judgeRefreshToken, type RefreshVerdict } from './judge-refresh-token.ts';

const NOW = 1_800_000_000_000;

const valid: RefreshTokenRow = {
  session_id: 's',
  is_own_client: true,
  client_admits: true,
  is_finished: false,
  user_is_usable: true,
  user_id: 'u',
  username: 'ada',
  display_name: null,
  given_name: null,
  family_name: null,
  time_zone: null,
  locale: null,
  updated_at: NOW,
  email: null,
  groups: null,
  extra_claims: null,
  can_request_admin: false,
  auth_time: null,
  acr: null,
  amr: [],
  session_created_at: NOW - 86_400_000,
  scope: ['openid', 'profile'],
  claims: null,
  resources: [],
  dpop_jkt: null,
  access_token_resources: null,
  access_token_jkt: null,
  access_token_created_at: null,
  token_id: 't',
  is_revoked: false,
  consumed_at: null,
  rotation_salt: null,
  replay_counter: 0,
  successor_id: null,
  successor_hash: null,
  successor_consumed_at: null,
  successor_is_revoked: false,
  successor_was_used: false,
  access_token_id: null,
  access_token_scope: null,
  access_token_expires_at: null,
  access_token_is_revoked: false,
  access_token_was_used: false,
};
const consumed: RefreshTokenRow = {
  ...valid,
  consumed_at: NOW - 31_000,
  rotation_salt: Buffer.alloc(16),
  successor_id: 'n',
  successor_hash: Buffer.alloc(32),
  access_token_id: 'a',
  access_token_scope: ['openid'],
  access_token_expires_at: NOW + 1,
};

function judge(
  row: RefreshTokenRow | undefined,
  hasLostRace = false,
  maxLifetimeMs = Number.POSITIVE_INFINITY,
): RefreshVerdict {
  const rules = { graceSeconds: 30, sessionExpiry: (createdAt: number) => createdAt + maxLifetimeMs };
  return judgeRefreshToken(row, rules, NOW, hasLostRace);
}

describe('checking a refresh token (oauth 9.4)', () => {
  test('rows 1 to 5: rejections', () => {
    expect(judge(undefined)).toEqual({ kind: 'refuse', reason: 'unknown' });
    expect(judge({ ...valid, is_own_client: false })).toEqual({ kind: 'refuse', reason: 'other-client' });
    expect(judge({ ...valid, is_finished: true })).toEqual({ kind: 'refuse', reason: 'session-ended' });
    expect(judge(valid, false, 86_400_000)).toEqual({ kind: 'refuse', reason: 'session-expired' });
    expect(judge({ ...valid, user_is_usable: false })).toEqual({ kind: 'refuse', reason: 'user' });
    expect(judge({ ...valid, is_revoked: true })).toEqual({ kind: 'refuse', reason: 'revoked' });
  });

  test('row 2: only the session’s own client, while the session is active, counts as the victim of a theft', () => {
    const forgotten = { ...valid, token_id: null };
    expect(judge(forgotten)).toEqual({ kind: 'reuse' });
    expect(judge({ ...forgotten, is_own_client: false })).toEqual({ kind: 'refuse', reason: 'other-client' });
    expect(judge({ ...forgotten, is_finished: true })).toEqual({ kind: 'refuse', reason: 'session-ended' });
    expect(judge({ ...forgotten, user_is_usable: false })).toEqual({ kind: 'refuse', reason: 'user' });
  });

  test('row 6: a valid token is rotated', () => {
    expect(judge(valid)).toEqual({ kind: 'rotate', tokenId: 't' });
  });

  test('row 7: up to and including the last moment of the grace period the pair is repeated, used or not', () => {
    const row = { ...consumed, consumed_at: NOW - 30_000, access_token_was_used: true, successor_was_used: true };
    expect(judge(row)).toMatchObject({
      kind: 'repeat',
      accessTokenExpiresAt: NOW + 1,
      successor: { scope: ['openid'] },
    });
    expect(judge({ ...row, access_token_expires_at: NOW })).toMatchObject({ kind: 'renew', mayBeUsed: true });
  });

  test('row 8: after the grace period an unused pair is renewed, even when its access token has expired', () => {
    expect(judge(consumed)).toMatchObject({ kind: 'renew', mayBeUsed: false });
    expect(judge({ ...consumed, access_token_expires_at: NOW - 1 })).toMatchObject({ kind: 'renew', mayBeUsed: false });
  });

  test.each<[string, Partial<RefreshTokenRow>]>([
    ['its access token was used', { access_token_was_used: true }],
    ['its refresh token was used', { successor_was_used: true }],
    ['its refresh token was consumed', { successor_consumed_at: NOW - 1_000 }],
    ['its refresh token was consumed, even within the grace', { successor_consumed_at: NOW, consumed_at: NOW }],
    ['its refresh token was consumed while a clock was ahead', { successor_consumed_at: NOW + 61_000 }],
    ['its successor is not stored any more', { successor_id: null }],
  ])('row 9: a consumed token is reuse once %s', (_, row) => {
    expect(judge({ ...consumed, ...row })).toEqual({ kind: 'reuse' });
  });

  test('an overtaken request ends nothing: the client continued after sending it', () => {
    const row = { ...consumed, consumed_at: NOW - 1, successor_consumed_at: NOW + 1 };
    expect(judge(row)).toEqual({ kind: 'refuse', reason: 'overtaken' });
    expect(judge(row, true)).toEqual({ kind: 'refuse', reason: 'overtaken' });
  });

  test('the loser of a race gets the winner’s pair whatever the grace period, but no reuse passes as a race', () => {
    expect(judge(consumed, true)).toMatchObject({ kind: 'repeat' });
    expect(judge({ ...consumed, successor_consumed_at: NOW - 1_000 }, true)).toEqual({ kind: 'reuse' });
  });
});
