/** An Express app that signs users in with OpenID Connect, and shows who they are. */
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';

const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET, PORT = '3000', SESSION_SECRET } = process.env;
const BASE = `http://localhost:${PORT}`;

// Plain HTTP is for a provider on your own machine.
const isInsecure = ISSUER.startsWith('http://');
const provider = await oidc.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  undefined,
  oidc.ClientSecretBasic(CLIENT_SECRET),
  isInsecure ? { execute: [oidc.allowInsecureRequests] } : {},
);

const app = express();
app.use(
  session({
    // In production: a fixed secret, a store that outlives the process, and `secure: true` behind HTTPS.
    secret: SESSION_SECRET ?? randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax' },
  }),
);

app.get('/', (request, response) => {
  const { user } = request.session;
  if (user === undefined) return response.send('<p><a href="/login">Sign in</a></p>');
  response.send(`<p>Hello, ${escaped(user.name ?? user.sub)}.</p><p><a href="/logout">Sign out</a></p>`);
});

app.get('/login', async (request, response) => {
  const pending = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  request.session.pending = pending;
  const url = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: `${BASE}/callback`,
    scope: 'openid profile email',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url.href);
});

app.get('/callback', async (request, response) => {
  const { pending } = request.session;
  if (pending === undefined) return response.status(400).send('This sign-in was not started in this browser.');
  delete request.session.pending;
  const tokens = await oidc.authorizationCodeGrant(provider, new URL(request.originalUrl, BASE), {
    expectedState: pending.state,
    expectedNonce: pending.nonce,
    pkceCodeVerifier: pending.verifier,
    idTokenExpected: true,
  });
  const { sub } = tokens.claims();
  const { name, email } = await oidc.fetchUserInfo(provider, tokens.access_token, sub);
  // A new session ID, so that nobody can know it from before the sign-in.
  await new Promise((resolve, reject) => request.session.regenerate((error) => (error ? reject(error) : resolve())));
  request.session.user = { sub, name, email };
  request.session.idToken = tokens.id_token;
  response.redirect('/');
});

app.get('/me', (request, response) => {
  const { user } = request.session;
  response.status(user === undefined ? 401 : 200).json(user ?? {});
});

app.get('/logout', (request, response) => {
  const { idToken } = request.session;
  const url = oidc.buildEndSessionUrl(provider, {
    post_logout_redirect_uri: `${BASE}/`,
    ...(idToken !== undefined && { id_token_hint: idToken }),
  });
  request.session.destroy(() => response.redirect(url.href));
});

app.use((error, _request, response, _next) => {
  // An error response of the provider, for example access_denied.
  const { error: code, error_description: description } = error;
  if (code !== undefined)
    return response
      .status(403)
      .type('text')
      .send(`${code}: ${description ?? ''}`);
  process.stderr.write(`${error.stack}\n`);
  response.status(500).type('text').send('Sign-in failed. The log of the app has the reason.');
});

app.listen(Number(PORT), 'localhost', () => process.stdout.write(`Open ${BASE}/\n`));

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
