import { statement } from '#db/statement.ts';

/** Keeps the value that is there: the first start decides. */
export const insertServerFact = statement<never, [key: string, value: Buffer]>(
  'insert-server-fact',
  'insert into server_state (key, value) values ($1, $2) on conflict (key) do nothing',
);
