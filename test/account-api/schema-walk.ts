/** Builds documents from the schema, so that new fields are covered automatically. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

export type Field = GraphQLField<unknown, unknown>;

/** Values for a field's arguments or input members, by name. */
export type Values = Readonly<Record<string, unknown>>;

/** A document that selects a root field with everything below it, and its variables. */
export interface Requested {
  readonly document: string;
  readonly variables: Values;
}

/** Returns the fields of the query or mutation type. */
export function rootFields(schema: GraphQLSchema, of: 'query' | 'mutation'): readonly Field[] {
  const root = of === 'query' ? schema.getQueryType() : schema.getMutationType();
  return Object.values(root?.getFields() ?? {});
}

/** Returns the object types that implement `Node`. */
export function nodeTypes(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
  return objects.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
}

/** Returns the members of a field's input, or its arguments. These are the names used in `Values`. */
export function membersOf(field: Field): readonly Pick<GraphQLArgument, 'name' | 'type'>[] {
  return field.args.flatMap((argument) => {
    const type = getNamedType(argument.type);
    return argument.name === 'input' && isInputObjectType(type) ? Object.values(type.getFields()) : [argument];
  });
}

/** Builds a document for a field with these values. Ignores values for members that the field does not have. */
export function ask(of: 'query' | 'mutation', field: Field, values: Values): Requested {
  const given = field.args.filter(({ name }) => name === 'input' || values[name] !== undefined);
  const variables = Object.fromEntries(
    given.map((argument) => [
      argument.name,
      argument.name === 'input' ? inputOf(field, values) : values[argument.name],
    ]),
  );
  const declared = given.map(({ name, type }) => `$${name}: ${type}`);
  const passed = given.map(({ name }) => `${name}: $${name}`);
  const head = `${field.name}${passed.length === 0 ? '' : `(${passed.join(', ')})`}`;
  const declarations = declared.length === 0 ? '' : `(${declared.join(', ')})`;
  return { document: `${of} Walk${declarations} { ${head} ${selectionOf(field)} }`, variables };
}

function inputOf(field: Field, values: Values): Values {
  return Object.fromEntries(
    membersOf(field).flatMap(({ name }) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
}

/**
 * Selects everything in the field's type that requires no argument. Nested objects are selected by type name and ID.
 */
function selectionOf(field: Field): string {
  const type = getNamedType(field.type);
  if (isEnumType(type)) return '';
  if (!isObjectType(type)) return 'getFields' in type || 'getTypes' in type ? '{ __typename ... on Node { id } }' : '';
  const fields = Object.values(type.getFields()).filter(({ args }) => args.every(({ type: of }) => !isNonNullType(of)));
  return `{ __typename ${fields.map((inner) => `${inner.name}${innerSelection(inner)}`).join(' ')} }`;
}

function innerSelection(field: Field): string {
  const type = getNamedType(field.type);
  if (type.name.endsWith('Connection')) return '(first: 1) { totalCount }';
  if ('getTypes' in type) return ' { __typename }';
  return 'getFields' in type ? ' { __typename }' : '';
}

/**
 * Returns a valid value for a type: the given text, a list of one, or the first value of an enum.
 * @param text of members by name
 */
export function valueOfType(type: GraphQLInputType, text: string): unknown {
  if (isNonNullType(type)) return valueOfType(type.ofType, text);
  if (isListType(type)) return [valueOfType(type.ofType, text)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) return {};
  const { name } = getNamedType(type);
  if (name === 'Boolean') return false;
  if (name === 'Int') return 1;
  if (name === 'DateTime') return '2026-01-01T00:00:00Z';
  if (name === 'Json') return {};
  return text;
}
