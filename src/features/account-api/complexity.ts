import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { refusal } from './context/graphql-refusal.ts';
import { pageSize } from './context/page-size.ts';

const COUNT_COST = 5;
/** Cost of a field that queries the homeserver. */
const HOMESERVER_COST = 5;

/**
 * Mutations that check a password, code, ticket or passkey, or change a factor. A request may contain only one of them
 * (S-135).
 */
const GUESSABLE: ReadonlySet<string> = new Set([
  'completeEmailAuthentication',
  'completePasskeyRegistration',
  'completeTotpEnrolment',
  'deactivateUser',
  'regenerateRecoveryCodes',
  'removeEmail',
  'removePasskey',
  'removeTotp',
  'resendRecoveryEmail',
  'setPassword',
  'setPasswordByRecovery',
  'startEmailAuthentication',
  'startPasskeyRegistration',
  'startTotpEnrolment',
  'unlinkUpstreamAccount',
]);

export interface ValidOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Already coerced to their types. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Returns the cost of a valid operation (account-graphql 1.7). Each field with a selection set costs one, `totalCount`
 * and homeserver fields cost five, and other scalars cost nothing. Inside a connection, the cost is multiplied by the
 * page size. Introspection fields count like any other field.
 * @throws GraphQLError if a page size is out of range, or if the operation contains several guessable mutations
 */
export function complexityOf(valid: ValidOperation): number {
  const { schema, operation } = valid;
  const root = schema.getRootType(operation.operation);
  return root === undefined || root === null ? 0 : new Estimate(valid).ofSelection(operation.selectionSet, root, 1);
}

class Estimate {
  readonly #valid: ValidOperation;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #guesses = 0;

  constructor(valid: ValidOperation) {
    this.#valid = valid;
    const fragments = valid.document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  /** @param size page size, if the parent is a connection */
  ofSelection(set: SelectionSetNode, parent: GraphQLCompositeType, size: number): number {
    let cost = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        cost += this.#ofField(selection, parent, size);
        continue;
      }
      const isInline = selection.kind === Kind.INLINE_FRAGMENT;
      const fragment = isInline ? selection : this.#fragments.get(selection.name.value);
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      const type = condition === undefined ? parent : this.#valid.schema.getType(condition);
      if (isCompositeType(type)) cost += this.ofSelection(fragment.selectionSet, type, size);
    }
    return cost;
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType, size: number): number {
    const name = node.name.value;
    const field = this.#fieldOf(parent, name);
    if (field === undefined) return 0;
    if (parent === this.#valid.schema.getMutationType()) this.#countGuess(name);
    if (name === 'totalCount') return COUNT_COST;
    const type = getNamedType(field.type);
    if (node.selectionSet === undefined || !isCompositeType(type)) return 0;
    const isConnection = type.name.endsWith('Connection');
    const pageOfType = isConnection ? pageSize(getArgumentValues(field, node, this.#valid.variables)) : 1;
    const selection = this.ofSelection(node.selectionSet, type, pageOfType);
    if (name === 'edges' || name === 'nodes') return size * (1 + selection);
    // The edge was already counted in place of its node.
    if (name === 'node' && parent.name.endsWith('Edge')) return selection;
    return selection + (type.name === 'MatrixUser' ? HOMESERVER_COST : 1);
  }

  #fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
    if (parent === this.#valid.schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    }
    return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  }

  #countGuess(name: string): void {
    if (GUESSABLE.has(name)) this.#guesses += 1;
    if (this.#guesses > 1) {
      throw refusal(
        'QUERY_TOO_COMPLEX',
        'a mutation can check at most one password, code or ticket, or change one sign-in method',
      );
    }
  }
}
