import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { isObject } from '#platform/base/objects.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

/** The unparsed content of a GraphQL request (GraphQL over HTTP 5). */
export interface Payload {
  readonly document: string;
  /** Undefined selects the only operation of the document. */
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

const MAX_VARIABLES_DEPTH = 10;

/**
 * Reads the body of a POST. Throws `malformed_request`, `batching_not_supported` and the errors of the JSON reader.
 * @param beforeParsing charges the request
 */
export async function readPost(
  context: RequestContext,
  { config }: Pick<Core, 'config'>,
  beforeParsing: () => Promise<void>,
): Promise<Payload> {
  requireNoToken(context);
  const { maxBodyBytes: maxBytes } = config.graphql;
  const body = await context.readJson({ maxBytes, allowsRepeatedMembers: true, beforeParsing });
  if (Array.isArray(body)) throw new LatchkeyError('batching_not_supported');
  if (!isObject(body)) throw malformed('the body must be a JSON object');
  // A member that was not sent must not be read from the prototype.
  return payloadOf(new Map(Object.entries(body)));
}

/** Reads the query of a GET. Throws `malformed_request`. */
export function readGet(context: RequestContext): Payload {
  requireNoToken(context);
  const { query } = context;
  const members = new Map<string, unknown>();
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    if (query.isRepeated(name)) throw malformed(`${name} must not be given more than once`);
    const text = query.get(name);
    if (text !== undefined) members.set(name, isText(name) ? text : parsed(name, text));
  }
  return payloadOf(members);
}

function payloadOf(members: ReadonlyMap<string, unknown>): Payload {
  const document = members.get('query');
  if (typeof document !== 'string' || document === '') throw malformed('query must be a non-empty string');
  const operationName = members.get('operationName') ?? undefined;
  if (operationName !== undefined && typeof operationName !== 'string')
    throw malformed('operationName must be a string');
  const extensions = members.get('extensions') ?? undefined;
  if (extensions !== undefined && !isObject(extensions)) throw malformed('extensions must be an object');
  const variables = members.get('variables') ?? {};
  if (!isObject(variables)) throw malformed('variables must be an object');
  requireDepth(variables, 1);
  return { document, operationName: operationName === '' ? undefined : operationName, variables };
}

/** A token in a URL ends up in logs and browser histories (RFC 6750 2.3). */
function requireNoToken({ rawQuery, query }: RequestContext): void {
  if (rawQuery !== '' && [...query.names()].includes('access_token')) {
    throw malformed('the access token belongs in the Authorization header');
  }
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(`${name} is not valid JSON`);
  }
}

function isText(name: string): boolean {
  return name === 'query' || name === 'operationName';
}

function requireDepth(value: unknown, depth: number): void {
  if (value === null || typeof value !== 'object') return;
  if (depth > MAX_VARIABLES_DEPTH) throw malformed(`variables are nested more than ${MAX_VARIABLES_DEPTH} levels deep`);
  for (const member of Object.values(value)) requireDepth(member, depth + 1);
}

function malformed(description: string): LatchkeyError {
  return new LatchkeyError('malformed_request', { description });
}
