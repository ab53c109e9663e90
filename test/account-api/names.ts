/** Names in a schema and their definitions, to compare the specified schema with the implemented one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';

/** Definitions by coordinates such as `User.emails(state:)`. */
export type Names = ReadonlyMap<string, string>;

/** Reads the specified schema. @param root folder of `package.json` */
export function specifiedSchema(root: string): GraphQLSchema {
  return buildSchema(readFileSync(join(root, 'test/account-api/specified.graphql'), 'utf8'));
}

/** Returns every name in a schema with its type, nullability, default and deprecation. */
export function namesOf(schema: GraphQLSchema): Names {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
  );
  return new Map(types.flatMap((type) => [...namesOfType(type)]));
}

/**
 * Returns the entries of the list of unimplemented names that are still missing. The list can only shrink.
 * @param root folder of `package.json`
 */
export function shrunkList(root: string, built: GraphQLSchema): string {
  const names = namesOf(built);
  return readNotBuilt(root)
    .filter((name) => !names.has(name))
    .map((name) => `${name}\n`)
    .join('');
}

/** @param root folder of `package.json` */
export function readNotBuilt(root: string): readonly string[] {
  const text = readFileSync(join(root, NOT_BUILT), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}

/** Path of the list. `scripts/generate-reference.js` removes implemented names from it. */
export const NOT_BUILT = 'test/account-api/not-built.txt';

function* namesOfType(type: GraphQLNamedType): Generator<[string, string]> {
  yield [type.name, kindOf(type)];
  if (isUnionType(type)) for (const member of type.getTypes()) yield [`${type.name} | ${member.name}`, 'member'];
  if (isObjectType(type)) for (const { name } of type.getInterfaces()) yield [`${type.name} & ${name}`, 'interface'];
  if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, mark(value)];
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, inputOf(field)];
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return;
  for (const field of Object.values(type.getFields())) {
    yield [`${type.name}.${field.name}`, outputOf(field)];
    for (const argument of field.args) yield [`${type.name}.${field.name}(${argument.name}:)`, inputOf(argument)];
  }
}

function kindOf(type: GraphQLNamedType): string {
  if (isScalarType(type)) return 'scalar';
  if (isEnumType(type)) return 'enum';
  if (isUnionType(type)) return 'union';
  if (isInputObjectType(type)) return 'input';
  return isInterfaceType(type) ? 'interface' : 'object';
}

function outputOf(field: GraphQLField<unknown, unknown>): string {
  return `${field.type}${mark(field)}`;
}

function inputOf(value: GraphQLArgument | GraphQLInputField): string {
  const { defaultValue } = value;
  return `${value.type}${defaultValue === undefined ? '' : ` = ${JSON.stringify(defaultValue)}`}${mark(value)}`;
}

function mark({ deprecationReason }: { readonly deprecationReason?: string | null | undefined }): string {
  return typeof deprecationReason === 'string' ? ' deprecated' : '';
}
