import { json } from '@sveltejs/kit';
import { readSession } from '../../lib/server/sign-in.js';

export function GET({ cookies }) {
  const user = readSession(cookies)?.user;
  return json(user ?? {}, { status: user === undefined ? 401 : 200 });
}
