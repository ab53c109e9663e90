import { readSession } from '../lib/server/sign-in.js';

export function load({ cookies }) {
  return { user: readSession(cookies)?.user };
}
