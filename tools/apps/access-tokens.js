/** Access tokens of client applications, and the responses of APIs to them. */
import assert from 'node:assert/strict';

/**
 * @param parameters `scope` and `resource`
 * @returns an access token from the client credentials grant
 */
export async function clientToken(latchkey, { clientId, clientSecret }, parameters) {
  const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const response = await fetch(`${latchkey.base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }),
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer.access_token;
}

/** @returns the status of the response to a request with a bearer token */
export async function statusWith(address, token) {
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}
