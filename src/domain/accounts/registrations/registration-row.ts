import { fromUuid } from '#platform/base/ids.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { ms } from '#platform/postgres/statement.ts';
import { parsePostAuthAction } from '#protocol/post-auth-action.ts';
import type { Registration } from './registration.ts';

/** What `registrationColumns` selects. */
export interface RegistrationRow {
  readonly id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly post_auth_action: Readonly<Record<string, string>> | null;
  readonly created_at: number;
  readonly is_completed: boolean;
}

/** The columns that `toRegistration` reads, of the table under its own name. */
export const registrationColumns = `id, username, display_name, post_auth_action, ${ms('created_at')} as created_at,
  completed_at is not null as is_completed`;

/** @param protocolName names the actions of the chat protocol, see `parsePostAuthAction` */
export function toRegistration(row: RegistrationRow, protocolName: string): Registration {
  return {
    id: fromUuid<'registration'>(row.id),
    username: row.username,
    displayName: row.display_name ?? undefined,
    action: parsePostAuthAction(FormParameters.of(row.post_auth_action ?? {}), protocolName),
    createdAt: row.created_at,
    isCompleted: row.is_completed,
  };
}
