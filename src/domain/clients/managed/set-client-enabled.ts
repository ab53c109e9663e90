import { toUuid } from '#platform/base/ids.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import type { ClientRefusal } from '../client.ts';
import { lockClient } from './locked-client.ts';

/**
 * Disables or enables a managed or dynamic client. A disabled client is treated as unknown everywhere, and its tokens
 * are inactive. Its sessions stay, and work again once it is enabled.
 * @param now milliseconds since the epoch
 */
export async function setClientEnabled(
  transaction: Transaction,
  id: ClientId,
  isEnabled: boolean,
  now: number,
): Promise<'changed' | 'unchanged' | ClientRefusal> {
  const locked = await lockClient(transaction, id);
  if (typeof locked === 'string') return locked;
  if (locked.row.is_disabled !== isEnabled) return 'unchanged';
  await transaction.execute(setDisabled, { id: toUuid(id), isDisabled: !isEnabled, now: new Date(now) });
  return 'changed';
}

const setDisabled = statement<never, { readonly id: string; readonly isDisabled: boolean; readonly now: Date }>(
  'set-client-disabled',
  `update oauth2_clients
      set version = version + 1,
          disabled_at = case when :isDisabled::boolean then :now::timestamptz end,
          updated_at = :now::timestamptz
    where id = :id::uuid`,
);
