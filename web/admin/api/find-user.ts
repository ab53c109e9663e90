import type { AdminClient, TestResponse } from './admin-client.ts';
import type { Single, User } from './documents.ts';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** Returns the ID of an account, given its ID or its username. */
export async function findUserId(client: AdminClient, text: string): Promise<TestResponse<string>> {
  if (ULID.test(text)) return { ok: true, data: text };
  const response = await client.get<Single<User>>(`users/by-username/${encodeURIComponent(text)}`);
  return response.ok ? { ok: true, data: response.data.data.id } : response;
}
