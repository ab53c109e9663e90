/**
 * `GET /api/spec.json`: the API description, generated from the operations themselves (operations 4.13, OpenAPI 3.1.0).
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Urls } from '#browser/urls.ts';
import type { ErrorCode } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { BASE_PATH } from './definition/documents.ts';
import { EXAMPLE_ID, filterTextOf } from './definition/fields.ts';
import { DEFAULT_SIZE, isRepeatable, MAX_SIZE } from './definition/list-parameters.ts';
import type { Operation } from './definition/operation.ts';
import { adminCode, adminStatus } from './error-format.ts';
import { exampleOf, type JsonSchema } from './example.ts';
import { OPERATIONS, TAGS } from './operations.ts';

interface Service {
  readonly urls: Pick<Urls, 'absolute' | 'base'>;
  readonly version: string;
}

const JSON_TYPE = 'application/json';
const SCOPE = 'urn:mas:admin';
const ULID_IN_ADDRESS = '^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$';
/** Errors of every operation. */
const COMMON: readonly ErrorCode[] = ['missing_token', 'invalid_token', 'insufficient_scope', 'rate_limited'];
const SIZE: JsonSchema = { type: 'integer', minimum: 1, examples: [50] };
const CURSOR: JsonSchema = { type: 'string', pattern: ULID_IN_ADDRESS, examples: [EXAMPLE_ID] };
const PAGE_PARAMETERS = [
  parameter(
    'page[first]',
    'query',
    SIZE,
    `Page size, from the start of the list. Default ${DEFAULT_SIZE}; more than ${MAX_SIZE} counts as ${MAX_SIZE}. Excludes \`page[last]\`.`,
  ),
  parameter(
    'page[last]',
    'query',
    SIZE,
    `Page size, up to the end of the list. More than ${MAX_SIZE} counts as ${MAX_SIZE}. Excludes \`page[first]\`.`,
  ),
  parameter('page[after]', 'query', CURSOR, 'Only records behind this id, a ULID; no record needs to have it.'),
  parameter('page[before]', 'query', CURSOR, 'Only records before this id, a ULID; no record needs to have it.'),
  parameter(
    'count',
    'query',
    { enum: ['true', 'false', 'only'] },
    'Whether the records are counted (`true`, also without it) or not (`false`, which is faster), or counted and not listed (`only`).',
  ),
];

const INTRODUCTION = `Programs of the operator read and change here what the service keeps.

**Access:** an access token with the scope \`${SCOPE}\`, in the header \`Authorization: Bearer\`. Applications listed in
\`policy.data.admin_clients\` get one for themselves, with the grant \`client_credentials\`; people whose account may
administer get one by signing in. Personal tokens with the scope do as well.

**Identifiers** are ULIDs: 26 characters, in any case. **Times** are those of RFC 3339, in UTC.

**Lists** have pages of ${DEFAULT_SIZE} records, in the order of their ids, which is that of their creation. The links of
an answer lead to the other pages.

**Filters** narrow a list. Several of them together leave the records that meet all. A filter is given once, but for
those whose description says what several values mean. One that is empty, unknown or badly written is refused (400); one
that names a record by its id which does not exist is 404.

**Bodies** are JSON. A member that is not described is refused.

**Errors** have a \`code\` that does not change, and the \`id\` that the log of the service has for the request.`;

/** The description is public and the same for every caller. It is generated at the first request. */
export function descriptionOf(service: Service): (context: RequestContext) => HttpResponse {
  let description: ReturnType<typeof describe> | undefined;
  return ({ headers }) => {
    description ??= describe(service);
    const { body, etag } = description;
    const caching = { etag, 'cache-control': 'public, max-age=300' };
    const isKnown = headers['if-none-match']?.split(',').some((known) => known.trim() === etag);
    if (isKnown === true) return { status: 304, headers: caching };
    return { status: 200, headers: { 'content-type': JSON_TYPE, ...caching }, body };
  };
}

function describe({ urls, version }: Service) {
  const flow = { tokenUrl: urls.absolute('oauth2/token'), scopes: { [SCOPE]: 'To administer the service.' } };
  const body = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Latchkey admin API', version, description: INTRODUCTION },
    // Clients append the paths directly to this URL.
    servers: [{ url: urls.base.replace(/\/$/, '') }],
    security: [{ oauth2: [SCOPE] }, { token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(OPERATIONS),
    components: {
      schemas: { Errors: jsonSchema(errors, 'output') },
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: 'By signing in as an administrator, or as an application that may administer.',
          flows: {
            authorizationCode: { authorizationUrl: urls.absolute('authorize'), ...flow },
            clientCredentials: flow,
          },
        },
        token: { type: 'http', scheme: 'bearer', description: 'An access token or a personal token that you have.' },
      },
    },
  });
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

