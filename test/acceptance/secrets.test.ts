/**
 * Collects all output of the built program after users and applications have exercised it. The output contains no
 * secret that was entered, sent, issued or configured (operations 10.15, security 3.8).
 */
import type { ChildProcess } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ask, recoverPassword } from '../support/account-operations.ts';
import { Browser } from '../support/browser.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';
import { readMail } from '../support/read-mail.ts';
import { type SmtpPeer, startSmtpPeer } from '../support/smtp-peer.ts';
import { codeOfApp } from '../support/totp.ts';
import { startUpstreamPeer, type UpstreamPeer } from '../support/upstream-peer.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const CALLBACK = 'https://app.example/callback';
const ADMIN = 'urn:mas:admin';
/** For the whole file, on a busy machine. */
const TIMEOUT_MS = 300_000;
const PASSWORD = 'correct horse battery staple';
const NEWCOMER = { username: 'newcomer', password: 'seven purple lanterns swim', email: 'newcomer@mail.example' };

/** Secrets by description. */
const secrets = new Map<string, string>();
/** Collected output by source. */
const shown = new Map<string, string>();
/** Responses with status 400 and above. */
const refusals: string[] = [];

const CONFIGURED = {
  clientSecret: keep('the secret of the client', 'client-hush-0123456789'),
  homeserverSecret: keep('the secret of the homeserver', 'homeserver-hush-0123456789'),
  mailPassword: keep('the password at the mail server', 'mail-hush-0123456789'),
  providerSecret: keep('the secret at the provider', 'provider-hush-0123456789-0123456789'),
  databasePassword: keep('the password of the database', 'database-hush-0123456789'),
  pepper: keep('the pepper of passwords', 'pepper-hush-0123456789'),
  encryption: keep('the encryption key', randomBytes(32).toString('hex')),
};
const signingKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
// One line is enough to detect the key.
keep('the signing key', signingKey.split('\n')[4] ?? '');

let folder: string;
let base: string;
let database: TestDatabase;
let mails: SmtpPeer;
let peer: UpstreamPeer;
let collector: Collector;
let program: Program;
let service: ChildProcess;

function keep(what: string, secret: unknown): string {
  if (typeof secret !== 'string' || secret.length < 6) throw new Error(`${what} is no secret: ${String(secret)}`);
  secrets.set(what, secret);
  return secret;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-secrets-'));
  chmodSync(folder, 0o711);
  database = await createTestDatabase();
  mails = await startSmtpPeer({ allowInsecureAuth: true, hideSTARTTLS: true });
  peer = await startUpstreamPeer();
  collector = await startCollector();
  const port = await freePort();
  base = `http://localhost:${port}/`;
  const uri = new URL(database.connectionString);
  uri.password = CONFIGURED.databasePassword;
  program = new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: uri.href },
    http: {
      public_base: base,
      listeners: [
        {
          resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'adminapi', 'health', 'prometheus'],
          binds: [{ address: `127.0.0.1:${port}` }],
        },
      ],
    },
    secrets: { encryption: CONFIGURED.encryption, keys: [{ key: signingKey }] },
    homeserver: { kind: 'none', homeserver: 'chat.example', secret: CONFIGURED.homeserverSecret },
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', secret: CONFIGURED.pepper }] },
    account: { password_registration_enabled: true, password_recovery_enabled: true },
    email: {
      ...{ transport: 'smtp', hostname: 'localhost', port: mails.port, mode: 'plain', username: 'latchkey' },
      ...{ password: CONFIGURED.mailPassword, from: 'noreply@mail.example' },
    },
    clients: [
      {
        ...{ client_id: CLIENT, client_auth_method: 'client_secret_basic', client_secret: CONFIGURED.clientSecret },
        ...{ redirect_uris: [CALLBACK], first_party: true },
      },
    ],
    upstream_oauth2: {
      providers: [
        {
          ...{ id: PROVIDER, issuer: peer.issuer, client_id: 'latchkey', client_secret: CONFIGURED.providerSecret },
          ...{ token_endpoint_auth_method: 'client_secret_basic', scope: 'openid' },
        },
      ],
    },
    policy: { data: { admin_clients: [CLIENT] } },
    oauth: { dynamic_registration: { enabled: true } },
    telemetry: {
      tracing: { exporter: 'otlp', endpoint: collector.endpoint },
      metrics: { exporter: 'prometheus' },
    },
    logging: { level: 'trace', output: join(folder, 'log') },
  });
  service = await program.serve(base);
  await program.run(
    ['manage', 'register-user', 'amira', '--yes', '--password-file', '-'],
    keep('a password', PASSWORD),
  );
  await useEverything();
  await lookAtEverything();
}, TIMEOUT_MS);

