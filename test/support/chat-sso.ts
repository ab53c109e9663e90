/** The single sign-on of a chat client, as its person goes through it in a browser. */
import type { Browser } from './browser.ts';

const CLIENT = 'https://chat.example/signed-in';

/** Where the client sends its person. @param redirectUrl where it waits for them; undefined: it does not say */
export function ssoPath(
  redirectUrl: string | undefined,
  more: Readonly<Record<string, string>> = {},
  end = '',
): string {
  const query = new URLSearchParams({ ...(redirectUrl !== undefined && { redirectUrl }), ...more });
  return `/_chat/client/v3/login/sso/redirect${end}?${query}`;
}

/** Presses the button of the page shown, which asks whether a client may be signed in. */
export async function agreeToSso(browser: Browser, fields: Readonly<Record<string, string>> = {}) {
  return await browser.submit(fields, { action: new URL(browser.shown.url).pathname });
}

/** The token that a browser takes to the client, whose person is signed in there. */
export async function loginTokenOf(browser: Browser, redirectUrl = CLIENT): Promise<string> {
  await browser.open(ssoPath(redirectUrl));
  const { location, status } = await agreeToSso(browser);
  const token = location === undefined ? null : new URL(location).searchParams.get('loginToken');
  if (token === null) throw new Error(`no login token: ${status}`);
  return token;
}
