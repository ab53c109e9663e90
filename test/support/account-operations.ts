/** Sends the GraphQL operations of the account pages, as a browser with its cookies. */
// Preloaded: the service imports this module on the first request, which can exceed the request timeout on a busy
// machine.
import '#features/account-api/endpoint.ts';
import type { Browser, Page } from './browser.ts';

const HEADERS = { 'content-type': 'application/json', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };

/** Sends a GraphQL request with the headers of a page script. */
export async function ask(
  browser: Browser,
  query: string,
  variables: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Page> {
  return await browser.postRaw('/graphql', JSON.stringify({ query, variables }), { ...HEADERS, ...headers });
}

/** Returns the node ID of the signed-in user. */
export async function viewerId(browser: Browser): Promise<string> {
  const { body } = await ask(browser, 'query CurrentViewer { viewer { __typename ... on User { id } } }');
  return JSON.parse(body).data.viewer.id;
}

const CHANGE = `mutation ChangePassword(
  $userId: ID!, $oldPassword: String, $newPassword: String!, $keepOtherSessions: Boolean, $endApplicationSessions: Boolean
) {
  setPassword(input: {
    userId: $userId, currentPassword: $oldPassword, newPassword: $newPassword,
    keepOtherSessions: $keepOtherSessions, endApplicationSessions: $endApplicationSessions
  }) { status }
}`;

export interface Change {
  readonly userId?: string;
  readonly oldPassword?: string | null;
  readonly newPassword: string;
  readonly keepOtherSessions?: boolean;
  readonly endApplicationSessions?: boolean;
}

/** Changes a password, by default that of the signed-in user. @returns the status or the error code */
export async function changePassword(browser: Browser, change: Change): Promise<string> {
  const userId = change.userId ?? (await viewerId(browser));
  return outcomeOf(await ask(browser, CHANGE, { ...change, userId }), 'setPassword');
}

function outcomeOf({ body }: Page, field: string): string {
  const { data, errors } = JSON.parse(body);
  return data?.[field].status ?? errors[0].extensions.code;
}

const RECOVER = `mutation RecoverPassword($ticket: String!, $newPassword: String!, $endAllSessions: Boolean) {
  setPasswordByRecovery(input: { ticket: $ticket, newPassword: $newPassword, endAllSessions: $endAllSessions }) { status }
}`;

export interface Recovery {
  readonly ticket: string;
  readonly newPassword: string;
  readonly endAllSessions?: boolean;
}

/** Sets a password with the recovery ticket from an email. @returns the status or the error code */
export async function recoverPassword(browser: Browser, recovery: Recovery): Promise<string> {
  return outcomeOf(await ask(browser, RECOVER, recovery), 'setPasswordByRecovery');
}

const LOOK = 'query PasswordRecovery($ticket: String!) { userRecoveryTicket(ticket: $ticket) { status } }';

/** Sends the query that the recovery page sends for a ticket. */
export async function queryTicket(browser: Browser, ticket: string): Promise<Page> {
  return await ask(browser, LOOK, { ticket });
}
