import type { TypedDocumentNode } from '@urql/core';
import { useQuery } from '@urql/preact';
import { type Problem, problemOf } from './problem.ts';

/** The query of a page. `data` is kept during a refetch; a problem can then exist alongside it. */
export interface PageQuery<Data> {
  readonly data: Data | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

/** Sends no query while `isPaused`. */
export function usePageQuery<Data, Variables extends Record<string, unknown>>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  isPaused = false,
): PageQuery<Data> {
  const [{ data, error, fetching, stale }, execute] = useQuery({ query, variables, pause: isPaused });
  return {
    data,
    problem: error === undefined ? undefined : problemOf(error),
    isLoading: fetching || stale,
    reload: () => execute({ requestPolicy: 'network-only' }),
  };
}

/** Returns two queries as one: with data once both have it, and with one retry. */
export function together<One, Other>(
  one: PageQuery<One>,
  other: PageQuery<Other>,
): PageQuery<{ readonly one: One; readonly other: Other }> {
  return {
    data: one.data === undefined || other.data === undefined ? undefined : { one: one.data, other: other.data },
    problem: one.problem ?? other.problem,
    isLoading: one.isLoading || other.isLoading,
    reload: () => {
      one.reload();
      other.reload();
    },
  };
}
