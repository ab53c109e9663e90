/**
 * Generates the parts of `docs/reference/requests.md` that come from the source: the errors of each endpoint, and the
 * list of pages. The hand-written text must have a section for each client endpoint that names all its parameters.
 */
import type { ErrorCode } from '#platform/base/errors.ts';
import { responseOf } from './error-codes.ts';
import { ERROR_TEXTS } from './error-texts.ts';
import { code, fillPart, table } from './markdown.ts';
import type { RouteFacts, RoutesOfSource } from './routes.ts';

/**
 * @param page the current text of the page
 * @throws Error if a section or the name of a parameter is missing
 */
export function fillRequestsPage(page: string, { routes, platformCodes }: RoutesOfSource): string {
  const sections = page.split(/^(?=## )/m).map((text) => fillSection(text, routes, platformCodes));
  const told = new Set(sections.flatMap((text) => namesOf(text)));
  const rest = routes.filter((route) => !told.has(nameOf(route)));
  const untold = rest.filter(({ errorFormat }) => errorFormat !== 'page');
  if (untold.length > 0) throw new Error(`requests.md has no section for ${untold.map(nameOf).join(', ')}`);
  const filled = fillPart(sections.join(''), 'pages', pagesTable(rest, platformCodes));
  return fillPart(filled, 'everywhere', errorTable(platformCodes, 'oauth-json'));
}

function fillSection(text: string, routes: readonly RouteFacts[], platformCodes: readonly ErrorCode[]): string {
  const names = namesOf(text);
  const own = routes.filter((route) => names.includes(nameOf(route)));
  const [first] = own;
  if (first === undefined) return text;
  const unnamed = own.flatMap(({ parameters }) => parameters).filter((name) => !text.includes(code(name)));
  if (unnamed.length > 0) throw new Error(`requests.md: ${names.join(', ')} does not name ${unnamed.join(', ')}`);
  const codes = new Set(own.flatMap((route) => route.codes).filter((name) => !platformCodes.includes(name)));
  const isOpen = first.cors !== undefined;
  const cors = isOpen ? 'CORS: any origin is allowed.' : 'No CORS: other origins cannot read responses.';
  const errors = codes.size === 0 ? 'Only the errors of [every endpoint](#every-endpoint).' : undefined;
  return fillPart(text, nameOf(first), `${cors}\n\n${errors ?? errorTable([...codes].toSorted(), first.errorFormat)}`);
}

/** Returns the endpoints in the heading of a section. */
function namesOf(section: string): string[] {
  const [heading = ''] = section.split('\n', 1);
  return [...heading.matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, name = '']) => name);
}

function nameOf({ method, path }: RouteFacts): string {
  return `${method} ${path}`;
}

function errorTable(codes: readonly ErrorCode[], errorFormat: string): string {
  const rows = codes.map((name) => {
    const { status, error } = responseOf(name, errorFormat);
    return [`${status} ${code(error)}`, code(name), ERROR_TEXTS[name].meaning, ERROR_TEXTS[name].remedy];
  });
  return table(['Response', 'Code in the log', 'Cause', 'Remedy'], rows);
}

function pagesTable(routes: readonly RouteFacts[], platformCodes: readonly ErrorCode[]): string {
  const list = (names: readonly string[]): string => names.map(code).join(', ');
  const rows = routes.map((route) => [
    code(nameOf(route)),
    list(route.parameters),
    list(route.codes.filter((name) => !platformCodes.includes(name))),
  ]);
  return table(['Page', 'Parameters', 'Errors'], rows);
}
