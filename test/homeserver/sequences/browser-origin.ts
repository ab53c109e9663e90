import { expect } from 'vitest';
import { type HomeserverSetup, PASSWORD } from '../homeserver-setup.ts';
import type { Sequence } from './sequence.ts';

const ROUTES = ['login', 'logout', 'logout/all', 'refresh'];
const ORIGIN = 'https://app.example';
const LIMITED_SECONDS = 200;
const MAX_BODY_BYTES = 64 * 1024;

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly type?: string;
  /** Front origin of another instance. */
  readonly front?: string;
}

/** Sends a request as a script on a page of another origin. */
async function send(world: HomeserverSetup, path: string, { method = 'POST', body, type, front }: Sent) {
  const base = `${front ?? world.front.address}/_${world.protocolName}/client/v3/`;
  const response = await fetch(base + path, {
    method,
    headers: { origin: ORIGIN, ...(body !== undefined && { 'content-type': type ?? 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const members: Record<string, unknown> = await response.json();
  return { status: response.status, errcode: members['errcode'], headers: response.headers };
}

function passwordLogin(user: string, password = PASSWORD) {
  return { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password };
}

export const browserOrigin: readonly Sequence[] = [
  {
    id: 'I-26',
    claim: 'scripts of any origin may call, and can read every error',
    run: async (world) => {
      await world.person('i26');
      const requested = ['authorization', 'content-type'];
      for (const route of ROUTES) {
        const { status, headers } = await fetch(`${world.front.address}/_${world.protocolName}/client/v3/${route}`, {
          method: 'OPTIONS',
          headers: {
            origin: ORIGIN,
            'access-control-request-method': 'POST',
            'access-control-request-headers': requested.join(),
          },
        });
        expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
        expect(headers.get('access-control-allow-methods')).toContain('POST');
        const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(/, */);
        expect(allowed).toEqual(expect.arrayContaining(requested));
      }
      const wrong = await send(world, 'login', { body: passwordLogin('i26', 'wrong') });
      const tight = await world.alsoWith({ rate_limiting: { login: { per_ip: { burst: 1, per_second: 0.01 } } } });
      try {
        const { address: front } = tight;
        await send(world, 'login', { front, body: passwordLogin('i26', 'wrong') });
        const refusals = [
          [wrong, 403, 'M_FORBIDDEN'],
          [await send(world, 'login/nowhere', { body: {} }), 404, 'M_UNRECOGNIZED'],
          [await send(world, 'refresh', { body: { refresh_token: 'unknown' } }), 401, 'M_UNKNOWN_TOKEN'],
          [await send(world, 'logout', {}), 401, 'M_MISSING_TOKEN'],
          ...(await Promise.all(
            ROUTES.map(async (path) => [await send(world, path, { method: 'PUT' }), 405, 'M_UNRECOGNIZED'] as const),
          )),
          [await send(world, 'login', { body: 'x'.repeat(MAX_BODY_BYTES + 1) }), 413, 'M_TOO_LARGE'],
          [await send(world, 'login', { front, body: passwordLogin('i26') }), 429, 'M_LIMIT_EXCEEDED'],
        ] as const;
        for (const [{ status, errcode, headers }, expectedStatus, expectedCode] of refusals) {
          expect([status, errcode]).toEqual([expectedStatus, expectedCode]);
          expect(headers.get('access-control-allow-origin')).toBe('*');
          expect(headers.get('content-type')).toBe('application/json');
        }
      } finally {
        await tight.stop();
        // Both instances share the rate limits.
        world.clock.advanceSeconds(LIMITED_SECONDS);
      }
    },
  },
  {
    id: 'I-27',
    claim: 'unsupported requests are refused with the standard error code',
    run: async (world) => {
      const { type, password } = passwordLogin('i27');
      for (const [sent, errcode] of [
        [{ body: { type: 'm.login.application_service' } }, 'M_APPSERVICE_LOGIN_UNSUPPORTED'],
        [{ body: { type, password, identifier: { type: 'm.id.phone', country: 'GB', phone: '1' } } }, 'M_UNKNOWN'],
        [{ body: [passwordLogin('i27')] }, 'M_BAD_JSON'],
        [{ body: 'type=m.login.password', type: 'application/x-www-form-urlencoded' }, 'M_NOT_JSON'],
      ] as const) {
        const response = await send(world, 'login', sent);
        expect([response.status, response.errcode]).toEqual([400, errcode]);
      }
    },
  },
];
