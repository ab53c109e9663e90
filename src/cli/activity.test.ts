import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Task } from '#platform/base/tasks.ts';
import { LogWriter } from '#platform/log/log-writer.ts';
import { readRequestLine } from '#platform/log/read-request-line.ts';
import { REQUEST_LINE } from '#test/support/log-expression.ts';
import { logOf } from '#test/support/log-of.ts';
import { classify } from './activity/classify.ts';
import type { CommandIo } from './command-io.ts';
import { runCommand } from './run-command.test-support.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const ALICE = `user:${ULID}(alice)`;
const CLIENT = `oauth2-client:${ULID}`;
const STATISTICS = '[polls: 1, cpu: 0.1ms, db: 0.0ms, elapsed: 0.1ms, queries: 0, fetched: 0]';

interface Fields {
  readonly time?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly requester?: string | undefined;
  readonly address?: string | undefined;
  readonly operation?: string;
  readonly trace?: string;
}

/** A log line, or a forged one. */
function line(fields: Fields = {}): string {
  const { time = '2026-06-17T10:49:22.419912Z', method = 'POST', path = '/login', status = 200, operation } = fields;
  const requester = fields.requester === undefined ? '' : ` requester=${fields.requester}`;
  const address = fields.address === undefined ? '' : ` client.address=${fields.address}`;
  const graphql = operation === undefined ? '' : ` graphql.operation.type=mutation graphql.operation.name=${operation}`;
  const trace = fields.trace === undefined ? '' : ` trace.id=${fields.trace}`;
  return `${time} INFO http.server.response ${method}-71 - "${method} ${path} HTTP/1.1" ${status} OK "-" ${STATISTICS}${requester}${address}${graphql}${trace}`;
}

const signIn = (fields: Fields = {}): string =>
  line({ status: 303, requester: ALICE, address: '192.0.2.7', ...fields });

async function run(options: string, lines: readonly string[], changes: Partial<CommandIo> = {}) {
  const words = options.split(' ').filter((word) => word !== '');
  return await runCommand(['activity', ...words], { stdin: logOf(lines), ...changes });
}

