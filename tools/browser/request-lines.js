import assert from 'node:assert/strict';
import { loadTypeScript } from './load-typescript.js';

/** Requests that are not part of the journey itself; browser and application send any number of them. */
const NOT_IN_JOURNEY = /^\/(?:health|(?:assets|client-logos)\/.*|\.well-known\/.*|oauth2\/keys\.json)$/;

/**
 * Compares the request lines of a log with the pattern of the service's tests, and with the expected requests.
 * @param expected method, path (a regular expression), status and requester of each request, in order
 */
export async function checkRequestLines(log, expected) {
  // The tests contain the only copy of the pattern; it throws for a line that does not match.
  const { parseRequestLine: parse } = await loadTypeScript('test/support/log-expression.ts');
  const lines = log.filter((line) => line.includes(' http.server.response ')).map(parse);
  const told = lines
    .filter(({ path }) => !NOT_IN_JOURNEY.test(path))
    .map(({ method, path, status, requester }) => {
      return `${method} ${path} ${status} ${requester ?? 'nobody'}`;
    });
  for (const [index, [method, path, status, requester = 'nobody']] of expected.entries()) {
    const escaped = requester.replace(/[()]/g, '\\$&');
    assert.match(told[index] ?? '', new RegExp(`^${method} ${path} ${status} ${escaped}$`), `request ${index + 1}`);
  }
  assert.deepEqual(told.slice(expected.length), [], 'no other requests');
  assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length, 'each request has a number of its own');
}
