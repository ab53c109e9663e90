/** The single sign-on of a chat client, as its user goes through it in a browser. */
import type { Browser } from './browser.ts';

const CLIENT = 'https://chat.example/signed-in';

/** The path that the client opens. @param redirectUrl the client's callback. Undefined omits the parameter */
export function ssoPath(
  redirectUrl: string | undefined,
  more: Readonly<Record<string, string>> = {},
  end = '',
): string {
  const query = new URLSearchParams({ ...(redirectUrl !== undefined && { redirectUrl }), ...more });
  return `/_chat/client/v3/login/sso/redirect${end}?${query}`;
}

/** Submits the form of the current page, which asks whether to sign the client in. */
export async function agreeToSso(browser: Browser, fields: Readonly<Record<string, string>> = {}) {
  return await browser.submit(fields, { action: new URL(browser.page.url).pathname });
}

/** Returns the login token that the browser passes to the client. */
export async function loginTokenOf(browser: Browser, redirectUrl = CLIENT): Promise<string> {
  await browser.open(ssoPath(redirectUrl));
  const { location, status } = await agreeToSso(browser);
  const token = location === undefined ? null : new URL(location).searchParams.get('loginToken');
  if (token === null) throw new Error(`no login token: ${status}`);
  return token;
}
