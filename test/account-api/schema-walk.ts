/** Documents that are made from the schema, so that what is added to it is asked for without a word here. */
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

/** What a field or a member of an input is given. */
export type Values = Readonly<Record<string, unknown>>;

/** A field of a root type with everything that it can be asked for, as a document and its variables. */
export interface Asked {
  readonly document: string;
  readonly variables: Values;
}

/** Fields of the queries or mutations. */
export function rootFields(schema: GraphQLSchema, of: 'query' | 'mutation'): readonly Field[] {
  const root = of === 'query' ? schema.getQueryType() : schema.getMutationType();
  return Object.values(root?.getFields() ?? {});
}

/** Types of objects that have an identifier. */
export function nodeTypes(schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
  return objects.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
}

/** The members of the inputs of a field, or its arguments: those that `Values` are found for by name. */
export function membersOf(field: Field): readonly Pick<GraphQLArgument, 'name' | 'type'>[] {
  return field.args.flatMap((argument) => {
    const type = getNamedType(argument.type);
    return argument.name === 'input' && isInputObjectType(type) ? Object.values(type.getFields()) : [argument];
  });
}

/** Asks for a field with these values, those of members that it does not have left out. */
export function ask(of: 'query' | 'mutation', field: Field, values: Values): Asked {
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

/** Everything of its type that needs no argument; of objects in it their names and identifiers. */
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
 * A value of a type that its form allows: of a text the given one, of lists one, of enumerations the first.
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
