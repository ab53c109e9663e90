import { useMemo, useState } from 'preact/hooks';
import type { PageInfo } from './paging.ts';

/** What is loaded of a list that is ordered from old to new. */
export interface LoadedPart<Item> {
  readonly nodes: readonly Item[];
  readonly pageInfo: PageInfo;
}

/** The newest items of a list, or those before a cursor. */
export interface NewestPart {
  readonly last: number;
  readonly before?: string;
}

interface Identified {
  /** A prefix, and an ID that sorts by creation time. */
  readonly id: string;
}

/**
 * Merges lists that are paged separately into one, newest first. Items older than the oldest loaded item of a list that
 * goes on are held back, because newer ones may still be missing.
 * @param showsAll holds nothing back
 */
export function mergeNewest<Item extends Identified>(
  parts: readonly LoadedPart<Item>[],
  showsAll = false,
): { readonly items: readonly Item[]; readonly hasOlder: boolean } {
  const continuing = parts.filter(({ pageInfo }) => pageInfo.hasPreviousPage);
  const oldest = continuing.map(({ nodes }) => nodes.map(timeOf).toSorted()[0] ?? '');
  const horizon = showsAll ? '' : (oldest.toSorted().at(-1) ?? '');
  const items = parts
    .flatMap(({ nodes }) => nodes)
    .filter((item) => timeOf(item) >= horizon)
    .toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
  return { items, hasOlder: continuing.length > 0 };
}

function timeOf({ id }: Identified): string {
  return id.slice(id.indexOf(':') + 1);
}

/** Null: the list has nothing older. */
type Cursor = string | null | undefined;

const MAX_SIZE = 64;
const ENDED = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };

/** The requested part of two merged lists. It grows to a limit, then moves to older items. */
export interface MergedWindow {
  readonly parts: readonly [NewestPart, NewestPart];
  /** Older items were requested in place of the newest. */
  readonly isMoved: boolean;
  /** Merges the responses. */
  merge<Item extends Identified>(
    first: LoadedPart<Item>,
    second: LoadedPart<Item>,
  ): { readonly items: readonly Item[]; readonly more: (() => void) | undefined };
  /** Back to the newest items. */
  reset(): void;
}

/** @param size items of each list to request first */
export function useMergedWindow(size: number): MergedWindow {
  const newest = { size, before: [undefined, undefined] as readonly [Cursor, Cursor] };
  const [{ size: current, before }, setWindow] = useState(newest);
  const [one, other] = before;
  const parts = useMemo(() => [partOf(current, one), partOf(current, other)] as const, [current, one, other]);
  const isLast = current >= MAX_SIZE;
  return {
    parts,
    isMoved: one !== undefined || other !== undefined,
    reset: () => setWindow(newest),
    merge: (first, second) => {
      const loaded = [one === null ? nothing<never>() : first, other === null ? nothing<never>() : second] as const;
      const { items, hasOlder } = mergeNewest([...loaded], isLast);
      const next = isLast
        ? { size: current, before: [nextOf(loaded[0]), nextOf(loaded[1])] as const }
        : { size: Math.min(MAX_SIZE, current * 4), before };
      return { items, more: hasOlder ? () => setWindow(next) : undefined };
    },
  };
}

function partOf(size: number, before: Cursor): NewestPart {
  if (before === null) return { last: 0 };
  return before === undefined ? { last: size } : { last: size, before };
}

function nothing<Item>(): LoadedPart<Item> {
  return { nodes: [], pageInfo: ENDED };
}

function nextOf({ pageInfo: { hasPreviousPage, startCursor } }: LoadedPart<unknown>): Cursor {
  return hasPreviousPage ? startCursor : null;
}
