import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mappingOf, type Shape } from '#platform/config/shape.ts';
import { configShape } from '../config.ts';
import { configJsonSchema, configJsonSchemaText, type JsonSchema } from './json-schema.ts';
import { configManualText } from './manual.ts';

test.each([
  ['docs/reference/configuration.md', configManualText()],
  ['share/config.schema.json', configJsonSchemaText()],
])('%s matches the schema; run scripts/generate-reference.js', (name, text) => {
  expect(readFileSync(name, 'utf8')).toBe(text);
});

describe('JSON Schema', () => {
  const root = configJsonSchema();

  test('contains every key with title and description, and rejects others', () => {
    expect(missing(root, configShape(), '')).toEqual([]);
  });

  test('contains defaults, bounds, choices and patterns', () => {
    expect(at(root, 'http', 'hsts')).toMatchObject({ type: 'boolean', default: true });
    expect(at(root, 'database', 'max_connections')).toMatchObject({ minimum: 1, maximum: 1000, default: 10 });
    expect(at(root, 'logging', 'level')).toMatchObject({ enum: ['error', 'warn', 'info', 'debug', 'trace'] });
    expect(at(root, 'oauth', 'id_token_ttl')).toMatchObject({
      default: '1h',
      anyOf: [
        { type: 'integer', minimum: 60, maximum: 86_400 },
        { type: 'string', pattern: expect.any(String) },
      ],
    });
  });

  test('allows aliases and top-level x- keys', () => {
    expect(at(root, 'matrix', 'server_name')).toMatchObject({ type: 'string' });
    expect(root).toMatchObject({ additionalProperties: false, patternProperties: { '^x-': true } });
  });

  test('contains no integer bound specific to JavaScript', () => {
    expect(JSON.stringify(root)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });
});

function at(schema: JsonSchema, ...keys: string[]): JsonSchema {
  return keys.reduce((inner, key) => member(member(inner, 'properties'), key), schema);
}

function member(schema: JsonSchema, name: string): JsonSchema {
  const value = schema[name];
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

/** Returns the keys of the shape that the JSON Schema lacks or describes incompletely. */
function missing(schema: JsonSchema, shape: Shape, path: string): string[] {
  if (shape.kind === 'list') return missing(member(schema, 'items'), shape.element, `${path}[]`);
  const keys = shape.kind === 'mapping' ? [...(mappingOf(shape)?.keys ?? [])] : [];
  const own = shape.kind !== 'mapping' || schema['additionalProperties'] === false ? [] : [`${path}: open`];
  const below = keys.flatMap(([key, child]) => {
    const keyPath = path === '' ? key : `${path}.${key}`;
    const property = at(schema, key);
    const isComplete = property['title'] === keyPath && typeof property['description'] === 'string';
    return [...(isComplete ? [] : [keyPath]), ...missing(property, child, keyPath)];
  });
  return [...own, ...below];
}
