import { type DocumentNode, Kind, type OperationDefinitionNode } from 'graphql';
import type { GraphqlOperation } from '#platform/log/request-line.ts';

/**
 * Returns the operation of a document that a request selects (GraphQL 6.1). Returns undefined if it does not exist or
 * is ambiguous.
 * @param name undefined selects the only operation
 */
export function selectedOperation(
  document: DocumentNode,
  name: string | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const meant = name === undefined ? operations : operations.filter((operation) => operation.name?.value === name);
  return meant.length === 1 ? meant[0] : undefined;
}

/** Returns the operation's name and type for the log. The grammar ensures that the name cannot break the log field. */
export function loggedOperation({ operation, name }: OperationDefinitionNode): GraphqlOperation {
  return { type: operation, name: name?.value };
}
