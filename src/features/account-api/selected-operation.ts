import { type DocumentNode, Kind, type OperationDefinitionNode } from 'graphql';
import type { GraphqlOperation } from '#platform/log/request-line.ts';

/**
 * The operation of a document that a request means (GraphQL 6.1); undefined when there is none, or it is not clear which.
 * @param name undefined: the only one
 */
export function selectedOperation(
  document: DocumentNode,
  name: string | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const meant = name === undefined ? operations : operations.filter((operation) => operation.name?.value === name);
  return meant.length === 1 ? meant[0] : undefined;
}

/** What the log tells of it: its name as the document has it, which the grammar keeps from ending the field. */
export function loggedOperation({ operation, name }: OperationDefinitionNode): GraphqlOperation {
  return { type: operation, name: name?.value };
}
