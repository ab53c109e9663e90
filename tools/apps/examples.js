/** The apps in `examples/`, each started with the one command of its README. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  debianPackages,
  goProgram,
  javaProgram,
  npmPackages,
  python,
  RUBY_PACKAGES,
  run,
  rustProgram,
} from './install.js';
import { toolChecks } from './mcp/checks.js';
import { decide, signIn, USER } from './user.js';

const folderOf = (name) => join('..', '..', 'examples', name);

const example = ({ name, ...definition }) => ({
  name: `example ${name}`,
  folder: folderOf(name),
  callback: '/callback',
  signedOut: '/',
  ...definition,
});

/** Starts what `npm start` starts, without npm, which may leave it running. */
const inNode = (name, file) => async () => {
  await npmPackages(folderOf(name));
  return [process.execPath, file];
};

export const examples = [
  example({
    name: 'express',
    command: inNode('express', 'app.js'),
    refusal: /access_denied: the user canceled the request/,
  }),
  example({
    name: 'fastapi',
    command: async () => [await python(folderOf('fastapi'), { isComplete: false }), 'app.py'],
    refusal: /access_denied: the user canceled the request/,
  }),
  example({
    name: 'go',
    command: async () => [await goProgram(folderOf('go'))],
    refusal: /access_denied: the user canceled the request/,
  }),
  example({
    name: 'django',
    callback: '/oidc/callback/',
    command: async (settings) => {
      const interpreter = await python(folderOf('django'), { isComplete: false });
      settings.DATABASE = join(settings.FOLDER, 'db.sqlite3');
      const manage = join(import.meta.dirname, folderOf('django'), 'manage.py');
      await run(interpreter, [manage, 'migrate', '--verbosity', '0'], { env: { ...process.env, ...settings } });
      return [interpreter, manage, 'runserver', '--noreload', `localhost:${settings.PORT}`];
    },
    enter: (page, base) => page.goto(`${base}/oidc/authenticate/`),
    refusal: /The sign-in was refused or failed/,
  }),
  example({
    name: 'sinatra',
    callback: '/auth/latchkey/callback',
    // The packages of Debian in place of those of the Gemfile.
    command: async () => {
      await debianPackages(RUBY_PACKAGES, '/usr/share/doc/ruby-omniauth-openid-connect');
      return ['ruby', 'app.rb'];
    },
    // In development mode it raises an exception instead of redirecting to /auth/failure.
    settings: () => ({ RACK_ENV: 'production' }),
    enter: async (page, base) => {
      await page.goto(base);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    refusal: /access_denied/,
  }),
  example({
    name: 'single-page-app',
    command: async (settings) => {
      await npmPackages(folderOf('single-page-app'));
      Object.assign(settings, { VITE_ISSUER: settings.ISSUER, VITE_CLIENT_ID: settings.CLIENT_ID });
      const vite = join('node_modules', 'vite', 'bin', 'vite.js');
      return [process.execPath, vite, ...atPort(settings.PORT)];
    },
    signedOut: '/signed-out',
    isPublic: true,
    checks: pageChecks,
  }),
  example({
    name: 'native-app',
    command: async (settings) => {
      await npmPackages(folderOf('native-app'));
      settings.TOKENS = join(settings.FOLDER, 'tokens.json');
      return [process.execPath, 'app.js'];
    },
    isPublic: true,
    checks: programChecks,
  }),
  example({
    name: 'mcp-server',
    command: inNode('mcp-server', 'server.js'),
    resources: ({ PORT }) => ({ identifier: `http://localhost:${PORT}/mcp`, scopes: ['notes.read'] }),
    checks: toolChecks,
  }),
];

/** Those that take long to download and build. */
export const slowExamples = [
  example({
    name: 'spring',
    callback: '/login/oauth2/code/latchkey',
    command: async () => ['java', '-jar', await javaProgram(folderOf('spring'))],
    enter: (page, base) => page.goto(`${base}/oauth2/authorization/latchkey`),
    refusal: /Sign in|Login with/i,
  }),
  example({
    name: 'axum',
    command: async () => [await rustProgram(folderOf('axum'), 'sign-in')],
    refusal: /access_denied: the user canceled the request/,
  }),
  example({
    name: 'sveltekit',
    command: async ({ PORT }) => {
      await npmPackages(folderOf('sveltekit'));
      return [process.execPath, join('node_modules', 'vite', 'bin', 'vite.js'), 'dev', ...atPort(PORT)];
    },
    refusal: /access_denied: the user canceled the request/,
  }),
  example({
    name: 'nextjs',
    callback: '/api/auth/callback/latchkey',
    command: async (settings) => {
      await npmPackages(folderOf('nextjs'));
      settings.NEXTAUTH_URL = `http://localhost:${settings.PORT}`;
      const next = join('node_modules', 'next', 'dist', 'bin', 'next');
      return [process.execPath, next, 'dev', '--hostname', 'localhost', '--port', settings.PORT];
    },
    enter: async (page, base) => {
      await page.goto(`${base}/api/auth/signin`);
      await page.getByRole('button', { name: 'Sign in with Latchkey' }).click();
    },
    refusal: /Sign in with Latchkey|access_denied|Access Denied/i,
  }),
];

function atPort(port) {
  return ['--host', 'localhost', '--port', port, '--strictPort'];
}

function pageChecks() {
  return [
    [
      'a user signs in, is greeted by name after a reload, and signs out',
      async ({ page, application, latchkey }) => {
        await page.goto(application.base);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        await page.getByText(`Hello, ${USER.name}.`).waitFor();
        await page.reload();
        await page.getByText(`Hello, ${USER.name}.`).waitFor();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL(`${application.base}/signed-out`);
        await page.getByText('Signed out.').waitFor();
      },
    ],
  ];
}

function programChecks() {
  return [
    [
      'a user signs in in the browser, and is greeted by name',
      async ({ page, application, latchkey }) => {
        const [, url] = /Sign in at (\S+)/.exec(application.said) ?? [];
        await page.goto(url);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        await page.getByText('You can close this window.').waitFor();
        await application.ended();
        assert.match(application.said, new RegExp(`Hello, ${USER.name}\\.`));
      },
    ],
  ];
}
