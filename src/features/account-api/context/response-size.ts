/** Limits the size of the response to one request while it is being built (account-graphql 1.7). */
import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNullableType,
  introspectionTypes,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { refusal } from './graphql-refusal.ts';

const MEBIBYTE = 1024 * 1024;
const MAX_ANONYMOUS_BYTES = MEBIBYTE;
const MAX_AUTHENTICATED_BYTES = 8 * MEBIBYTE;
/**
 * The schema is the same for every caller. This is slightly more than the full introspection response that tools
 * request.
 */
const MAX_INTROSPECTION_BYTES = MEBIBYTE / 4;
/** Overhead of a field in addition to its name and value: quotes, colon and comma. */
const FIELD_BYTES = 4;
const OBJECT_BYTES = 3;

export class ResponseSize {
  readonly #maxBytes: number;
  #bytes = 0;
  #introspectionBytes = 0;

  constructor(isAnonymous: boolean) {
    this.#maxBytes = isAnonymous ? MAX_ANONYMOUS_BYTES : MAX_AUTHENTICATED_BYTES;
  }

  /** When true, the remaining fields are omitted. */
  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes || this.#introspectionBytes > MAX_INTROSPECTION_BYTES;
  }

  /** The error that replaces a response over the limit. */
  get refusal(): GraphQLError {
    const bytes = this.#bytes > this.#maxBytes ? this.#maxBytes : MAX_INTROSPECTION_BYTES;
    return refusal('QUERY_TOO_COMPLEX', `the response exceeds ${bytes} bytes; request fewer fields or smaller pages`);
  }

  add(bytes: number, isIntrospection: boolean): void {
    this.#bytes += bytes;
    if (isIntrospection) this.#introspectionBytes += bytes;
  }
}

interface Measured {
  readonly answerSize: ResponseSize;
}

type Resolver = GraphQLFieldResolver<unknown, Measured>;

/** Counts the size of every field of a schema, and stops resolving fields once the response is too large. */
export function measureFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) measure(field, false);
  }
  measureIntrospection();
}

let isIntrospectionMeasured = false;

/** The introspection types belong to the library and are shared by all schemas of the process. */
function measureIntrospection(): void {
  if (isIntrospectionMeasured) return;
  isIntrospectionMeasured = true;
  for (const type of introspectionTypes) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) measure(field, true);
  }
}

function measure(field: GraphQLField<unknown, Measured>, isIntrospection: boolean): void {
  const { resolve = defaultFieldResolver } = field;
  const isLeaf = isLeafType(getNullableType(field.type));
  const isNullable = !isNonNullType(field.type);
  const sized: Resolver = (source, given, context, info) => {
    // Other users of the schema, for example its printer, pass no context.
    const size = context?.answerSize;
    if (size === undefined) return resolve(source, given, context, info);
    if (size.isExceeded) {
      // One error per field would take more space than the fields themselves.
      if (isNullable) return null;
      throw size.refusal;
    }
    const count = (value: unknown): unknown => {
      size.add(
        String(info.path.key).length + FIELD_BYTES + (isLeaf ? leafBytes(value) : listBytes(value)),
        isIntrospection,
      );
      return value;
    };
    const value: unknown = resolve(source, given, context, info);
    return value instanceof Promise ? value.then(count) : count(value);
  };
  field.resolve = sized;
}

function leafBytes(value: unknown): number {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return OBJECT_BYTES;
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** Size of an object, or of a list. The fields of objects in a list are counted separately. */
function listBytes(value: unknown): number {
  if (!Array.isArray(value)) return OBJECT_BYTES;
  const items: readonly unknown[] = value;
  return items.reduce<number>(
    (total, item) => total + (typeof item === 'string' ? Buffer.byteLength(item) : 0) + OBJECT_BYTES,
    OBJECT_BYTES,
  );
}