/** Returns the given fields of the records. */
async function recordsOf(options: string, lines: readonly string[], ...names: readonly string[]) {
  const { out } = await run(`--json ${options}`, lines);
  return out
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => {
      const record: Readonly<Record<string, unknown>> = JSON.parse(text);
      return names.map((name) => record[name]);
    });
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-activity-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('classification of requests (operations 3.10)', () => {
  const FINISH = `/register/steps/${ULID}/finish`;
  const UPSTREAM = `/upstream/link/${ULID}`;
  test.each([
    ['POST', '/login', 303, ALICE, 'browser-login', 'success'],
    ['POST', '/login', 200, undefined, 'browser-login', 'failure'],
    ['POST', '/login', 303, undefined, 'browser-login', 'redirect'],
    ['POST', '/login', 403, undefined, 'browser-login', 'refused'],
    ['POST', '/login', 503, undefined, 'browser-login', 'error'],
    ['POST', '/login', 302, undefined, 'browser-login', 'other'],
    ['POST', '/logout', 303, ALICE, 'browser-logout', 'success'],
    ['POST', '/logout', 200, undefined, 'browser-logout', 'other'],
    ['GET', FINISH, 303, ALICE, 'registration', 'success'],
    ['GET', FINISH, 303, undefined, 'registration', 'incomplete'],
    ['GET', FINISH, 200, undefined, 'registration', 'failure'],
    ['GET', FINISH, 410, undefined, 'registration', 'refused'],
    ['POST', '/login/totp', 303, ALICE, 'browser-login', 'success'],
    ['POST', '/login/totp', 200, undefined, 'browser-login', 'failure'],
    ['POST', '/login/totp', 303, undefined, 'browser-login', 'redirect'],
    ['POST', '/login/recovery-code', 303, ALICE, 'browser-login', 'success'],
    ['POST', '/login/passkey', 303, ALICE, 'browser-login', 'success'],
    ['POST', '/login/passkey', 200, undefined, 'browser-login', 'failure'],
    ['POST', '/login/setup', 303, ALICE, 'browser-login', 'success'],
    ['POST', UPSTREAM, 303, ALICE, 'upstream-login', 'success'],
    ['POST', UPSTREAM.toLowerCase(), 303, ALICE, 'upstream-login', 'success'],
    ['POST', UPSTREAM, 303, undefined, 'upstream-login', 'redirect'],
    ['POST', UPSTREAM, 200, undefined, 'upstream-login', 'failure'],
    ['POST', '/_matrix/client/v3/login', 200, ALICE, 'chat-login', 'success'],
    ['POST', '/_chat/client/r0/login', 200, undefined, 'chat-login', 'other'],
    ...[401, 403, 429].map(
      (status) => ['POST', '/_chat/client/v3/login', status, undefined, 'chat-login', 'failure'] as const,
    ),
    ['POST', '/_chat/client/v3/login', 400, undefined, 'chat-login', 'refused'],
    ['POST', '/_chat/client/v3/logout', 200, ALICE, 'chat-logout', 'success'],
    ['POST', '/_chat/client/v3/logout/all', 401, undefined, 'chat-logout', 'failure'],
    ['POST', '/oauth2/token', 200, CLIENT, 'token-issuance', 'success'],
    ['POST', '/oauth2/token', 200, ALICE, 'token-issuance', 'other'],
    ['POST', '/oauth2/token', 400, CLIENT, 'token-issuance', 'failure'],
    ['POST', '/oauth2/token', 429, undefined, 'token-issuance', 'refused'],
    ['POST', '/oauth2/revoke', 200, CLIENT, 'token-revocation', 'success'],
    ['POST', '/oauth2/revoke', 401, undefined, 'token-revocation', 'failure'],
    ['POST', '/oauth2/introspect', 200, 'homeserver', 'token-introspection', 'success'],
    ['POST', '/oauth2/introspect', 401, undefined, 'token-introspection', 'failure'],
    ['POST', '/oauth2/introspect', 400, CLIENT, 'token-introspection', 'refused'],
    ['GET', '/authorize', 303, ALICE, 'authorization-grant', 'success'],
    ['POST', '/authorize', 303, undefined, 'authorization-grant', 'pending'],
    ['GET', '/authorize', 200, ALICE, 'authorization-grant', 'pending'],
    ['GET', '/authorize', 400, undefined, 'authorization-grant', 'failure'],
  ] as const)('%s %s with %d by %s: %s, %s', async (method, path, status, requester, activity, outcome) => {
    const lines = [line({ method, path, status, requester })];
    expect(await recordsOf('', lines, 'activity', 'outcome')).toEqual([[activity, outcome]]);
  });

  test.each([
    [200, 'attempted'],
    [400, 'failure'],
    [500, 'error'],
    [204, 'other'],
  ])('a mutation of the account API with %d: %s, by the operation name sent by the client', async (status, outcome) => {
    const lines = [
      line({ path: '/graphql', status, operation: 'AddEmail' }),
      line({ path: '/graphql', status, operation: 'Mine_1' }),
    ];
    const records = await recordsOf('', lines, 'activity', 'outcome');
    expect(records).toEqual([
      ['account:AddEmail', outcome],
      ['account:Mine_1', outcome],
    ]);
  });

  test.each([
    ['GET', '/login'],
    ['HEAD', '/authorize'],
    ['POST', '/login/'],
    ['POST', '/LOGIN'],
    ['POST', `/register/steps/${ULID}/finish`],
    ['GET', `/register/steps/${ULID}0/finish`],
    ['POST', '/upstream/link/else'],
    ['POST', '/chat/client/v3/login'],
    ['POST', '/_chat/client/v3/refresh'],
    ['POST', '/_chat/client/v3/x/login'],
    ['POST', '/graphql'],
    ['GET', '/assets/login'],
  ])('%s %s is not an activity', async (method, path) => {
    expect((await run('', [line({ method, path })])).out).toBe('');
  });

  test('only paths below --prefix count', async () => {
    const lines = [
      signIn({ path: '/auth/login' }),
      signIn(),
      signIn({ path: '/auth/_chat/client/v3/login', status: 200 }),
    ];
    for (const prefix of ['/auth', '/auth/'])
      expect(await recordsOf(`--prefix ${prefix}`, lines, 'activity')).toEqual([['browser-login'], ['chat-login']]);
  });
});

