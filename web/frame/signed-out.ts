const KEY = 'account.reloaded';
const AGAIN_AFTER_MS = 10_000;
let isExpected = false;

/** From now on the page stays that is shown: it says itself that nobody is signed in any more. */
export function stayWhenSignedOut(): void {
  isExpected = true;
}

/**
 * Loads the page again, which leads to the login page or says how the session ended (account-graphql 8.2). A page that
 * was loaded a moment ago for the same reason stays: the next one would be no different.
 */
export function reloadSignedOut(): void {
  if (isExpected) return;
  const reloadedAt = Number(sessionStorage.getItem(KEY));
  if (Date.now() - reloadedAt < AGAIN_AFTER_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
