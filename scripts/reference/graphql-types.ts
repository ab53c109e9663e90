/** Generates TypeScript types for the result and variables of a GraphQL document. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  typeFromAST,
} from 'graphql';

const SCALARS = new Map([
  ['Boolean', 'boolean'],
  ['Float', 'number'],
  ['Int', 'number'],
  ['Json', 'unknown'],
]);

// Stands for all types of an interface without a selection in the document, so that a new type changes nothing here.
const OTHER = "'other'";

export class DocumentTypes {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(schema: GraphQLSchema, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#schema = schema;
    this.#fragments = fragments;
  }

  ofOperation(operation: OperationDefinitionNode): string {
    const type = this.#schema.getRootType(operation.operation);
    if (type === undefined || type === null) throw new Error(`the schema has no ${operation.operation}`);
    return this.#composite(type, operation.selectionSet.selections);
  }

  ofFragment(fragment: FragmentDefinitionNode): string {
    return this.#composite(this.#compositeNamed(fragment.typeCondition.name.value), fragment.selectionSet.selections);
  }

  ofVariables(operation: OperationDefinitionNode): string {
    return objectText(
      (operation.variableDefinitions ?? []).map((definition) => {
        const type = typeFromAST(this.#schema, definition.type);
        if (!isInputType(type)) throw new Error(`unknown type of the variable ${definition.variable.name.value}`);
        const isRequired = isNonNullType(type) && definition.defaultValue === undefined;
        return memberText(definition.variable.name.value, inputText(type), isRequired);
      }),
    );
  }

  #composite(type: GraphQLCompositeType, selections: readonly SelectionNode[]): string {
    if (isObjectType(type)) return this.#object([type], selections);
    // Types of the same shape share one union member, which keeps the union small.
    const groups = new Map<string, GraphQLObjectType[]>();
    for (const possible of this.#schema.getPossibleTypes(type)) {
      const shape = this.#object([possible], selections, '');
      groups.set(shape, [...(groups.get(shape) ?? []), possible]);
    }
    const rest = objectText([memberText('__typename', '', true)]);
    const isOpen = isInterfaceType(type);
    return [...groups]
      .map(([shape, types]) => this.#object(types, selections, isOpen && shape === rest ? OTHER : undefined))
      .join(' | ');
  }

  /** @param typename replaces the names of the types */
  #object(types: readonly GraphQLObjectType[], selections: readonly SelectionNode[], typename?: string): string {
    const [type] = types;
    if (type === undefined) throw new Error('a selection without a type');
    const fields = new Map<string, { field: FieldNode; selections: SelectionNode[] }>();
    this.#collect(type, selections, fields);
    const members = [...fields].map(([key, { field, selections }]) => {
      if (field.name.value === '__typename') {
        return memberText(key, typename ?? types.map(({ name }) => `'${name}'`).join(' | '), true);
      }
      const output = type.getFields()[field.name.value]?.type;
      if (output === undefined) throw new Error(`${type.name} has no field ${field.name.value}`);
      return memberText(key, this.#output(output, selections), true);
    });
    return objectText(members);
  }

  #collect(
    type: GraphQLObjectType,
    selections: readonly SelectionNode[],
    fields: Map<string, { field: FieldNode; selections: SelectionNode[] }>,
  ): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value;
        const known = fields.get(key) ?? { field: selection, selections: [] };
        known.selections.push(...(selection.selectionSet?.selections ?? []));
        fields.set(key, known);
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      if (fragment === undefined || (condition !== undefined && !this.#applies(condition, type))) continue;
      this.#collect(type, fragment.selectionSet.selections, fields);
    }
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    const wanted = this.#compositeNamed(condition);
    return wanted === type || (isAbstractType(wanted) && this.#schema.isSubType(wanted, type));
  }

  #compositeNamed(name: string): GraphQLCompositeType {
    const type = this.#schema.getType(name);
    if (!isCompositeType(type)) throw new Error(`${name} has no fields`);
    return type;
  }

  #output(type: GraphQLOutputType, selections: readonly SelectionNode[]): string {
    if (isNonNullType(type)) return this.#present(type.ofType, selections);
    return `${this.#present(type, selections)} | null`;
  }

  #present(type: GraphQLOutputType, selections: readonly SelectionNode[]): string {
    if (isNonNullType(type)) return this.#present(type.ofType, selections);
    if (isListType(type)) return `readonly (${this.#output(type.ofType, selections)})[]`;
    if (isCompositeType(type)) return this.#composite(type, selections);
    if (isEnumType(type)) return enumText(type.getValues());
    return SCALARS.get(type.name) ?? 'string';
  }
}

function inputText(type: GraphQLInputType): string {
  if (isNonNullType(type)) return presentInputText(type.ofType);
  return `${presentInputText(type)} | null`;
}

function presentInputText(type: GraphQLInputType): string {
  if (isNonNullType(type)) return presentInputText(type.ofType);
  if (isListType(type)) return `readonly (${inputText(type.ofType)})[]`;
  if (isEnumType(type)) return enumText(type.getValues());
  if (isInputObjectType(type)) {
    return objectText(
      Object.values(type.getFields()).map((field) => {
        const isRequired = isNonNullType(field.type) && field.defaultValue === undefined;
        return memberText(field.name, inputText(field.type), isRequired);
      }),
    );
  }
  return SCALARS.get(type.name) ?? 'string';
}

function enumText(values: readonly { readonly name: string }[]): string {
  return values.map(({ name }) => `'${name}'`).join(' | ');
}

function memberText(name: string, type: string, isRequired: boolean): string {
  return `readonly ${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}`;
}

// Without variables, Urql would accept any object; this type allows no members.
function objectText(members: readonly string[]): string {
  return members.length === 0 ? '{ readonly [name: string]: never }' : `{ ${members.join('; ')} }`;
}