describe('input', () => {
  const record = {
    time: '2026-06-17T10:49:22.419912Z',
    activity: 'browser-login',
    outcome: 'success',
    requester: ALICE,
    client_address: '2001:db8::7',
    request_id: 'POST-71',
    method: 'POST',
    path: '/login',
    status: 303,
    trace_id: 'c8c8fc32288a76693e028ee97a6030a0',
  };
  const text = signIn({ address: '2001:db8::7', trace: record.trace_id });
  const json = JSON.stringify({
    timestamp: record.time,
    level: 'INFO',
    event: 'http.server.response',
    request_id: 'POST-71',
    method: 'POST',
    path: '/login',
    protocol: 'HTTP/1.1',
    status: 303,
    reason: 'See Other',
    user_agent: null,
    stats: { polls: 1, cpu_ms: 0.1, db_ms: 0, elapsed_ms: 0.1, queries: 0, fetched: 0 },
    requester: ALICE,
    'client.address': record.client_address,
    'trace.id': record.trace_id,
  });
  const others = [
    '',
    'no line of a log',
    '2026-06-17T10:49:22.419912Z INFO auth.refused POST-1 - a word redirect_uri="http.server.response"',
    '{"timestamp":"2026-06-17T10:49:22.419912Z","level":"INFO","event":"error","message":"http.server.response"}',
  ];

  test('text and JSON, mixed with other lines, from stdin', async () => {
    const { exitCode, out, err } = await run('--json --strict', [...others, text, ...others, json]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    const expected = `${JSON.stringify(record)}\n`;
    expect(out).toBe(expected + expected);
  });

  test('lines with padded and colored levels, and Windows line endings', async () => {
    const lines = [text.replace('INFO', ' INFO'), text.replace('INFO', '\x1b[32mINFO\x1b[0m'), `${text}\r`];
    expect((await run('--json --strict', lines)).out).toBe(`${JSON.stringify(record)}\n`.repeat(3));
  });

  test('files in order, compressed ones too, and - for stdin', async () => {
    writeFileSync(join(folder, 'one.log'), `${signIn({ path: '/logout' })}\n`);
    writeFileSync(join(folder, 'two.log.gz'), gzipSync(`${text}\n`));
    const { out } = await run('--format csv one.log - two.log.gz', [signIn({ method: 'GET', path: '/authorize' })], {
      workingDirectory: folder,
    });
    expect(out.split('\r\n').map((row) => row.split(',')[1])).toEqual([
      'activity',
      'browser-logout',
      'authorization-grant',
      'browser-login',
      undefined,
    ]);
  });

  test.each([
    ['missing.log', 'no such file'],
    ['folder', 'is a directory'],
    ['cut.log.gz', 'it is corrupted or not completely written'],
    ['plain.log.gz', 'it is corrupted or not completely written'],
  ])('%s fails with exit code 1: %s', async (name, reason) => {
    mkdirSync(join(folder, 'folder'), { recursive: true });
    writeFileSync(join(folder, 'cut.log.gz'), gzipSync(`${text}\n`.repeat(100)).subarray(0, 60));
    writeFileSync(join(folder, 'plain.log.gz'), `${text}\n`);
    writeFileSync(join(folder, 'good.log'), `${text}\n`);
    const { exitCode, out, err } = await run(`--summary good.log ${name}`, [], { workingDirectory: folder });
    expect({ exitCode, out, err }).toEqual({ exitCode: 1, out: '', err: `latchkey: cannot read ${name}: ${reason}\n` });
  });

  test.each([
    ['text with a further field', `${text} x=1`],
    ['text with something before it', `Jun 17 10:49:22 host latchkey[7]: ${text}`],
    ['text of an impossible day', text.replace('06-17', '06-32')],
    ['truncated JSON', json.slice(0, -1)],
    ['JSON without a status', json.replace('"status":303', '"status":"303"')],
    ['JSON without a path', json.replace('"path"', '"way"')],
    ['JSON with another type of requester', json.replace(`"requester":"${ALICE}"`, '"requester":["http"]')],
    ['JSON with another time format', json.replace('10:49:22.419912Z', '10:49')],
    ['JSON that is not an object', '["http.server.response"]'],
    ['JSON null', '{"event":null,"x":"http.server.response"}'],
  ])('%s: skipped and reported, and exit code 1 with --strict', async (_name, malformed) => {
    const lines = [malformed, text];
    const told = 'latchkey: lines with http.server.response that could not be parsed: 1\n';
    const out = `${JSON.stringify(record)}\n`;
    expect(await run('--json', lines)).toEqual({ exitCode: 0, out, err: told });
    expect(await run('--json --quiet', lines)).toEqual({ exitCode: 0, out, err: '' });
    expect(await run('--json --strict', lines)).toEqual({ exitCode: 1, out, err: told });
  });

  test('a log without request lines is reported', async () => {
    expect(await run('', others)).toEqual({ exitCode: 0, out: '', err: 'latchkey: no request lines found\n' });
  });

  test('an endless line is not kept in memory, and the lines after it are read', async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 1;
        if (sent <= 512) this.push(`${sent === 1 ? text : ''}${'x'.repeat(128 * 1024)}`);
        else if (sent === 513) this.push(`\n${text}\n`);
        else this.push(null);
      },
    });
    const before = process.memoryUsage().heapUsed;
    const { exitCode, out } = await run('--json --strict', [], { stdin: endless });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: `${JSON.stringify(record)}\n` });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(48 * 1024 * 1024);
  });

  test('a followed log: prints a record as soon as its line is written', async () => {
    const stdin = new Readable({ read() {} });
    let printed = '';
    const ended = run('--format csv', [], { stdin, stdout: (more) => (printed += more) });
    stdin.push(`${text}\n`);
    await expect.poll(() => printed).toContain('/login');
    stdin.push(null);
    expect((await ended).exitCode).toBe(0);
  });

  test('stops when the output pipe closes (… | head)', async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 1;
        this.push(`${text}\n`);
      },
    });
    const { exitCode } = await run('', [], { stdin: endless, hasReader: () => sent < 100 });
    expect(exitCode).toBe(0);
  });
});

