import type { z } from 'zod';
import { bool, duration, integer, mapping, size } from '#platform/config/values.ts';

export const graphqlSection = mapping({
  playground: bool()
    .prefault(true)
    .describe('A page for trying documents, at `/graphql/playground`, for anybody; it holds no data. `false`: 404.'),
  discovery: bool()
    .prefault(true)
    .describe(
      'The discovery document has the address of `/graphql` where a listener serves it: as `graphql_endpoint`, or, with a homeserver or `protocol_name: matrix`, under the name that chat clients know. `false`: it has none.',
    ),
  introspection: bool().prefault(true).describe('Anybody may read the schema, which is public anyway.'),
  oauth2_access: bool()
    .prefault(false)
    .describe(
      'Access tokens with the scope `urn:mas:graphql:*` count in place of the session cookie. `false`: they are refused.',
    ),
  max_body_bytes: size('1KiB', '16MiB').prefault('256KiB').describe('Larger bodies are refused (413).'),
  max_document_bytes: size('1KiB', '1MiB').prefault('64KiB').describe('Length of a document.'),
  max_tokens: integer(1, 100_000).prefault(4000).describe('Words and signs of a document.'),
  max_depth: integer(1, 100)
    .prefault(12)
    .describe('Fields inside of fields; introspection is counted apart, up to 20.'),
  max_complexity: integer(1, 1_000_000)
    .prefault(1000)
    .describe('Objects that a document asks for: one for each field that has fields, times the size of its page.'),
  max_aliases: integer(0, 10_000).prefault(30).describe('Fields that are given another name.'),
  timeout: duration('1s', '5m').prefault('10s').describe('Fields that are not answered by then fail.'),
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
