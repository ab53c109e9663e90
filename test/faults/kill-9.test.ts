import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const ROUNDS = 30;
/** Killed at the same time, because each waits for its processes most of the time. */
const INSTALLATIONS = 2;
const WORKERS = 4;
const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';

/** What the client of one session has received, recorded before it sends the next request. */
interface Session {
  refreshToken: string;
  accessToken: string;
  /** A refresh is unanswered, so its outcome is unknown. */
  isRefreshing: boolean;
}

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A service with its own embedded database, and the journal of its client. */
class Installation {
  /** The client's own tokens: those it has received, and those with an acknowledged revocation. */
  readonly #live = new Set<string>();
  readonly #revoked = new Set<string>();
  /** Tokens with an unanswered revocation. */
  readonly #uncertain = new Set<string>();
  readonly #sessions: Session[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'latchkey-kill-'));
  #base = '';
  #program: Program | undefined;
  #service: ChildProcess | undefined;
  #isUnderLoad = false;

  /** The number of tokens whose state is known. */
  get known(): number {
    return this.#live.size + this.#revoked.size;
  }

  async setUp(): Promise<void> {
    // Lets the database server's account enter the folder when the tests run as root.
    chmodSync(this.#folder, 0o711);
    const port = await freePort();
    this.#base = `http://127.0.0.1:${port}/`;
    const program = new Program(this.#folder, {
      data_dir: join(this.#folder, 'data'),
      http: {
        public_base: this.#base,
        listeners: [
          {
            name: 'web',
            resources: ['discovery', 'human', 'oauth', 'health'],
            binds: [{ address: `127.0.0.1:${port}` }],
          },
        ],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
          redirect_uris: [CALLBACK],
          first_party: true,
        },
      ],
      rate_limiting: { login: { per_ip: { burst: 100, per_second: 100 } } },
      experimental: { access_token_ttl: 86_400 },
      oauth: { refresh_grace: 0 },
      logging: { level: 'error' },
    });
    this.#program = program;
    await this.#start();
    await program.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
    for (let count = 0; count < WORKERS; count += 1) this.#sessions.push(await this.#signIn());
  }

  async remove(): Promise<void> {
    if (this.#service !== undefined) await stopProcess(this.#service);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Kills the service and its database under load, starts them again, and compares with the journal. */
  async killAndCompare(round: number): Promise<void> {
    this.#isUnderLoad = true;
    const load = [
      ...this.#sessions.map((session) => this.#refreshUntilKilled(session)),
      this.#issueUntilKilled(),
      this.#issueUntilKilled(),
    ];
    await pause(randomInt(20, 400));
    this.#isUnderLoad = false;
    await this.#killEverything();
    await Promise.all(load);
    await this.#start();
    await this.#compareWithJournal(round);
  }

  async #refreshUntilKilled(session: Session): Promise<void> {
    while (this.#isUnderLoad) {
      session.isRefreshing = true;
      const response = await this.#post('oauth2/token', {
        grant_type: 'refresh_token',
        refresh_token: session.refreshToken,
      });
      if (response === undefined) return;
      keep(session, response.body);
    }
  }

  async #issueUntilKilled(): Promise<void> {
    while (this.#isUnderLoad) {
      const issued = await this.#post('oauth2/token', { grant_type: 'client_credentials' });
      if (issued === undefined) return;
      const token = String(issued.body['access_token']);
      this.#live.add(token);
      if (randomInt(2) === 0) continue;
      this.#live.delete(token);
      this.#uncertain.add(token);
      const ended = await this.#post('oauth2/revoke', { token });
      if (ended === undefined) return;
      this.#uncertain.delete(token);
      this.#revoked.add(token);
    }
  }

  async #compareWithJournal(round: number): Promise<void> {
    for (const [index, session] of this.#sessions.entries()) {
      // An unanswered refresh may have rotated the tokens, which correctly deactivates the previous access token.
      if (!session.isRefreshing)
        expect(await this.#isActive(session.accessToken), `round ${round}, session ${index}`).toBe(true);
      const response = await this.#post('oauth2/token', {
        grant_type: 'refresh_token',
        refresh_token: session.refreshToken,
      });
      expect(response, `round ${round}, session ${index}: signed out by a lost answer`).toMatchObject({ status: 200 });
      if (response !== undefined) keep(session, response.body);
      expect(await this.#isActive(session.accessToken)).toBe(true);
    }
    for (const token of sample(this.#live))
      expect(await this.#isActive(token), `round ${round}: an issued token is lost`).toBe(true);
    for (const token of sample(this.#revoked))
      expect(await this.#isActive(token), `round ${round}: a revocation is lost`).toBe(false);
  }

  async #isActive(token: string): Promise<boolean> {
    const response = await this.#post('oauth2/introspect', { token });
    return response?.body['active'] === true;
  }

  /** Returns undefined when the service or its database stopped before the response. */
  async #post(path: string, fields: Record<string, string>): Promise<TestResponse | undefined> {
    try {
      const response = await fetch(this.#base + path, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION },
        body: new URLSearchParams(fields),
      });
      const text = await response.text();
      if (response.status === 503) return undefined;
      expect(response.status, text).toBe(200);
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async #signIn(): Promise<Session> {
    const browser = new Browser({ listener: this.#base.slice(0, -1), publicBase: this.#base });
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
    });
    await browser.open(`/authorize?${query}`);
    await browser.submit({ username: 'amira', password: PASSWORD });
    const page = await browser.follow();
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const response = await this.#post('oauth2/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
    });
    if (response?.status !== 200) throw new Error(`no tokens: ${JSON.stringify(response)}`);
    const session = { refreshToken: '', accessToken: '', isRefreshing: false };
    keep(session, response.body);
    return session;
  }

  async #start(): Promise<void> {
    this.#service = await this.#program?.serve(this.#base);
  }

  /** Kills Node.js and all database processes at the same time, like a power failure. */
  async #killEverything(): Promise<void> {
    const killed = this.#service;
    if (killed === undefined) return;
    const pids = readFileSync(join(this.#folder, 'data', 'db', 'postmaster.pid'), 'utf8').split('\n');
    const ended = new Promise((resolve) => killed.once('exit', resolve));
    // The server leads a process group that includes its children.
    process.kill(-Number(pids[0]), 'SIGKILL');
    killed.kill('SIGKILL');
    await ended;
  }
}

const installations = Array.from({ length: INSTALLATIONS }, () => new Installation());

beforeAll(async () => {
  await Promise.all(installations.map((installation) => installation.setUp()));
});

afterAll(async () => {
  await Promise.all(installations.map((installation) => installation.remove()));
});

test(`${ROUNDS} kills of the service and its database: every acknowledged token works, every acknowledged revocation holds (O-01 to O-04)`, async () => {
  await Promise.all(
    installations.map(async (installation, index) => {
      for (let round = index; round < ROUNDS; round += INSTALLATIONS) await installation.killAndCompare(round);
    }),
  );
  expect(installations.reduce((known, installation) => known + installation.known, 0)).toBeGreaterThan(ROUNDS);
}, 300_000);

function keep(session: Session, body: Readonly<Record<string, unknown>>): void {
  session.refreshToken = String(body['refresh_token']);
  session.accessToken = String(body['access_token']);
  session.isRefreshing = false;
}

/** Returns the newest tokens, which a crash could have lost, and a few old ones. */
function sample(tokens: ReadonlySet<string>): string[] {
  const all = [...tokens];
  return [...all.slice(-20), ...all.slice(0, 5)];
}
