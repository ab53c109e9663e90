import { problemTitle } from '#browser/error-format.tsx';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { Urls } from '#browser/urls.ts';
import { oauthJsonFormat } from '#oauth-endpoint/error-format.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { FailedRequest } from '#platform/http/error-format.ts';
import { ERROR_CODES, ERRORS } from '#vocabulary/errors.ts';
import { AUTHORIZATION_TEXTS, ERROR_TEXTS, FORM_TEXTS } from './error-texts.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Error codes

Generated from the source; do not edit by hand.

The error registry is shared by all endpoints; the format depends on the audience:

- **Pages** show a title, a sentence that says what to do, the code and the request ID. With
  \`Accept: application/json\`, the same URLs answer
  \`{"error": CODE, "error_description": TEXT, "request_id": "GET-17"}\`, and so do discovery and health.
- **OAuth endpoints** (token, introspection, revocation, userinfo) answer \`{"error": ERROR, "error_description": TEXT}\`
  with the error that the standard defines (RFC 6749 5.2, 6750 3.1, 7009 2.2.1).
- **Routes of chat clients** answer \`{"errcode": ERRCODE, "error": TEXT}\` with the code of their protocol.

The request ID is the one in the [log](log.md). Responses contain only the code and, for developers, a description;
causes are only in the log. A *refusal* is caused by the request, a *fault* by the service.`;

/** @param formCodes every code that the source uses for a form problem */
export function errorCodesPage(formCodes: ReadonlySet<string>): string {
  return `${[
    INTRODUCTION,
    table(['Code', 'Kind', 'Page', 'OAuth endpoint', 'Chat client', 'Cause', 'Remedy'], ERROR_CODES.map(errorRow)),
    `## Forms

A rejected form is shown again with status 200 (503 for \`overloaded\`), the attribute \`data-error-code\` on each
error, and all input except passwords.`,
    table(['Code', 'Meaning'], formRows(formCodes)),
    `## Authorization error responses

Once the client and the redirect URI are validated, errors are sent to the redirect URI as \`error\` and
\`error_description\` (RFC 6749 4.1.2.1). Before that, errors are shown as pages.`,
    table(
      ['Error', 'Meaning'],
      Object.entries(AUTHORIZATION_TEXTS).map(([error, meaning]) => [code(error), meaning]),
    ),
  ].join('\n\n')}\n`;
}

const english = loadTranslations().in('en');
const oauthJson = oauthJsonFormat('https://auth.example.org/');
const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
const cookies = new Cookies({
  keys: new KeyRing(Buffer.alloc(32)),
  address: new Urls('https://auth.example.org/'),
  log: silentLog,
  prefix: 'latchkey_',
});
const failed: FailedRequest = {
  requestId: 'GET-1',
  headers: {},
  cookies: cookies.jar(undefined),
  reopenHref: undefined,
};

/** Returns the response to an error, from client endpoints or as a page. */
export function responseOf(name: ErrorCode, errorFormat: string): { readonly status: number; readonly error: string } {
  if (errorFormat === 'chat-json') return { status: ERRORS[name].status, error: ERRORS[name].chat ?? 'M_UNKNOWN' };
  if (errorFormat !== 'oauth-json') return { status: ERRORS[name].status, error: name };
  const { status, body } = oauthJson(new LatchkeyError(name), failed);
  const explained: unknown = JSON.parse(String(body));
  return {
    status,
    error: typeof explained === 'object' && explained !== null && 'error' in explained ? String(explained.error) : '',
  };
}

function errorRow(name: ErrorCode): string[] {
  const { status, error } = responseOf(name, 'oauth-json');
  const { meaning, remedy } = ERROR_TEXTS[name];
  return [
    code(name),
    ERRORS[name].kind,
    `${ERRORS[name].status} “${problemTitle(english, name)}”`,
    `${status} ${code(error)}`,
    code(responseOf(name, 'chat-json').error),
    meaning,
    remedy,
  ];
}

function formRows(formCodes: ReadonlySet<string>): string[][] {
  const explained = new Set(Object.keys(FORM_TEXTS));
  const untold = [...formCodes].filter((name) => !explained.has(name));
  const gone = [...explained].filter((name) => !formCodes.has(name));
  if (untold.length > 0) throw new Error(`FORM_TEXTS lacks form codes: ${untold.join(', ')}`);
  if (gone.length > 0) throw new Error(`FORM_TEXTS explains unknown form codes: ${gone.join(', ')}`);
  return Object.entries(FORM_TEXTS).map(([name, meaning]) => [code(name), meaning]);
}
