/**
 * List parameters: pages, counts and filters (operations 4.2). An unknown or repeated filter or page parameter is
 * rejected, because the result would not be the requested list. Other parameters are ignored, as consoles of Matrix
 * Authentication Service expect.
 */
import { z } from 'zod';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, type Ulid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { ChosenOrder } from '#platform/postgres/listing.ts';
import type { PageWindow } from '#platform/postgres/page.ts';

export interface ListQuery {
  readonly window: PageWindow;
  /** `only`: the count without items. */
  readonly count: 'true' | 'false' | 'only';
  /** Undefined: in order of creation. */
  readonly order: ChosenOrder | undefined;
  /** Parameters that links repeat, excluding cursors. */
  readonly repeated: readonly (readonly [name: string, value: string])[];
}

export const DEFAULT_SIZE = 10;
/** Larger sizes are reduced to this one. Consoles request 200 and 1,000 records and do not expect a maximum. */
export const MAX_SIZE = 1000;
const PAGE_PARAMETERS = ['page[first]', 'page[last]', 'page[after]', 'page[before]', 'count'];

/**
 * @param sorts names of the orders that the list supports
 * @throws LatchkeyError `invalid_parameter`, `invalid_id`
 */
export function readListQuery(
  query: FormParameters,
  filters: z.ZodObject,
  sorts: readonly string[] | undefined,
): ListQuery {
  checkNames(query, filters, sorts === undefined ? PAGE_PARAMETERS : [...PAGE_PARAMETERS, 'sort']);
  const first = query.get('page[first]');
  const last = query.get('page[last]');
  if (first !== undefined && last !== undefined) {
    throw badParameter('page[last]', 'page[first] and page[last] are mutually exclusive');
  }
  const [sizeName, sizeText] = last === undefined ? ['page[first]', first] : ['page[last]', last];
  const window = {
    size: sizeText === undefined ? DEFAULT_SIZE : readSize(sizeName, sizeText, MAX_SIZE),
    isFromEnd: last !== undefined,
    after: readCursor(query, 'page[after]'),
    before: readCursor(query, 'page[before]'),
  };
  return {
    window,
    count: readCount(query, 'true'),
    order: sorts === undefined ? undefined : readOrder(query, sorts),
    repeated: repeatedParameters(query, filters, [sizeName, String(window.size)], sorts !== undefined),
  };
}

/** Returns the values of `sort`: each order, ascending and descending. */
export function sortValues(sorts: readonly string[]): string[] {
  return sorts.flatMap((name) => [name, `-${name}`]);
}

function readOrder(query: FormParameters, sorts: readonly string[]): ChosenOrder | undefined {
  const text = query.get('sort');
  if (text === undefined) return undefined;
  const values = sortValues(sorts);
  if (!values.includes(text)) throw badParameter('sort', `must be one of ${values.join(', ')}`);
  const isDescending = text.startsWith('-');
  return { name: isDescending ? text.slice(1) : text, isDescending };
}

/** A page of a list that starts with the newest item and continues with older ones. */
export interface NewestFirstQuery {
  readonly size: number;
  /** Only items older than this one. */
  readonly before: Ulid | undefined;
  readonly count: ListQuery['count'];
  readonly repeated: ListQuery['repeated'];
}

/** Larger sizes are reduced to this one. */
export const MAX_NEWEST_SIZE = 200;
const NEWEST_PARAMETERS = ['page[first]', 'page[after]', 'count'];

/** @throws LatchkeyError `invalid_parameter` */
export function readNewestFirst(query: FormParameters, filters: z.ZodObject): NewestFirstQuery {
  checkNames(query, filters, NEWEST_PARAMETERS);
  const text = query.get('page[first]');
  const size = text === undefined ? DEFAULT_SIZE : readSize('page[first]', text, MAX_NEWEST_SIZE);
  return {
    size,
    before: readCursor(query, 'page[after]'),
    count: readCount(query, 'false'),
    repeated: repeatedParameters(query, filters, ['page[first]', String(size)]),
  };
}

/** Reads the maximum size of an export, which has no pages. @throws LatchkeyError `invalid_parameter` */
export function readExportLimit(query: FormParameters, filters: z.ZodObject, maximum: number): number {
  checkNames(query, filters, ['limit']);
  return checkedExportLimit(query, maximum);
}

