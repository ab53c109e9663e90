import { parseId, type Ulid } from '#platform/base/ids.ts';
import type { Page, PageWindow } from '#platform/postgres/page.ts';
import { refusal } from '../context/graphql-refusal.ts';
import type { ListLoader } from '../context/list-loader.ts';
import { pageSize } from '../context/page-size.ts';
import { builder } from './builder.ts';

/** A list whose page and total are read on demand (account-graphql 3.4). */
export interface Connection<Item> {
  /** Prefix of its cursors. */
  readonly kind: string;
  readonly page: () => Promise<Page<Item>>;
  readonly total: () => Promise<number>;
}

/** Arguments of connection fields. */
export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
}

export const PAGE_ARGUMENTS = builder.args((t) => ({
  first: t.int({ description: 'Number of items from the start; default 20, at most 100.' }),
  last: t.int({ description: 'Number of items from the end, in the same order.' }),
  after: t.string({ description: 'Only items after this cursor.' }),
  before: t.string({ description: 'Only items before this cursor.' }),
}));

/**
 * Returns the connection of an owner's list.
 * @param kind prefix of its cursors
 * @throws GraphQLError `BAD_USER_INPUT`
 */
export function connection<Owner, Filter, Item, Model>(
  kind: string,
  lists: ListLoader<Owner, Filter, Item>,
  owner: Owner,
  filter: Filter,
  given: PageArguments,
  model: (item: Item) => Model,
): Connection<Model> {
  const window = windowOf(kind, given);
  return {
    kind,
    page: async () => {
      const page = await lists.page(owner, filter, window);
      return { ...page, items: page.items.map(model) };
    },
    total: async () => await lists.total(owner, filter),
  };
}

/**
 * Returns the connection of a list that is already complete in memory.
 * @param items in the order of their identifiers
 * @param read reads the models of a page; undefined ones are omitted
 */
export function connectionOfAll<Item extends Identified, Model>(
  kind: string,
  items: readonly Item[],
  given: PageArguments,
  read: (items: readonly Item[]) => Promise<readonly (Model | undefined)[]>,
): Connection<Model> {
  const { size, isFromEnd, after, before } = windowOf(kind, given);
  const start = after === undefined ? 0 : items.filter(({ id }) => id <= after).length;
  const end = before === undefined ? items.length : items.filter(({ id }) => id < before).length;
  const inside = items.slice(start, Math.max(start, end));
  const skipped = isFromEnd ? Math.max(0, inside.length - size) : 0;
  const page = inside.slice(skipped, skipped + size);
  return {
    kind,
    page: async () => ({
      items: (await read(page)).filter((model) => model !== undefined),
      hasPrevious: start + skipped > 0,
      hasNext: start + skipped + page.length < items.length,
    }),
    total: async () => items.length,
  };
}

type Types = typeof builder.$inferSchemaTypes;

interface Identified {
  readonly id: Ulid;
}

interface PageEnds {
  readonly hasPreviousPage: boolean;
  readonly hasNextPage: boolean;
  readonly startCursor: string | undefined;
  readonly endCursor: string | undefined;
}

const PageInfo = builder.objectRef<PageEnds>('PageInfo').implement({
  description: 'Position of a page in the list.',
  fields: (t) => ({
    hasPreviousPage: t.exposeBoolean('hasPreviousPage'),
    hasNextPage: t.exposeBoolean('hasNextPage'),
    startCursor: t.exposeString('startCursor', { nullable: true }),
    endCursor: t.exposeString('endCursor', { nullable: true }),
  }),
});

/**
 * Builds the types of a connection: `<name>Connection` and `<name>Edge`.
 * @param node type of its nodes, whose model has an identifier
 */
export function connectionType(
  name: string,
  node: PothosSchemaTypes.ObjectRef<Types, Identified> | PothosSchemaTypes.UnionRef<Types, Identified>,
) {
  const edge = builder.objectRef<{ readonly node: Identified; readonly cursor: string }>(`${name}Edge`).implement({
    fields: (t) => ({
      node: t.field({ type: node, resolve: (parent) => parent.node }),
      cursor: t.exposeString('cursor'),
    }),
  });
  return builder.objectRef<Connection<Identified>>(`${name}Connection`).implement({
    fields: (t) => ({
      pageInfo: t.field({ type: PageInfo, resolve: async ({ kind, page }) => pageEnds(kind, await page()) }),
      edges: t.field({
        type: [edge],
        resolve: async ({ kind, page }) =>
          (await page()).items.map((item) => ({ node: item, cursor: cursorOf(kind, item.id) })),
      }),
      nodes: t.field({ type: [node], resolve: async ({ page }) => [...(await page()).items] }),
      totalCount: t.int({
        description: 'Number of items in the whole list.',
        resolve: async ({ total }) => await total(),
      }),
    }),
  });
}

function pageEnds(kind: string, { items, hasPrevious, hasNext }: Page<Identified>): PageEnds {
  const [first, last] = [items[0], items.at(-1)];
  return {
    hasPreviousPage: hasPrevious,
    hasNextPage: hasNext,
    startCursor: first === undefined ? undefined : cursorOf(kind, first.id),
    endCursor: last === undefined ? undefined : cursorOf(kind, last.id),
  };
}

function windowOf(kind: string, given: PageArguments): PageWindow {
  return {
    size: pageSize(given),
    isFromEnd: typeof given.last === 'number',
    after: parseCursor(kind, given.after),
    before: parseCursor(kind, given.before),
  };
}

function cursorOf(kind: string, id: Ulid): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

function parseCursor(kind: string, cursor: string | null | undefined): Ulid | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const id = text.startsWith(`${kind}:`) ? parseId(text.slice(kind.length + 1)) : undefined;
  // The comparison also rejects a cursor that differs only in characters that decoding ignores.
  if (id === undefined || cursorOf(kind, id) !== cursor) throw refusal('BAD_USER_INPUT', 'invalid cursor');
  return id;
}
