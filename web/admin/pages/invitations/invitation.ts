import type { Invitation } from '../../api/documents.ts';

export type InvitationStatus = 'valid' | 'revoked' | 'used' | 'expired';

export function statusOf({ valid, revoked_at, usage_limit, times_used }: Invitation): InvitationStatus {
  if (valid) return 'valid';
  if (revoked_at !== null) return 'revoked';
  return usage_limit !== null && times_used >= usage_limit ? 'used' : 'expired';
}

/** Returns what tells an invitation from others: its address, note, or the token itself. */
export function nameOf({ email, note, token }: Invitation): string {
  return email ?? note ?? token;
}
