/** Sign-in with OpenID Connect, and the sessions of the app. */
import { randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';

const { ISSUER = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET } = process.env;
const COOKIE = 'session';

// Plain HTTP is for a provider on your own machine.
const isInsecure = ISSUER.startsWith('http://');
let discovery;

/** Reads the metadata of the provider at the first request. */
export async function provider() {
  const options = isInsecure ? { execute: [oidc.allowInsecureRequests] } : {};
  discovery ??= oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), options);
  return await discovery;
}

// In production, keep sessions in a database.
const sessions = new Map();

export function readSession(cookies) {
  return sessions.get(cookies.get(COOKIE));
}

/** Returns the session of a browser, and ends it. */
export function takeSession(cookies) {
  const session = readSession(cookies);
  sessions.delete(cookies.get(COOKIE));
  return session;
}

/** Starts a session under a new ID, so that nobody can know it from before the sign-in. */
export function startSession(cookies, session) {
  const id = randomBytes(32).toString('base64url');
  sessions.set(id, session);
  cookies.set(COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax', secure: !isInsecure });
}
