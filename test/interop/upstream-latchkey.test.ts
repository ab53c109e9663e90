import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobWorkers } from '#app/jobs.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { startService, type TestService } from '../support/service.ts';

const CLIENT_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'a secret that both of them know, and nobody else';
const PASSWORD = 'correct horse battery staple';
const METHODS = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt'] as const;
const IDS = [
  '01JD3Q5Z8W2N4K6M7P9R0S1T2V',
  '01JD3Q5Z8W2N4K6M7P9R0S1T2W',
  '01JD3Q5Z8W2N4K6M7P9R0S1T2X',
  '01JD3Q5Z8W2N4K6M7P9R0S1T2Y',
];

let upstream: TestService;
let service: TestService;

/** Another Latchkey as upstream provider: every authentication method, PKCE, `iss` in the response, signed userinfo. */
beforeAll(async () => {
  const [port, upstreamPort] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${port}`;
  const issuer = `http://127.0.0.1:${upstreamPort}`;
  const http = (own: number) => ({
    public_base: `http://127.0.0.1:${own}`,
    listeners: [
      {
        name: 'web',
        resources: ['discovery', 'human', 'oauth', 'assets', 'health'],
        binds: [{ address: `127.0.0.1:${own}` }],
      },
    ],
  });
  const clientId = (index: number): string => CLIENT_ID.slice(0, -1) + 'BCDE'.charAt(index);
  service = await startService({
    http: http(port),
    upstream_oauth2: {
      providers: METHODS.map((method, index) => ({
        id: IDS[index],
        issuer,
        client_id: clientId(index),
        token_endpoint_auth_method: method,
        ...(method !== 'private_key_jwt' && { client_secret: SECRET }),
        ...(method === 'client_secret_jwt' && { token_endpoint_auth_signing_alg: 'HS256' }),
        ...(method === 'private_key_jwt' && { token_endpoint_auth_signing_alg: 'ES256' }),
        scope: 'openid profile',
        on_backchannel_logout: 'logout_all',
        fetch_userinfo: true,
        ...(index % 2 === 1 && { userinfo_signed_response_alg: 'RS256' }),
      })),
    },
  });
  const keys = (await (await fetch(`${service.address}/oauth2/keys.json`)).json()) as { keys: object[] };
  upstream = await startService({
    http: http(upstreamPort),
    clients: METHODS.map((method, index) => ({
      client_id: clientId(index),
      client_auth_method: method,
      ...(method === 'private_key_jwt' ? { jwks: keys } : { client_secret: SECRET }),
      redirect_uris: [`${base}/upstream/callback/${IDS[index]}`],
      first_party: true,
      backchannel_logout_uri: `${base}/upstream/backchannel-logout/${IDS[index]}`,
      ...(index % 2 === 1 && { userinfo_signed_response_alg: 'RS256' }),
    })),
  });
  await upstream.registerUser('amira', PASSWORD);
  await service.registerUser('bela', PASSWORD);
});
afterAll(async () => {
  await service.stop();
  await upstream.stop();
});

test.each(METHODS.map((method, index) => [method, IDS[index] ?? ''] as const))(
  'a user signs in with another Latchkey, which authenticates this one by %s, and links the account',
  async (_, id) => {
    const there = new Browser({ listener: upstream.address, publicBase: upstream.publicBase });
    const here = new Browser({ listener: service.address, publicBase: service.publicBase });
    await here.get('/login');
    await here.submit({ username: 'bela', password: PASSWORD });
    await here.get(`/upstream/authorize/${id}`);
    await there.open(here.page.location ?? '');
    await there.submit({ username: 'amira', password: PASSWORD });
    const back = (await there.follow()).location ?? '';
    expect(new URL(back).searchParams.get('iss')).toBe(upstream.issuer);
    await here.get(back);
    const page = await here.follow();
    expect(page.text).toContain('Link your accounts?');
    expect((await here.submit({}, { action: new URL(page.url).pathname })).status).toBe(303);

    // Signing out at the provider ends the session here.
    expect((await here.get('/')).text).toContain('Sign out');
    await there.get('/');
    await there.submit({}, { action: '/logout' });
    await runJobs(upstream);
    expect((await here.get('/')).text).not.toContain('Sign out');
    const line = service.logLines().findLast((text) => text.includes('upstream.logout'));
    expect(line).toContain(`provider=${id}`);
    expect(line).toContain('sessions=1');
  },
);

async function runJobs({ core }: TestService): Promise<void> {
  for (const worker of createJobWorkers({ ...core, isBusy: () => false, transport: undefined })) {
    await worker.poll();
    await worker.idle();
  }
}
