import { Kind, type OperationDefinitionNode } from 'graphql';
import { RecentTexts } from './recent-texts.ts';

const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;
const INTROSPECTION = new Set(['__schema', '__type', '__typename']);

/** One operation with what its answer depends on. */
export interface Introspection {
  readonly text: string;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Answers to operations that ask for the schema alone. They are the same for everybody as long as the process runs, and
 * one of them costs more to make than everything that the account area asks for.
 */
export class IntrospectionAnswers {
  readonly #answers = new RecentTexts<string>(MAX_CACHED_CHARACTERS);

  find(introspection: Introspection): string | undefined {
    return this.#answers.find(keyOf(introspection));
  }

  keep(introspection: Introspection, answer: string): void {
    this.#answers.keep(keyOf(introspection), answer, answer.length);
  }
}

/** Whether an operation asks for the schema and nothing else. */
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
