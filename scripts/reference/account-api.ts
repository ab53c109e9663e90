/** Generates `docs/reference/account-api.md` from the schema of the account API. */
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import type { RefusalCode } from '../../src/features/account-api/context/graphql-refusal.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Account API

Generated from the source; do not edit by hand.

What \`POST /graphql\` knows. [Requests](requests.md) tells of the transport: headers, limits and who may ask. The schema
for generators of code is \`share/account-api.graphql\`. A type with \`!\` is never null.`;

/** Meanings of `extensions.code` beyond the [error codes](error-codes.md). */
const MEANINGS: Readonly<Record<RefusalCode, string>> = {
  BAD_USER_INPUT: 'An argument, a variable, an identifier or a cursor is not of the form that is asked for.',
  FEATURE_DISABLED: 'The operator has switched this off.',
  FORBIDDEN: 'It is not for this caller to do, or not now.',
  GRAPHQL_PARSE_FAILED: 'The document is no GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document asks for what the schema does not have.',
  HOMESERVER_UNAVAILABLE: 'The homeserver did not do its part; nothing was changed.',
  INTROSPECTION_DISABLED: 'The operator has switched off that the schema can be asked for.',
  LAST_EMAIL: 'It is the last e-mail address of an account without another way in; add another address first.',
  NOT_FOUND: 'What the field is about has just ceased to be.',
  NOT_SUPPORTED: 'There is no homeserver, and without one there is nothing to do.',
  OPERATION_RESOLUTION_FAILURE: '`operationName` names no operation of the document, or is missing among several.',
  QUERY_TOO_COMPLEX: 'The document exceeds a limit, and nothing was run; or the response would be too large.',
  RATE_LIMITED: 'Too many tries; `extensions.retryAfter` says after how many seconds to try again.',
  REAUTH_REQUIRED:
    'The person signed in too long ago for this; `extensions.reauthUrl` is the page to send them to, and `extensions.maxAge` says how many seconds count as recent.',
  TIMEOUT: 'The field was not answered in time.',
  UNAUTHENTICATED: 'Nobody is signed in.',
};

export function accountApiPage(schema: GraphQLSchema): string {
  const roots = new Set<GraphQLNamedType | null | undefined>([schema.getQueryType(), schema.getMutationType()]);
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !roots.has(type) && !isScalarType(type))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const shownWithMutations = new Set([...fieldsOf(schema.getMutationType())].flatMap((field) => typesOf(field)));
  const others = types.filter((type) => !shownWithMutations.has(type) && !/(?:Connection|Edge)$/.test(type.name));
  return `${[
    INTRODUCTION,
    `## Errors\n\n${errorTable()}`,
    `## Queries\n\n${fieldTable([...fieldsOf(schema.getQueryType())])}`,
    '## Mutations',
    ...fieldsOf(schema.getMutationType()).map(mutationSection),
    `## Types\n\n${CONNECTIONS}`,
    ...others.map(typeSection),
  ].join('\n\n')}\n`;
}

const CONNECTIONS = `Each type whose name ends in \`Connection\` is a list: \`nodes\` are its items, \`edges\` the same with
their \`cursor\`, \`totalCount\` how many there are in all, and \`pageInfo\` says whether there are more.`;

function errorTable(): string {
  return table(
    ['`extensions.code`', 'Meaning'],
    Object.entries(MEANINGS).map(([name, meaning]) => [code(name), meaning]),
  );
}

type Field = GraphQLField<unknown, unknown>;

function fieldsOf(type: GraphQLObjectType | null | undefined): readonly Field[] {
  const fields = Object.values(type?.getFields() ?? {});
  return fields.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the types used only by one mutation. */
function typesOf(field: Field): GraphQLNamedType[] {
  const payload = getNamedType(field.type);
  const status = isObjectType(payload) ? payload.getFields()['status'] : undefined;
  const inputs = field.args.map(({ type }) => getNamedType(type));
  return [payload, ...inputs, ...(status === undefined ? [] : [getNamedType(status.type)])];
}

function mutationSection(field: Field): string {
  const payload = getNamedType(field.type);
  const inputs = field.args.map(({ type }) => getNamedType(type)).filter(isInputObjectType);
  const members = inputs.flatMap((input) => Object.values(input.getFields()));
  return [
    `### ${code(field.name)}`,
    ...sentences(field),
    ...(members.length === 0 ? [] : [inputTable(members)]),
    ...(isObjectType(payload) ? [`Answers:\n\n${fieldTable(fieldsOf(payload))}`] : []),
    ...statusesOf(payload),
  ].join('\n\n');
}

function statusesOf(payload: GraphQLNamedType): string[] {
  const status = isObjectType(payload) ? payload.getFields()['status'] : undefined;
  const type = status === undefined ? undefined : getNamedType(status.type);
  return isEnumType(type) ? [`Status: ${valuesOf(type)}.`] : [];
}

function typeSection(type: GraphQLNamedType): string {
  return [`### ${code(type.name)}`, ...sentences(type), bodyOf(type)].join('\n\n');
}

function bodyOf(type: GraphQLNamedType): string {
  if (isUnionType(type)) return `One of ${type.getTypes().map(linkTo).join(', ')}.`;
  if (isEnumType(type)) return `One of ${valuesOf(type)}.`;
  if (isInputObjectType(type)) return inputTable(Object.values(type.getFields()));
  if (isObjectType(type) || isInterfaceType(type)) return fieldTable(Object.values(type.getFields()));
  throw new Error(`nothing is known of the type ${type.name}`);
}

function fieldTable(fields: readonly Field[]): string {
  return table(
    ['Field', 'Type', 'Meaning'],
    fields.map((field) => [
      code(field.name) + argumentsOf(field),
      typeText(field),
      [field.description ?? '', deprecation(field)].filter((text) => text !== '').join(' '),
    ]),
  );
}

const PAGING = ['first', 'last', 'after', 'before'];

function argumentsOf({ args }: Field): string {
  const own = args.filter(({ name }) => !PAGING.includes(name)).map(({ name, type }) => code(`${name}: ${type}`));
  const paging = own.length < args.length ? ['paging'] : [];
  return own.length + paging.length === 0 ? '' : ` (${[...own, ...paging].join(', ')})`;
}

function inputTable(members: readonly GraphQLInputField[]): string {
  return table(
    ['Member', 'Type', 'Meaning'],
    members.map((member) => [code(member.name), typeText(member), inputMeaning(member)]),
  );
}

function inputMeaning(member: GraphQLInputField): string {
  const { defaultValue, description } = member;
  const otherwise = defaultValue === undefined ? '' : `${code(JSON.stringify(defaultValue))} unless given.`;
  return [description ?? '', otherwise, deprecation(member)].filter((text) => text !== '').join(' ');
}

function typeText({ type }: Pick<Field | GraphQLInputField, 'type'>): string {
  return code(`${type}`);
}

function sentences({ description }: { readonly description?: string | null | undefined }): string[] {
  return description === undefined || description === null ? [] : [description];
}

function deprecation({
  deprecationReason: reason,
}: {
  readonly deprecationReason?: string | null | undefined;
}): string {
  return reason === undefined || reason === null ? '' : `Deprecated: ${reason}`;
}

function valuesOf(type: { getValues(): readonly { readonly name: string }[] }): string {
  return type
    .getValues()
    .map(({ name }) => code(name))
    .join(', ');
}

function linkTo({ name }: GraphQLNamedType): string {
  return `[${code(name)}](#${name.toLowerCase()})`;
}
