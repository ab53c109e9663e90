/**
 * Generates the JSON Schema of the file for editors from the validating schema. Only commands import this module.
 * @see https://json-schema.org/draft/2020-12
 */

import { z } from 'zod';
import { isObject } from '#platform/base/objects.ts';
import { type MappingShape, mappingOf, type Shape } from '#platform/config/shape.ts';
import { configSchema, configShape } from '../config.ts';

export type JsonSchema = { [keyword: string]: unknown };

export function configJsonSchema(): JsonSchema {
  const generated: JsonSchema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' });
  const { $schema, ...schema } = generated;
  return {
    $schema,
    title: 'Configuration of Latchkey',
    ...annotated(schema, configShape(), ''),
    // Allows extension keys, a place for YAML anchors.
    patternProperties: { '^x-': true },
  };
}

/** Returns the JSON Schema that ships in `share/`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** Adds what zod does not know: titles, dependent defaults, aliases and deprecations. */
function annotated(schema: JsonSchema, shape: Shape, path: string): JsonSchema {
  const description = [shape.description, defaultSentence(shape)].filter((part) => part !== undefined).join(' ');
  const { description: _, default: defaultValue, ...rest } = schema;
  return {
    ...(path !== '' && { title: path }),
    ...(description !== '' && { description }),
    ...(shape.hints.deprecated !== undefined && { deprecated: true }),
    ...(shape.kind !== 'mapping' && defaultValue !== undefined && { default: defaultValue }),
    ...withoutSafeIntegerBound(rest),
    ...annotatedParts(schema, shape, path),
  };
}

function annotatedParts(schema: JsonSchema, shape: Shape, path: string): JsonSchema {
  const { properties, items, anyOf } = schema;
  if (shape.kind === 'list') return isObject(items) ? { items: annotated(items, shape.element, `${path}[]`) } : {};
  if (shape.kind === 'mapping') return isObject(properties) ? { properties: ofKeys(properties, shape, path) } : {};
  if (!Array.isArray(anyOf)) return {};
  const alternatives = anyOf.filter(isObject).map((alternative) => {
    const inner = mappingOf(shape);
    return alternative['type'] === 'object' && inner !== undefined
      ? annotated(alternative, inner, path)
      : withoutSafeIntegerBound(alternative);
  });
  return { anyOf: alternatives };
}

function ofKeys(properties: JsonSchema, shape: MappingShape, path: string): JsonSchema {
  const entries = [...shape.keys].flatMap(([key, keyShape]) => {
    const property = properties[key];
    if (!isObject(property)) return [];
    const keyPath = path === '' ? key : `${path}.${key}`;
    const own = annotated(property, keyShape, keyPath);
    const aliases = (keyShape.hints.aliases ?? []).map((alias) => [alias, { ...own, title: `${keyPath} (${alias})` }]);
    return [[key, own], ...aliases];
  });
  return Object.fromEntries(entries);
}

function defaultSentence({ hints, defaultValue }: Shape): string | undefined {
  return hints.defaultText === undefined || defaultValue !== undefined ? undefined : `Default: ${hints.defaultText}.`;
}

/** Removes the safe-integer bounds that zod adds to every integer. */
function withoutSafeIntegerBound(schema: JsonSchema): JsonSchema {
  const { maximum, ...rest } = schema;
  const nested = Array.isArray(rest['anyOf'])
    ? { anyOf: rest['anyOf'].map((inner) => (isObject(inner) ? withoutSafeIntegerBound(inner) : inner)) }
    : {};
  return { ...rest, ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }), ...nested };
}
