/** Sign-ins to clients, devices and chat clients, and the use of their tokens. */
import { CALLBACK, CLIENT_ID } from '../../cluster/load.js';
import { isSignedIn, tokensWork, tokenWorks } from './facts.js';
import { Unanswered } from './requests.js';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CHAT = '_chat/client/v3/';

/** Signs in, from the first page to the tokens. */
export async function signIn({ requests, journal, moment }, person) {
  const { username, password } = person;
  const visitor = requests.visitor();
  const query = new URLSearchParams({
    ...{ client_id: CLIENT_ID, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
  });
  await visitor.get(`/authorize?${query}`);
  await visitor.follow();
  const browser = isSignedIn(visitor, username);
  await journal.change('a sign-in', [[browser, true]], () => visitor.submit({ username, password }));
  person.keepBrowser(visitor, browser);
  const { location } = await visitor.follow();
  const code = new URL(location ?? '').searchParams.get('code') ?? '';
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
  return keepSession({ journal, moment }, person, await requests.client('oauth2/token', grant));
}

/** A signed-in browser authorizes a device. */
export async function signInOnDevice({ requests, journal, moment }, person) {
  const asked = await requests.client('oauth2/device', { client_id: CLIENT_ID, scope: 'openid' });
  const [{ visitor }] = person.browsers;
  await visitor.get(asked.verification_uri_complete);
  await visitor.follow();
  await visitor.submit({});
  await visitor.follow();
  const action = new URL(visitor.page.url).pathname;
  await visitor.submit({ action: 'consent', confirm_device: 'on' }, { action });
  const grant = { grant_type: DEVICE_GRANT, device_code: asked.device_code };
  keepSession({ journal, moment }, person, await requests.client('oauth2/token', grant));
}

export async function signInToChat({ requests, journal }, person) {
  const { username: user, password } = person;
  const body = { type: 'm.login.password', identifier: { type: 'm.id.user', user }, password };
  const { json } = await requests.send('POST', `${CHAT}login`, body);
  journal.know(true, tokenWorks(json.access_token));
  person.chats.push(json.access_token);
}

export async function signOutOfChat({ requests, journal }, person) {
  const [token] = person.chats;
  const headers = { authorization: `Bearer ${token}` };
  const send = () => requests.send('POST', `${CHAT}logout`, undefined, headers);
  const after = [[tokenWorks(token), false]];
  await end(person.chats, token, () => journal.change('the sign-out of a chat client', after, send));
}

export async function signOut({ journal }, person) {
  const browser = person.browsers.at(-1);
  const { visitor, fact } = browser;
  await visitor.get('/', [200]);
  const send = () => visitor.submit({}, { action: '/logout' });
  await end(person.browsers, browser, () => journal.change('a sign-out', [[fact, false]], send));
}

/** A refresh without a response is sent once more, and then returns the tokens that the client missed. */
export async function refresh(parts, person) {
  // Round robin.
  const session = person.sessions.shift();
  person.sessions.push(session);
  await refreshSession(parts, session);
}

export async function refreshSession({ requests, journal, moment }, session) {
  // The former tokens may be revoked as soon as this is sent.
  journal.forget(...tokensWork(session));
  session.isRefreshing = true;
  const fields = { grant_type: 'refresh_token', refresh_token: session.refreshToken };
  const answer = await requests.client('oauth2/token', fields);
  Object.assign(session, sessionOf(answer, moment));
  journal.know(true, ...tokensWork(session));
}

export async function revoke({ requests, journal }, person) {
  const [session] = person.sessions;
  const after = tokensWork(session).map((fact) => [fact, false]);
  const send = () => requests.client('oauth2/revoke', { token: session.refreshToken });
  await end(person.sessions, session, () => journal.change('a revocation', after, send));
}

/** An item that may have ended is not used again. If the request was never sent, it stays in use. */
async function end(list, item, change) {
  let mayBeOver = true;
  try {
    await change();
  } catch (error) {
    mayBeOver = !(error instanceof Unanswered) || error.wasSent;
    throw error;
  } finally {
    if (mayBeOver) list.splice(list.indexOf(item), 1);
  }
}

/** A client credentials token. */
export async function useClientToken({ requests, journal, moment }) {
  const { access_token: token } = await requests.client('oauth2/token', { grant_type: 'client_credentials' });
  const fact = tokenWorks(token);
  if (moment.endsTokens) return;
  journal.know(true, fact);
  if (Math.random() < 0.25) return;
  await journal.change('a revocation', [[fact, false]], () => requests.client('oauth2/revoke', { token }));
}

function keepSession({ journal, moment }, person, answer) {
  const session = sessionOf(answer, moment);
  journal.know(true, ...tokensWork(session));
  person.sessions.push(session);
  return session;
}

function sessionOf({ access_token: token, refresh_token: refreshToken }, moment) {
  return { accessToken: moment.endsTokens ? undefined : token, refreshToken, isRefreshing: false };
}
