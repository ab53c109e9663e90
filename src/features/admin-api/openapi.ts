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
import { DEFAULT_SIZE, isRepeatable, MAX_NEWEST_SIZE, MAX_SIZE, sortValues } from './definition/list-parameters.ts';
import type { ListExports, Operation, TestResponse } from './definition/operation.ts';
import { adminCode, adminStatus } from './error-format.ts';
import { exampleOf, type JsonSchema } from './example.ts';
import { OPERATIONS, TAGS } from './operations.ts';

interface Service {
  readonly urls: Pick<Urls, 'absolute' | 'base'>;
  readonly version: string;
}

const JSON_TYPE = 'application/json';
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
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
    `Page size, from the start of the list. Default ${DEFAULT_SIZE}; values above ${MAX_SIZE} are ` +
      `reduced to ${MAX_SIZE}. Cannot be combined with \`page[last]\`.`,
  ),
  parameter(
    'page[last]',
    'query',
    SIZE,
    `Page size, from the end of the list. Values above ${MAX_SIZE} are reduced to ${MAX_SIZE}. Cannot be ` +
      'combined with `page[first]`.',
  ),
  parameter('page[after]', 'query', CURSOR, 'Only objects after this ID (ULID), which need not exist.'),
  parameter('page[before]', 'query', CURSOR, 'Only objects before this ID (ULID), which need not exist.'),
  parameter(
    'count',
    'query',
    { enum: ['true', 'false', 'only'] },
    'Whether to count the objects: `true` (default), `false` (faster), or `only` (the number without the ' +
      'objects).',
  ),
];

const NEWEST_FIRST_PARAMETERS = [
  parameter(
    'page[first]',
    'query',
    SIZE,
    `Page size. Default ${DEFAULT_SIZE}; values above ${MAX_NEWEST_SIZE} are reduced to ${MAX_NEWEST_SIZE}.`,
  ),
  parameter('page[after]', 'query', CURSOR, 'Only objects older than this ID (ULID), which need not exist.'),
  parameter(
    'count',
    'query',
    { enum: ['true', 'false', 'only'] },
    'Whether to count the objects: `true`, `false` (default), or `only` (the number without the objects).',
  ),
];

function pageParameters({ pages }: Operation) {
  if (pages === 'none') return [];
  return pages === 'newest-first' ? NEWEST_FIRST_PARAMETERS : PAGE_PARAMETERS;
}

const PRECONDITION = parameter(
  'If-Match',
  'header',
  { type: 'string', examples: ['"3"'] },
  'Value of `ETag` in the response that the change is based on. Without it, the last change wins.',
);

const INTRODUCTION = `API for reading and changing the data of the service.

**Access:** requests need an access token with the scope \`${SCOPE}\`, in the header \`Authorization: Bearer\`. Clients listed
in \`policy.data.admin_clients\` get one with the grant \`client_credentials\`; users with admin rights get one by signing
in. Personal tokens with the scope are accepted as well.

**Identifiers** are ULIDs: 26 characters, case-insensitive. **Times** are RFC 3339 timestamps in UTC.

**Lists** have pages of ${DEFAULT_SIZE} objects, ordered by ID and thus by creation time. Responses contain links to the
other pages.

**Filters** restrict a list; objects must match all filters. A filter may be given once, unless its description defines
the meaning of several values. Empty, unknown or malformed filters are rejected (400); a filter with the ID of an object
that does not exist returns 404.

**Bodies** are JSON. Unknown members are rejected.

**Errors** have a stable \`code\`, and the \`id\` of the request in the log.`;

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
  const flow = { tokenUrl: urls.absolute('oauth2/token'), scopes: { [SCOPE]: 'Access to the admin API.' } };
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
          description: 'Sign in as an administrator, or as a client with admin rights.',
          flows: {
            authorizationCode: { authorizationUrl: urls.absolute('authorize'), ...flow },
            clientCredentials: flow,
          },
        },
        token: { type: 'http', scheme: 'bearer', description: 'An access token or personal token.' },
      },
    },
  });
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

