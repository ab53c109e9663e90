const KEY = 'account.reloaded';
const AGAIN_AFTER_MS = 10_000;
let isExpected = false;

/** Keeps the current page, which itself shows that the user is signed out. */
export function stayWhenSignedOut(): void {
  isExpected = true;
}

/**
 * Reloads the page, which leads to the sign-in page or explains how the session ended (account-graphql 8.2). It does
 * not reload twice in quick succession, because the result would be the same.
 */
export function reloadSignedOut(): void {
  if (isExpected) return;
  const reloadedAt = Number(sessionStorage.getItem(KEY));
  if (Date.now() - reloadedAt < AGAIN_AFTER_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
