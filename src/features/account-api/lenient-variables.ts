import {
  type ASTVisitor,
  GraphQLID,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type ValidationContext,
  VariablesInAllowedPositionRule,
} from 'graphql';

/**
 * The rule of GraphQL 5.8.5, except that a `String` variable is accepted where an `ID` is expected. Documents written
 * for Matrix Authentication Service declare their variables that way (account-graphql 3.1). Nullability is checked as
 * usual.
 */
export function variablesInLenientPositions(context: ValidationContext): ASTVisitor {
  const lenient: ValidationContext = Object.create(context, {
    getRecursiveVariableUsages: {
      value: (operation: OperationDefinitionNode) => {
        const texts = variablesOfText(operation);
        return context.getRecursiveVariableUsages(operation).map((usage) => {
          const isText = usage.type && texts.has(usage.node.name.value);
          return isText ? { ...usage, type: textInsteadOfId(usage.type) } : usage;
        });
      },
    },
  });
  return VariablesInAllowedPositionRule(lenient);
}

function variablesOfText(operation: OperationDefinitionNode): ReadonlySet<string> {
  const definitions = operation.variableDefinitions ?? [];
  const texts = definitions.filter(({ type }) => namedType(type) === GraphQLString.name);
  return new Set(texts.map(({ variable }) => variable.name.value));
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

function textInsteadOfId(type: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(textInsteadOfId(type.ofType));
  if (isListType(type)) return new GraphQLList(textInsteadOfId(type.ofType));
  return type === GraphQLID ? GraphQLString : type;
}
