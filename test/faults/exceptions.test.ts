import { afterAll, beforeAll, expect, test } from 'vitest';
import { currentTask } from '#platform/base/tasks.ts';
import { Browser } from '../support/browser.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';

const PASSWORD = 'correct horse battery staple';
const MESSAGE = 'a defect in the middle of a request';

/** A clock that throws once, at any time that a request reads it. */
class DefectiveClock extends FakeClock {
  /** Number of reads by POST requests until it throws. Undefined means never. */
  remaining: number | undefined;

  override now(): number {
    if (this.remaining !== undefined && currentTask()?.id.startsWith('POST-') === true) {
      this.remaining -= 1;
      if (this.remaining < 0) {
        this.remaining = undefined;
        throw new TypeError(MESSAGE);
      }
    }
    return super.now();
  }
}

const clock = new DefectiveClock();
let service: TestService;

beforeAll(async () => {
  const ample = { burst: 1000, per_second: 1000 };
  service = await startService(
    {
      rate_limiting: { login: { per_ip: ample, per_account: ample } },
      passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
    },
    { clock, expectedErrors: [MESSAGE, '" 500 '] },
  );
  await service.registerUser('amira', PASSWORD);
});
afterAll(async () => await service.stop());

interface Written {
  readonly sessions: number;
  readonly authentications: number;
  readonly events: number;
}

async function written(): Promise<Written | undefined> {
  const [row] = await sql<Written & Record<string, unknown>>(
    service.database,
    `select (select count(*) from user_sessions)::integer as sessions,
            (select count(*) from user_session_authentications)::integer as authentications,
            (select count(*) from audit_events where kind = 'login')::integer as events`,
    [],
  );
  return row;
}

async function signIn(): Promise<number> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  return (await browser.submit({ username: 'amira', password: PASSWORD })).status;
}

test('F-27: an exception at any moment of a sign-in: 500, one log line with its id; nothing is stored before the commit, and everything after', async () => {
  const before = await written();
  let moments = 0;
  for (let isCommitted = false; !isCommitted; moments += 1) {
    const linesBefore = service.logLines().length;
    clock.remaining = moments;
    expect(await signIn()).toBe(500);
    expect(clock.remaining).toBeUndefined();
    const id = service.requestLines().at(-1)?.id;
    expect(id).toMatch(/^POST-/);
    const told = service
      .logLines()
      .slice(linesBefore)
      .filter((line) => line.includes(MESSAGE));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(` ERROR error ${id} `);
    const after = await written();
    isCommitted = after?.sessions !== before?.sessions;
    const count = isCommitted ? 1 : 0;
    expect(after).toEqual({
      sessions: (before?.sessions ?? 0) + count,
      authentications: (before?.authentications ?? 0) + count,
      events: (before?.events ?? 0) + count,
    });
  }
  expect(moments).toBeGreaterThan(2);
  expect(await signIn()).toBe(303);
});

test('F-27: an exception in request accounting after the response headers: this and the next request are answered', async () => {
  for (let moments = 0; ; moments += 1) {
    const linesBefore = service.logLines().length;
    clock.remaining = moments;
    const status = await signIn();
    if (clock.remaining !== undefined) {
      expect(status).toBe(303);
      break;
    }
    expect([303, 500]).toContain(status);
    expect(
      service
        .logLines()
        .slice(linesBefore)
        .filter((line) => line.includes(MESSAGE)),
    ).toHaveLength(1);
  }
  clock.remaining = undefined;
  expect(await signIn()).toBe(303);
});
