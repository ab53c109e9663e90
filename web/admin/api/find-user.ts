import type { AdminClient, Answer } from './admin-client.ts';
import type { Single, User } from './documents.ts';

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** Returns the ID of an account, given its ID or its username. */
export async function findUserId(client: AdminClient, text: string): Promise<Answer<string>> {
  if (ULID.test(text)) return { ok: true, data: text };
  const answer = await client.get<Single<User>>(`users/by-username/${encodeURIComponent(text)}`);
  return answer.ok ? { ok: true, data: answer.data.data.id } : answer;
}
