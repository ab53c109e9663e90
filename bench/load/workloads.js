/**
 * Requests, and the checks of their responses. `request` builds a request from an input. `check` throws for a wrong
 * response and returns the next input, or nothing if the input is used up. All servers under test have the same paths.
 */
import { strict as assert } from 'node:assert';

const HEADERS = 'User-Agent: latchkey-bench/1\r\nAccept: application/json\r\n';

const INTROSPECT = {
  request: (input) => post('/oauth2/introspect', `token=${input.accessToken}`, input.authorization),
  check: (answer, input) => {
    const body = jsonBody(answer);
    assert.equal(body.active, true);
    assert.equal(body.sub, input.sub);
    return input;
  },
};

export const WORKLOADS = {
  introspect: INTROSPECT,
  'chat-introspect': INTROSPECT,
  'chat-refresh': {
    request: (input) =>
      send('/_chat/client/v3/refresh', 'application/json', JSON.stringify({ refresh_token: input.refreshToken })),
    check: (answer, input) => refreshed(jsonBody(answer), input),
  },
  'chat-login': {
    request: ({ username, password }) => {
      const identifier = { type: 'm.id.user', user: username };
      const body = { type: 'm.login.password', identifier, password, refresh_token: true };
      return send('/_chat/client/v3/login', 'application/json', JSON.stringify(body));
    },
    check: (answer, input) => {
      const body = jsonBody(answer);
      assert.ok(isToken(body.access_token) && isToken(body.refresh_token), 'two tokens were expected');
      assert.equal(body.user_id, `@${input.username}:bench.test`);
      return input;
    },
  },
  refresh: {
    request: refreshRequest,
    check: (answer, input) => {
      const body = jsonBody(answer);
      assert.equal(body.id_token, undefined, 'an ID token without openid');
      return refreshed(body, input);
    },
  },
  'refresh-openid': {
    request: refreshRequest,
    check: (answer, input) => {
      const body = jsonBody(answer);
      assert.equal(claimsOf(body.id_token).sub, input.sub);
      return refreshed(body, input);
    },
  },
  'code-exchange': {
    request: (input) =>
      post(
        '/oauth2/token',
        `grant_type=authorization_code&code=${input.code}&redirect_uri=${input.redirectUri}` +
          `&code_verifier=${input.codeVerifier}`,
        input.authorization,
      ),
    check: (answer, input) => {
      const body = jsonBody(answer);
      assert.ok(isToken(body.access_token) && isToken(body.refresh_token), 'two tokens were expected');
      assert.equal(claimsOf(body.id_token).sub, input.sub);
    },
  },
  'device-poll': {
    request: (input) =>
      post(
        '/oauth2/token',
        `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=${input.deviceCode}`,
        input.authorization,
      ),
    check: (answer) => {
      assert.equal(jsonBody(answer, 400).error, 'authorization_pending');
    },
  },
  'client-assertion': {
    request: (input) =>
      post(
        '/oauth2/token',
        'grant_type=client_credentials' +
          '&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer' +
          `&client_assertion=${input.assertion}`,
      ),
    check: (answer) => {
      assert.ok(isToken(jsonBody(answer).access_token), 'a token was expected');
    },
  },
  registration: {
    request: (input) => {
      const body = JSON.stringify({
        client_name: `Application ${input.serial}`,
        client_uri: clientUri(input),
        redirect_uris: [redirectUri(input)],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      });
      return send('/oauth2/registration', 'application/json', body);
    },
    check: (answer, input) => {
      const body = jsonBody(answer, 201);
      assert.match(body.client_id, /^[0-9A-Z]{26}$/);
      assert.equal(body.client_secret, undefined, 'a public client got a secret');
      assert.deepEqual(body.redirect_uris, [redirectUri(input)]);
      return { ...input, serial: input.serial + 1 };
    },
  },
  'client-credentials': {
    request: (input) => post('/oauth2/token', 'grant_type=client_credentials', input.authorization),
    check: (answer, input) => {
      const { access_token: accessToken, token_type: type } = jsonBody(answer);
      assert.ok(isToken(accessToken) && accessToken !== input.accessToken, 'a new token was expected');
      assert.equal(type, 'Bearer');
      return { ...input, accessToken };
    },
  },
  userinfo: {
    request: (input) => `GET /oauth2/userinfo HTTP/1.1\r\n${HEADERS}Authorization: Bearer ${input.accessToken}\r\n\r\n`,
    check: (answer, input) => {
      assert.equal(jsonBody(answer).sub, input.sub);
      return input;
    },
  },
  'wrong-password': {
    prepare: async (connection) => readForm(await connection.exchange(loginPage())),
    request: ({ username }, form) => submit('/login', { username, password: 'not the password' }, form),
    check: (answer, input) => {
      assert.equal(answer.status, 200);
      assert.ok(answer.body.includes('data-error-code="invalid_credentials"'), 'the password was not refused');
      return input;
    },
  },
  recover: {
    prepare: async (connection) => readForm(await connection.exchange(get('/recover'))),
    request: ({ email }, form) => submit('/recover', { email }, form),
    check: (answer, input) => {
      assert.equal(answer.status, 303, `${answer.status} ${textOf(answer.body).slice(0, 300)}`);
      assert.match(answer.head, /\r\nlocation: *\S*\/recover\/progress\//i);
      return input;
    },
  },
  'account-list': {
    request: ({ cookie, body }) => send('/graphql', 'application/json', body, `Cookie: ${cookie}\r\n`),
    check: (answer, input) => {
      const { data, errors } = jsonBody(answer);
      assert.equal(errors, undefined);
      assert.equal(data.viewer.__typename, 'User');
      return input;
    },
  },
  'login-page': {
    request: () => loginPage(),
    check: (answer, input) => {
      readForm(answer);
      assert.ok(answer.body.trimEnd().endsWith('</html>'), 'the page is cut off');
      return input;
    },
  },
  'password-login': {
    /** Each connection acts as a browser that loads the form before the measurement. */
    prepare: async (connection) => readForm(await connection.exchange(loginPage())),
    request: ({ username, password }, form) => submit('/login', { username, password }, form),
    check: (answer, input) => {
      assert.equal(answer.status, 303, `${answer.status} ${textOf(answer.body).slice(0, 300)}`);
      assert.match(answer.head, /\r\nset-cookie: *(?:__Host-)?[\w-]*session=/i);
      return input;
    },
  },
};

function post(path, body, authorization, more = '') {
  const credentials = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
  return send(path, 'application/x-www-form-urlencoded', body, credentials + more);
}

function send(path, type, body, headers = '') {
  return (
    `POST ${path} HTTP/1.1\r\n${HEADERS}${headers}` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

function refreshRequest(input) {
  return post('/oauth2/token', `grant_type=refresh_token&refresh_token=${input.refreshToken}`, input.authorization);
}

function refreshed({ access_token: accessToken, refresh_token: refreshToken }, input) {
  assert.ok(isToken(accessToken) && isToken(refreshToken), 'two tokens were expected');
  assert.ok(refreshToken !== input.refreshToken && accessToken !== input.accessToken, 'tokens were not rotated');
  return { ...input, accessToken, refreshToken };
}

function clientUri({ host }) {
  return `https://${host}.bench.test/`;
}

function redirectUri(input) {
  return `${clientUri(input)}callback/${input.serial}`;
}

function loginPage() {
  return get('/login');
}

function get(path) {
  return `GET ${path} HTTP/1.1\r\n${HEADERS}\r\n`;
}

/** Submits a form that the connection has loaded. */
function submit(path, fields, { csrf, cookie }) {
  return post(path, new URLSearchParams({ csrf, ...fields }).toString(), undefined, `Cookie: ${cookie}\r\n`);
}

function readForm(answer) {
  assert.equal(answer.status, 200, answer.body.slice(0, 300));
  const csrf = /name="csrf" value="([^"]+)"/.exec(answer.body)?.[1];
  const cookie = /\r\nset-cookie: *([^;]+)/i.exec(answer.head)?.[1];
  assert.ok(csrf !== undefined && cookie !== undefined, 'the form has no csrf token');
  return { csrf, cookie };
}

function jsonBody(answer, status = 200) {
  assert.equal(answer.status, status, `${answer.status} ${answer.body.slice(0, 300)}`);
  return JSON.parse(answer.body);
}

/** Returns the visible text of a page. */
function textOf(page) {
  return page
    .replace(/^[\s\S]*<body/, '<body')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

function claimsOf(jwt) {
  assert.equal(jwt?.split('.').length, 3, 'an ID token was expected');
  return JSON.parse(Buffer.from(jwt.split('.')[1], 'base64url').toString());
}

function isToken(value) {
  return typeof value === 'string' && value.length >= 20;
}
