import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** Information about a key that the loader and the manual need beyond the zod schema. */
export interface Hints {
  /** Name of the value's type in the manual. */
  readonly type?: string;
  /** The value is never printed. */
  readonly secret?: true;
  /** The file with the value may be readable by others, although the value is not printed. */
  readonly isPublic?: true;
  /** A file with the value may contain DER bytes instead of text. */
  readonly binary?: true;
  /** The value is `base64:` and bytes. A file contains exactly these bytes. */
  readonly bytes?: true;
  /** A value from a file loses all surrounding whitespace, not only the last line break. */
  readonly trimmed?: true;
  /** The key holds the path of a file with the value of the key named here. */
  readonly fileOf?: string;
  /**
   * Relative paths are resolved against the directory of the file that contains them. `except`: words that are not
   * paths.
   */
  readonly path?: { readonly except: readonly string[] };
  /** Alternative spellings of the key. */
  readonly aliases?: readonly string[];
  /** What to use instead of the key. */
  readonly deprecated?: string;
  /** Only of the whole configuration. */
  readonly mistaken?: readonly MistakenKeys[];
  /** Describes a default that depends on other settings or on the machine, or that is clearer than its number. */
  readonly defaultText?: string;
}

/** Paths of unknown keys that users try because other programs have them. */
export interface MistakenKeys {
  readonly keys: readonly string[];
  /** What to use instead. */
  readonly advice: string;
}

export const hints = z.registry<Hints>();

/** Adds hints to a schema and keeps its existing ones. */
export function hint<Schema extends z.ZodType>(schema: Schema, more: Hints): Schema {
  hints.add(schema, { ...hints.get(schema), ...more });
  return schema;
}

/** The schema as the loader and the manual see it: the structure of a key without wrappers and checks. */
export type Shape = MappingShape | ListShape | ScalarShape;

export interface MappingShape extends KeyFacts {
  readonly kind: 'mapping';
  readonly keys: ReadonlyMap<string, Shape>;
}

export interface ListShape extends KeyFacts {
  readonly kind: 'list';
  readonly element: Shape;
}

export interface ScalarShape extends KeyFacts {
  readonly kind: 'scalar';
  readonly acceptsNumber: boolean;
  readonly acceptsBoolean: boolean;
  /** Set if a mapping is accepted instead of the scalar. */
  readonly mapping: MappingShape | undefined;
}

interface KeyFacts {
  /** Validates a value of the key, and replaces undefined with the default. */
  readonly schema: z.core.$ZodType;
  readonly hints: Hints;
  readonly description: string | undefined;
  /**
   * In the notation of a configuration file. Undefined without a default, and for defaults that depend on other
   * settings.
   */
  readonly defaultValue: unknown;
  readonly isRequired: boolean;
  readonly acceptsNull: boolean;
}

/** Derives the shape of a zod schema. */
export function shapeOf(schema: z.core.$ZodType): Shape {
  let facts: KeyFacts = {
    schema,
    hints: {},
    description: undefined,
    defaultValue: undefined,
    isRequired: true,
    acceptsNull: false,
  };
  let inner = schema;
  for (;;) {
    facts = {
      ...facts,
      hints: { ...hints.get(inner), ...facts.hints },
      description: facts.description ?? z.globalRegistry.get(inner)?.description,
    };
    if (inner instanceof z.ZodPrefault) {
      facts = { ...facts, isRequired: false, defaultValue: inner.def.defaultValue };
    } else if (inner instanceof z.ZodOptional) {
      facts = { ...facts, isRequired: false };
    } else if (inner instanceof z.ZodNullable) {
      facts = { ...facts, acceptsNull: true };
    }
    const wrapped = unwrap(inner);
    if (wrapped === undefined) return unwrappedShape(inner, facts);
    inner = wrapped;
  }
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return schema.unwrap();
  }
  return schema instanceof z.ZodPipe ? schema.def.in : undefined;
}

function unwrappedShape(schema: z.core.$ZodType, facts: KeyFacts): Shape {
  if (schema instanceof z.ZodObject) {
    const keys = Object.entries<z.core.$ZodType>(schema.shape).map(([name, value]) => [name, shapeOf(value)] as const);
    return { kind: 'mapping', ...facts, keys: new Map(keys) };
  }
  if (schema instanceof z.ZodArray) return { kind: 'list', ...facts, element: shapeOf(schema.element) };
  const alternatives = schema instanceof z.ZodUnion ? schema.options.map(shapeOf) : [];
  const scalars = alternatives.filter((alternative) => alternative.kind === 'scalar');
  return {
    kind: 'scalar',
    ...facts,
    hints: Object.assign({}, ...scalars.map((scalar) => scalar.hints), facts.hints),
    acceptsNumber: schema instanceof z.ZodNumber || scalars.some((scalar) => scalar.acceptsNumber),
    acceptsBoolean: schema instanceof z.ZodBoolean || scalars.some((scalar) => scalar.acceptsBoolean),
    mapping: alternatives.find((alternative) => alternative.kind === 'mapping'),
  };
}

/** Returns the mapping that a value of this shape may be, if any. */
export function mappingOf(shape: Shape | undefined): MappingShape | undefined {
  if (shape?.kind === 'mapping') return shape;
  return shape?.kind === 'scalar' ? shape.mapping : undefined;
}

/** Returns the canonical key for a name or alias, ignoring case. Returns undefined for unknown names. */
export function canonicalKey(mapping: MappingShape, name: string): string | undefined {
  if (mapping.keys.has(name)) return name;
  for (const [key, shape] of mapping.keys) {
    if (shape.hints.aliases?.includes(name)) return key;
  }
  return undefined;
}

/** Returns the shape at a path of keys and list positions, or undefined if none is defined there. */
export function shapeAt(root: Shape, path: readonly (string | number)[]): Shape | undefined {
  let shape: Shape | undefined = root;
  for (const step of path) {
    if (typeof step === 'number') shape = shape?.kind === 'list' ? shape.element : undefined;
    else shape = mappingOf(shape)?.keys.get(step);
  }
  return shape;
}

/** Returns whether a value, in the notation of a configuration file, means the same as leaving the key out. */
export function isDefaultValue({ schema }: Shape, value: unknown): boolean {
  const [given, missing] = [z.safeParse(schema, value), z.safeParse(schema, undefined)];
  return given.success && missing.success && isDeepStrictEqual(given.data, missing.data);
}

/** Returns whether a value of this shape is a secret or may contain one. */
export function mayHoldSecret(shape: Shape): boolean {
  if (shape.hints.secret === true) return true;
  if (shape.kind === 'list') return mayHoldSecret(shape.element);
  return [...(mappingOf(shape)?.keys.values() ?? [])].some(mayHoldSecret);
}
