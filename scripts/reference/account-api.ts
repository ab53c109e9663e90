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

The GraphQL schema of \`POST /graphql\`. For headers, limits and access, see [Requests](requests.md). The schema file for
code generators is \`share/account-api.graphql\`. A type with \`!\` is never null.`;

/** Meanings of `extensions.code` beyond the [error codes](error-codes.md). */
const MEANINGS: Readonly<Record<RefusalCode, string>> = {
  BAD_USER_INPUT: 'An argument, variable, ID or cursor has the wrong format.',
  FEATURE_DISABLED: 'The operator has disabled this feature.',
  FORBIDDEN: 'The caller is not allowed to do this, or not in the current state.',
  GRAPHQL_PARSE_FAILED: 'The document is not valid GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not match the schema.',
  HOMESERVER_UNAVAILABLE: 'The homeserver failed to complete the request; nothing was changed.',
  INTROSPECTION_DISABLED: 'The operator has disabled introspection.',
  LAST_EMAIL:
    'The last email address cannot be removed, because the account has no other way to sign in. Add ' +
    'another address first.',
  NOT_FOUND: 'The object no longer exists.',
  NOT_SUPPORTED: 'No homeserver is configured, and the operation requires one.',
  OPERATION_RESOLUTION_FAILURE:
    '`operationName` does not match an operation of the document, or is missing and the document has several.',
  QUERY_TOO_COMPLEX: 'The document exceeds a limit and was not executed, or the response would be too large.',
  RATE_LIMITED: 'Too many attempts; `extensions.retryAfter` is the number of seconds to wait.',
  REAUTH_REQUIRED:
    'The sign-in is too old for this operation. Redirect the user to `extensions.reauthUrl`; ' +
    '`extensions.maxAge` is the maximum age in seconds.',
  TIMEOUT: 'The field was not resolved in time.',
  UNAUTHENTICATED: 'The caller is not signed in.',
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

const CONNECTIONS = `Types whose name ends in \`Connection\` are lists: \`nodes\` contains the items, \`edges\` the items with
their \`cursor\`, \`totalCount\` the total number of items, and \`pageInfo\` whether there are more pages.`;

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
  throw new Error(`no description for type ${type.name}`);
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
  const otherwise = defaultValue === undefined ? '' : `Default: ${code(JSON.stringify(defaultValue))}.`;
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
