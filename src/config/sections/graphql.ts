import type { z } from 'zod';
import { bool, duration, integer, mapping, size } from '#platform/config/values.ts';

export const graphqlSection = mapping({
  playground: bool()
    .prefault(true)
    .describe(
      'Enables the GraphQL playground at `/graphql/playground`, which is public and contains no data. ' +
        '`false`: 404.',
    ),
  discovery: bool()
    .prefault(true)
    .describe(
      'Publishes the URL of `/graphql` in the discovery document where a listener serves it: as ' +
        '`graphql_endpoint`, or, with a homeserver or `protocol_name: matrix`, under the name that chat ' +
        'clients expect.',
    ),
  introspection: bool().prefault(true).describe('Allows introspection of the schema, which is public.'),
  oauth2_access: bool()
    .prefault(false)
    .describe(
      'Accepts access tokens with the scope `urn:mas:graphql:*` instead of the session cookie. `false`: ' +
        'they are rejected.',
    ),
  max_body_bytes: size('1KiB', '16MiB').prefault('256KiB').describe('Maximum size of a request body; then 413.'),
  max_document_bytes: size('1KiB', '1MiB').prefault('64KiB').describe('Maximum length of a document.'),
  max_tokens: integer(1, 100_000).prefault(4000).describe('Maximum number of tokens in a document.'),
  max_depth: integer(1, 100)
    .prefault(12)
    .describe('Maximum nesting depth of fields; introspection has its own limit of 20.'),
  max_complexity: integer(1, 1_000_000)
    .prefault(1000)
    .describe(
      'Maximum number of objects that a document may request: one for each field with a selection, ' +
        'multiplied by the page size.',
    ),
  max_aliases: integer(0, 10_000).prefault(30).describe('Maximum number of aliases in a document.'),
  timeout: duration('1s', '5m')
    .prefault('10s')
    .describe('Timeout of an operation; fields that are not resolved by then fail.'),
});

export function graphqlConfig(parsed: z.output<typeof graphqlSection>) {
  return {
    hasPlayground: parsed.playground,
    isInDiscovery: parsed.discovery,
    hasIntrospection: parsed.introspection,
    acceptsAccessTokens: parsed.oauth2_access,
    maxBodyBytes: parsed.max_body_bytes,
    maxDocumentBytes: parsed.max_document_bytes,
    maxTokens: parsed.max_tokens,
    maxDepth: parsed.max_depth,
    maxComplexity: parsed.max_complexity,
    maxAliases: parsed.max_aliases,
    timeoutSeconds: parsed.timeout,
  };
}