/** For lists, which ignore the limit but describe it: their exports have the same parameters. */
export function checkedExportLimit(query: FormParameters, maximum: number): number {
  const text = query.get('limit') ?? String(maximum);
  if (!/^[1-9][0-9]*$/.test(text)) throw badParameter('limit', 'must be a positive number');
  return Math.min(Number(text), maximum);
}

/** Rejects unknown, repeated and empty filters and page parameters. @throws LatchkeyError `invalid_parameter` */
export function checkNames(query: FormParameters, filters: z.ZodObject, parameters: readonly string[]): void {
  const known = new Map(
    Object.entries(filters.shape).map(([name, schema]) => [`filter[${name}]`, isRepeatable(schema)]),
  );
  for (const name of parameters) known.set(name, false);
  for (const name of query.names()) {
    const mayRepeat = known.get(name);
    if (mayRepeat === undefined) {
      if (!name.startsWith('filter[') && !name.startsWith('page[')) continue;
      throw badParameter(name, 'unknown parameter');
    }
    if (query.isRepeated(name) && !mayRepeat) throw badParameter(name, 'may only be given once');
    // If an empty filter were ignored, a program that lost an account ID would get all accounts.
    if (query.isBlank(name)) throw badParameter(name, 'must have a value');
  }
}

/** Parses the filter values. @throws LatchkeyError `invalid_parameter` */
export function readFilters<Filters extends z.ZodObject>(query: FormParameters, filters: Filters): z.output<Filters> {
  return readValues(query, filters, (name) => `filter[${name}]`);
}

/** Parses parameters that are not filters. @throws LatchkeyError `invalid_parameter` */
export function readParameters<Rules extends z.ZodObject>(query: FormParameters, parameters: Rules): z.output<Rules> {
  return readValues(query, parameters, (name) => name);
}

/** Rejects repeated and empty values, and parses the parameters. @throws LatchkeyError `invalid_parameter` */
export function readQuery<Rules extends z.ZodObject>(query: FormParameters, parameters: Rules): z.output<Rules> {
  checkNames(query, z.object({}), Object.keys(parameters.shape));
  return readParameters(query, parameters);
}

function readValues<Rules extends z.ZodObject>(
  query: FormParameters,
  rules: Rules,
  parameterOf: (name: string) => string,
): z.output<Rules> {
  const given: Record<string, string | readonly string[]> = {};
  for (const [name, schema] of Object.entries(rules.shape)) {
    const parameter = parameterOf(name);
    if (query.has(parameter)) given[name] = isRepeatable(schema) ? query.all(parameter) : (query.get(parameter) ?? '');
  }
  const read = rules.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw badParameter(parameterOf(String(issue?.path[0] ?? '')), issue?.message ?? 'cannot be parsed');
}

/** Tests whether a filter is a list, whose values are separate parameters. */
export function isRepeatable(filter: unknown): boolean {
  return filter instanceof z.ZodOptional && filter.unwrap() instanceof z.ZodArray;
}

/** Builds the query of a link. @param page additional parameters */
export function linkQuery(
  repeated: ListQuery['repeated'],
  page: readonly (readonly [name: string, value: string])[] = [],
): string {
  const fields = [...repeated, ...page].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return fields.length === 0 ? '' : `?${fields.join('&')}`;
}

function repeatedParameters(
  query: FormParameters,
  filters: z.ZodObject,
  size: readonly [name: string, value: string],
  isSortable = false,
): ListQuery['repeated'] {
  const names = [
    ...Object.keys(filters.shape).map((name) => `filter[${name}]`),
    ...(isSortable ? ['sort'] : []),
    'count',
  ];
  return [...names.flatMap((name) => query.all(name).map((value) => [name, value] as const)), size];
}

function readSize(name: string, text: string, maximum: number): number {
  if (!/^[1-9][0-9]*$/.test(text)) throw badParameter(name, 'the page size must be a positive number');
  return Math.min(Number(text), maximum);
}

function readCursor(query: FormParameters, name: string): Ulid | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const id = parseId(text);
  if (id === undefined) throw badParameter(name, 'a cursor must be the id of an item');
  return id;
}

function readCount(query: FormParameters, preset: ListQuery['count']): ListQuery['count'] {
  const text = query.get('count') ?? preset;
  if (text !== 'true' && text !== 'false' && text !== 'only')
    throw badParameter('count', 'must be true, false or only');
  return text;
}

export function badParameter(name: string, problem: string): LatchkeyError {
  return new LatchkeyError('invalid_parameter', { description: `${name}: ${problem}`, members: { parameter: name } });
}
