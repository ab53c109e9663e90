/** Runs `latchkey activity` on the log of a service with users and applications (operations 3.10, 10.7). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { Browser } from '../support/browser.ts';
import { ChatClient } from '../support/chat-client.ts';
import { GraphqlClient } from '../support/graphql-client.ts';
import { linkAccount } from '../support/link-account.ts';
import { logOf } from '../support/log-of.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { startService, type TestService } from '../support/service.ts';
import { startUpstreamPeer, UPSTREAM_SUBJECT, type UpstreamPeer } from '../support/upstream-peer.ts';
import { bundleWorker } from '../support/worker-entry.ts';

const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';

let worker: URL;
let peer: UpstreamPeer;
beforeAll(async () => {
  worker = await bundleWorker(new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url));
  peer = await startUpstreamPeer();
});
afterAll(async () => await peer.stop());

/** Performs every specified activity, with success and with failure. @returns the IDs of the users */
async function useService(service: TestService): Promise<{ readonly amira: string; readonly linked: string }> {
  const amira = await service.registerUser('amira', PASSWORD);
  const linked = await service.registerUser('linked', PASSWORD);
  await linkAccount(service.database, { providerId: PROVIDER, userId: linked, subject: UPSTREAM_SUBJECT });
  const newBrowser = () => new Browser({ listener: service.address, publicBase: service.publicBase });

  const browser = newBrowser();
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: 'a wrong one' });
  await browser.submit({ username: 'amira', password: PASSWORD });
  const query = new URLSearchParams({
    client_id: CLIENT,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
  });
  await browser.open(`/authorize?${query}`);
  await browser.submit({ action: 'consent' }, { action: '/authorize' });
  const code = new URL(locationOf(browser)).searchParams.get('code');
  await browser.get('/authorize?client_id=nobody');

  const basic = `Basic ${Buffer.from(`${CLIENT}:${SECRET}`).toString('base64')}`;
  const send = async (path: string, form: Readonly<Record<string, string>>, authorization: string) => {
    const init = { method: 'POST', body: new URLSearchParams(form), headers: { authorization } };
    const text = await (await fetch(service.address + path, init)).text();
    const body: Readonly<Record<string, unknown>> = text === '' ? {} : JSON.parse(text);
    return body;
  };
  const exchange = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: CALLBACK };
  const token = String((await send('/oauth2/token', exchange, basic))['access_token']);
  await send('/oauth2/token', { ...exchange, code: 'made-up' }, basic);
  await send('/oauth2/introspect', { token }, basic);
  await send('/oauth2/introspect', { token }, `Bearer ${HOMESERVER_SECRET}`);
  await send('/oauth2/introspect', { token }, 'Bearer a-wrong-one');
  await send('/oauth2/revoke', { token }, basic);
  await send('/oauth2/revoke', { token }, `Basic ${Buffer.from(`${CLIENT}:wrong`).toString('base64')}`);

  const pages = new GraphqlClient(service, {}, browser);
  await pages.query('mutation EndBrowserSession { endBrowserSession(input: { browserSessionId: "x" }) { status } }');
  await pages.query('query CurrentViewer { viewer { __typename } }');
  await browser.get('/');
  await browser.submit({}, { action: '/logout' });

  const newcomer = newBrowser();
  await newcomer.get('/register/password');
  await newcomer.submit({ username: 'newcomer', password: NEW_PASSWORD });
  const finish = newcomer.page.location?.replace(/[^/]+$/, 'finish') ?? '';
  await newcomer.get(finish);
  await newcomer.follow();
  await newcomer.submit({ action: 'skip' });
  await newcomer.get(newcomer.page.location ?? '');

  const visitor = newBrowser();
  await visitor.get(`/upstream/authorize/${PROVIDER}`);
  await visitor.get(peer.signIn(locationOf(visitor)));
  await visitor.follow();
  await visitor.submit();

  const chat = new ChatClient(service);
  await chat.tryLogin('amira', 'a wrong one');
  const { accessToken } = await chat.login('amira', PASSWORD);
  await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
  await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
  const again = await chat.login('amira', PASSWORD);
  await chat.post('/logout/all', undefined, { authorization: `Bearer ${again.accessToken}` });
  return { amira, linked };
}

function locationOf(browser: Browser): string {
  const { location } = browser.page;
  if (location === undefined) throw new Error(`no redirect at ${browser.page.url}: ${browser.page.text}`);
  return location;
}

test.each(['text', 'json'])('reports the same as the documented table, from a log in %s', async (format) => {
  const service = await startService(
    {
      logging: { format, level: 'trace' },
      homeserver: { kind: 'none', homeserver: 'chat.example', secret: HOMESERVER_SECRET },
      account: { password_registration_enabled: true },
      oauth: { introspection_callers: 'static' },
      clients: [
        {
          client_id: CLIENT,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          client_name: 'Harbour',
          redirect_uris: [CALLBACK],
        },
      ],
      upstream_oauth2: {
        providers: [{ id: PROVIDER, issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' }],
      },
    },
    { strengthWorker: worker },
  );
  const users = await useService(service);
  const lines = service.logLines();
  await service.stop();
  const { exitCode, out, err } = await runCommand(['activity', '--json', '--strict'], { stdin: logOf(lines) });
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });

  const records: Readonly<Record<string, unknown>>[] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const newcomer = records.find(({ activity, outcome }) => activity === 'registration' && outcome === 'success');
  expect(newcomer?.['requester']).toMatch(/^user:[0-9A-Z]{26}\(newcomer\)$/);
  const amira = `user:${users.amira}(amira)`;
  const client = `oauth2-client:${CLIENT}`;
  expect(
    records.map(({ activity, outcome, requester, method, status }) => [activity, outcome, requester, method, status]),
  ).toEqual([
    ['browser-login', 'failure', null, 'POST', 200],
    ['browser-login', 'success', amira, 'POST', 303],
    ['authorization-grant', 'success', amira, 'GET', 303],
    ['authorization-grant', 'success', amira, 'POST', 303],
    ['authorization-grant', 'failure', null, 'GET', 400],
    ['token-issuance', 'success', client, 'POST', 200],
    ['token-issuance', 'failure', client, 'POST', 400],
    ['token-introspection', 'success', client, 'POST', 200],
    ['token-introspection', 'success', 'homeserver', 'POST', 200],
    ['token-introspection', 'failure', null, 'POST', 401],
    ['token-revocation', 'success', client, 'POST', 200],
    ['token-revocation', 'failure', null, 'POST', 401],
    ['account:EndBrowserSession', 'attempted', amira, 'POST', 200],
    ['browser-logout', 'success', amira, 'POST', 303],
    ['registration', 'incomplete', null, 'GET', 303],
    ['registration', 'success', newcomer?.['requester'], 'GET', 303],
    ['upstream-login', 'success', `user:${users.linked}(linked)`, 'POST', 303],
    ['chat-login', 'failure', null, 'POST', 403],
    ['chat-login', 'success', amira, 'POST', 200],
    ['chat-logout', 'success', amira, 'POST', 200],
    ['chat-logout', 'failure', null, 'POST', 401],
    ['chat-login', 'success', amira, 'POST', 200],
    ['chat-logout', 'success', amira, 'POST', 200],
  ]);
  // Each record comes from a different log line.
  const ids = records.map((record) => String(record['request_id']));
  expect(new Set(ids).size).toBe(ids.length);
  expect(records.every((record) => record['client_address'] === '127.0.0.1')).toBe(true);
});
