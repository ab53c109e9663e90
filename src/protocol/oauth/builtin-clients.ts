import { parseId } from '#platform/base/ids.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { ClientId } from '#vocabulary/ids.ts';

/**
 * The client of the admin area. Its ID is fixed in the code: no configuration, registration or administrator can create
 * a client with it. As a ULID it names a time decades ago, so a generated ID never equals it.
 */
export const ADMIN_AREA_CLIENT_ID = idOf('00ADM1NAREA000000000000000');

/** Its name. No other client may look the same to users. */
export const ADMIN_AREA_NAME = 'Latchkey administration';

/** The only scope that it may request. */
export const ADMIN_AREA_SCOPE = 'urn:mas:admin';

/** Path of its redirect URI, below the public base URL. */
export const ADMIN_AREA_CALLBACK = 'admin/callback';

const ADMIN_AREA_FOLDER = 'admin';

/** Maximum lifetime of its access tokens. It gets no refresh tokens. */
export const ADMIN_AREA_TOKEN_SECONDS = 300;

/** Returns why a client cannot have this name, as the end of a sentence; undefined if it can. */
export function builtinNameProblem(name: string): string | undefined {
  return appearance(name) === appearance(ADMIN_AREA_NAME) ? 'is the name of the admin area' : undefined;
}

/**
 * Returns why a client cannot have this redirect URI: codes would reach a page of the admin area, or it would pass for
 * that area. Undefined if it can.
 */
export function builtinRedirectUriProblem(uri: string, publicBase: string): string | undefined {
  const url = parseUrl(uri);
  const base = parseUrl(publicBase);
  if (url === undefined || base === undefined || url.host.replace(/\.(?=:|$)/, '') !== base.host) return undefined;
  const folder = `${base.pathname.replace(/\/?$/, '/')}${ADMIN_AREA_FOLDER}`;
  const path = decoded(url.pathname);
  return path === folder || path.startsWith(`${folder}/`) ? 'is a URL of the admin area' : undefined;
}

/** A percent sign that encodes nothing is kept. */
function decoded(path: string): string {
  return path.replace(/%[2-7][0-9a-f]/gi, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)));
}

/** Letters that look like those of the protected names, in the fonts of most systems. */
const LOOKALIKES = new Map(
  [
    ['a', '\u0430\u03b1\u0251'],
    ['c', '\u0441\u03f2'],
    ['d', '\u0501'],
    ['e', '\u0435\u04bd'],
    ['h', '\u04bb\u0570'],
    ['i', 'l1|\u0131\u0456\u03b9\u04cf\u0269'],
    ['k', '\u043a\u03ba'],
    ['m', '\u043c'],
    ['n', '\u0578\u057c\u03b7'],
    ['o', '0\u043e\u03bf\u0585'],
    ['r', '\u0433'],
    ['s', '5\u0455'],
    ['t', '\u0442\u03c4'],
    ['y', '\u0443\u03b3\u04af'],
  ].flatMap(([letter = '', others = '']) => [...others].map((other) => [other, letter])),
);

/** Names that look alike have the same appearance. */
function appearance(name: string): string {
  const folded = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{White_Space}\p{C}\p{M}\p{P}]/gu, '');
  return [...folded].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

function idOf(text: string): ClientId {
  const id = parseId<'client'>(text);
  if (id === undefined) throw new Error(`${text} is not a ULID`);
  return id;
}
