/**
 * The value types (operations 1.1) as zod schemas. Each error is one phrase that says what is accepted. The report adds
 * what was found and where.
 */
import { RE2JS } from 're2js';
import { z } from 'zod';
import { systemClock } from '#platform/base/clock.ts';
import { newId, parseId, type Ulid } from '#platform/base/ids.ts';
import { type Cidr, parseCidr } from '#platform/base/ip-address.ts';
import type { Secret } from '#platform/base/secret.ts';
import { parseUrl } from '#platform/base/url.ts';
import { DURATION, secondsOf } from './durations.ts';
import { hint } from './shape.ts';

/** A section's configuration as the rest of the code sees it: read-only. */
export type Immutable<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined | Secret | Buffer | ((...given: never[]) => unknown)
    ? Value
    : Value extends readonly (infer Element)[]
      ? readonly Immutable<Element>[]
      : { readonly [Key in keyof Value]: Immutable<Value[Key]> };

export function bool() {
  return hint(z.boolean({ error: 'expected true or false' }), { type: 'boolean' });
}

export function integer(minimum: number, maximum?: number) {
  const range = maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
  const error = `expected an integer ${range}`;
  const schema = z.int({ error }).min(minimum, { error });
  return hint(maximum === undefined ? schema : schema.max(maximum, { error }), { type: `integer ${range}` });
}

export function positiveNumber() {
  const error = 'expected a number greater than 0';
  return hint(z.number({ error }).positive({ error }), { type: 'number greater than 0' });
}

/** A fraction of a whole. */
export function portion() {
  const error = 'expected a number from 0 to 1';
  return hint(z.number({ error }).min(0, { error }).max(1, { error }), { type: 'number from 0 to 1' });
}

export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  const list = values.map((value) => `"${value}"`).join(', ');
  const error = values.length === 1 ? `expected ${list}` : `expected one of ${list}`;
  return hint(z.enum(values, { error }), { type: values.map((value) => `\`${value}\``).join(', ') });
}