const source = z.object({
  pointer: z.string().optional().describe('Member of the body, as a JSON pointer (RFC 6901).'),
  parameter: z.string().optional().describe('Query parameter.'),
});
const errors = z
  .object({
    errors: z
      .array(
        z
          .object({
            title: z.string().describe('Short description of the error.'),
            status: z.string().describe('HTTP status code.'),
            code: z.string().describe('Error code, stable.'),
            detail: z.string().optional().describe('Details for developers.'),
            source: source.optional().describe('Location of the error in the request.'),
            id: z.string().describe('Request ID, as in the log.'),
          })
          .describe('An error.'),
      )
      .describe('List of one error.'),
  })
  .describe('Why a request was rejected or failed.');

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
  const {
    id,
    method,
    tag,
    summary,
    description,
    path,
    body,
    example,
    filters,
    sorts,
    exports,
    parameters: others,
    answers: responses,
    errors: codes,
  } = operation;
  const address = addressOf(operation);
  const parameters = [
    ...[...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => ({
      ...pathParameter(name),
      required: true,
    })),
    ...(others === undefined ? [] : queryParameters(others, (name) => name)),
    ...(filters === undefined
      ? []
      : [...pageParameters(operation), ...queryParameters(filters, (name) => `filter[${name}]`)]),
    ...(sorts === undefined ? [] : [sortParameter(sorts)]),
    ...(exports === undefined ? [] : [exportLimit(exports)]),
    ...(codes.includes('precondition_failed') ? [PRECONDITION] : []),
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
        content: Object.fromEntries(
          (method === 'PATCH' ? [JSON_TYPE, MERGE_PATCH_TYPE] : [JSON_TYPE]).map((type) => [
            type,
            { ...contentOf(jsonSchema(body, 'input'), address), ...(example !== undefined && { example }) },
          ]),
        ),
      },
    }),
    responses: {
      ...Object.fromEntries(responses.map((one) => [one.status, responseFor(one, address, exports)])),
      ...errorResponses([...COMMON, ...(body === undefined ? [] : BODY_ERRORS), ...codes]),
    },
  };
}

function sortParameter(sorts: readonly string[]) {
  const values = sortValues(sorts);
  const names = values.map((value) => `\`${value}\``).join(', ');
  return parameter(
    'sort',
    'query',
    { enum: values },
    `Order of the list: ${names}. \`id\` (default) is by creation time.`,
  );
}

function pathParameter(name: string) {
  switch (name) {
    case 'id':
      return parameter(name, 'path', CURSOR, 'ID of the object (ULID, case-insensitive).');
    case 'user':
      return parameter(name, 'path', CURSOR, 'ID of the account (ULID, case-insensitive).');
    case 'passkey':
      return parameter(name, 'path', CURSOR, 'ID of the passkey (ULID, case-insensitive).');
    case 'slug':
      return parameter(
        name,
        'path',
        { type: 'string', examples: ['grafana'] },
        'Name of the preset, as in the list of presets.',
      );
    case 'username':
      return parameter(name, 'path', { type: 'string', examples: ['maren'] }, 'Username, case-sensitive.');
    default:
      throw new Error(`the path parameter ${name} has no description`);
  }
}

const BODY_ERRORS: readonly ErrorCode[] = ['not_json', 'malformed_request', 'unsupported_media_type', 'body_too_large'];

/** @param nameOf name of the parameter for a member of `rules` */
function queryParameters(rules: z.ZodObject, nameOf: (name: string) => string) {
  return Object.entries(rules.shape).map(([name, rule]) => {
    const { description, example } = filterTextOf(rule) ?? {};
    const schema = { ...memberSchema(rule), ...(example !== undefined && { examples: [example] }) };
    return parameter(nameOf(name), 'query', schema, description, {
      explode: isRepeatable(rule),
      ...(!rule.safeParse(undefined).success && { required: true }),
    });
  });
}

function exportLimit({ limit, examples }: ListExports) {
  const types = Object.keys(examples).map((type) => `\`${type}\``);
  return parameter(
    'limit',
    'query',
    { type: 'integer', minimum: 1, examples: [1000] },
    `With \`Accept\` ${types.join(' or ')}: maximum number of objects, from the start of the list. Default and ` +
      `maximum: ${limit}.`,
  );
}

/** Examples are inside the schema. Next to it, the reference page would prefill every form with them. */
function parameter(
  name: string,
  place: 'header' | 'path' | 'query',
  schema: JsonSchema,
  description: string | undefined,
  more: object = {},
) {
  return { name, in: place, description, schema, ...more };
}

function responseFor({ description, schema, file }: TestResponse, address: string, exports: Operation['exports']) {
  if (file !== undefined) return { description, content: { [file]: { schema: { type: 'string' } } } };
  if (schema === undefined) return { description };
  const files = Object.entries(exports?.examples ?? {}).map(([type, example]) => [
    type,
    { schema: { type: 'string' }, example },
  ]);
  const content = { [JSON_TYPE]: contentOf(jsonSchema(schema, 'output'), address), ...Object.fromEntries(files) };
  return { description, content };
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
      {
        title: 'Short description of the error',
        status: String(status),
        code: code && adminCode(code),
        id: 'GET-1234',
      },
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
