/**
 * A command-line app without a secret. It opens the browser and receives the response on a local port (RFC 8252).
 * `node app.js logout` signs out.
 */
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import * as oidc from 'openid-client';

const { ISSUER = 'http://localhost:8080', CLIENT_ID, PORT = '0', TOKENS = 'tokens.json' } = process.env;

// Plain HTTP is for a provider on your own machine.
const isInsecure = ISSUER.startsWith('http://');
const options = isInsecure ? { execute: [oidc.allowInsecureRequests] } : {};
const provider = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.None(), options);

try {
  if (process.argv[2] === 'logout') await signOut();
  else await greet();
} catch (error) {
  const isRefused = error.error === 'access_denied';
  process.stderr.write(isRefused ? 'You refused. Start the app again to sign in.\n' : `${error.message}\n`);
  process.exitCode = 1;
}

async function greet() {
  const saved = await readTokens();
  const tokens = (saved && (await refresh(saved))) ?? (await signIn());
  // The new refresh token replaces the old one, so it is stored before anything else is done.
  const { access_token, refresh_token, id_token } = tokens;
  const { sub } = tokens.claims() ?? saved;
  await writeFile(TOKENS, JSON.stringify({ access_token, refresh_token, id_token, sub }), { mode: 0o600 });
  const { name, preferred_username } = await oidc.fetchUserInfo(provider, access_token, sub);
  process.stdout.write(`Hello, ${name ?? preferred_username}.\n`);
}

async function signIn() {
  const server = createServer();
  await new Promise((resolve) => server.listen(Number(PORT), '127.0.0.1', resolve));
  const redirectUri = `http://127.0.0.1:${server.address().port}/callback`;
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const { href } = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  process.stdout.write(`Sign in at ${href}\n`);
  openBrowser(href);
  const response = await new Promise((resolve) => {
    server.on('request', (request, reply) => {
      const url = new URL(request.url, redirectUri);
      if (url.pathname !== '/callback') return reply.writeHead(404).end();
      reply.writeHead(200, { connection: 'close' }).end('You can close this window.\n', () => resolve(url));
    });
  });
  server.close();
  return await oidc.authorizationCodeGrant(provider, response, { pkceCodeVerifier: verifier, expectedState: state });
}

/** Returns undefined if the session has ended. Other failures, such as no network, leave the tokens as they are. */
async function refresh({ refresh_token: token }) {
  try {
    return await oidc.refreshTokenGrant(provider, token);
  } catch (error) {
    if (error.error !== 'invalid_grant') throw error;
    return undefined;
  }
}

async function signOut() {
  const saved = await readTokens();
  if (saved !== undefined) await oidc.tokenRevocation(provider, saved.refresh_token);
  await rm(TOKENS, { force: true });
  process.stdout.write('Signed out.\n');
}

async function readTokens() {
  try {
    return JSON.parse(await readFile(TOKENS, 'utf8'));
  } catch {
    return undefined;
  }
}

function openBrowser(url) {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform] ?? 'xdg-open';
  // The printed line is enough where there is no browser to open.
  spawn(opener, [url], { stdio: 'ignore' }).on('error', () => undefined);
}
