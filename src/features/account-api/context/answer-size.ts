/** How large the answer to one request grows, judged while it is made (account-graphql 1.7). */
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
/** The schema is the same for everybody, and this is a little more than the whole of it as tools read it. */
const MAX_INTROSPECTION_BYTES = MEBIBYTE / 4;
/** Of a field beside its name and value: quotes, colon and comma. */
const FIELD_BYTES = 4;
const OBJECT_BYTES = 3;

export class AnswerSize {
  readonly #maxBytes: number;
  #bytes = 0;
  #introspectionBytes = 0;

  constructor(isAnonymous: boolean) {
    this.#maxBytes = isAnonymous ? MAX_ANONYMOUS_BYTES : MAX_AUTHENTICATED_BYTES;
  }

  /** What has not been made by now is left out. */
  get isExceeded(): boolean {
    return this.#bytes > this.#maxBytes || this.#introspectionBytes > MAX_INTROSPECTION_BYTES;
  }

  /** The error in place of such an answer. */
  get refusal(): GraphQLError {
    const bytes = this.#bytes > this.#maxBytes ? this.#maxBytes : MAX_INTROSPECTION_BYTES;
    return refusal('QUERY_TOO_COMPLEX', `the response exceeds ${bytes} bytes; ask for fewer fields or smaller pages`);
  }

  add(bytes: number, isIntrospection: boolean): void {
    this.#bytes += bytes;
    if (isIntrospection) this.#introspectionBytes += bytes;
  }
}

interface Measured {
  readonly answerSize: AnswerSize;
}

type Resolver = GraphQLFieldResolver<unknown, Measured>;

/** Counts what the fields of a schema answer, and stops them once the answer has grown too large. */
export function measureFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) measure(field, false);
  }
  measureIntrospection();
}

let isIntrospectionMeasured = false;

/** These types belong to the library and are shared by all schemas of the process. */
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
    // Other readers of the schema, such as those that print it, have no context.
    const size = context?.answerSize;
    if (size === undefined) return resolve(source, given, context, info);
    if (size.isExceeded) {
      // An error for each of many fields would cost more than the fields.
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

/** Of an object, or of a list without what is in its objects. */
function listBytes(value: unknown): number {
  if (!Array.isArray(value)) return OBJECT_BYTES;
  const items: readonly unknown[] = value;
  return items.reduce<number>(
    (total, item) => total + (typeof item === 'string' ? Buffer.byteLength(item) : 0) + OBJECT_BYTES,
    OBJECT_BYTES,
  );
}