describe('filters', () => {
  const at = (time: string): string => signIn({ time: `2026-06-17T${time}Z` });
  const times = [at('09:59:59.999999'), at('10:00:00.000000'), at('10:00:00.500000'), at('11:00:00.000000')];

  test.each([
    ['--since 2026-06-17T10:00:00Z', 3],
    ['--since 2026-06-17T12:00:00+02:00 --until 2026-06-17t11:00:00z', 2],
    ['--until 2026-06-17T10:00:00.5Z', 2],
    ['--since 2026-06-17 --until 2026-06-18', 4],
    ['--since 2026-06-18', 0],
    ['--since -2h', 0],
    ['--until -2h', 4],
  ])('%s', async (options, count) => {
    // These lines are more than two hours old whenever the test runs.
    expect(await recordsOf(options, times, 'time')).toHaveLength(count);
  });

  const users = [
    signIn({ requester: ALICE, address: '192.0.2.7' }),
    signIn({ requester: `user:${ULID.replace('01', '02')}(homeserver)`, address: '198.51.100.1' }),
    signIn({ requester: `user:${ULID.replace('01', '03')}`, address: '2001:db8::7' }),
    line({ path: '/oauth2/introspect', requester: 'homeserver', address: '2001:db8:1::7' }),
    line({ path: '/oauth2/token', requester: CLIENT, address: '...' }),
    line({ status: 200 }),
    line({ path: '/graphql', operation: 'AddEmail' }),
  ];
  test.each([
    [`--requester ${ALICE}`, [0]],
    ['--requester alice', [0]],
    [`--requester user:${ULID}`, [0]],
    [`--requester ${ULID}`, [0, 4]],
    [`--requester ${CLIENT}`, [4]],
    ['--requester homeserver', [3]],
    ['--requester ali', []],
    ['--client-address 192.0.2.0/24', [0]],
    ['--client-address 2001:db8::/48', [2]],
    ['--client-address 198.51.100.1', [1]],
    ['--activity token-issuance,browser-login', [0, 1, 2, 4, 5]],
    ['--activity account', [6]],
    ['--activity account:AddEmail', [6]],
    ['--activity account:RemoveEmail', []],
  ])('%s', async (options, expected) => {
    const all = await recordsOf('', users, 'activity', 'requester', 'client_address');
    const selected = await recordsOf(options, users, 'activity', 'requester', 'client_address');
    expect(selected).toEqual(expected.map((index) => all[index]));
  });

  test.each([
    ['--since yesterday', 'Expected a time (2026-06-17T10:00:00Z), a date (2026-06-17) or a relative time (-2h).'],
    ['--since 2026-02-30', 'Expected a time'],
    ['--since 2026-06-17T25:00:00Z', 'Expected a time'],
    ['--until -2y', 'Expected a time'],
    ['--since 2026-06-18 --until 2026-06-18', '--since must be before --until'],
    ['--client-address 192.0.2.1/24', 'without host bits'],
    ['--activity login', "Unknown activity 'login'."],
    ['--activity browser-login:x', "Unknown activity 'browser-login:x'."],
    ['--prefix auth', 'Expected a path, for example /auth.'],
    ['--format xml', 'Allowed choices are table, json, csv, svg.'],
    ['--json --format csv', '--json and --format csv cannot be combined'],
    ['--summary --format svg', '--summary and --format svg cannot be combined'],
  ])('%s is a usage error (exit code 2)', async (options, message) => {
    const { exitCode, out, err } = await run(options, [signIn()]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(message);
  });

  test('without a file on a terminal it does not wait for input', async () => {
    const { exitCode, err } = await run('', [], { isTerminal: true });
    expect({ exitCode, err }).toEqual({
      exitCode: 2,
      err: 'latchkey: no input; name a log file, or pipe the log to standard input\n',
    });
  });
});

describe('output', () => {
  test('a table with aligned columns', async () => {
    const { out } = await run('', [signIn(), line({ method: 'GET', path: '/authorize', status: 400 })]);
    expect(out).toBe(
      `${[
        'TIME                         ACTIVITY             OUTCOME     REQUESTER                                 CLIENT_ADDRESS   REQUEST_ID  METHOD  PATH                      STATUS  TRACE_ID',
        '2026-06-17T10:49:22.419912Z  browser-login        success     user:01HZX7T3Q8V3M5N6P7R8S9T0AB(alice)    192.0.2.7        POST-71     POST    /login                    303     -',
        '2026-06-17T10:49:22.419912Z  authorization-grant  failure     -                                         -                GET-71      GET     /authorize                400     -',
      ].join('\n')}\n`,
    );
  });

  const mixed = [
    signIn(),
    signIn({ time: '2026-06-17T09:00:00.000000Z' }),
    line(),
    line({ path: '/oauth2/token', status: 400, requester: CLIENT }),
    line({ path: '/graphql', status: 200, operation: 'AddEmail', requester: ALICE }),
  ];

  test('--summary: counts by activity and outcome, and failures by requester', async () => {
    const { out } = await run('--summary', mixed);
    expect(out).toBe(
      `${[
        'ACTIVITY          OUTCOME         COUNT',
        'browser-login     success             2',
        'browser-login     failure             1',
        'token-issuance    failure             1',
        'account:AddEmail  attempted           1',
        '',
        'FAILURES OF                               OUTCOME         COUNT',
        '-                                         failure             1',
        `${CLIENT}  failure             1`,
      ].join('\n')}\n`,
    );
    expect(JSON.parse((await run('--summary --json', mixed)).out)).toEqual({
      records: 5,
      first: '2026-06-17T09:00:00.000000Z',
      last: '2026-06-17T10:49:22.419912Z',
      activities: [
        { activity: 'browser-login', outcome: 'success', count: 2 },
        { activity: 'browser-login', outcome: 'failure', count: 1 },
        { activity: 'token-issuance', outcome: 'failure', count: 1 },
        { activity: 'account:AddEmail', outcome: 'attempted', count: 1 },
      ],
      failures: [
        { requester: null, outcome: 'failure', count: 1 },
        { requester: CLIENT, outcome: 'failure', count: 1 },
      ],
    });
    expect((await run('--summary --format csv', mixed)).out.split('\r\n')).toEqual([
      'subject,name,outcome,count',
      'activity,browser-login,success,2',
      'activity,browser-login,failure,1',
      'activity,token-issuance,failure,1',
      'activity,account:AddEmail,attempted,1',
      'requester,,failure,1',
      `requester,${CLIENT},failure,1`,
      '',
    ]);
  });

  test('--summary keeps a thousand operation names of a client that invents them', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => line({ path: '/graphql', operation: `Made${index}` }));
    const { activities }: { activities: { activity: string; count: number }[] } = JSON.parse(
      (await run('--summary --json', lines)).out,
    );
    expect(activities).toHaveLength(1001);
    expect(activities.at(-1)).toEqual({ activity: '(others)', outcome: 'attempted', count: 2000 });
  });

  test('--format svg: a row per activity, bars by hour and outcome, with text descriptions', async () => {
    const { exitCode, out } = await run('--format svg --since 2026-06-17 --until 2026-06-18', mixed);
    expect(exitCode).toBe(0);
    expect(out).toContain('<title id="title">Activity by hour from 2026-06-17 00:00 to 2026-06-18 00:00 UTC</title>');
    expect(out).toContain(
      '<desc id="description">browser-login: 2 success, 1 failure. token-issuance: 1 failure. account: 1 attempted.</desc>',
    );
    expect(out).toContain('<title>browser-login, 2026-06-17 09:00 UTC: 1 success</title>');
    expect(out).toContain('<title>browser-login, 2026-06-17 10:00 UTC: 1 success, 1 failure</title>');
    expect(out).toContain('role="img" aria-labelledby="title description"');
    expect(out).not.toMatch(/<script|<style|\son\w+=|href=|NaN|Infinity/);
  });

  test('--format svg of no data, and of more than 31 days', async () => {
    expect((await run('--format svg', [])).out).toContain('No activity selected.');
    const days = [signIn(), signIn({ time: '2026-07-19T10:49:22.419912Z' })];
    const { exitCode, out, err } = await run('--format svg', days);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(err).toContain('a chart covers at most 31 days; select a shorter period with --since and --until');
  });
});

