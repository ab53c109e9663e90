import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { median, percentile, rounded } from '../../../bench/statistics.js';
import { say } from '../../browser/checks.js';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { CALLBACK, CLIENT_ID, CLIENT_SECRET, PASSWORD } from '../../cluster/load.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
const ADDRESS = { 'x-forwarded-for': '203.0.113.9' };
/** Number of users who share an address, and the seconds during which they sign in. */
const CLASS = { pupils: 500, seconds: 300 };
const CLASS_SHORT = { pupils: 40, seconds: 10 };
/** The default is three concurrent tries. On a slow machine, correct passwords alone exceed that. */
const TRIES = { burst: 30, per_second: 0.5 };
/** One in this number of users mistypes the password first. */
const MISTYPED = 50;
const TEMPLATE = 'pupil-0';
const PUPILS = `
  with made as (
    insert into users (id, username, username_key, created_at)
    select gen_random_uuid(), 'pupil-' || n, 'pupil-' || n, now() from generate_series(1, $1::integer) n
    returning id
  )
  insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  select made.id, gen_random_uuid(), p.hash, p.scheme_version, now()
    from made, user_passwords p join users u on u.id = p.user_id where u.username = '${TEMPLATE}'`;

export const fault = {
  id: 'F-30',
  title: 'a school class signs in behind one address',
  async run({ checks, folder, isShort }) {
    const { pupils, seconds } = isShort ? CLASS_SHORT : CLASS;
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      const { base, program } = await instances.add(databaseSettings(database), {
        // Default limits, except for the tries per address.
        change: ({ limits, passwords, ...settings }) => ({
          ...settings,
          http: { ...settings.http, trusted_proxies: ['127.0.0.1'] },
          limits: { work: {} },
          rate_limiting: { login: { per_ip: TRIES } },
        }),
      });
      const register = ['manage', 'register-user', '--yes', '--password-file', '-', TEMPLATE];
      await program.run(register, PASSWORD);
      await makePupils(database, pupils);
      const [times, failures, inProgress] = [[], [], []];
      for (let index = 1; index <= pupils; index += 1) {
        const startedAt = performance.now();
        inProgress.push(
          signIn(base, index).then(
            () => times.push(performance.now() - startedAt),
            (error) => failures.push(error.message),
          ),
        );
        await pause((seconds * 1000) / pupils);
      }
      await Promise.all(inProgress);
      times.sort((one, other) => one - other);
      say(
        `${times.length} of ${pupils} signed in within ${seconds} s, each in ${rounded(median(times))} ms, ` +
          `p99 ${rounded(percentile(times, 0.99))} ms`,
      );
      await checks.that('F-30: everybody signs in with the default budget of work', () => requireNone(failures));
    } finally {
      await instances.stop();
      await database.remove();
    }
  },
};

async function makePupils({ host, port }, count) {
  const client = new pg.Client({ host, port, user: DATABASE_USER, database: 'postgres' });
  await client.connect();
  await client.query(PUPILS, [count]);
  await client.end();
}

/** Signs in, from the client's page to its tokens, and loads everything on the pages. */
async function signIn(base, index) {
  const browser = new Browser({ listener: base.slice(0, -1), publicBase: base, headers: ADDRESS });
  const query = new URLSearchParams({
    ...{ client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
  });
  await browser.open(`/authorize?${query}`);
  for (const [, path] of browser.page.body.matchAll(/(?:href|src)="([^"]*\/assets\/[^"]*)"/g)) {
    const response = await fetch(new URL(path, base), { headers: ADDRESS });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  }
  const username = `pupil-${index}`;
  if (index % MISTYPED === 0) await browser.submit({ username, password: 'mistyped' });
  await browser.submit({ username, password: PASSWORD });
  const page = await browser.follow();
  const code = new URL(page.location ?? base).searchParams.get('code');
  if (code === null) throw new Error(`${page.status} at ${page.url}: ${page.text.slice(0, 200)}`);
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
  const headers = { ...ADDRESS, authorization: AUTHORIZATION };
  const response = await fetch(`${base}oauth2/token`, { method: 'POST', headers, body });
  if (response.status !== 200) throw new Error(`tokens: ${response.status}`);
}
