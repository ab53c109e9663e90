let kept = '';

/**
 * Takes the ticket from the URL. It is removed from the URL at once, so that it appears neither in the history nor on
 * the screen (security S-120). The page keeps it until the user leaves.
 */
export function takeTicket(): string {
  const ticket = new URLSearchParams(location.search).get('ticket');
  if (ticket !== null) kept = ticket;
  if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  return kept;
}
