/* global oidc */
const settings = await (await fetch('/settings.json')).json();
const manager = new oidc.UserManager({
  ...settings,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/signed-out`,
  scope: 'openid profile email',
});

const state = document.querySelector('#state');
try {
  // The frame of a silent renewal comes here as well.
  if (location.pathname === '/callback') await manager.signinCallback();
  state.textContent = (await manager.getUser()) ? 'signed in' : 'signed out';
} catch (error) {
  state.textContent = `${error.name}: ${error.message}`;
}
// What the buttons of a real page would call.
window.manager = manager;
