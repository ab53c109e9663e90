/**
 * Chromium and Firefox send different `Sec-Fetch-*`, `Origin` and `Accept` headers for a navigation, an image or a
 * fetch. Requests every route for each of its uses, with the full set of headers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { C1, CLIENT_SETTINGS, SETTINGS, UNKNOWN_ID } from '../attacks/attacked-service.ts';
import { headerOf, sendRequest } from '../attacks/raw-http.ts';
import { freePort } from '../support/free-port.js';
import { RESOURCES, startService, type TestService } from '../support/service.ts';

type Use =
  /** A typed URL, a bookmark, or a link in an email program. */
  | 'opened'
  /** A link or redirect on another site. */
  | 'link of another site'
  /** A link or redirect of this service. */
  | 'link'
  | 'form'
  | 'form of another site'
  | 'image'
  | 'style'
  | 'script'
  | 'font'
  | 'worker'
  /** The script of a page of this service. */
  | 'fetch'
  /** The script of a browser application. */
  | 'fetch of another site'
  /** A frame in an application's page. */
  | 'frame of another site'
  /** The browser's password manager checks whether the URL exists. */
  | 'probe';

const PAGE: readonly Use[] = ['opened', 'link of another site', 'link'];
const FORM: readonly Use[] = ['form'];
const PUBLIC_DATA: readonly Use[] = ['opened', 'fetch', 'fetch of another site'];
const APPLICATION: readonly Use[] = ['fetch of another site'];
/** Called by servers only. */
const NO_BROWSER: readonly Use[] = [];

const USES: Readonly<Record<string, readonly Use[]>> = {
  'GET /.well-known/openid-configuration': PUBLIC_DATA,
  'GET /.well-known/oauth-authorization-server': PUBLIC_DATA,
  'GET //.well-known/openid-configuration': PUBLIC_DATA,
  'GET //.well-known/oauth-authorization-server': PUBLIC_DATA,
  'GET /.well-known/oauth-authorization-server/': PUBLIC_DATA,
  'GET /.well-known/webfinger': PUBLIC_DATA,
  'GET /.well-known/security.txt': PUBLIC_DATA,
  'GET /oauth2/keys.json': PUBLIC_DATA,
  'GET /authorize': [...PAGE, 'frame of another site'],
  'POST /authorize': ['form', 'form of another site'],
  'GET /authorize/:grant_id': PAGE,
  'GET /consent/:grant_id': PAGE,
  'POST /oauth2/par': APPLICATION,
  'POST /oauth2/token': ['fetch', ...APPLICATION],
  'POST /oauth2/device': APPLICATION,
  'POST /oauth2/introspect': APPLICATION,
  'POST /oauth2/revoke': APPLICATION,
  'GET /oauth2/userinfo': APPLICATION,
  'POST /oauth2/userinfo': APPLICATION,
  'POST /oauth2/registration': APPLICATION,
  'GET /oauth2/registration/:client_id': APPLICATION,
  'PUT /oauth2/registration/:client_id': APPLICATION,
  'DELETE /oauth2/registration/:client_id': APPLICATION,
  'GET /oauth2/logout': PAGE,
  'POST /oauth2/logout': ['form of another site'],
  'GET /_chat/client/:version/login': APPLICATION,
  'POST /_chat/client/:version/login': APPLICATION,
  'POST /_chat/client/:version/logout': APPLICATION,
  'POST /_chat/client/:version/logout/all': APPLICATION,
  'POST /_chat/client/:version/refresh': APPLICATION,
  'GET /_chat/client/:version/login/sso/redirect': PAGE,
  'GET /_chat/client/:version/login/sso/redirect/': PAGE,
  'GET /_chat/client/:version/login/sso/redirect/:idp': PAGE,
  'GET /graphql': ['opened', 'fetch'],
  'GET /graphql/playground': PAGE,
  'POST /graphql': ['fetch'],
  'GET /api/spec.json': PUBLIC_DATA,
  'GET /api/doc': PAGE,
  'GET /api/doc/': PAGE,
  'GET /api/doc/oauth2-callback': PAGE,
  'GET /': PAGE,
  'GET /login': PAGE,
  'POST /login': FORM,
  'GET /logout': PAGE,
  'POST /logout': FORM,
  'GET /login/totp': PAGE,
  'POST /login/totp': FORM,
  'GET /login/recovery-code': PAGE,
  'POST /login/recovery-code': FORM,
  'GET /login/setup': PAGE,
  'POST /login/setup': FORM,
  'GET /login/passkey': PAGE,
  'POST /login/passkey': FORM,
  'POST /login/passkey/options': ['fetch'],
  'GET /login/add-passkey': PAGE,
  'POST /login/add-passkey': FORM,
  'POST /login/add-passkey/options': ['fetch'],
  'GET /reauth': PAGE,
  'POST /reauth': FORM,
  'GET /reauth/totp': PAGE,
  'POST /reauth/totp': FORM,
  'GET /reauth/recovery-code': PAGE,
  'POST /reauth/recovery-code': FORM,
  'GET /upstream/authorize/:id': PAGE,
  'GET /upstream/callback/:id': PAGE,
  'POST /upstream/callback/:id': ['form', 'form of another site'],
  'GET /upstream/link/:id': PAGE,
  'POST /upstream/link/:id': FORM,
  'POST /upstream/backchannel-logout/:id': NO_BROWSER,
  'GET /.well-known/change-password': [...PAGE, 'probe'],
  'GET /account': PAGE,
  'GET /account/': PAGE,
  'GET /admin': PAGE,
  'GET /admin/': PAGE,
  'GET /admin/*': PAGE,
  'GET /admin/callback': ['fetch'],
  'GET /recover': PAGE,
  'POST /recover': FORM,
  'GET /recover/progress/:session_id': PAGE,
  'POST /recover/progress/:session_id': FORM,
  'GET /account/password/recovery': PAGE,
  'GET /account/*': PAGE,
  'GET /data-export/:id': PAGE,
  'GET /register': PAGE,
  'POST /register': FORM,
  'GET /register/password': PAGE,
  'POST /register/password': FORM,
  'GET /register/steps/:id/token': PAGE,
  'POST /register/steps/:id/token': FORM,
  'GET /register/steps/:id/verify-email': PAGE,
  'POST /register/steps/:id/verify-email': FORM,
  'GET /register/steps/:id/display-name': PAGE,
  'POST /register/steps/:id/display-name': FORM,
  'GET /register/steps/:id/username': PAGE,
  'POST /register/steps/:id/username': FORM,
  'GET /register/steps/:id/finish': PAGE,
  'GET /link': PAGE,
  'POST /link': FORM,
  'GET /complete-compat-sso/:grant_id': PAGE,
  'POST /complete-compat-sso/:grant_id': FORM,
  'GET /device/:device_code_id': PAGE,
  'POST /device/:device_code_id': FORM,
  'GET /favicon.ico': ['image', 'opened'],
  'GET /robots.txt': ['opened'],
  'GET /assets/*': ['style', 'script', 'font', 'image', 'worker', 'fetch', 'opened'],
  'GET /client-logos/:client_id': ['image', 'opened'],
  'GET /metrics': ['opened'],
  'GET /connection-info': ['opened'],
  'GET /health': ['opened', 'fetch'],
};

