/** Hands the answer of `/authorize` to the reference of the admin API that opened this window, and closes it. */
if (opener !== null) {
  // The browser delivers it only where the opener is of this origin.
  opener.postMessage({ authorizationResponse: location.search.slice(1) }, location.origin);
  close();
}
// Neither the address bar nor the history keeps the code.
history.replaceState(undefined, '', location.pathname);
