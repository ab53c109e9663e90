import DataLoader from 'dataloader';
import { currentTask, resumeTask } from '#platform/base/tasks.ts';
import type { Page, PageWindow } from '#platform/postgres/page.ts';

/** Reads one value. Each value is read only once. */
export type Load<Key, Value> = (key: Key) => Promise<Value>;

/** Batches the reads of one request's fields into one call. */
export function loader<Key, Value>(read: (keys: readonly Key[]) => Promise<readonly Value[]>): Load<Key, Value> {
  const values = new DataLoader<Key, Value>(async (keys) => [...(await read(keys))], {
    batchScheduleFn: onceFieldsHaveRequested,
  });
  return (key) => values.load(key);
}

/** Sends the batch after pending promises have settled, as part of the same request (decision 0006). */
function onceFieldsHaveRequested(send: () => void): void {
  const task = currentTask();
  process.nextTick(() => resumeTask(task, send));
}

/** Loads the pages that the fields of one request need. Pages with the same filter and window share one statement. */
export class ListLoader<Owner, Filter, Item> {
  readonly #list: (owners: readonly Owner[], filter: Filter, window: PageWindow) => Promise<readonly Page<Item>[]>;
  readonly #count: (owners: readonly Owner[], filter: Filter) => Promise<readonly number[]>;
  readonly #pages = new Map<string, Load<Owner, Page<Item>>>();
  readonly #totals = new Map<string, Load<Owner, number>>();

  constructor(
    list: (owners: readonly Owner[], filter: Filter, window: PageWindow) => Promise<readonly Page<Item>[]>,
    count: (owners: readonly Owner[], filter: Filter) => Promise<readonly number[]>,
  ) {
    this.#list = list;
    this.#count = count;
  }

  page(owner: Owner, filter: Filter, window: PageWindow): Promise<Page<Item>> {
    const key = JSON.stringify([filter, window]);
    const pages = this.#pages.get(key) ?? loader((owners: readonly Owner[]) => this.#list(owners, filter, window));
    this.#pages.set(key, pages);
    return pages(owner);
  }

  total(owner: Owner, filter: Filter): Promise<number> {
    const key = JSON.stringify(filter);
    const totals = this.#totals.get(key) ?? loader((owners: readonly Owner[]) => this.#count(owners, filter));
    this.#totals.set(key, totals);
    return totals(owner);
  }
}