/** Returns the uses of a route. All admin API routes are alike. */
function usesOf(name: string): readonly Use[] | undefined {
  return USES[name] ?? (/^[A-Z]+ \/api\/admin\/v1\//.test(name) ? ['fetch', 'fetch of another site'] : undefined);
}

const ELSEWHERE = 'https://app.example';
const AT_SERVICE = { 'GET /authorize': `/authorize?client_id=${C1.id}&prompt=none` };

let service: TestService;

beforeAll(async () => {
  const port = await freePort();
  const binds = [{ address: `127.0.0.1:${port}` }];
  // Passkeys require a host name.
  const base = `http://localhost:${port}`;
  const resources = [...RESOURCES, 'prometheus', 'connection-info'];
  service = await startService({
    ...SETTINGS,
    http: { public_base: base, listeners: [{ name: 'web', resources, binds }] },
    account: { ...SETTINGS.account, client_logos: 'proxy' },
    graphql: { playground: true },
    telemetry: { metrics: { exporter: 'prometheus' } },
    clients: CLIENT_SETTINGS.map((client) => ({ ...client, logo_uri: 'http://127.0.0.1:1/nobody-listens' })),
  });
});
afterAll(async () => await service.stop());

type Headers = readonly (readonly [name: string, value: string])[];

interface FetchMetadata {
  readonly site: 'none' | 'same-origin' | 'cross-site';
  readonly mode: 'navigate' | 'no-cors' | 'cors' | 'same-origin';
  readonly destination: string;
  readonly accept: string;
}

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';
const IMAGE = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';

const METADATA: Readonly<Record<Use, FetchMetadata>> = {
  opened: { site: 'none', mode: 'navigate', destination: 'document', accept: HTML },
  'link of another site': { site: 'cross-site', mode: 'navigate', destination: 'document', accept: HTML },
  link: { site: 'same-origin', mode: 'navigate', destination: 'document', accept: HTML },
  form: { site: 'same-origin', mode: 'navigate', destination: 'document', accept: HTML },
  'form of another site': { site: 'cross-site', mode: 'navigate', destination: 'document', accept: HTML },
  image: { site: 'same-origin', mode: 'no-cors', destination: 'image', accept: IMAGE },
  style: { site: 'same-origin', mode: 'no-cors', destination: 'style', accept: 'text/css,*/*;q=0.1' },
  script: { site: 'same-origin', mode: 'cors', destination: 'script', accept: '*/*' },
  font: { site: 'same-origin', mode: 'cors', destination: 'font', accept: 'application/font-woff2;q=1.0,*/*;q=0.8' },
  worker: { site: 'same-origin', mode: 'same-origin', destination: 'worker', accept: '*/*' },
  fetch: { site: 'same-origin', mode: 'cors', destination: 'empty', accept: '*/*' },
  'fetch of another site': { site: 'cross-site', mode: 'cors', destination: 'empty', accept: '*/*' },
  'frame of another site': { site: 'cross-site', mode: 'navigate', destination: 'iframe', accept: HTML },
  probe: { site: 'same-origin', mode: 'no-cors', destination: 'empty', accept: '*/*' },
};

const BRAND = '"Chromium";v="147", "Not.A/Brand";v="24"';
const ENGINES: readonly { readonly name: string; headers(metadata: FetchMetadata): Headers }[] = [
  {
    name: 'Chromium',
    headers: ({ site, mode, destination, accept }) => [
      ['sec-ch-ua', BRAND],
      ['sec-ch-ua-mobile', '?0'],
      ['sec-ch-ua-platform', '"Linux"'],
      ...(mode === 'navigate' ? ([['Upgrade-Insecure-Requests', '1']] as const) : []),
      [
        'User-Agent',
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
      ],
      ['Accept', accept],
      ['Sec-Fetch-Site', site],
      ['Sec-Fetch-Mode', mode],
      ...(mode === 'navigate' ? ([['Sec-Fetch-User', '?1']] as const) : []),
      ['Sec-Fetch-Dest', destination],
      ['Accept-Encoding', 'gzip, deflate, br, zstd'],
      ['Accept-Language', 'en-US,en;q=0.9'],
    ],
  },
  {
    name: 'Firefox',
    headers: ({ site, mode, destination, accept }) => [
      ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0'],
      ['Accept', accept],
      ['Accept-Language', 'en-US,en;q=0.5'],
      ['Accept-Encoding', 'gzip, deflate, br, zstd'],
      ['DNT', '1'],
      ['Sec-GPC', '1'],
      ...(mode === 'navigate' ? ([['Upgrade-Insecure-Requests', '1']] as const) : []),
      ['Sec-Fetch-Dest', destination],
      ['Sec-Fetch-Mode', mode],
      ['Sec-Fetch-Site', site],
      ...(mode === 'navigate' ? ([['Sec-Fetch-User', '?1']] as const) : []),
      ['Priority', mode === 'navigate' ? 'u=0, i' : 'u=5, i'],
      ['TE', 'trailers'],
    ],
  },
];

/** Returns `Origin` and `Referer` according to the service's referrer policies and the default one of other sites. */
function sourceOf(method: string, { site, mode }: FetchMetadata): Headers {
  if (site === 'none') return [];
  const origin = site === 'same-origin' ? new URL(service.publicBase).origin : ELSEWHERE;
  const referer = ['Referer', `${origin}/`] as const;
  const isSent = method !== 'GET' || (mode === 'cors' && site === 'cross-site');
  return isSent ? [referer, ['Origin', origin]] : [referer];
}

let sent = 0;

/** Returns the status of a response, its redirect path, and whether the request was rejected because of its origin. */
async function outcome(name: string, headers: Headers): Promise<readonly unknown[]> {
  const [method = '', path = ''] = name.split(' ');
  const query: Readonly<Record<string, string>> = AT_SERVICE;
  const target = query[name] ?? path.replace(':client_id', C1.id).replaceAll(/:\w+/g, UNKNOWN_ID).replace('*', 'x.css');
  sent += 1;
  const isGraphql = path === '/graphql';
  const all: Headers = [
    ['Host', new URL(service.publicBase).host],
    ['X-Forwarded-For', `198.18.${sent >> 8}.${sent & 255}`],
    ...headers,
    ...(method === 'GET'
      ? []
      : ([['Content-Type', isGraphql ? 'application/json' : 'application/x-www-form-urlencoded']] as const)),
  ];
  const body = method === 'GET' ? {} : { body: isGraphql ? '{"query":"{ __typename }"}' : '' };
  const response = await sendRequest(service.address, { method, target, headers: all, ...body });
  const isRefused = response.body.includes('cross_site_request') || (response.status === 403 && response.body === '');
  return [response.status, headerOf(response, 'location')?.split('?')[0], ...(isRefused ? ['refused'] : [])];
}

test('the table lists exactly the mounted routes', () => {
  const mounted = service.routes.map(({ method, path }) => `${method} ${path}`);
  expect(mounted.filter((name) => usesOf(name) === undefined)).toEqual([]);
  expect(Object.keys(USES).filter((name) => !mounted.includes(name))).toEqual([]);
});

test.for(ENGINES)('every route answers $name in each use as it answers an API client', async ({ headers }) => {
  for (const { method, path } of service.routes) {
    const name = `${method} ${path}`;
    for (const use of usesOf(name) ?? []) {
      const metadata = METADATA[use];
      const asProgram = await outcome(name, [['Accept', metadata.accept]]);
      const asBrowser = await outcome(name, [...headers(metadata), ...sourceOf(method, metadata)]);
      expect([name, use, ...asBrowser]).toEqual([name, use, ...asProgram]);
      expect(asBrowser, `${name} as ${use}`).not.toContain('refused');
    }
  }
});
