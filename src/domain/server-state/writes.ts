import { statement } from '#platform/postgres/statement.ts';

/** Keeps the value that is there: the first start decides. */
export const insertServerFact = statement<never, { readonly key: string; readonly value: Buffer }>(
  'insert-server-fact',
  'insert into server_state (key, value) values (:key, :value) on conflict (key) do nothing',
);
