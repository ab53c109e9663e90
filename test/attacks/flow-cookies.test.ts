/** How many flows a browser remembers, and for how long (browser-flows 2.1, 14). A cookie cannot grow without bound. */
import { describe, expect, test } from 'vitest';
import { bindGrant, isGrantBound } from '#browser/grants-cookie.ts';
import { bindRecovery, boundRecovery } from '#browser/recoveries-cookie.ts';
import { bindRegistration, boundRegistration } from '#browser/registrations-cookie.ts';
import { rememberEntry, upstreamEntries } from '#browser/upstream-cookie.ts';
import { newId } from '#platform/base/ids.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { TEST_KEYS } from '../support/route-server.ts';
import { silentLog } from '../support/silent-log.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const HOUR = 3600;
/** RFC 6265bis 5.6: browsers ignore longer cookies. */
const MAX_COOKIE_BYTES = 4096;
const cookies = new Cookies({
  keys: TEST_KEYS,
  address: { isHttps: true, basePath: '/' },
  log: silentLog,
  prefix: 'latchkey_',
});

type Context = { readonly cookies: ReturnType<Cookies['jar']> };

function beginUpstream(context: Context, now: number, action: PostAuthAction) {
  const id = newId<'upstream-authorization'>(now);
  const entry = { id, providerId: newId(now), state: 'S'.repeat(43), linkId: newId<'upstream-link'>(now) };
  rememberEntry(context, 'chat', now, { ...entry, action, at: now / 1000 });
  return (later: Context, at: number) => upstreamEntries(later, 'chat', at).some((known) => known.id === id);
}

interface Flow {
  readonly name: string;
  readonly max: number;
  readonly seconds: number;
  /** Starts a flow. @returns a function that checks whether the browser still knows the flow at a given time */
  readonly begin: (context: Context, now: number) => (context: Context, now: number) => boolean;
}

const FLOWS: readonly Flow[] = [
  {
    name: 'grants',
    max: 10,
    seconds: HOUR,
    begin: (context, now) => {
      const id = newId<'authorization-grant'>(now);
      bindGrant(context, id, now);
      return (later, at) => isGrantBound(later, id, at);
    },
  },
  {
    name: 'registrations',
    max: 8,
    seconds: HOUR,
    begin: (context, now) => {
      const id = newId<'registration'>(now);
      bindRegistration(context, id, HOUR, now);
      return (later) => boundRegistration(later, id) !== undefined;
    },
  },
  {
    name: 'recoveries',
    max: 4,
    seconds: HOUR,
    begin: (context, now) => {
      const id = newId<'recovery-session'>(now);
      bindRecovery(context, id, HOUR, now);
      return (later) => boundRecovery(later, id) !== undefined;
    },
  },
  {
    name: 'upstream',
    max: 8,
    seconds: 45 * 60,
    begin: (context, now) => {
      return beginUpstream(context, now, { kind: 'continue_authorization_grant', id: newId(now) });
    },
  },
];

describe.each(FLOWS)('the cookie of $name', ({ name, max, seconds, begin }) => {
  test(`names the ${max} newest and stays within browser limits`, () => {
    const context = { cookies: cookies.jar(undefined) };
    const known = Array.from({ length: max + 3 }, (_, index) => begin(context, NOW + index * 1000));
    const end = NOW + known.length * 1000;
    expect(known.map((isKnown) => isKnown(context, end))).toEqual([
      ...[false, false, false],
      ...new Array<boolean>(max).fill(true),
    ]);
    const [header = ''] = context.cookies.changes();
    expect(header).toContain(`latchkey_${name}=`);
    expect(header.split(';')[0]?.length).toBeLessThanOrEqual(MAX_COOKIE_BYTES);
  });

  test(`expires an entry after ${seconds / 60} minutes, at the latest when the next one is added`, () => {
    const context = { cookies: cookies.jar(undefined) };
    const isKnown = begin(context, NOW);
    const last = NOW + seconds * 1000 - 1000;
    begin(context, last);
    expect(isKnown(context, last)).toBe(true);
    begin(context, last + 1000);
    expect(isKnown(context, last + 1000)).toBe(false);
  });
});

test('long continuations do not make the cookie too long for a sign-in through a provider (S-95)', () => {
  const context = { cookies: cookies.jar(undefined) };
  const action: PostAuthAction = {
    kind: 'manage_account',
    account: { action: 'org.chat.session_view', deviceId: 'é'.repeat(255) },
  };
  for (let count = 0; count < 20; count += 1) {
    const isKnown = beginUpstream(context, NOW + count, action);
    expect(isKnown(context, NOW + count)).toBe(true);
    const [header = ''] = context.cookies.changes();
    expect(header.split(';')[0]?.length).toBeLessThanOrEqual(MAX_COOKIE_BYTES);
  }
});
