import { expect } from 'vitest';
import { C1, ISSUER, SIGNED_OUT } from '../attacks/attacked-service.ts';
import { headerOf, jsonOf, type RawResponse } from '../attacks/raw-http.ts';
import { expectCleanPage } from '../support/clean-page.ts';
import { parseRequestLine, type RequestLine } from '../support/log-expression.ts';

const LOG_LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (DEBUG|INFO|WARN) [a-z_.0-9]+ \S/;

/** Checks what holds for every response. @param where included in the failure message */
export function expectValidResponse(response: RawResponse, where = ''): void {
  expect(response.status, `${where}: ${response.body.slice(0, 200)}`).toBeLessThan(500);
  expect(headerOf(response, 'x-content-type-options')).toBe('nosniff');
  for (const name of ['server', 'x-powered-by', 'access-control-allow-credentials']) {
    expect(response.headers.has(name), name).toBe(false);
  }
  for (const line of response.headers.get('set-cookie') ?? []) {
    expect(line).toMatch(/^__Host-latchkey_[a-z]+=[\w-]*; Path=\/; HttpOnly; SameSite=Lax; Secure(; Max-Age=\d+)?$/);
  }
  const location = headerOf(response, 'location');
  if (location !== undefined) expect(leadsToUsOrTheClient(location), location).toBe(true);
  if (response.body === '') return;
  const type = headerOf(response, 'content-type') ?? '';
  if (type.startsWith('text/html')) {
    expectCleanPage(Buffer.from(response.body, 'latin1').toString());
    expect(headerOf(response, 'content-security-policy')).toContain("default-src 'none'");
    expect(headerOf(response, 'cache-control')).toBe('no-store');
  } else if (type.startsWith('application/')) {
    expect(jsonOf(response)['error_description'] ?? '').toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
  }
}

/** Returns the request lines among new log lines. Checks that every line is complete and reports no error. */
export function expectValidLogLines(lines: readonly string[]): RequestLine[] {
  for (const line of lines) expect(line).toMatch(LOG_LINE);
  return lines.filter((line) => line.includes(' http.server.response ')).map(parseRequestLine);
}

function leadsToUsOrTheClient(location: string): boolean {
  if (location.startsWith('/')) return !/^\/[/\\]/.test(location);
  const { href, origin, pathname } = new URL(location);
  return href.startsWith(ISSUER) || [C1.callback, SIGNED_OUT].includes(origin + pathname);
}