describe('a log with attacker-controlled text (S-75)', () => {
  const ESCAPE = '\x1b';
  /** Characters that the log would escape, as a forged file may contain. */
  const forged = [
    signIn({ path: `/_${ESCAPE}[2J\u202e\u200b/client/v3/login`, requester: `=cmd|'/c${ESCAPE}'!A1,"x"` }),
    signIn({ path: '/_\u0085<script>&\\"x\\"/client/v3/login', requester: '@SUM(1)' }),
    signIn({ path: '/_+/client/v3/login', requester: '+1' }),
    signIn({ path: '/_-/client/v3/login', requester: '-1' }),
  ];

  test.each(['table', 'csv', 'json', 'table --summary', 'csv --summary', 'json --summary', 'svg'])(
    '--format %s prints no control or invisible characters',
    async (format) => {
      const { exitCode, out } = await run(`--format ${format}`, forged);
      expect(exitCode).toBe(0);
      // JSON and CSV are read by programs, which invisible characters do not mislead.
      const unwanted = format.startsWith('table') ? /[^\P{C}\n]/u : /[^\P{Cc}\r\n]|[\u2028\u2029\u202a-\u202e]/u;
      expect(out).not.toMatch(unwanted);
      if (!format.includes('summary') && format !== 'svg')
        expect(out).toContain(format === 'json' ? '\\u202e' : '\\u{202e}');
    },
  );

  test('no spreadsheet cell is a formula: it is prefixed with an apostrophe', async () => {
    const { out } = await run('--format csv', forged);
    expect(out).toContain(`"'=cmd|'/c\\u{1b}'!A1,""x"""`);
    for (const cell of ["'@SUM(1)", "'+1", "'-1"]) expect(out).toContain(`,${cell},`);
    expect(out).not.toMatch(/(^|[,\r\n"])[=+@-](?!\d{4})/);
  });

  test('an image is well-formed whatever the log contains: only counts and times are drawn', async () => {
    const { out } = await run('--format svg', forged);
    expect(out).toContain('chat-login: 4 other.');
    expect(out).not.toMatch(/<script|cmd|SUM/);
  });

  test('any request logged in text or JSON format is read back as the same record', async () => {
    const written = (format: 'text' | 'json', path: string, userAgent: string): string => {
      let text = '';
      const log = new LogWriter({
        sink: { write: (more) => (text += more) },
        clock: { now: () => Date.parse('2026-06-17T10:49:22.419Z') },
        level: 'info',
        targetLevels: {},
        format,
        padLevel: false,
        hasColor: false,
      });
      const rest = {
        httpVersion: '1.1',
        status: 403,
        requester: undefined,
        clientAddress: '192.0.2.7',
        graphqlOperation: undefined,
      };
      log.request({ task: new Task('POST-71'), method: 'POST', path, userAgent, ...rest });
      return text.trimEnd();
    };
    // Latin-1, as Node.js passes received headers. Neither format distinguishes raw bytes that are not UTF-8.
    const received = fc.string({ unit: fc.integer({ min: 0x01, max: 0x7f }).map((code) => String.fromCharCode(code)) });
    await fc.assert(
      fc.asyncProperty(received, received, async (segment, userAgent) => {
        const path = `/_${segment.replaceAll('/', '')}/client/v3/login`;
        const [text, json] = [written('text', path, userAgent), written('json', path, userAgent)];
        expect(REQUEST_LINE.test(text)).toBe(true);
        const read = await recordsOf(
          '--strict',
          [text, json],
          'activity',
          'outcome',
          'path',
          'status',
          'client_address',
        );
        expect(read).toHaveLength(2);
        expect(read[0]).toEqual(read[1]);
        expect(read[0]?.slice(0, 2)).toEqual(['chat-login', 'failure']);
      }),
      { numRuns: 200 },
    );
  });

  test('a long hostile line costs no more than its length', () => {
    const long = `${line().slice(0, -STATISTICS.length - 4)}${'\\"'.repeat(30_000)}" ${'[polls: 1, '.repeat(200)}`;
    const started = performance.now();
    expect(readRequestLine(long)).toBe('malformed');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

test('a prefix is compared with the path as received', () => {
  const request = {
    time: '',
    requestId: 'POST-1',
    method: 'POST',
    path: '/other/login',
    status: 303,
    requester: ALICE,
    clientAddress: undefined,
    operationType: undefined,
    operationName: undefined,
    traceId: undefined,
  };
  expect(classify(request, '/auth')).toBeUndefined();
  expect(classify(request, '/other')?.outcome).toBe('success');
});
