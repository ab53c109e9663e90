/** `GET /api/spec.json`: the description of the API, made from what serves it (operations 4.13, OpenAPI 3.1.0). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Urls } from '#browser/urls.ts';
import type { ErrorCode } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { BASE_PATH } from './definition/documents.ts';
import { isRepeatable } from './definition/list-parameters.ts';
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
const PAGE_PARAMETERS = [
  parameter('page[first]', 'query', { type: 'integer', minimum: 1, maximum: 100 }, 'Items from the first on.'),
  parameter('page[last]', 'query', { type: 'integer', minimum: 1, maximum: 100 }, 'Items up to the last.'),
  parameter('page[after]', 'query', { type: 'string', pattern: ULID_IN_ADDRESS }, 'Only items behind this id.'),
  parameter('page[before]', 'query', { type: 'string', pattern: ULID_IN_ADDRESS }, 'Only items before this id.'),
  parameter('count', 'query', { enum: ['true', 'false', 'only'] }, 'Whether items are counted, or nothing else.'),
];

/** Public, and the same for everybody: made when it is first asked for. */
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
    info: { title: 'Latchkey admin API', version },
    // Clients put the paths below right behind it.
    servers: [{ url: urls.base.replace(/\/$/, '') }],
    security: [{ oauth2: [SCOPE] }, { token: [] }],
    tags: TAGS.map((name) => ({ name })),
    paths: pathsOf(OPERATIONS),
    components: {
      schemas: { Errors: jsonSchema(errors, 'output') },
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: {
            authorizationCode: { authorizationUrl: urls.absolute('authorize'), ...flow },
            clientCredentials: flow,
          },
        },
        token: { type: 'http', scheme: 'bearer' },
      },
    },
  });
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

const errors = z.object({
  errors: z.array(
    z.object({
      title: z.string(),
      status: z.string(),
      code: z.string(),
      detail: z.string().optional(),
      source: z.object({ pointer: z.string().optional(), parameter: z.string().optional() }).optional(),
      id: z.string(),
    }),
  ),
});

function pathsOf(operations: readonly Operation[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = addressOf(operation);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation) };
  }
  return paths;
}

/** As the description spells it: `/api/admin/v1/users/{id}`. */
function addressOf({ path }: Operation): string {
  return `${BASE_PATH}/${path}`.replace(/:([a-z]+)/g, '{$1}');
}

function describeOperation(operation: Operation) {
  const { id, tag, summary, path, body, filters, answers, errors: codes } = operation;
  const address = addressOf(operation);
  const parameters = [
    ...[...path.matchAll(/:([a-z]+)/g)].map(([, name = '']) => ({
      ...(name === 'id'
        ? parameter(name, 'path', { type: 'string', pattern: ULID_IN_ADDRESS }, 'A ULID, in any case.')
        : parameter(name, 'path', { type: 'string' }, 'As it is spelled.')),
      required: true,
    })),
    ...(filters === undefined ? [] : [...PAGE_PARAMETERS, ...filterParameters(filters)]),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
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
  return Object.entries(filters.shape).map(([name, schema]) =>
    parameter(`filter[${name}]`, 'query', memberSchema(schema), 'A filter.', { explode: isRepeatable(schema) }),
  );
}

function parameter(name: string, place: 'path' | 'query', schema: unknown, what: string, more: object = {}) {
  return { name, in: place, description: what, schema, ...more };
}

function answer(what: string, schema: z.ZodType | undefined, address: string) {
  if (schema === undefined) return { description: what };
  return { description: what, content: { [JSON_TYPE]: contentOf(jsonSchema(schema, 'output'), address) } };
}

function contentOf(schema: JsonSchema, address: string) {
  return { schema, example: exampleOf(schema, address) };
}

/** Those with one status share a response. */
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
        description: those.map(adminCode).join(', '),
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

/** Of what may be left out, as if it were given. */
function memberSchema(schema: z.ZodType): unknown {
  return jsonSchema(z.object({ value: schema }), 'input').properties?.['value'];
}
