/** A registration token of the admin API. */
export interface Invitation {
  readonly token: string;
  readonly url: string;
  readonly valid: boolean;
  readonly usage_limit: number | null;
  readonly times_used: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly note: string | null;
  readonly created_by: string | null;
  readonly mail_queued_at: string | null;
  readonly mail_sent_at: string | null;
}

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
