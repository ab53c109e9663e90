/** How the app signs users in. */
import { randomBytes } from 'node:crypto';

const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET } = process.env;

/** @type {import('next-auth').NextAuthOptions} */
export const authOptions = {
  // In production, set NEXTAUTH_SECRET and NEXTAUTH_URL.
  secret: process.env.NEXTAUTH_SECRET ?? randomBytes(32).toString('hex'),
  providers: [
    {
      id: 'latchkey',
      name: 'Latchkey',
      type: 'oauth',
      wellKnown: `${ISSUER.replace(/\/$/, '')}/.well-known/openid-configuration`,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: 'openid profile email' } },
      checks: ['pkce', 'state', 'nonce'],
      idToken: true,
      // Name and email address are in the userinfo response.
      userinfo: { request: ({ client, tokens }) => client.userinfo(tokens.access_token) },
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
  callbacks: {
    session: ({ session, token }) => ({ ...session, user: { ...session.user, sub: token.sub } }),
  },
};
