/** An application with Auth.js, as its manual shows it. */
import { ExpressAuth, getSession } from '@auth/express';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;

const config = {
  secret: 'the-secret-of-the-application-itself',
  trustHost: true,
  providers: [
    {
      id: 'latchkey',
      name: 'Latchkey',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
    },
  ],
  callbacks: {
    jwt: ({ token, profile }) => (profile ? { ...token, subject: profile.sub } : token),
    session: ({ session, token }) => ({ ...session, subject: token.subject }),
  },
};

const app = express();
// The manual has '/auth/*', which is written this way in Express 5.
app.use(/^\/auth\/(.*)/, ExpressAuth(config));
app.get('/me', async (request, response) => {
  const session = await getSession(request, config);
  if (!session) return response.status(401).json({});
  response.json({ sub: session.subject, name: session.user.name, email: session.user.email });
});
app.listen(PORT, '127.0.0.1');
