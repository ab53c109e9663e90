import { error, redirect } from '@sveltejs/kit';
import * as oidc from 'openid-client';
import { provider, startSession, takeSession } from '../../lib/server/sign-in.js';

export async function GET({ cookies, url }) {
  const pending = takeSession(cookies)?.pending;
  if (pending === undefined) error(400, 'This sign-in was not started in this browser.');
  const configuration = await provider();
  const tokens = await redeem(configuration, url, pending);
  const { sub } = tokens.claims();
  const { name, email } = await oidc.fetchUserInfo(configuration, tokens.access_token, sub);
  startSession(cookies, { user: { sub, name, email }, idToken: tokens.id_token });
  redirect(302, '/');
}

async function redeem(configuration, url, pending) {
  try {
    return await oidc.authorizationCodeGrant(configuration, url, {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    });
  } catch (failure) {
    // An error response of the provider, for example access_denied.
    if (failure.error !== undefined) error(403, `${failure.error}: ${failure.error_description ?? ''}`);
    throw failure;
  }
}
