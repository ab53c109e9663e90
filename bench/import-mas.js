/**
 * Measures time and memory of `import mas migrate` with a made-up database.
 *
 *     npm run build && node bench/import-mas.js [--users=100000] [--max-mb=400]
 *
 * For each user, there are 5 sessions and 15 tokens. Exits with code 1 if the peak memory of the command exceeds the
 * limit, or if a row is missing.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { root } from '../scripts/steps/places.js';
import { startPostgres } from './postgres.js';

const SAMPLE_MS = 100;
const { values } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, 'max-mb': { type: 'string', default: '400' } },
});
const users = Number(values.users);
const folder = mkdtempSync(join(tmpdir(), 'latchkey-import-mas-'));
// The server runs under another account.
chmodSync(folder, 0o711);
const data = join(folder, 'postgres');
mkdirSync(data);
const server = await startPostgres(data);
try {
  const connection = { ...server.connection, database: 'mas' };
  const admin = await server.connect();
  await admin.query('create database mas');
  const mas = new pg.Client(connection);
  await mas.connect();
  const startedAt = performance.now();
  await mas.query(readFileSync(join(root, 'test/mas-import/mas-schema.sql'), 'utf8'));
  for (const statement of rowsOf(users)) await mas.query(statement);
  await mas.query('analyze');
  const [{ rows: sessions }, { rows: tokens }] = [
    await mas.query(`select (select count(*) from user_sessions) + (select count(*) from oauth2_sessions)
      + (select count(*) from compat_sessions) as count`),
    await mas.query(`select (select count(*) from oauth2_access_tokens) + (select count(*) from oauth2_refresh_tokens)
      + (select count(*) from compat_access_tokens) + (select count(*) from compat_refresh_tokens) as count`),
  ];
  await mas.end();
  process.stdout.write(
    `${users} users, ${sessions[0].count} sessions, ${tokens[0].count} tokens made in ${seconds(startedAt)} s\n`,
  );

  const file = join(folder, 'latchkey.json');
  const { host: socket, port, user: username, database } = server.connection;
  const settings = {
    secrets: { encryption: '00'.repeat(32) },
    database: { host: socket, port, username, database },
    protocol_name: 'matrix',
    homeserver: { kind: 'none', homeserver: 'example.org', secret: 'a-secret-of-the-homeserver' },
    logging: { output: join(folder, 'log') },
  };
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  const uri = `postgres://${username}@/mas?host=${encodeURIComponent(socket)}&port=${port}`;
  const checked = await measured(['import', 'mas', 'check', '-c', file, '--mas-database-uri', uri, '--json']);
  process.stdout.write(`check: exit ${checked.exitCode}, ${checked.seconds} s, peak ${checked.peakMb} MB\n`);
  const done = await measured(['import', 'mas', 'migrate', '-c', file, '--mas-database-uri', uri, '--json']);
  process.stdout.write(`migrate: exit ${done.exitCode}, ${done.seconds} s, peak ${done.peakMb} MB\n`);
  if (done.exitCode !== 0) throw new Error(`${done.out}\n${done.err}`);
  const counts = Object.fromEntries(JSON.parse(done.out).entities.map(({ entity, done: count }) => [entity, count]));
  say(JSON.stringify(counts));
  const { rows } =
    await admin.query(`select (select count(*) from user_sessions) + (select count(*) from oauth2_sessions)
      + (select count(*) from compat_sessions) as sessions,
      (select count(*) from oauth2_access_tokens) + (select count(*) from oauth2_refresh_tokens)
      + (select count(*) from compat_access_tokens) + (select count(*) from compat_refresh_tokens) as tokens,
      (select count(*) from users) as users, pg_database_size('mas') as source, pg_database_size(current_database()) as target`);
  await admin.end();
  process.stdout.write(`databases: source ${megabytes(rows[0].source)} MB, target ${megabytes(rows[0].target)} MB\n`);
  const isComplete =
    Number(rows[0].users) === users && rows[0].sessions === sessions[0].count && rows[0].tokens === tokens[0].count;
  const isSmall = Math.max(done.peakMb, checked.peakMb) <= Number(values['max-mb']);
  say(isComplete && isSmall ? '1 passed, 0 failed' : `0 passed, 1 failed ${isComplete ? 'memory' : 'rows'}`);
  process.exitCode = isComplete && isSmall ? 0 : 1;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function* rowsOf(count) {
  const id = (kind, n) => `('0191${kind}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
  const token = (prefix, n) => `'${prefix}_' || substr(md5('${prefix}' || ${n}), 1, 30) || '_000000'`;
  const of = (total) => `from generate_series(1, ${total}) n`;
  const at = `now() - interval '30 days'`;
  const soon = `now() + interval '1 hour'`;
  const user = (n) => id('0001', `(${n} - 1) % ${count} + 1`);
  yield `insert into users (user_id, username, created_at) select ${id('0001', 'n')}, 'user' || n, ${at} ${of(count)}`;
  yield `insert into user_passwords (user_password_id, user_id, hashed_password, created_at, version)
    select ${id('0002', 'n')}, ${id('0001', 'n')}, '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$69I7qCjDTsQwhQqFvpQJiqEI0lGQvxC84fXE0Ktxca4', ${at}, 1 ${of(count)}`;
  yield `insert into user_emails (user_email_id, user_id, email, created_at)
    select ${id('0003', 'n')}, ${id('0001', 'n')}, 'user' || n || '@example.org', ${at} ${of(count)}`;
  yield `insert into oauth2_clients (oauth2_client_id, client_name, token_endpoint_auth_method, redirect_uris,
      grant_type_authorization_code, grant_type_refresh_token)
    select ${id('0004', 'n')}, 'Client ' || n, 'none', '{https://app.example/}', true, true ${of(Math.max(count / 100, 1))}`;
  yield `insert into user_sessions (user_session_id, user_id, created_at, last_active_at)
    select ${id('0005', 'n')}, ${id('0001', 'n')}, ${at}, now() ${of(count)}`;
  yield `insert into oauth2_sessions (oauth2_session_id, user_session_id, oauth2_client_id, created_at, user_id, scope_list)
    select ${id('0006', 'n')}, ${id('0005', `(n - 1) % ${count} + 1`)}, ${id('0004', `n % ${Math.max(count / 100, 1)} + 1`)}, ${at}, ${user('n')},
           array['openid', 'urn:matrix:client:api:*', 'urn:matrix:client:device:DEVICE' || n] ${of(count * 3)}`;
  // Two access tokens and two refresh tokens of each session are usable.
  yield `insert into oauth2_access_tokens (oauth2_access_token_id, oauth2_session_id, access_token, created_at, expires_at)
    select ${id('0007', 'n')}, ${id('0006', `(n - 1) % (${count} * 3) + 1`)}, ${token('mat', 'n')}, ${at}, ${soon} ${of(count * 7)}`;
  yield `insert into oauth2_refresh_tokens (oauth2_refresh_token_id, oauth2_session_id, oauth2_access_token_id, refresh_token, created_at)
    select ${id('0008', 'n')}, ${id('0006', `(n - 1) % (${count} * 3) + 1`)}, ${id('0007', 'n')}, ${token('mar', 'n')}, ${at} ${of(count * 6)}`;
  yield `insert into compat_sessions (compat_session_id, user_id, device_id, created_at)
    select ${id('0009', 'n')}, ${id('0001', 'n')}, 'PHONE' || n, ${at} ${of(count)}`;
  yield `insert into compat_access_tokens (compat_access_token_id, compat_session_id, access_token, created_at)
    select ${id('000a', 'n')}, ${id('0009', 'n')}, ${token('mct', 'n')}, ${at} ${of(count)}`;
  yield `insert into compat_refresh_tokens (compat_refresh_token_id, compat_session_id, compat_access_token_id, refresh_token, created_at)
    select ${id('000b', 'n')}, ${id('0009', 'n')}, ${id('000a', 'n')}, ${token('mcr', 'n')}, ${at} ${of(count)}`;
}

/** Runs a command, and reads its peak memory while it runs. */
async function measured(words) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/latchkey.js'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.err += chunk;
  });
  let peakKb = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  }, SAMPLE_MS);
  const exitCode = await new Promise((resolve) => {
    child.once('close', resolve);
  });
  clearInterval(timer);
  return { ...said, exitCode, seconds: seconds(startedAt), peakMb: Math.round(peakKb / 1024) };
}

function seconds(startedAt) {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

function megabytes(bytes) {
  return Math.round(Number(bytes) / 1024 / 1024);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
