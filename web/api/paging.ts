/** Which part of a list is asked for. Lists run from old to new and are shown the other way round. */
export interface Paging {
  readonly first?: number;
  readonly after?: string;
  readonly last?: number;
  readonly before?: string;
}

/**
 * @param query of the address: `after` or `before` a cursor; the newest without either
 * @param size how many are on a page
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
 * Queries of the pages before and after this one, in the order in which they are read; undefined where there is none.
 * @param filter members of the query that stay
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
