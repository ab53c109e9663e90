/** Sends each hostile value in each field once. Random tests alone would leave gaps. */
import { beforeAll, expect, test } from 'vitest';
import { attackedService, basic, C1 } from '../attacks/attacked-service.ts';
import { acceptableForms, type HostileRequest, PLACEHOLDERS, written } from './hostile-request.ts';
import { HEADER_NAMES, HEADER_VALUES, HOSTILE_VALUES } from './hostile-values.ts';
import { expectValidLogLines, expectValidResponse } from './invariants.ts';
import { Victim } from './victim.ts';

const TIMEOUT_MS = 600_000;

const attacked = attackedService({}, { arePasswordsChosen: true });
const victim = new Victim(attacked);

beforeAll(async () => {
  await victim.renewSession();
  await victim.renewGrant();
});

/** Sends each request and checks its response and its log line. @returns the number of requests */
async function sendAll(requests: Iterable<HostileRequest>): Promise<number> {
  let count = 0;
  for (const request of requests) {
    const ready = await victim.prepare(request);
    const logged = attacked.service.logLines().length;
    const response = await attacked.ask(ready);
    const where = `${request.method} ${request.target} ${JSON.stringify(request.headers)} ${request.body ?? ''}`;
    const lines = expectValidLogLines(attacked.service.logLines().slice(logged));
    expect(
      lines.map(({ status }) => status),
      where,
    ).toEqual([response.status]);
    expectValidResponse(response, where);
    // The session was replaced or ended, or is about to end after too many wrong passwords.
    const setsSession =
      response.headers.get('set-cookie')?.some((line) => line.startsWith('__Host-latchkey_session=')) === true;
    const isWrongPassword = request.method === 'POST' && request.path === '/reauth' && response.status === 200;
    if (setsSession || isWrongPassword) await victim.recover(['user_sessions']);
    if (response.status === 303 && request.path === '/authorize') victim.markGrantUsed();
    count += 1;
  }
  return count;
}

const FORM: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
const COOKIE: [string, string] = ['Cookie', PLACEHOLDERS.cookies];

test(
  'in each field of each form that would be valid without it (S-157, S-159 to S-162)',
  async () => {
    expect(await sendAll(everyField())).toBeGreaterThan(2000);
  },
  TIMEOUT_MS,
);

function* everyField(): Generator<HostileRequest> {
  for (const { method, path, target: address } of attacked.routes()) {
    const headers: [string, string][] = path.startsWith('/oauth2/') ? [['Authorization', basic(C1) ?? '']] : [COOKIE];
    const seen = new Set<string>();
    for (const form of acceptableForms(path)) {
      for (const [changed] of form.filter(([name]) => !seen.has(name))) {
        seen.add(changed);
        for (const value of HOSTILE_VALUES) {
          const text = written(form.map(([name, right]) => [name, name === changed ? value : right]));
          const request = { method, path: address, headers };
          if (method === 'GET') yield { ...request, target: `${address}?${text}` };
          else yield { ...request, target: address, headers: [...headers, FORM], body: text };
        }
      }
    }
  }
}

test(
  'in each parameter of each path (S-158)',
  async () => {
    expect(await sendAll(everyPath())).toBeGreaterThan(200);
  },
  TIMEOUT_MS,
);

function* everyPath(): Generator<HostileRequest> {
  for (const { method, path } of attacked.routes().filter((route) => /:|\*/.test(route.path))) {
    for (const value of HOSTILE_VALUES) {
      const target = path.replaceAll(/:\w+|\*/g, () => value);
      const request = { method, path: target, target };
      if (method === 'GET') yield { ...request, headers: [COOKIE] };
      else yield { ...request, headers: [COOKIE, FORM], body: `csrf=${PLACEHOLDERS.csrf}` };
    }
  }
}

test(
  'in each header of a request that is stored with its sender (S-75, S-147, S-163)',
  async () => {
    expect(await sendAll(everyHeader())).toBeGreaterThan(2000);
  },
  TIMEOUT_MS,
);

function* everyHeader(): Generator<HostileRequest> {
  const target = attacked.authorizeUrl(C1);
  for (const name of HEADER_NAMES) {
    for (const value of HEADER_VALUES) yield { method: 'GET', path: '/authorize', target, headers: [[name, value]] };
  }
}
