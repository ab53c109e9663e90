/**
 * Generates `web/admin/api/responses.generated.ts`: types of responses, for the pages of the admin area. They come from
 * the schemas of the API description.
 */
import { z } from 'zod';
import { OPERATIONS } from '../../src/features/admin-api/operations.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

export function adminResponseTypes(): string {
  const schemas = OPERATIONS.flatMap(({ id, answers }) =>
    answers.flatMap(({ schema }) => (schema === undefined ? [] : [{ id, schema: z.toJSONSchema(schema) }])),
  );
  const resources = schemas.filter(({ schema }) => attributesOf(schema) !== undefined);
  const others = schemas.filter(({ schema }) => attributesOf(schema) === undefined);
  const extended = resources.flatMap(({ id, schema }) => {
    const meta = memberOf(schema, 'meta');
    return meta === undefined || memberOf(meta, 'count') !== undefined ? [] : [{ id, schema: meta }];
  });
  return [
    '// Written by scripts/generate-reference.js from the operations of the admin API.',
    '',
    '/** `attributes` of objects, by the first operation that returns them. */',
    ...interfaceText(
      'Attributes',
      resources.map(({ id, schema }) => ({ id, schema: attributesOf(schema) ?? {} })),
    ),
    '',
    '/** `meta` of responses with one object. */',
    ...interfaceText('Metas', extended),
    '',
    '/** Bodies of other responses. */',
    ...interfaceText('Bodies', others),
    '',
  ].join('\n');
}

interface Described {
  readonly id: string;
  readonly schema: JsonSchema;
}

/** Operations with the same type share the member of the first. */
function interfaceText(name: string, members: readonly Described[]): string[] {
  const written = new Map<string, string>();
  for (const { id, schema } of members) {
    const text = typeText(schema, '  ');
    if (!written.has(text)) written.set(text, id);
  }
  return [`export interface ${name} {`, ...[...written].map(([text, id]) => `  readonly ${id}: ${text};`), '}'];
}

/** Returns the schema of the attributes of one object or of those in a list. */
function attributesOf(schema: JsonSchema): JsonSchema | undefined {
  const data = memberOf(schema, 'data');
  if (data === undefined) return undefined;
  const items = typeof data.items === 'object' && !Array.isArray(data.items) ? data.items : undefined;
  return memberOf(items ?? data, 'attributes');
}

function memberOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  const member = properties?.[name];
  return typeof member === 'object' ? member : undefined;
}

function typeText(schema: JsonSchema, indent: string): string {
  const { type } = schema;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((choice) => typeText(choice, indent)));
  if (Array.isArray(type)) return union(type.map((one) => typeText({ ...schema, type: one }, indent)));
  switch (type) {
    case 'array':
      return `readonly ${elementText(schema, indent)}[]`;
    case 'boolean':
    case 'null':
    case 'string':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'object':
      return objectText(schema, indent);
    default:
      return 'unknown';
  }
}

function elementText({ items }: JsonSchema, indent: string): string {
  if (typeof items !== 'object' || Array.isArray(items)) return 'unknown';
  const text = typeText(items, indent);
  const isUnion = (items.anyOf ?? items.oneOf ?? items.enum) !== undefined || Array.isArray(items.type);
  return isUnion ? `(${text})` : text;
}

function objectText({ properties = {}, required = [], additionalProperties: others }: JsonSchema, indent: string) {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, value]) => {
    const text = typeof value === 'object' ? typeText(value, inner) : 'unknown';
    return `${inner}readonly ${name}${required.includes(name) ? '' : '?'}: ${text};`;
  });
  if (members.length === 0) {
    return `{ readonly [name: string]: ${typeof others === 'object' ? typeText(others, inner) : 'unknown'} }`;
  }
  const more = typeof others === 'object' ? [`${inner}readonly [name: string]: unknown;`] : [];
  return ['{', ...members, ...more, `${indent}}`].join('\n');
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function union(texts: readonly string[]): string {
  return [...new Set(texts)].join(' | ');
}
