/** Passes the response of `/authorize` to the admin API reference that opened this window, and closes the window. */
if (opener !== null) {
  // The browser delivers it only if the opener has this origin.
  opener.postMessage({ authorizationResponse: location.search.slice(1) }, location.origin);
  close();
}
// Removes the code from the address bar and the history.
history.replaceState(undefined, '', location.pathname);
