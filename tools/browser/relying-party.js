import { createServer } from 'node:http';
import * as oidc from 'openid-client';

export const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
export const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';

/** An application that signs users in with an unmodified openid-client, with its callback on a separate port. */
export class RelyingParty {
  /** Redirect URI for responses of the service. */
  callback;
  #server;
  #configuration;
  #waiting = [];

  static async listen() {
    const party = new RelyingParty();
    party.#server = createServer(async (request, response) => {
      await party.#receive(request);
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(pageOf(new URL(request.url, party.callback)));
    });
    await new Promise((resolve) => party.#server.listen(0, '127.0.0.1', resolve));
    party.callback = `http://127.0.0.1:${party.#server.address().port}/callback`;
    return party;
  }

  async discover(issuer) {
    const secret = oidc.ClientSecretBasic(CLIENT_SECRET);
    // The second option verifies the signature of ID tokens, which is optional on a TLS connection.
    const execute = [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks];
    this.#configuration = await oidc.discovery(new URL(issuer), CLIENT_ID, undefined, secret, { execute });
  }

  /**
   * Starts a new request.
   * @returns where to send the browser, and a function that redeems the response
   */
  async begin(parameters = {}) {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const nonce = oidc.randomNonce();
    const address = oidc.buildAuthorizationUrl(this.#configuration, {
      redirect_uri: this.callback,
      scope: 'openid profile email offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...parameters,
    });
    const expected = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
    const redeem = (answer) => oidc.authorizationCodeGrant(this.#configuration, answer, expected);
    return { address: address.href, redeem };
  }

  /** Returns the next request to the callback for openid-client: a URL, or a `Request` for a form. */
  nextAnswer() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  userInfo(accessToken, subject) {
    return oidc.fetchUserInfo(this.#configuration, accessToken, subject);
  }

  refresh(refreshToken) {
    return oidc.refreshTokenGrant(this.#configuration, refreshToken);
  }

  introspect(token) {
    return oidc.tokenIntrospection(this.#configuration, token);
  }

  revoke(token) {
    return oidc.tokenRevocation(this.#configuration, token);
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request) {
    const url = new URL(request.url, this.callback);
    if (url.pathname !== '/callback') return;
    if (request.method !== 'POST') {
      this.#waiting.shift()?.(url);
      return;
    }
    const body = await new Response(request).text();
    const headers = { 'content-type': request.headers['content-type'] };
    this.#waiting.shift()?.(new Request(url, { method: 'POST', headers, body }));
  }
}

/** The application itself; below `/frame` it embeds another page. */
function pageOf({ pathname, searchParams }) {
  const content =
    pathname === '/frame' ? `<iframe src="${searchParams.get('src')}"></iframe>` : '<h1>Back in Harbour Chat</h1>';
  return `<!doctype html><html lang="en"><title>Harbour Chat</title>${content}`;
}
