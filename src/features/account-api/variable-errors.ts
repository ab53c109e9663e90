import {
  coerceInputValue,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isListType,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { refusal } from './context/graphql-refusal.ts';

/** The only library message that contains nothing but names from the schema. */
const MISSING_FIELD = /^Field "\w+" of required type "[\w![\]]+" was not provided\.$/;

export type CoercedVariables =
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: undefined }
  | { readonly errors?: undefined; readonly coerced: Readonly<Record<string, unknown>> };

/**
 * Coerces the variables of an operation to their types. Errors name the location and the expected type, but never the
 * value: a variable may be a password, or 256 KiB long.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
  maxErrors: number,
): CoercedVariables {
  const definitions = operation.variableDefinitions ?? [];
  // The library's messages are discarded, so one is enough.
  const { coerced } = getVariableValues(schema, definitions, sent, { maxErrors: 1, hideSuggestions: true });
  if (coerced !== undefined) return { coerced };
  const messages: string[] = [];
  for (const { variable, type: node, defaultValue } of definitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) continue;
    if (!Object.hasOwn(sent, name)) {
      if (defaultValue === undefined && getNullableType(type) !== type) {
        messages.push(`variable $${name} of required type ${type} was not provided`);
      }
      continue;
    }
    if (sent[name] === null && getNullableType(type) === type) continue;
    messages.push(...reasonsAgainst(sent[name], type, `$${name}`, maxErrors - messages.length));
    if (messages.length >= maxErrors) break;
  }
  return { errors: messages.map((message) => refusal('BAD_USER_INPUT', message)) };
}

class Enough extends Error {}

function reasonsAgainst(value: unknown, type: GraphQLInputType, name: string, max: number): string[] {
  const reasons: string[] = [];
  try {
    coerceInputValue(
      value,
      type,
      (path, _, error) => {
        const place = [name, ...path].join('.');
        const expected = typeAt(type, path);
        const isOurs = isScalarType(getNamedType(expected)) && !isSpecifiedScalarType(getNamedType(expected));
        const detail = isOurs || MISSING_FIELD.test(error.message) ? `: ${error.message}` : '';
        reasons.push(`variable ${place} must be of type ${expected}${detail}`);
        if (reasons.length >= max) throw new Enough();
      },
      true,
    );
  } catch (thrown) {
    if (!(thrown instanceof Enough)) throw thrown;
  }
  return reasons;
}

/** Returns the type of the value at a path through the lists and fields of the schema. */
function typeAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLInputType {
  return path.reduce<GraphQLInputType>((outer, key) => {
    const nullable = getNullableType(outer);
    if (isListType(nullable)) return nullable.ofType;
    return (isInputObjectType(nullable) ? nullable.getFields()[key]?.type : undefined) ?? outer;
  }, type);
}
