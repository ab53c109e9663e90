/** The requested part of a list. Lists are ordered from old to new and displayed in reverse. */
export interface Paging {
  readonly first?: number;
  readonly after?: string;
  readonly last?: number;
  readonly before?: string;
}

/**
 * @param query of the URL: a cursor in `after` or `before`; the newest items without either
 * @param size number of items per page
 */
export function pagingOf(query: URLSearchParams, size: number): Paging {
  const after = query.get('after');
  if (after !== null) return { first: size, after };
  const before = query.get('before');
  return before === null ? { last: size } : { last: size, before };
}

export function isFirstPage(query: URLSearchParams): boolean {
  return !query.has('after') && !query.has('before');
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/**
 * Returns the queries of the previous and next page in display order; undefined if there is none.
 * @param filter query parameters to keep
 */
export function neighbours(
  info: PageInfo,
  size: number,
  filter: Readonly<Record<string, string>>,
): { readonly newer: string | undefined; readonly older: string | undefined } {
  const query = (part: Record<string, string>) => `?${new URLSearchParams({ ...filter, ...part })}`;
  return {
    newer:
      info.hasNextPage && info.endCursor !== null ? query({ first: String(size), after: info.endCursor }) : undefined,
    older:
      info.hasPreviousPage && info.startCursor !== null
        ? query({ last: String(size), before: info.startCursor })
        : undefined,
  };
}
