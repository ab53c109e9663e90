import { Kind, type OperationDefinitionNode } from 'graphql';
import { RecentTexts } from './recent-texts.ts';

const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;
const INTROSPECTION = new Set(['__schema', '__type', '__typename']);

/** An operation with everything that its response depends on. */
export interface Introspection {
  readonly text: string;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Cached responses to operations that request only the schema. They are the same for every caller while the process
 * runs. One of them is more expensive than all queries of the account area together.
 */
export class IntrospectionResponses {
  readonly #answers = new RecentTexts<string>(MAX_CACHED_CHARACTERS);

  find(introspection: Introspection): string | undefined {
    return this.#answers.find(keyOf(introspection));
  }

  keep(introspection: Introspection, response: string): void {
    this.#answers.keep(keyOf(introspection), response, response.length);
  }
}

/** Tests whether an operation requests the schema and nothing else. */
export function isIntrospection({ operation, selectionSet }: OperationDefinitionNode): boolean {
  const asks = (name: string): boolean => INTROSPECTION.has(name);
  return (
    operation === 'query' &&
    selectionSet.selections.every((field) => field.kind === Kind.FIELD && asks(field.name.value)) &&
    selectionSet.selections.some((field) => field.kind === Kind.FIELD && field.name.value !== '__typename')
  );
}

function keyOf({ text, operation, variables }: Introspection): string {
  return `${JSON.stringify([operation.name?.value ?? null, variables])}${text}`;
}
