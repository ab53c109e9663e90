import { z } from 'zod';

/** What the loader and the manual need to know of a key beyond what zod holds. */
export interface Hints {
  /** Name of the value's type in the manual. */
  readonly type?: string;
  /** Never printed. */
  readonly secret?: true;
  /** Others may read the file of the value, though it is not printed. */
  readonly isPublic?: true;
  /** A file with the value may hold DER bytes in place of text. */
  readonly binary?: true;
  /** White space around the value is dropped when it comes from a file, not only the last line end. */
  readonly trimmed?: true;
  /** The key holds the path of the file with the value of the key named here. */
  readonly fileOf?: string;
  /** A relative path is resolved against the directory of the file that names it; words that are not paths. */
  readonly path?: { readonly except: readonly string[] };
  /** Other spellings of the key. */
  readonly aliases?: readonly string[];
  /** What to use in place of the key. */
  readonly deprecated?: string;
  /** A default that depends on other settings or on the machine, or that reads better than its number. */
  readonly defaultText?: string;
}

export const hints = z.registry<Hints>();

/** Adds hints to a schema, keeping those that it has. */
export function hint<Schema extends z.ZodType>(schema: Schema, more: Hints): Schema {
  hints.add(schema, { ...hints.get(schema), ...more });
  return schema;
}

/** The schema as the loader and the manual see it: what a key holds, without wrappers and checks. */
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
  /** Present when a mapping is accepted in place of the scalar. */
  readonly mapping: MappingShape | undefined;
}

interface KeyFacts {
  readonly hints: Hints;
  readonly description: string | undefined;
  /** As it would be written in a file; undefined: none, or one that depends on other settings. */
  readonly defaultValue: unknown;
  readonly isRequired: boolean;
  readonly acceptsNull: boolean;
}

/** Reads a shape out of a zod schema. */
export function shapeOf(schema: z.core.$ZodType): Shape {
  let facts: KeyFacts = {
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

/** The mapping that a value of this shape may be, if it may be one. */
export function mappingOf(shape: Shape | undefined): MappingShape | undefined {
  if (shape?.kind === 'mapping') return shape;
  return shape?.kind === 'scalar' ? shape.mapping : undefined;
}

/** The key's own name for a name or alias in any case; undefined when there is no such key. */
export function canonicalKey(mapping: MappingShape, name: string): string | undefined {
  if (mapping.keys.has(name)) return name;
  for (const [key, shape] of mapping.keys) {
    if (shape.hints.aliases?.includes(name)) return key;
  }
  return undefined;
}

/** The shape at a path of keys and list positions; undefined when nothing is defined there. */
export function shapeAt(root: Shape, path: readonly (string | number)[]): Shape | undefined {
  let shape: Shape | undefined = root;
  for (const step of path) {
    if (typeof step === 'number') shape = shape?.kind === 'list' ? shape.element : undefined;
    else shape = mappingOf(shape)?.keys.get(step);
  }
  return shape;
}

/** Whether a value of this shape is a secret or could hold one. */
export function mayHoldSecret(shape: Shape): boolean {
  if (shape.hints.secret === true) return true;
  if (shape.kind === 'list') return mayHoldSecret(shape.element);
  return [...(mappingOf(shape)?.keys.values() ?? [])].some(mayHoldSecret);
}
