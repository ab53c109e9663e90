import * as oidc from 'openid-client';
import { provider, startSession } from '../../lib/server/sign-in.js';

export async function GET({ cookies, url }) {
  const pending = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  startSession(cookies, { pending });
  const { href } = oidc.buildAuthorizationUrl(await provider(), {
    redirect_uri: `${url.origin}/callback`,
    scope: 'openid profile email',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  });
  return new Response(null, { status: 302, headers: { location: href } });
}
