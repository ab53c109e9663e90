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

Programs of the operator read and change what the service keeps. \`GET /api/spec.json\`, which anybody may read, describes the API for generators of
code (OpenAPI 3.1); this page is the same for people. \`GET /api/doc/\`, to which
\`GET /api/doc\` leads, is a page that calls the API from the browser. For step-by-step
instructions, see [Automate with the admin API](../guides/admin-api.md).

**To call it from \`/api/doc/\`,** press *Authorize* there, fill in the id of a client, and sign in as an administrator.
The client is one of yours, such as this; the access token stays in the memory of the page:

\`\`\`yaml
clients:
  - client_id: 01JD3Q5Z8W2N4K6M7P9R0S1T4V
    client_auth_method: none
    client_name: Admin API reference
    redirect_uris: [https://auth.example.org/api/doc/oauth2-callback]
\`\`\`

The sign-in ends on \`GET /api/doc/oauth2-callback\`, which hands the answer to the page that began it and closes its window.

**Who may call:** whoever has an access token with the scope \`urn:mas:admin\` in the header \`Authorization: Bearer\`. A
client listed in \`policy.data.admin_clients\` gets one with \`client_credentials\`; a person whose account may administer
(\`latchkey manage promote-admin\`, or \`policy.data.admin_users\`) gets one by signing in at an application that asks for
it. Cookies count for nothing. Wrong tokens are limited by \`rate_limiting.admin_token\`. Each change writes a line
\`admin.action\`.

**Bodies** are JSON of at most 1 MiB; a member that is not named here is refused, and \`source\` names it.

**Lists** have 10 items on a page, in the order of creation. \`page[first]\` and \`page[last]\` (1 to 100) say how many, and
from which end; \`page[after]\` and \`page[before]\` take the id of an item. \`count=false\` leaves the number of all out,
which takes the longest [with millions of rows](../guides/postgresql.md#millions-of-rows); \`count=only\` leaves the
items out. Links lead on: \`next\`, \`prev\`, \`first\`, \`last\`. Filters are \`filter[name]=value\`;
several together leave what meets all of them, and one that names what does not exist is 404. For curl, add \`-g\`, or it reads the brackets itself.

**Errors** are \`{"errors": [{"title", "status", "code", "detail", "source", "id"}]}\`; \`id\` is that of the request in the
log. [Error codes](error-codes.md) says what to do. Those that every operation can answer are left out below:
\`missing_token\`, \`invalid_token\` (401), \`insufficient_scope\` (403), \`rate_limited\` (429), \`internal\` (500),
\`unavailable\` (503); and those of every body: \`invalid_request\` (400), \`body_too_large\` (413),
\`unsupported_media_type\` (415).`;

export function adminApiPage(): string {
  const sections = Object.entries(TAGS).map(([tag, description]) => {
    const operations = OPERATIONS.filter((operation) => operation.tag === tag);
    const overview = table(['Request', 'Operation', 'Filters or body', 'Answer', 'Errors'], operations.map(rowOf));
    return [`## ${tag}`, description, overview, ...operations.map(detailsOf)].join('\n\n');
  });
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

function rowOf({ method, path, id, summary, filters, body, answers, errors }: Operation): string[] {
  return [
    code(`${method} ${BASE_PATH}/${path}`),
    `${code(id)}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
    Object.keys(filters?.shape ?? membersOf(body))
      .map(code)
      .join(', '),
    answers.map(({ status }) => status).join(', '),
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
