import { describe, expect, test } from 'vitest';
import type { SessionCookie } from '#domain/records/browser-session.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { resolveViewer, type SessionLimits, type ViewerRow } from './viewer.ts';

const NOW = Date.UTC(2026, 5, 1);
const NO_LIMITS: SessionLimits = { idleSeconds: undefined };
const id = newId<'browser-session'>(NOW);
const userId = newId<'user'>(NOW);
const cookie: SessionCookie = { id, key: 'key', keyHash: sha256('key'), setAtSeconds: 0 };
const live = {
  viewer_session_id: toUuid(id),
  viewer_key_hash: sha256('key'),
  viewer_previous_key_hash: null,
  viewer_key_rotated_at: null,
  viewer_authenticated_at: NOW - 5000,
  viewer_acr: 'urn:latchkey:acr:1',
  viewer_amr: ['pwd'],
  viewer_created_at: NOW - 400_000,
  viewer_last_active_at: NOW - 300_000,
  viewer_is_finished: false,
  viewer_user_id: toUuid(userId),
  viewer_username: 'ada',
  viewer_display_name: null,
  viewer_locale: null,
  viewer_can_request_admin: false,
  viewer_is_locked: false,
  viewer_is_deactivated: false,
} satisfies ViewerRow;

const judge = (row: ViewerRow | undefined, limits = NO_LIMITS): ReturnType<typeof resolveViewer> =>
  resolveViewer(row, cookie, limits, NOW);

describe('reading the session (browser-flows 2.5)', () => {
  test('without a cookie the viewer is anonymous', () => {
    expect(resolveViewer(live, undefined, NO_LIMITS, NOW)).toEqual({ viewer: { kind: 'anonymous' } });
  });

  test('a missing row is reported', () => {
    const missing = { viewer: { kind: 'anonymous' }, remark: 'missing' };
    expect(judge(undefined)).toEqual(missing);
    expect(judge({ viewer_session_id: null })).toEqual(missing);
  });

  test('a live session with its key is the viewer', () => {
    expect(judge(live)).toEqual({
      viewer: {
        kind: 'active',
        session: {
          id,
          authenticatedAt: NOW - 5000,
          acr: 'urn:latchkey:acr:1',
          amr: ['pwd'],
          createdAt: NOW - 400_000,
        },
        user: {
          id: userId,
          username: 'ada',
          displayName: undefined,
          locale: undefined,
          canRequestAdmin: false,
          isLocked: false,
          isDeactivated: false,
        },
      },
    });
  });

  test.each([
    ['live', {}],
    ['finished', { viewer_is_finished: true }],
    ['locked', { viewer_is_locked: true }],
  ])('a wrong key shows nothing of a %s session', (_, change) => {
    expect(judge({ ...live, ...change, viewer_key_hash: sha256('other') })).toEqual({ viewer: { kind: 'anonymous' } });
  });

  test('the key before the last rotation is valid for 30 seconds', () => {
    const rotated = (msAgo: number): ViewerRow => ({
      ...live,
      viewer_key_hash: sha256('new'),
      viewer_previous_key_hash: sha256('key'),
      viewer_key_rotated_at: NOW - msAgo,
    });
    expect(judge(rotated(29_999)).viewer.kind).toBe('active');
    expect(judge(rotated(30_000)).viewer.kind).toBe('anonymous');
  });

  test.each([
    ['finished elsewhere', { viewer_is_finished: true }, 'ended'],
    ['finished, its user locked', { viewer_is_finished: true, viewer_is_locked: true }, 'ended'],
    ['of a locked user', { viewer_is_locked: true }, 'locked'],
    ['of a deactivated user', { viewer_is_deactivated: true }, 'deactivated'],
    ['of a locked and deactivated user', { viewer_is_locked: true, viewer_is_deactivated: true }, 'deactivated'],
  ])('a session %s gets its page', (_, change, kind) => {
    expect(judge({ ...live, ...change })).toMatchObject({ viewer: { kind, sessionId: id, user: { username: 'ada' } } });
  });

  test.each([
    // Activity is written with a delay of up to two minutes.
    ['idle for longer', { idleSeconds: 179 }, 'anonymous'],
    ['idle for the limit', { idleSeconds: 180 }, 'active'],
  ])('a session that is %s (S-66)', (_, limits, kind) => {
    const judgement = judge(live, limits);
    expect(judgement.viewer.kind).toBe(kind);
    expect(judgement.remark).toBe(kind === 'active' ? undefined : 'expired');
  });

  test('a session that was never used is idle since it was opened', () => {
    const unused = { ...live, viewer_last_active_at: null };
    expect(judge(unused, { idleSeconds: 179 }).remark).toBe('expired');
  });
});
