/** A page without a server of its own: it signs users in with PKCE in place of a secret. */
import { UserManager } from 'oidc-client-ts';

const { VITE_ISSUER = 'http://localhost:8080', VITE_CLIENT_ID } = import.meta.env;

const manager = new UserManager({
  authority: VITE_ISSUER,
  client_id: VITE_CLIENT_ID,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/signed-out`,
  scope: 'openid profile email',
  automaticSilentRenew: true,
});
const state = document.getElementById('state');
const signIn = document.getElementById('sign-in');
const signOut = document.getElementById('sign-out');

signIn.addEventListener('click', () => manager.signinRedirect().catch(fail));
signOut.addEventListener('click', () => manager.signoutRedirect().catch(fail));
manager.events.addUserLoaded(show);
// The refresh token was refused: the session has ended.
manager.events.addSilentRenewError(() => manager.removeUser().then(show));

try {
  if (location.pathname === '/callback') {
    await manager.signinCallback();
    // A reload must not send the code a second time.
    history.replaceState(null, '', '/');
  }
  await show();
} catch (error) {
  fail(error);
}

async function show() {
  const user = await manager.getUser();
  const isSignedIn = user !== null && !user.expired;
  state.textContent = isSignedIn ? `Hello, ${user.profile.name ?? user.profile.sub}.` : 'Signed out.';
  signIn.hidden = isSignedIn;
  signOut.hidden = !isSignedIn;
}

function fail({ error, message }) {
  state.textContent = error === 'access_denied' ? 'You refused.' : message;
  signIn.hidden = false;
}
