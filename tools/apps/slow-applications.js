/** Applications that take minutes to download and build; `.ci/nightly` runs them. */
import { join } from 'node:path';
import pg from 'pg';
import { configurationFile } from './configuration-file.js';
import { dexChecks } from './dex/checks.js';
import { goModuleFolder, goProgram, javaProgram, python, releasedGoProgram } from './install.js';
import { hubChecks } from './jupyterhub/checks.js';
import { readerChecks } from './miniflux/checks.js';
import { groupChecks } from './oauth2-proxy/checks.js';
import { springChecks } from './spring/checks.js';

export const slowApplications = [
  {
    name: 'oauth2-proxy',
    folder: 'oauth2-proxy',
    callback: '/oauth2/callback',
    preset: { slug: 'oauth2-proxy' },
    command: async (settings) => {
      const program = await releasedGoProgram('oauth2-proxy', 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6');
      return [program, '--config', configurationFile('oauth2-proxy/oauth2-proxy.cfg', settings)];
    },
    checks: groupChecks,
  },
  {
    name: 'dex',
    folder: 'dex',
    callback: '/dex/callback',
    preset: { slug: 'dex', path: '/dex' },
    command: async (settings) => {
      const program = await goProgram('dex');
      const web = join(await goModuleFolder('dex', 'github.com/dexidp/dex'), 'web');
      return [program, configurationFile('dex/config.yaml', { ...settings, WEB: web })];
    },
    providers: ({ PORT }) => ({
      id: '01JD3Q5Z8W2N4K6M7P9R0S1T10',
      human_name: 'Company dex',
      issuer: `http://localhost:${PORT}/dex`,
      client_id: 'latchkey',
      client_secret: 'a-secret-of-at-least-16-characters',
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'openid profile email',
      claims_imports: {
        skip_confirmation: true,
        localpart: { action: 'require', template: '{{ user.name }}' },
        displayname: { action: 'force' },
        email: { action: 'force' },
      },
    }),
    checks: dexChecks,
  },
  {
    name: 'Spring Boot',
    folder: 'spring',
    callback: '/login/oauth2/code/latchkey',
    // In the configuration, because a notification of sign-out to this machine is sent to configured clients only.
    client: ({ PORT }) => ({
      backchannel_logout_uri: `http://localhost:${PORT}/logout/connect/back-channel/latchkey`,
      grant_types: ['authorization_code', 'client_credentials'],
      scope: 'openid profile email opaque.read jwt.read',
    }),
    resources: () => [
      { identifier: 'https://opaque.example.org/', scopes: ['opaque.read'] },
      { identifier: 'https://jwt.example.org/', scopes: ['jwt.read'], token_format: 'jwt' },
    ],
    command: async () => ['java', '-jar', await javaProgram('spring')],
    checks: springChecks,
  },
  ...['gitea', 'forgejo'].map((slug) => ({
    name: `goth as in ${slug}`,
    folder: 'gitea-goth',
    callback: '/user/oauth2/latchkey/callback',
    preset: { slug },
    command: async () => [await goProgram('gitea-goth')],
    refusal: /access_denied: the user canceled the request/,
  })),
  ...[
    { slug: 'grafana', callback: '/login/generic_oauth', pkce: 'true' },
    { slug: 'portainer', callback: '/', pkce: 'false' },
  ].map(({ slug, callback, pkce }) => ({
    name: `golang.org/x/oauth2 as in ${slug}`,
    folder: 'grafana-oauth2',
    callback,
    preset: { slug },
    settings: () => ({ CALLBACK: callback, PKCE: pkce }),
    command: async () => [await goProgram('grafana-oauth2')],
    refusal: /access_denied: the user canceled the request/,
  })),
  {
    name: 'Miniflux',
    folder: 'miniflux',
    callback: '/oauth2/oidc/callback',
    preset: { slug: 'miniflux' },
    settings: (issuer) => ({
      OAUTH2_PROVIDER: 'oidc',
      OAUTH2_OIDC_DISCOVERY_ENDPOINT: issuer,
      OAUTH2_OIDC_PROVIDER_NAME: 'Latchkey',
      OAUTH2_USER_CREATION: '1',
      RUN_MIGRATIONS: '1',
      DISABLE_SCHEDULER_SERVICE: '1',
    }),
    command: async (settings) => {
      const base = `http://localhost:${settings.PORT}`;
      Object.assign(settings, {
        BASE_URL: base,
        LISTEN_ADDR: `127.0.0.1:${settings.PORT}`,
        OAUTH2_CLIENT_ID: settings.CLIENT_ID,
        OAUTH2_CLIENT_SECRET: settings.CLIENT_SECRET,
        OAUTH2_REDIRECT_URL: `${base}/oauth2/oidc/callback`,
        DATABASE_URL: await ownDatabase(settings, 'miniflux'),
      });
      return [await releasedGoProgram('miniflux.app', 'miniflux.app/v2@v2.3.5')];
    },
    checks: readerChecks,
  },
  {
    name: 'JupyterHub',
    folder: 'jupyterhub',
    callback: '/hub/oauth_callback',
    preset: { slug: 'jupyterhub' },
    command: async () => [await python('jupyterhub'), '-m', 'jupyterhub', '-f', 'jupyterhub_config.py'],
    checks: hubChecks,
  },
];

/** Creates a database for an application next to that of Latchkey. @returns how to connect to it */
async function ownDatabase({ FOLDER }, name) {
  const host = join(FOLDER, '..', 'data', 'run');
  const client = new pg.Client({ user: 'latchkey_admin', database: 'postgres', host, port: 5432, ssl: false });
  await client.connect();
  try {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return `user=latchkey_admin dbname=${name} host=${host} sslmode=disable`;
}
