import * as oidc from 'openid-client';
import { provider, takeSession } from '../../lib/server/sign-in.js';

export async function GET({ cookies, url }) {
  const idToken = takeSession(cookies)?.idToken;
  const { href } = oidc.buildEndSessionUrl(await provider(), {
    post_logout_redirect_uri: `${url.origin}/`,
    ...(idToken !== undefined && { id_token_hint: idToken }),
  });
  return new Response(null, { status: 302, headers: { location: href } });
}