afterAll(async () => {
  await stopProcess(service);
  await collector.close();
  await peer.stop();
  await mails.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

function newBrowser(): Browser {
  return new Browser({ listener: base.slice(0, -1), publicBase: base });
}

/** Records the cookies and the CSRF tokens of the page's forms. */
function keepOf(browser: Browser, where: string): void {
  for (const [name, value] of browser.cookies) if (value.length > 16) keep(`the cookie ${name} ${where}`, value);
  for (const { inputs } of browser.page.forms) {
    const csrf = inputs.get('csrf') ?? '';
    if (csrf !== '') keep(`the proof of a form ${where}`, csrf);
  }
}

interface Requested {
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly authorization?: string;
  readonly method?: string;
}

async function send(path: string, { form, json, authorization, method = 'POST' }: Requested) {
  const response = await fetch(new URL(path, base), {
    method,
    redirect: 'manual',
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(form !== undefined && { body: new URLSearchParams(form) }),
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (response.status >= 400) refusals.push(`${text}\n${response.headers.get('www-authenticate')}`);
  const body: Readonly<Record<string, unknown>> = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, body, text };
}

const basic = `Basic ${keep('credentials of the client', btoa(`${CLIENT}:${CONFIGURED.clientSecret}`))}`;

/** Returns the last email to an address. */
async function mailTo(address: string, count: number) {
  const taken = () => mails.mails.filter(({ recipients }) => recipients.includes(address));
  await vi.waitFor(() => expect(taken().length).toBeGreaterThanOrEqual(count), { timeout: 60_000 });
  return readMail(taken().at(-1)?.source ?? '');
}

async function useEverything(): Promise<void> {
  await register();
  const browser = await signIn();
  await useTokens(browser);
  await connectDevice(browser);
  await registerClient();
  await chat(browser);
  await recover();
  await signInElsewhere();
  await administer();
  await setUpFactor(browser);
}

async function register(): Promise<void> {
  const browser = newBrowser();
  await browser.get('/register/password');
  const { username, email } = NEWCOMER;
  const password = keep('the password of a newcomer', NEWCOMER.password);
  await browser.submit({ username, email, password });
  await browser.follow();
  keepOf(browser, 'of a registration');
  const { subject } = await mailTo(email, 1);
  const code = keep('the code of a mail', /\b\d{6}\b/.exec(subject)?.[0]);
  await browser.submit({ code: keep('a wrong code', code === '482913' ? '482914' : '482913') });
  await browser.submit({ code });
  await browser.follow();
  await browser.submit({ action: 'skip' });
  await browser.follow();
  keepOf(browser, 'of a newcomer');
  expect(browser.cookies.has('latchkey_session')).toBe(true);
}

async function signIn(): Promise<Browser> {
  const browser = newBrowser();
  await browser.get('/login');
  keepOf(browser, 'of the sign-in page');
  await browser.submit({ username: 'amira', password: keep('a wrong password', 'what amira types by mistake') });
  await browser.submit({ username: 'amira', password: PASSWORD });
  expect(browser.page.status).toBe(303);
  await browser.open('/');
  keepOf(browser, 'of amira');
  const forged = await browser.post(
    '/logout',
    new URLSearchParams({ csrf: keep('a forged proof', 'forged-'.repeat(6)) }),
  );
  refusals.push(forged.body);
  return browser;
}

async function useTokens(browser: Browser): Promise<void> {
  const verifier = keep('a PKCE verifier', randomBytes(32).toString('base64url'));
  const requested = {
    ...{ client_id: CLIENT, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
    ...{ state: keep('the state of a request', 'state-hush-0123456789') },
    ...{ nonce: keep('the nonce of a request', 'nonce-hush-0123456789') },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  await browser.open(`/authorize?${new URLSearchParams(requested)}`);
  const code = keep('an authorization code', new URL(browser.page.location ?? base).searchParams.get('code'));
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
  const { body } = await send('/oauth2/token', { form: exchange, authorization: basic });
  keep('an ID token', body['id_token']);
  const token = keep('an access token', body['access_token']);
  const refresh = keep('a refresh token', body['refresh_token']);
  const renewed = await send('/oauth2/token', {
    form: { grant_type: 'refresh_token', refresh_token: refresh },
    authorization: basic,
  });
  keep('a second access token', renewed.body['access_token']);
  keep('a second refresh token', renewed.body['refresh_token']);
  await send('/oauth2/userinfo', { method: 'GET', authorization: `Bearer ${token}` });
  await send('/oauth2/introspect', { form: { token }, authorization: basic });
  await send('/oauth2/introspect', { form: { token }, authorization: `Bearer ${CONFIGURED.homeserverSecret}` });
  await send('/oauth2/token', { form: { ...exchange, code: code.slice(0, -1) }, authorization: basic });
  const wrong = keep('wrong credentials', btoa(`${CLIENT}:wrong-hush-0123456789`));
  await send('/oauth2/token', { form: exchange, authorization: `Basic ${wrong}` });
  const pushed = await send('/oauth2/par', { form: requested, authorization: basic });
  keep('the name of a pushed request', String(pushed.body['request_uri']).slice(-40));
  await send('/oauth2/revoke', { form: { token }, authorization: basic });
  await send('/oauth2/userinfo', { method: 'GET', authorization: `Bearer ${token}` });
}

async function connectDevice(browser: Browser): Promise<void> {
  const { body } = await send('/oauth2/device', { form: { scope: 'openid' }, authorization: basic });
  const code = keep('a device code', body['device_code']);
  const userCode = keep('a user code', body['user_code']);
  await browser.get('/link');
  await browser.submit({ code: userCode });
  await browser.follow();
  await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(browser.page.url).pathname });
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code };
  const { body: tokens } = await send('/oauth2/token', { form, authorization: basic });
  keep('the access token of a device', tokens['access_token']);
}

async function registerClient(): Promise<void> {
  const metadata = { client_uri: 'https://app.example/', redirect_uris: ['https://app.example/own'] };
  const { body } = await send('/oauth2/registration', {
    json: { ...metadata, token_endpoint_auth_method: 'client_secret_basic' },
  });
  keep('the secret of a client that registered itself', body['client_secret']);
  const token = keep('a registration access token', body['registration_access_token']);
  const path = `/oauth2/registration/${String(body['client_id'])}`;
  expect((await send(path, { method: 'GET', authorization: `Bearer ${token}` })).status).toBe(200);
}

async function chat(browser: Browser): Promise<void> {
  const login = (password: string) =>
    send('/_chat/client/v3/login', {
      json: {
        ...{ type: 'm.login.password', identifier: { type: 'm.id.user', user: 'amira' }, password },
        refresh_token: true,
      },
    });
  const { body } = await login(PASSWORD);
  await login('what amira types by mistake');
  keep('the access token of a chat client', body['access_token']);
  const refresh = keep('the refresh token of a chat client', body['refresh_token']);
  const { body: renewed } = await send('/_chat/client/v3/refresh', { json: { refresh_token: refresh } });
  const token = keep('the second access token of a chat client', renewed['access_token']);
  await browser.open('/_chat/client/v3/login/sso/redirect?redirectUrl=https://chat.example/in');
  await browser.submit({}, { action: new URL(browser.page.url).pathname });
  keep('a login token', new URL(browser.page.location ?? base).searchParams.get('loginToken'));
  await send('/_chat/client/v3/logout', { json: {}, authorization: `Bearer ${token}` });
  await send('/_chat/client/v3/logout', { json: {}, authorization: `Bearer ${token}` });
}

async function recover(): Promise<void> {
  const browser = newBrowser();
  await browser.get('/recover');
  await browser.submit({ email: NEWCOMER.email });
  await vi.waitFor(async () => expect((await mailTo(NEWCOMER.email, 2)).text).toContain('ticket='), {
    timeout: 60_000,
  });
  const { text } = await mailTo(NEWCOMER.email, 2);
  const ticket = keep('a recovery ticket', /ticket=([\w-]+)/.exec(text)?.[1]);
  await browser.get(`/account/password/recovery?ticket=${ticket}`);
  const newPassword = keep('a new password', 'eight yellow anchors rest');
  expect(await recoverPassword(browser, { ticket, newPassword })).toBe('ALLOWED');
}

async function signInElsewhere(): Promise<void> {
  const browser = newBrowser();
  await browser.get(`/upstream/authorize/${PROVIDER}`);
  const { searchParams } = new URL(browser.page.location ?? base);
  keep('the state for a provider', searchParams.get('state'));
  keep('the nonce for a provider', searchParams.get('nonce'));
  const back = peer.signIn(browser.page.location ?? '', { claims: { sub: 'the-subject-there' } });
  keep('the code of a provider', new URL(back).searchParams.get('code'));
  expect((await browser.get(back)).status).toBe(303);
  keepOf(browser, 'of a sign-in elsewhere');
  keep('what the provider was sent', peer.tokenRequests.at(-1)?.form.get('code_verifier'));
}

async function administer(): Promise<void> {
  const form = { grant_type: 'client_credentials', scope: ADMIN };
  const { body } = await send('/oauth2/token', { form, authorization: basic });
  const authorization = `Bearer ${keep('the token of an administrator', body['access_token'])}`;
  const made = await send('/api/admin/v1/users', { json: { username: 'robot' }, authorization });
  const id = /"id":"(\w+)"/.exec(made.text)?.[1] ?? expect.fail(made.text);
  const password = keep('a password that an administrator sets', 'nine silver compasses turn');
  await send(`/api/admin/v1/users/${id}/set-password`, { json: { password }, authorization });
  await send(`/api/admin/v1/users/${id}/set-password`, { json: { password: [password] }, authorization });
  const personal = await send('/api/admin/v1/personal-sessions', {
    json: { actor_user_id: id, human_name: 'a robot', scope: 'openid' },
    authorization,
  });
  keep('a personal token', /"access_token":"([^"]+)"/.exec(personal.text)?.[1]);
  const token = keep('a registration token', 'invited-by-the-harbour');
  await send('/api/admin/v1/user-registration-tokens', { json: { token }, authorization });
  keep('a second registration token', (await program.run(['manage', 'issue-user-registration-token'])).trim());
}

async function setUpFactor(browser: Browser): Promise<void> {
  const started = await ask(
    browser,
    'mutation StartTotpEnrolment { startTotpEnrolment { status enrolmentId secret otpauthUrl } }',
  );
  const { enrolmentId, secret } = JSON.parse(started.body).data.startTotpEnrolment;
  keep('the secret of an authenticator app', secret);
  const complete = `mutation CompleteTotpEnrolment($enrolmentId: ID!, $code: String!) {
    completeTotpEnrolment(input: { enrolmentId: $enrolmentId, code: $code }) { status recoveryCodes }
  }`;
  const completed = await ask(browser, complete, { enrolmentId, code: codeOfApp(secret, Date.now()) });
  const { recoveryCodes } = JSON.parse(completed.body).data.completeTotpEnrolment;
  for (const [index, code] of recoveryCodes.entries()) keep(`recovery code ${index}`, code);
}

async function lookAtEverything(): Promise<void> {
  const printed = async (...args: string[]) => shown.set(args.join(' '), await printedBy(args));
  await printed('config', 'dump');
  await printed('config', 'dump', '--defaults');
  await printed('--json', 'config', 'dump');
  await printed('doctor');
  await printed('--json', 'doctor');
  await printed('jobs', 'list');
  await printed('--json', 'jobs', 'list');
  await printed('keys', 'list');
  await printed('database', 'status');
  await printed('manage', 'show-user', 'amira');
  shown.set('metrics', await (await fetch(`${base}metrics`)).text());
  shown.set('errors', refusals.join('\n'));
  await stopProcess(service);
  shown.set('traces', collector.requests.map(({ body }) => body).join('\n'));
  shown.set('log', readFileSync(join(folder, 'log'), 'utf8'));
}

/** Returns the output of a command, even if it exits with findings. */
async function printedBy(args: readonly string[]): Promise<string> {
  const child = program.launch(args);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      text += String(chunk);
    });
  }
  child.stdin?.end();
  await new Promise((resolve) => child.once('close', resolve));
  return text;
}

