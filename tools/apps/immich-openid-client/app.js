/** An application with openid-client, as Immich uses it: discovery, PKCE, and the claims of userinfo. */
import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const REDIRECT_URI = `http://localhost:${PORT}/auth/login`;

const metadata = { client_secret: CLIENT_SECRET, response_types: ['code'], id_token_signed_response_alg: 'RS256' };
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, metadata, client.ClientSecretPost(CLIENT_SECRET), {
  execute: [client.allowInsecureRequests],
});

const app = express();
app.use(session({ secret: 'the-secret-of-the-application-itself', resave: false, saveUninitialized: false }));
app.get('/login', async (request, response) => {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  request.session.begun = { verifier, state };
  const url = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri: REDIRECT_URI, scope: 'openid email profile', state },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url.href);
});
app.get('/auth/login', async (request, response) => {
  const { verifier, state } = request.session.begun ?? {};
  const url = new URL(request.originalUrl, REDIRECT_URI);
  try {
    const tokens = await client.authorizationCodeGrant(config, url, {
      expectedState: state,
      pkceCodeVerifier: verifier,
    });
    request.session.user = await client.fetchUserInfo(config, tokens.access_token, client.skipSubjectCheck);
  } catch (error) {
    response.status(400).send(`${error.error ?? error.code}: ${error.error_description ?? error.message}`);
    return;
  }
  response.redirect('/me');
});
app.get('/me', ({ session: { user } }, response) => {
  if (!user) return response.status(401).json({});
  const { sub, name, email } = user;
  response.json({ sub, name, email });
});
app.listen(PORT, '127.0.0.1');