const source = z.object({
  pointer: z.string().optional().describe('The member of the body, as a JSON pointer (RFC 6901).'),
  parameter: z.string().optional().describe('The parameter of the query.'),
});
const errors = z
  .object({
    errors: z
      .array(
        z
          .object({
            title: z.string().describe('What is wrong, in words.'),
            status: z.string().describe('The status of the answer once more.'),
            code: z.string().describe('What is wrong, for programs: it does not change.'),
            detail: z.string().optional().describe('More about it, for who wrote the request.'),
            source: source.optional().describe('Where in the request it is.'),
            id: z.string().describe('The request, as the log of the service names it.'),
          })
          .describe('One thing that is wrong.'),
      )
      .describe('One of them.'),
  })
  .describe('Why a request was refused or could not be done.');

function pathsOf(operations: readonly Operation[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = addressOf(operation);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

/** Returns the path as the description spells it: `/api/admin/v1/users/{id}`. */
function addressOf({ path }: Operation): string {
  return `${BASE_PATH}/${path}`.replace(/:([a-z]+)/g, '{$1}');
}

function describeOperation(operation: Operation) {
  const { id, tag, summary, description, path, body, filters, answers, errors: codes } = operation;
  const address = addressOf(operation);
  const parameters = [
    ...[...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => ({
      ...(name === 'id'
        ? parameter(name, 'path', CURSOR, 'The id of the record, a ULID in any case.')
        : parameter(name, 'path', { type: 'string', examples: ['maren'] }, 'The name, exactly as it is spelled.')),
      required: true,
    })),
    ...(filters === undefined ? [] : [...PAGE_PARAMETERS, ...filterParameters(filters)]),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { [JSON_TYPE]: contentOf(jsonSchema(body, 'input'), address) },
      },
    }),
    responses: {
      ...Object.fromEntries(
        answers.map(({ status, schema, description: what }) => [status, answer(what, schema, address)]),
      ),
      ...errorResponses([...COMMON, ...(body === undefined ? [] : BODY_ERRORS), ...codes]),
    },
  };
}

const BODY_ERRORS: readonly ErrorCode[] = ['not_json', 'malformed_request', 'unsupported_media_type', 'body_too_large'];

function filterParameters(filters: z.ZodObject) {
  return Object.entries(filters.shape).map(([name, filter]) => {
    const { description, example } = filterTextOf(filter) ?? {};
    const schema = { ...memberSchema(filter), ...(example !== undefined && { examples: [example] }) };
    return parameter(`filter[${name}]`, 'query', schema, description, { explode: isRepeatable(filter) });
  });
}

/** Examples are inside the schema. Next to it, the reference page would prefill every form with them. */
function parameter(
  name: string,
  place: 'path' | 'query',
  schema: JsonSchema,
  description: string | undefined,
  more: object = {},
) {
  return { name, in: place, description, schema, ...more };
}

function answer(what: string, schema: z.ZodType | undefined, address: string) {
  if (schema === undefined) return { description: what };
  return { description: what, content: { [JSON_TYPE]: contentOf(jsonSchema(schema, 'output'), address) } };
}

function contentOf(schema: JsonSchema, address: string) {
  return { schema, example: exampleOf(schema, address) };
}

/** Errors with the same status share a response. */
function errorResponses(codes: readonly ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set<ErrorCode>([...codes, 'temporarily_unavailable', 'internal'])) {
    const status = adminStatus(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const schema = { $ref: '#/components/schemas/Errors' };
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        // Several errors of the service have the same code in this API.
        description: [...new Set(those.map(adminCode))].join(', '),
        content: { [JSON_TYPE]: { schema, example: exampleOfErrors(status, those) } },
      },
    ]),
  );
}

function exampleOfErrors(status: number, codes: readonly ErrorCode[]) {
  const [code] = codes;
  return {
    errors: [
      { title: 'What is wrong, in a sentence', status: String(status), code: code && adminCode(code), id: 'GET-1234' },
    ],
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...made } = z.toJSONSchema(schema, { io });
  return made;
}

/** Returns the schema of an optional member as if it were required. */
function memberSchema(schema: z.ZodType): JsonSchema {
  const { value } = { ...jsonSchema(z.object({ value: schema }), 'input').properties };
  return typeof value === 'object' ? value : {};
}
