/**
 * The values of templates: JSON, the bytes that `b64decode` returns, and `undefined` for missing values. Only own data
 * properties of objects are read, so templates cannot reach anything else in JavaScript.
 */
import type { Meter } from './meter.ts';
import { Failure } from './problems.ts';

export type Value = undefined | null | boolean | number | string | Uint8Array | readonly Value[] | Mapping;

const MAX_DEPTH = 64;

/** A mapping from names to values. Members are converted when they are read. */
export class Mapping {
  readonly #object: Readonly<Record<string, unknown>> | undefined;
  readonly #members: Map<string | number, Value>;
  readonly #depth: number;

  private constructor(
    object: Readonly<Record<string, unknown>> | undefined,
    members: Map<string | number, Value>,
    depth: number,
  ) {
    this.#object = object;
    this.#members = members;
    this.#depth = depth;
  }

  /** Wraps a JSON object. */
  static ofObject(object: Readonly<Record<string, unknown>>, depth = 0): Mapping {
    return new Mapping(object, new Map(), depth);
  }

  static ofMembers(members: Map<string | number, Value>): Mapping {
    return new Mapping(undefined, members, 0);
  }

  get(key: string | number): Value {
    const known = this.#members.get(key);
    if (known !== undefined || this.#object === undefined || typeof key !== 'string') return known;
    if (!Object.hasOwn(this.#object, key)) return undefined;
    const value = toValue(this.#object[key], this.#depth + 1);
    this.#members.set(key, value);
    return value;
  }

  keys(): readonly (string | number)[] {
    return this.#object === undefined ? [...this.#members.keys()] : Object.keys(this.#object);
  }
}

/** Converts JSON values. All other values become undefined. */
export function toValue(given: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) throw new Failure(`a value is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(given)) return given.map((element) => toValue(element, depth + 1));
  if (typeof given === 'object' && given !== null) return Mapping.ofObject({ ...given }, depth);
  if (given === null || typeof given === 'boolean' || typeof given === 'number' || typeof given === 'string') {
    return given;
  }
  return undefined;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function kindOf(value: Value): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'string') return 'a string';
  if (value instanceof Uint8Array) return 'bytes';
  return value instanceof Mapping ? 'a mapping' : 'a list';
}

/** Returns false for undefined, null, false, zero and anything empty. */
export function isTrue(value: Value): boolean {
  if (value instanceof Uint8Array || isList(value)) return value.length > 0;
  return value instanceof Mapping ? value.keys().length > 0 : Boolean(value);
}

/**
 * Converts a scalar to text. Fails for undefined and null, since all users without a claim would otherwise get the same
 * text. Also fails for rounded numbers and for bytes that are not UTF-8, because several values would have the same
 * text.
 */
export function textOf(value: Value, meter: Meter): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return numberText(value);
  if (value instanceof Uint8Array) {
    meter.spendText(value.length);
    return utf8Of(value);
  }
  throw new Failure(
    `is ${kindOf(value)}, which cannot be converted to text${isList(value) ? '; use "join" or "tojson"' : ''}`,
  );
}

function numberText(value: number): string {
  const isRounded = Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value);
  if (isRounded) throw new Failure('is a number too large to be exact');
  return Object.is(value, -0) ? '0' : String(value);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8Of(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new Failure('is bytes that are not UTF-8 text');
  }
}

/** Compares lists and mappings by their contents. */
export function areEqual(left: Value, right: Value, meter: Meter): boolean {
  meter.spend();
  if (typeof left === 'string' && typeof right === 'string') {
    meter.spendText(Math.min(left.length, right.length));
    return left === right;
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    meter.spendText(left.length);
    return Buffer.compare(left, right) === 0;
  }
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((element, index) => areEqual(element, right[index], meter));
  }
  if (left instanceof Mapping && right instanceof Mapping) {
    const keys = left.keys();
    meter.spend(keys.length);
    return keys.length === right.keys().length && keys.every((key) => areEqual(left.get(key), right.get(key), meter));
  }
  return left === right;
}

/** Converts a value for `JSON.stringify`. Fails for bytes and undefined, which JSON cannot represent. */
export function jsonOf(value: Value, meter: Meter): unknown {
  meter.spend();
  if (isList(value)) return value.map((element) => jsonOf(element, meter));
  if (value instanceof Mapping) {
    return Object.fromEntries(value.keys().map((key) => [String(key), jsonOf(value.get(key), meter)]));
  }
  if (value === undefined || value instanceof Uint8Array)
    throw new Failure(`is ${kindOf(value)}, which JSON cannot represent`);
  if (typeof value === 'string') meter.spendText(value.length);
  if (typeof value === 'number') numberText(value);
  return value;
}
