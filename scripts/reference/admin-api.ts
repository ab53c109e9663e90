/** Generates `docs/reference/admin-api.md` from the definitions that serve the admin API. */
import { z } from 'zod';
import { BASE_PATH } from '../../src/features/admin-api/definition/documents.ts';
import { filterTextOf } from '../../src/features/admin-api/definition/fields.ts';
import type { Operation } from '../../src/features/admin-api/definition/operation.ts';
import { adminCode } from '../../src/features/admin-api/error-format.ts';
import { OPERATIONS, TAGS } from '../../src/features/admin-api/operations.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Admin API

Generated from the source; do not edit by hand.

API for reading and changing the data of the service. \`GET /api/spec.json\`, which is public, is the OpenAPI 3.1
description for code generators; this page has the same content. \`GET /api/doc/\`, to which \`GET /api/doc\` redirects,
is a page that calls the API from the browser. For step-by-step instructions, see
[Automate with the admin API](../guides/admin-api.md).

**To call it from \`/api/doc/\`,** press *Authorize*, enter the ID of a client, and sign in as an administrator.
Configure a client like this one; the access token is only kept in the memory of the page:

\`\`\`yaml
clients:
  - client_id: 01JD3Q5Z8W2N4K6M7P9R0S1T4V
    client_auth_method: none
    client_name: Admin API reference
    redirect_uris: [https://auth.example.org/api/doc/oauth2-callback]
\`\`\`

The sign-in ends on \`GET /api/doc/oauth2-callback\`, which passes the response to the page that started it and closes
its window.

**Access:** requests need an access token with the scope \`urn:mas:admin\` in the header \`Authorization: Bearer\`. A
client listed in \`policy.data.admin_clients\` gets one with \`client_credentials\`. A user with admin rights
(\`latchkey manage promote-admin\`, or \`policy.data.admin_users\`) gets one by signing in at a client that requests the
scope. Cookies are ignored. \`rate_limiting.admin_token\` limits wrong tokens. Each change is logged as \`admin.action\`.

**Bodies** are JSON of at most 1 MiB. Unknown members are rejected, and \`source\` names them.

**Lists** have 10 items per page, in the order of creation. \`page[first]\` and \`page[last]\` (up to 1,000) set the page size,
from the start or from the end; \`page[after]\` and \`page[before]\` take the ID of an item. \`count=false\` omits the total
number, which is the slowest part [with millions of rows](../guides/postgresql.md#millions-of-rows); \`count=only\` omits
the items. Use the links \`next\`, \`prev\`, \`first\` and \`last\` to read on. Filters are \`filter[name]=value\`; items must match
all of them. A filter with the ID of an object that does not exist returns 404. With curl, add \`-g\`, because curl
interprets brackets.

**Errors** are \`{"errors": [{"title", "status", "code", "detail", "source", "id"}]}\`; \`id\` is the request ID in the
log. For remedies, see [Error codes](error-codes.md). The tables below omit errors common to every operation:
\`missing_token\`, \`invalid_token\` (401), \`insufficient_scope\` (403), \`rate_limited\` (429), \`internal\` (500),
\`unavailable\` (503); and those common to every body: \`invalid_request\` (400), \`body_too_large\` (413),
\`unsupported_media_type\` (415).`;

export function adminApiPage(): string {
  const sections = Object.entries(TAGS).map(([tag, description]) => {
    const operations = OPERATIONS.filter((operation) => operation.tag === tag);
    const overview = table(['Request', 'Operation', 'Filters or body', 'Response', 'Errors'], operations.map(rowOf));
    return [`## ${tag}`, description, overview, ...operations.map(detailsOf)].join('\n\n');
  });
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

function rowOf({ method, path, id, summary, filters, body, answers: responses, errors }: Operation): string[] {
  return [
    code(`${method} ${BASE_PATH}/${path}`),
    `${code(id)}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
    Object.keys(filters?.shape ?? membersOf(body))
      .map(code)
      .join(', '),
    responses.map(({ status }) => status).join(', '),
    [...new Set(errors.map(adminCode))].map(code).join(', '),
  ];
}

/** Returns the description of an operation, and of its filters and body members. */
function detailsOf({ id, description, filters, body }: Operation): string {
  const parts = Object.entries(filters?.shape ?? membersOf(body));
  const head = filters === undefined ? ['Member', 'Meaning'] : ['Filter', 'Selects'];
  const text = `**${code(id)}.** ${description}`;
  if (parts.length === 0) return text;
  return `${text}\n\n${table(head, parts.map(partOf))}`;
}

function partOf([name, schema]: readonly [name: string, schema: z.ZodType]): string[] {
  const { description, example } = filterTextOf(schema) ?? {
    description: schema.description ?? '',
    example: undefined,
  };
  return [code(name), example === undefined ? description : `${description} Example: ${code(example)}`];
}

function membersOf(body: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  return body instanceof z.ZodObject ? body.shape : {};
}
