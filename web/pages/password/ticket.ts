let kept = '';

/**
 * The ticket in the address of the page. It leaves the address as soon as it was read, so that neither the history nor
 * somebody who looks at the screen gets it (security S-120); the page remembers it until it is left.
 */
export function takeTicket(): string {
  const ticket = new URLSearchParams(location.search).get('ticket');
  if (ticket !== null) kept = ticket;
  if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  return kept;
}