/** Whether a text contains a secret, in plain or encoded form. */
function holds(text: string, secret: string): boolean {
  // Timestamps also contain six digits. Only standalone digits count as a code.
  if (secret.length < 8) return new RegExp(`(?<![\\w.])${secret}(?!\\w)`).test(text);
  const written = [secret, encodeURIComponent(secret), btoa(secret).replaceAll('=', '')];
  return written.some((one) => text.includes(one));
}

test('no secret appears in the log, errors, metrics, traces or command output', () => {
  expect(secrets.size).toBeGreaterThan(45);
  const found = [...shown].flatMap(([where, text]) =>
    [...secrets].filter(([, secret]) => holds(text, secret)).map(([what]) => [where, what]),
  );
  expect(found).toEqual([]);
});

test('the search finds configured values where they are printed on purpose', async () => {
  const printed = await printedBy(['config', 'dump', '--show-secrets']);
  expect(Object.values(CONFIGURED).filter((secret) => !holds(printed, secret))).toEqual([]);
});

test.each([
  ['log', /POST \/oauth2\/token .*requester=oauth2-client:/],
  ['errors', /invalid_grant/],
  ['metrics', /latchkey_login_attempts_total\{result="success"\} [1-9]/],
  ['traces', /POST \/login/],
  ['config dump', /client_secret: "?<redacted>/],
  ['doctor', /database/],
  ['jobs list', /cleanup-/],
])('the search covers this output: %s', (where, text) => {
  expect(shown.get(where)).toMatch(text);
});