/** Non-empty text without control characters other than line feeds and tabs. */
export function text(options: { maximum?: number; pattern?: RegExp; expected?: string } = {}) {
  const maximum = options.maximum ?? 10_000;
  const error = options.expected ?? `expected a string of 1 to ${maximum} characters`;
  const schema = z.string({ error }).min(1, { error }).max(maximum, { error });
  return hint(schema.regex(options.pattern ?? PRINTABLE, { error }), { type: 'text' });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const PRINTABLE = /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$/;

/** Integer seconds, or a number with a unit, converted to seconds. The bounds use the same notation. */
export function duration(minimum: string, maximum?: string) {
  const lowest = secondsOf(minimum);
  const highest = maximum === undefined ? undefined : secondsOf(maximum);
  const range = maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`;
  const error = `expected a duration ${range} (seconds, or a number with ms, s, m, h or d)`;
  const seconds = z.int({ error }).min(Math.ceil(lowest), { error });
  const schema = z
    .union([highest === undefined ? seconds : seconds.max(highest, { error }), z.string().regex(DURATION, { error })], {
      error,
    })
    .transform((value, context) => {
      const result = typeof value === 'number' ? value : secondsOf(value);
      if (result < lowest || (highest !== undefined && result > highest)) context.addIssue(error);
      return result;
    });
  return hint(schema, { type: `duration ${range}` });
}

const BYTES_OF: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 * 1024 };
const SIZE = /^(\d{1,10})(KiB|MiB)$/;

/** Integer bytes, or a number with `KiB` or `MiB`, converted to bytes. */
export function size(minimum: string, maximum: string) {
  const lowest = bytesOf(minimum);
  const highest = bytesOf(maximum);
  const error = `expected a size from ${minimum} to ${maximum} (bytes, or a number with KiB or MiB)`;
  const schema = z
    .union([z.int({ error }).min(lowest, { error }).max(highest, { error }), z.string().regex(SIZE, { error })], {
      error,
    })
    .transform((value, context) => {
      const result = typeof value === 'number' ? value : bytesOf(value);
      if (result < lowest || result > highest) context.addIssue(error);
      return result;
    });
  return hint(schema, { type: `size from ${minimum} to ${maximum}` });
}

function bytesOf(value: string): number {
  const [, count, unit = ''] = SIZE.exec(value) ?? [];
  return Number(count) * (BYTES_OF[unit] ?? Number.NaN);
}

/** Absolute http or https URL without user info or fragment, stored as written. */
export function webUrl(options: { allowQuery: boolean } = { allowQuery: true }) {
  const without = options.allowQuery ? 'user info or fragment' : 'user info, query or fragment';
  const error = `expected an absolute http or https URL without ${without}`;
  const schema = z
    .string({ error })
    .regex(/^https?:\/\//i, { error, abort: true })
    .refine((value) => isWebUrl(value, options.allowQuery), { error })
    .meta({ format: 'uri' });
  return hint(schema, { type: 'URL' });
}

function isWebUrl(value: string, allowQuery: boolean): boolean {
  if (/[\s#\\]/.test(value) || (!allowQuery && value.includes('?'))) return false;
  const url = parseUrl(value);
  return url !== undefined && url.username === '' && url.password === '' && !/^https?:\/\/[^/?]*@/i.test(value);
}

const NO_ULID = 'expected a ULID: 26 uppercase characters in Crockford base32, the first one 0 to 7';

/** @param error message for a value that is not a ULID */
export function ulid<Kind extends string>(error: () => string = () => NO_ULID) {
  const schema = z
    .string({ error })
    .regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, { error, abort: true })
    .transform((value, context): Ulid<Kind> => {
      const id = parseId<Kind>(value);
      if (id !== undefined) return id;
      context.addIssue(error());
      return z.NEVER;
    });
  return hint(schema, { type: 'ULID' });
}

/** An id that the operator chooses. The error message contains a new one to copy. */
export function chosenUlid<Kind extends string>() {
  return ulid<Kind>(() => `${NO_ULID} (here is a new one: ${newId<Kind>(systemClock.now())})`);
}

/** @param except keywords that are not paths */
export function path(except: readonly string[] = []) {
  const error = 'expected a path';
  const type = except.length === 0 ? 'path' : `${except.map((word) => `\`${word}\``).join(', ')} or a path`;
  return hint(z.string({ error }).min(1, { error }).regex(NO_NUL, { error }), { type, path: { except } });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no path holds a NUL
const NO_NUL = /^[^\u0000]*$/;

/** A value that is never printed. Its counterpart is `secretFile`. */
export function secret(options: { pattern?: RegExp; expected?: string } = {}) {
  const error = options.expected ?? 'expected a non-empty string';
  const schema = z.string({ error }).min(1, { error });
  return hint(options.pattern === undefined ? schema : schema.regex(options.pattern, { error }), {
    type: 'secret',
    secret: true,
  });
}

/** The counterpart of a secret key: the path of a file that contains its value. The loader reads the file. */
export function secretFile(key: string) {
  return hint(path(), { fileOf: key })
    .optional()
    .describe(`File that contains the value of \`${key}\`. Set only one of the two.`);
}

export function cidr() {
  const error = 'expected an IP address or network (IP/prefix, no host bits set)';
  const schema = z.string({ error }).transform((value, context): Cidr => {
    const network = parseCidr(value);
    if (network !== undefined) return network;
    context.addIssue(error);
    return z.NEVER;
  });
  return hint(schema, { type: 'IP address or network' });
}

/** A regular expression that matches in linear time, since it is applied to untrusted input. */
export function linearRegexp() {
  const error = 'expected a regular expression in RE2 syntax';
  const schema = z
    .string({ error })
    .min(1, { error })
    .max(255, { error })
    .superRefine((value, context) => {
      const problem = regexpProblem(value);
      if (problem !== undefined) context.addIssue(`${error} (${problem})`);
    });
  return hint(schema, { type: 'regular expression (RE2)' });
}

/**
 * Checks whether a text is an RE2 regular expression, which always matches in linear time, unlike those of JavaScript.
 * Returns undefined if it is, otherwise what is wrong with it.
 */
function regexpProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
  }
}

export function list<Element extends z.ZodType>(element: Element, options: { minimum?: number } = {}) {
  const error = options.minimum === undefined ? 'expected a list' : 'expected a non-empty list';
  const schema = z.array(element, { error });
  return options.minimum === undefined ? schema : schema.min(options.minimum, { error });
}

export function mapping<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'expected a mapping' });
}
