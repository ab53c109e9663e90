import { refusal } from './graphql-refusal.ts';

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

/** Returns the page size requested by `first` or `last`. @throws GraphQLError `BAD_USER_INPUT` */
export function pageSize({ first, last }: { readonly first?: unknown; readonly last?: unknown }): number {
  const isFirst = typeof first === 'number';
  const isLast = typeof last === 'number';
  if (isFirst && isLast) throw refusal('BAD_USER_INPUT', 'use either first or last, not both');
  const size = isFirst ? first : isLast ? last : DEFAULT_PAGE_SIZE;
  if (size < 0 || size > MAX_PAGE_SIZE) {
    throw refusal('BAD_USER_INPUT', `${isFirst ? 'first' : 'last'} must be from 0 to ${MAX_PAGE_SIZE}`);
  }
  return size;
}
