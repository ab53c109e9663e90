import SchemaBuilder from '@pothos/core';
import { GraphQLError } from 'graphql';
import { parseUrl } from '#platform/base/url.ts';
import type { AccountContext } from '../context/account-context.ts';

/** Builds the schema. The other files of this folder add the types. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<{
  Context: AccountContext;
  DefaultFieldNullability: false;
  Scalars: {
    /** Milliseconds since the epoch. */
    DateTime: { Input: number; Output: number };
    ID: { Input: string; Output: string };
    Json: { Input: unknown; Output: unknown };
    Url: { Input: string; Output: string };
  };
}>({ defaultFieldNullability: false });

builder.queryType({});
builder.mutationType({});

/** RFC 3339 5.6, with a time and its offset. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

builder.scalarType('DateTime', {
  description: 'Date and time in UTC (RFC 3339).',
  serialize: (milliseconds) => new Date(milliseconds).toISOString(),
  parseValue: (value) => {
    const time = typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(time)) throw new GraphQLError('DateTime must be a date with time and offset (RFC 3339).');
    return time;
  },
});

builder.scalarType('Json', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

builder.scalarType('Url', {
  description: 'An absolute URL.',
  serialize: (url) => url,
  parseValue: (value) => {
    if (typeof value !== 'string' || parseUrl(value) === undefined)
      throw new GraphQLError('Url must be an absolute URL.');
    return value;
  },
});
