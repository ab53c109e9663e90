/**
 * Sends arbitrary input to every mounted route. Expects no server error, one log line, and no writes by rejected
 * requests. New routes are covered automatically.
 *
 * The seed is fixed. A failure prints it with the path to the smallest failing request.
 */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { attackedService, basic, C1 } from '../attacks/attacked-service.ts';
import { requestBytes, sendBytes } from '../attacks/raw-http.ts';
import { changedTables, type TableStates } from '../attacks/table-states.ts';
import { type HostileRequest, hostileRequest, type Surroundings, spoiltBytes } from './hostile-request.ts';
import { expectValidLogLines, expectValidResponse } from './invariants.ts';
import { cookieHeader, Victim } from './victim.ts';

const SEED = 20_260_601;
const REQUESTS = 2000;
const SPOILT_REQUESTS = 1000;
const TIMEOUT_MS = 600_000;

const attacked = attackedService({}, { arePasswordsChosen: true });
const victim = new Victim(attacked);
let surroundings: Surroundings;

beforeAll(async () => {
  await victim.renewSession();
  const { accessToken, refreshToken, code } = await attacked.tokens(victim.browser, C1);
  await victim.renewGrant();
  const ids = [victim.grantId, C1.id];
  surroundings = {
    routes: attacked.service.routes,
    ids,
    genuine: [...ids, accessToken, refreshToken, code, C1.callback],
    deadCookies: [
      await deadSession('bruno', 'update user_sessions set finished_at = created_at where user_id ='),
      await deadSession('adele', 'update users set locked_at = created_at where id ='),
      await deadSession('bruno', 'delete from user_sessions where user_id ='),
    ],
  };
});

async function deadSession(username: string, change: string): Promise<string> {
  const dead = cookieHeader(await attacked.signedIn(username));
  await attacked.change(`${change} (select id from users where username = $1::text)`, [username]);
  return dead;
}

/** Returns the tables that a response with this status may have changed. */
function mayChange(request: HostileRequest, status: number): 'anything' | readonly string[] {
  const { method, path } = request;
  // The fifth consecutive wrong password ends the session, and the page reports it.
  if (method === 'POST' && path === '/reauth') return status === 303 ? 'anything' : ['user_sessions'];
  if (status >= 400) return [];
  if (method === 'POST') return isForm(path) && status === 200 ? [] : 'anything';
  // Routes that continue a flow on GET, and therefore reject HEAD.
  const changes = attacked.service.routes.some((route) => route.headRefused === true && fits(route.path, path));
  return method === 'GET' && changes ? 'anything' : [];
}

function isForm(path: string): boolean {
  return attacked.service.routes.some((route) => route.errorFormat === 'page' && fits(route.path, path));
}

function fits(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]*').replace('*', '.*')}$`).test(path);
}

test(
  `no internal error, one log line, no writes by refused requests: ${REQUESTS} hostile requests at every route (S-157 to S-163)`,
  async () => {
    let before: TableStates = await attacked.tableStates();
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(hostileRequest(surroundings), async (generated) => {
        const request = victim.readyToSend(generated);
        const logged = attacked.service.logLines().length;
        const response = await attacked.ask(request);
        const lines = expectValidLogLines(attacked.service.logLines().slice(logged));
        expect(lines.map(({ status }) => status)).toEqual([response.status]);
        expectValidResponse(response);
        const after = await attacked.tableStates();
        const allowed = mayChange(request, response.status);
        const written = changedTables(before, after);
        if (allowed !== 'anything') expect(written.filter((table) => !allowed.includes(table))).toEqual([]);
        seen.add(`${request.method} ${response.status}`);
        await victim.recover(written);
        before = written.length === 0 ? after : await attacked.tableStates();
      }),
      { seed: SEED, numRuns: REQUESTS },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    // Some requests passed the first checks: forms were accepted, pages rendered and tokens evaluated.
    for (const outcome of ['GET 200', 'GET 303', 'POST 200', 'POST 303', 'POST 400', 'POST 401', 'POST 403']) {
      expect(seen).toContain(outcome);
    }
  },
  TIMEOUT_MS,
);

test(
  `corrupted requests are either answered or refused: ${SPOILT_REQUESTS} of them (S-150)`,
  async () => {
    const form: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
    const requests = attacked.routes().map(({ method, target }) => {
      if (method === 'GET') return requestBytes({ target, headers: [['Cookie', cookieHeader(victim.browser)]] });
      const body = 'grant_type=client_credentials&token=x&username=a&password=b';
      return requestBytes({ method, target, headers: [form, ['Authorization', basic(C1) ?? '']], body });
    });
    let before: TableStates = await attacked.tableStates();
    await fc.assert(
      fc.asyncProperty(spoiltBytes(requests), async (bytes) => {
        const logged = attacked.service.logLines().length;
        const responses = await sendBytes(attacked.service.address, bytes);
        const lines = expectValidLogLines(attacked.service.logLines().slice(logged));
        for (const response of responses) expect(response.status).toBeLessThan(500);
        // One response may come from the parser, and one request may have been cut off before it was complete.
        expect(Math.abs(lines.length - responses.length)).toBeLessThanOrEqual(1);
        const after = await attacked.tableStates();
        if (lines.every(({ status }) => status >= 400)) expect(changedTables(before, after)).toEqual([]);
        before = after;
      }),
      { seed: SEED, numRuns: SPOILT_REQUESTS },
    );
  },
  TIMEOUT_MS,
);
