/**
 * Generates the typed documents of the account area: `X.graphql` below `web/` becomes `X.generated.ts`. A document that
 * does not match the schema fails the generator.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  NoUnusedFragmentsRule,
  type OperationDefinitionNode,
  parse,
  print,
  specifiedRules,
  stripIgnoredCharacters,
  validate,
  visit,
} from 'graphql';
import { DocumentTypes } from './graphql-types.ts';

/**
 * Returns texts by path below the root.
 * @param schemaText schema of the account API
 */
export function graphqlDocuments(root: string, schemaText: string): Readonly<Record<string, string>> {
  const schema = buildSchema(schemaText);
  const names = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.graphql'))
    .sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = `web/${name}`;
      const source = readFileSync(join(root, path), 'utf8');
      return [path.replace(/\.graphql$/, '.generated.ts'), moduleText(path, source, schema)];
    }),
  );
}

// A file may contain a fragment only for its type.
const RULES = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule);

function moduleText(path: string, source: string, schema: GraphQLSchema): string {
  const document = parse(source);
  const problems = validate(schema, document, RULES);
  if (problems.length > 0) throw new Error(`${path}: ${problems.map((problem) => problem.message).join('; ')}`);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const fragments = new Map(
    document.definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const types = new DocumentTypes(schema, fragments);
  return [
    `// Written by scripts/generate-reference.js from ${path.split('/').at(-1)}.`,
    ...(operations.length > 0 ? ["import { gql, type TypedDocumentNode } from '@urql/core';"] : []),
    ...[...fragments.values()].map(
      (fragment) => `\nexport type ${fragment.name.value} = ${types.ofFragment(fragment)};`,
    ),
    ...operations.map((operation) => operationText(operation, fragments, types)),
    '',
  ].join('\n');
}

function operationText(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  types: DocumentTypes,
): string {
  const name = operation.name?.value;
  if (name === undefined) throw new Error('every operation of the account area has a name: it is in the log');
  const text = stripIgnoredCharacters(print(withFragments(operation, fragments)));
  return [
    `\nexport type ${name}Data = ${types.ofOperation(operation)};`,
    `\nexport type ${name}Variables = ${types.ofVariables(operation)};`,
    `\nexport const ${name}: TypedDocumentNode<${name}Data, ${name}Variables> = /* @__PURE__ */ gql(\n  ${JSON.stringify(text)},\n);`,
  ].join('\n');
}

/** Returns the operation with the fragments that it uses. */
function withFragments(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): DocumentNode {
  const needed = new Set<FragmentDefinitionNode>();
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread: (spread) => {
        const fragment = fragments.get(spread.name.value);
        if (fragment === undefined || needed.has(fragment)) return;
        needed.add(fragment);
        collect(fragment);
      },
    });
  };
  collect(operation);
  return { kind: Kind.DOCUMENT, definitions: [operation, ...needed] };
}
