/**
 * The applications: unmodified libraries and servers configured as in their manuals. Each gets an issuer, a client ID
 * and a secret as environment variables, and returns `sub`, `name` and `email` of the user at `/me`. With `preset`, its
 * client is created from a preset of Latchkey, otherwise it is in the configuration.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { configurationFile } from './configuration-file.js';
import { debianPackages, goProgram, python, RUBY_PACKAGES, run } from './install.js';
import { toolChecks } from './mcp/checks.js';
import { groupChecks } from './mod-auth-openidc/checks.js';
import { singlePageChecks } from './oidc-client-ts/checks.js';
import { tokenChecks } from './pyjwt/checks.js';
import { mailChecks } from './roundcube/checks.js';
import { homeserverChecks } from './synapse/checks.js';

const MAIL_SERVER = { id: '01JD3Q5Z8W2N4K6M7P9R0S1T11', secret: 'a-secret-of-the-mail-server' };

const node = () => [process.execPath, 'app.js'];
const inPython = async () => [await python(), 'app.py'];

const byButton = async (page, base) => {
  await page.goto(base);
  await page.getByRole('button', { name: 'Sign in with Latchkey' }).click();
};

export const applications = [
  {
    name: 'Auth.js (@auth/express)',
    folder: 'auth-js',
    callback: '/auth/callback/latchkey',
    command: node,
    enter: async (page, base) => {
      await page.goto(`${base}/auth/signin`);
      await page.getByRole('button', { name: 'Sign in with Latchkey' }).click();
    },
    refusal: /Try signing in with a different account/,
  },
  {
    name: 'passport-openidconnect',
    folder: 'passport-openidconnect',
    callback: '/callback',
    command: node,
    refusal: /the user canceled the request/,
  },
  {
    name: 'express-openid-connect',
    folder: 'express-openid-connect',
    callback: '/callback',
    command: node,
    refusal: /authorization response from the server is an error/,
  },
  {
    name: 'Authlib with Flask',
    folder: 'flask-authlib',
    callback: '/oauth/oidc/callback',
    preset: { slug: 'open-webui' },
    command: inPython,
    refusal: /access_denied: the user canceled the request/,
  },
  {
    name: 'Authlib with Starlette',
    folder: 'mealie-authlib',
    callback: '/login',
    preset: { slug: 'mealie' },
    command: inPython,
    refusal: /access_denied: the user canceled the request/,
  },
  {
    name: 'openid-client',
    folder: 'immich-openid-client',
    callback: '/auth/login',
    preset: { slug: 'immich' },
    command: node,
    refusal: /access_denied: the user canceled the request/,
  },
  {
    name: 'django-allauth',
    folder: 'django-allauth',
    callback: '/accounts/oidc/latchkey/login/callback/',
    preset: { slug: 'paperless-ngx' },
    command: inPython,
    enter: async (page, base) => {
      await page.goto(`${base}/accounts/oidc/latchkey/login/`);
      await page.getByRole('button', { name: 'Continue' }).click();
    },
    refusal: /You decided to cancel logging in/,
  },
  {
    name: 'Better Auth',
    folder: 'better-auth',
    callback: '/api/auth/callback/latchkey',
    command: node,
    enter: byButton,
    refusal: /access_denied/,
  },
  {
    name: 'mozilla-django-oidc',
    folder: 'mozilla-django-oidc',
    callback: '/oidc/callback/',
    command: inPython,
    enter: (page, base) => page.goto(`${base}/oidc/authenticate/`),
    refusal: /"signed_in": false/,
  },
  {
    name: 'Python Social Auth with Django',
    folder: 'social-auth',
    callback: '/accounts/complete/oidc/',
    preset: { slug: 'weblate' },
    command: inPython,
    enter: byButton,
    refusal: /"signed_in": false/,
  },
  {
    name: 'go-oidc',
    folder: 'go-oidc',
    callback: '/oauth2/oidc/callback',
    preset: { slug: 'miniflux' },
    command: async () => [await goProgram('go-oidc')],
    refusal: /access_denied: the user canceled the request/,
  },
  {
    name: 'OmniAuth with Sinatra',
    folder: 'ruby-omniauth',
    callback: '/users/auth/openid_connect/callback',
    preset: { slug: 'gitlab' },
    command: async () => {
      await debianPackages(RUBY_PACKAGES, '/usr/share/doc/ruby-omniauth-openid-connect');
      return ['ruby', 'app.rb'];
    },
    // In development mode it raises an exception instead of redirecting to /auth/failure.
    settings: () => ({ RACK_ENV: 'production' }),
    enter: byButton,
    refusal: /access_denied/,
  },
  {
    name: 'mod_auth_openidc',
    folder: 'mod-auth-openidc',
    callback: '/me/callback',
    preset: { slug: 'apache', path: '/me' },
    command: async ({ FOLDER }) => {
      await debianPackages(['apache2', 'libapache2-mod-auth-openidc'], '/usr/lib/apache2/modules/mod_auth_openidc.so');
      const folder = join(import.meta.dirname, 'mod-auth-openidc');
      // Its account may have no access to this repository.
      cpSync(join(folder, 'site'), join(FOLDER, 'site'), { recursive: true });
      return ['/usr/sbin/apache2', '-D', 'FOREGROUND', '-f', join(folder, 'httpd.conf')];
    },
    me: '/me/',
    // This version mistakes an error response with `iss` (RFC 9207) for the response of a provider discovery page.
    refusal: /SSO to this module without specifying a "target_link_uri"/,
    enter: (page, base) => page.goto(`${base}/me/`),
    checks: groupChecks,
  },
  {
    name: 'Roundcube with Dovecot',
    folder: 'roundcube',
    callback: '/index.php/login/oauth',
    preset: { slug: 'roundcube' },
    furtherClients: () => ({
      client_id: MAIL_SERVER.id,
      client_name: 'Dovecot',
      client_auth_method: 'client_secret_basic',
      client_secret: MAIL_SERVER.secret,
      grant_types: ['client_credentials'],
    }),
    resources: () => ({ identifier: 'https://mail.example.org/', scopes: ['mail'] }),
    settings: async (issuer) => ({
      IMAP_PORT: String(await freePort()),
      INTROSPECTION: `${issuer.replace('://', `://${MAIL_SERVER.id}:${MAIL_SERVER.secret}@`)}/oauth2/introspect`,
    }),
    command: async (settings) => {
      const packages = ['roundcube-core', 'roundcube-sqlite3', 'php-cli', 'php-cgi', 'dovecot-imapd'];
      await debianPackages(packages, '/usr/share/roundcube/index.php');
      for (const name of ['dovecot.conf', 'dovecot-oauth2.conf.ext', 'config.inc.php']) {
        configurationFile(`roundcube/${name}`, settings);
      }
      cpSync('/etc/roundcube/defaults.inc.php', join(settings.FOLDER, 'defaults.inc.php'));
      const mail = join(settings.FOLDER, 'mail');
      mkdirSync(mail, { recursive: true });
      await run('chown', ['mail:', mail]);
      return node();
    },
    checks: mailChecks,
  },
  {
    name: 'oidc-client-ts in a single-page application',
    folder: 'oidc-client-ts',
    callback: '/callback',
    signedOut: '/signed-out',
    isPublic: true,
    command: node,
    checks: singlePageChecks,
  },
  {
    name: 'Synapse with oidc_providers',
    folder: 'synapse',
    callback: '/_synapse/client/oidc/callback',
    preset: { slug: 'synapse' },
    command: async (settings) => {
      const own = configurationFile('synapse/homeserver.yaml', settings);
      const program = await python();
      await run(program, ['-m', 'synapse.app.homeserver', '--config-path', own, '--generate-keys']);
      return [program, '-m', 'synapse.app.homeserver', '--config-path', own];
    },
    checks: homeserverChecks,
  },
  ...['introspection', 'jwt'].map((verifier) => ({
    name: `FastMCP with ${verifier}`,
    folder: 'mcp',
    callback: '/unused',
    settings: () => ({ VERIFIER: verifier }),
    resources: ({ PORT }) => ({
      identifier: `http://localhost:${PORT}/mcp`,
      scopes: ['notes.read'],
      ...(verifier === 'jwt' && { token_format: 'jwt' }),
    }),
    command: async () => [await python(), 'server.py'],
    checks: toolChecks,
  })),
  {
    name: 'PyJWT',
    folder: 'pyjwt',
    callback: '/unused',
    client: () => ({
      grant_types: ['client_credentials'],
      scope: 'notes.list notes.write letters.list events.list',
    }),
    resources: () => [
      { identifier: 'https://notes.example.org/', scopes: ['notes.list', 'notes.write'], token_format: 'jwt' },
      { identifier: 'https://letters.example.org/', scopes: ['letters.list'], token_format: 'jwt' },
      { identifier: 'https://events.example.org/', scopes: ['events.list'] },
    ],
    command: inPython,
    checks: tokenChecks,
  },
];
