/**
 * Tests each mounted endpoint over its whole parameter space and for each kind of caller. Expects no server error, no
 * redirect to an unregistered URL, and one log line with the correct requester.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Route } from '#platform/http/route.ts';
import { attackedService, basic, C1, HOMESERVER_SECRET, P1 } from '../attacks/attacked-service.ts';
import type { RequestLine } from '../support/log-expression.ts';
import { acceptableForms, type HostileRequest, PLACEHOLDERS, written } from './hostile-request.ts';
import { few, fieldName, hostileValue } from './hostile-values.ts';
import { expectValidLogLines, expectValidResponse } from './invariants.ts';
import { cookieHeader, Victim } from './victim.ts';

const SEED = 20_260_602;
const REQUESTS_FOR_EACH = 25;
/** For endpoints that authenticate clients and the homeserver. */
const REQUESTS_WITH_CREDENTIALS = 60;
const CREDENTIALS_PATH = /^\/oauth2\/(token|revoke|device|introspect|par)$/;
const TIMEOUT_MS = 300_000;

const attacked = attackedService({}, { arePasswordsChosen: true });
const victim = new Victim(attacked);
let signedOut: string;

beforeAll(async () => {
  await victim.renewSession();
  await victim.renewGrant();
  const browser = await attacked.signedIn('bruno');
  signedOut = cookieHeader(browser);
  await attacked.change(
    `update user_sessions set finished_at = created_at where user_id = (select id from users where username = $1::text)`,
    ['bruno'],
  );
});

/** Callers, and the requester that the log may show for them. */
const CALLERS = {
  nobody: { headers: () => [], requester: undefined },
  amira: { headers: () => [['Cookie', PLACEHOLDERS.cookies]], requester: 'user(amira)' },
  signedOut: { headers: () => [['Cookie', signedOut]], requester: undefined },
  client: { headers: () => [['Authorization', basic(C1) ?? '']], requester: `oauth2-client:${C1.id}` },
  impostor: { headers: () => [['Authorization', basic({ ...C1, secret: 'wrong' }) ?? '']], requester: undefined },
  homeserver: { headers: () => [['Authorization', `Bearer ${HOMESERVER_SECRET}`]], requester: 'homeserver' },
} as const satisfies Record<string, { headers: () => [string, string][]; requester: string | undefined }>;
type Caller = keyof typeof CALLERS;
const CALLER_NAMES: readonly Caller[] = ['nobody', 'amira', 'signedOut', 'client', 'impostor', 'homeserver'];

interface Sent {
  readonly caller: Caller;
  readonly request: HostileRequest;
}

/** Takes one of the endpoint's forms, omits, repeats or replaces some fields, and adds unknown ones. */
function requestTo({ method, path }: Route): fc.Arbitrary<Sent> {
  const genuine = [C1.id, P1.id, C1.callback, victim.grantId];
  const value = hostileValue(genuine);
  const forms = acceptableForms(path);
  return fc
    .record({
      caller: fc.constantFrom(...CALLER_NAMES),
      form: fc.constantFrom(...forms),
      fates: fc.array(fc.tuple(fc.constantFrom('keep', 'keep', 'keep', 'drop', 'repeat', 'replace'), value), {
        minLength: 12,
        maxLength: 12,
      }),
      more: few(fc.tuple(fieldName(genuine), value)),
      segment: fc.oneof(fc.constantFrom(victim.grantId, C1.id), hostileValue([C1.id])),
    })
    .map(({ caller, form, fates, more, segment }) => {
      const fields = form.flatMap(([name, right], index): (readonly [string, string])[] => {
        const [fate, other] = fates[index % fates.length] ?? ['keep', ''];
        if (fate === 'drop') return [];
        if (fate === 'repeat')
          return [
            [name, right],
            [name, other],
          ];
        return [[name, fate === 'replace' ? other : right]];
      });
      const text = written([...fields, ...more]);
      const address = path.replaceAll(/:\w+|\*/g, () => segment);
      const headers: [string, string][] = [...CALLERS[caller].headers()];
      if (method === 'GET')
        return { caller, request: { method, path: address, target: `${address}?${text}`, headers } };
      headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
      return { caller, request: { method, path: address, target: address, headers, body: text } };
    });
}

/**
 * Returns the requesters that the log line may name. There are several if the request may be rejected before
 * authentication.
 */
function rightRequesters(route: Route, { caller, request }: Sent, status: number): (string | undefined)[] {
  const { requester } = CALLERS[caller];
  if (route.errorFormat === 'page') {
    if (route.method === 'POST' && route.path === '/login' && status === 303) return ['user(amira)'];
    return caller === 'amira' ? [undefined, requester] : [undefined];
  }
  // The endpoint identifies the caller before it parses the query.
  if (route.path === '/graphql' && route.method === 'GET' && caller === 'amira') return [undefined, requester];
  if (!CREDENTIALS_PATH.test(route.path)) return [undefined];
  const isCaller = caller === 'client' || (caller === 'homeserver' && route.path === '/oauth2/introspect');
  if (status < 300 && isCaller) return [requester];
  const named = `${request.body ?? ''}`.includes(P1.id) ? [`oauth2-client:${P1.id}`] : [];
  return [undefined, ...(isCaller ? [requester] : []), ...named];
}

function requesterOf({ requester }: RequestLine): string | undefined {
  return requester?.replace(/^user:[0-9A-Z]{26}/, 'user');
}

test(
  `no internal error, no foreign redirect, one log line with the right requester: ${REQUESTS_FOR_EACH} requests or more to each endpoint (S-157 to S-162)`,
  async () => {
    const seen = new Set<string | undefined>();
    for (const route of attacked.service.routes) {
      await fc.assert(
        fc.asyncProperty(requestTo(route), async (sent) => {
          const request = await victim.prepare(sent.request);
          const logged = attacked.service.logLines().length;
          const response = await attacked.ask(request);
          const lines = expectValidLogLines(attacked.service.logLines().slice(logged));
          const where = `${sent.caller}: ${request.method} ${request.target} ${request.body ?? ''}`;
          expect(
            lines.map(({ status }) => status),
            where,
          ).toEqual([response.status]);
          expectValidResponse(response, where);
          const requesters = lines.map(requesterOf);
          expect(rightRequesters(route, sent, response.status), `${where} -> ${response.status}`).toContain(
            requesters[0],
          );
          seen.add(requesters[0]);
          const setsSession = response.headers
            .get('set-cookie')
            ?.some((line) => line.startsWith('__Host-latchkey_session='));
          const isWrongPassword = route.path === '/reauth' && response.status === 200 && route.method === 'POST';
          if (setsSession === true || isWrongPassword) await victim.recover(['user_sessions']);
          if (response.status === 303 && route.path === '/authorize') victim.markGrantUsed();
        }),
        {
          seed: SEED,
          numRuns: CREDENTIALS_PATH.test(route.path) ? REQUESTS_WITH_CREDENTIALS : REQUESTS_FOR_EACH,
        },
      );
    }
    // Each kind of authenticated caller passed the first checks.
    const named = [undefined, 'user(amira)', `oauth2-client:${C1.id}`, `oauth2-client:${P1.id}`, 'homeserver'];
    expect(named.filter((name) => !seen.has(name))).toEqual([]);
  },
  TIMEOUT_MS,
);
