import { type NoParameters, statement } from '#platform/postgres/statement.ts';

export const serverStateExists = statement<{ exists: boolean }, NoParameters>(
  'server-state-exists',
  `select to_regclass('server_state') is not null as exists`,
);

export const findServerFact = statement<{ value: Buffer }, { readonly key: string }>(
  'server-fact-by-key',
  'select value from server_state where key = :key',
);
