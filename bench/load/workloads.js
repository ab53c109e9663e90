/**
 * What is asked, and how each answer is judged: `request` makes the text of a request from one input, `check` throws
 * for a wrong answer and returns the input for the next time. All servers under test have the same paths.
 */
import { strict as assert } from 'node:assert';

const HOST = 'Host: 127.0.0.1\r\nUser-Agent: latchkey-bench/1\r\nAccept: application/json\r\n';

export const WORKLOADS = {
  introspect: {
    request: (input) => post('/oauth2/introspect', `token=${input.accessToken}`, input.authorization),
    check: (answer, input) => {
      const body = jsonBody(answer);
      assert.equal(body.active, true);
      assert.equal(body.sub, input.sub);
      return input;
    },
  },
  refresh: {
    request: (input) =>
      post('/oauth2/token', `grant_type=refresh_token&refresh_token=${input.refreshToken}`, input.authorization),
    check: (answer, input) => {
      const { access_token: accessToken, refresh_token: refreshToken } = jsonBody(answer);
      assert.ok(isToken(accessToken) && isToken(refreshToken), 'two tokens were expected');
      assert.ok(refreshToken !== input.refreshToken && accessToken !== input.accessToken, 'tokens were not rotated');
      return { ...input, accessToken, refreshToken };
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
    request: (input) => `GET /oauth2/userinfo HTTP/1.1\r\n${HOST}Authorization: Bearer ${input.accessToken}\r\n\r\n`,
    check: (answer, input) => {
      assert.equal(jsonBody(answer).sub, input.sub);
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
    /** Each connection is a browser that has the form before it is measured. */
    prepare: async (connection) => readForm(await connection.exchange(loginPage())),
    request: (input, form) => {
      const fields = { csrf: form.csrf, username: input.username, password: input.password };
      const body = new URLSearchParams(fields).toString();
      return post('/login', body, undefined, `Cookie: ${form.cookie}\r\n`);
    },
    check: (answer, input) => {
      assert.equal(answer.status, 303, `${answer.status} ${textOf(answer.body).slice(0, 300)}`);
      assert.match(answer.head, /\r\nset-cookie: *(?:__Host-)?[\w-]*session=/i);
      return input;
    },
  },
};

function post(path, body, authorization, more = '') {
  const credentials = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
  return (
    `POST ${path} HTTP/1.1\r\n${HOST}${credentials}${more}` +
    `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

function loginPage() {
  return `GET /login HTTP/1.1\r\n${HOST}\r\n`;
}

function readForm(answer) {
  assert.equal(answer.status, 200, answer.body.slice(0, 300));
  const csrf = /name="csrf" value="([^"]+)"/.exec(answer.body)?.[1];
  const cookie = /\r\nset-cookie: *([^;]+)/i.exec(answer.head)?.[1];
  assert.ok(csrf !== undefined && cookie !== undefined, 'the form has no csrf token');
  return { csrf, cookie };
}

function jsonBody(answer) {
  assert.equal(answer.status, 200, `${answer.status} ${answer.body.slice(0, 300)}`);
  return JSON.parse(answer.body);
}

/** What a person would read. */
function textOf(page) {
  return page
    .replace(/^[\s\S]*<body/, '<body')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

function isToken(value) {
  return typeof value === 'string' && value.length >= 20;
}
