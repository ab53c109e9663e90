/** An application with Better Auth and its plugin for OpenID Connect providers, as its manual shows it. */
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;

const auth = betterAuth({
  baseURL: `http://localhost:${PORT}`,
  secret: 'the-secret-of-the-application-itself',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'latchkey',
          discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          scopes: ['openid', 'profile', 'email'],
          pkce: true,
        },
      ],
    }),
  ],
});

// Equivalent of `authClient.signIn.social` in the browser.
const START_PAGE = `<button>Sign in with Latchkey</button>
<script>
  document.querySelector('button').onclick = async () => {
    const response = await fetch('/api/auth/sign-in/social', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'latchkey', callbackURL: '/me' }),
    });
    location.href = (await response.json()).url;
  };
</script>`;

const app = express();
app.all('/api/auth/{*path}', toNodeHandler(auth));
app.get('/', (_request, response) => response.send(START_PAGE));
app.get('/me', async (request, response) => {
  const headers = fromNodeHeaders(request.headers);
  const session = await auth.api.getSession({ headers });
  if (!session) return response.status(401).json({});
  const [account] = await auth.api.listUserAccounts({ headers });
  response.json({ sub: account.accountId, name: session.user.name, email: session.user.email });
});
app.listen(PORT, '127.0.0.1');
