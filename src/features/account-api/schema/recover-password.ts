/** Sets a new password with the ticket from a recovery email (account-graphql 5.2, browser-flows 7.3). */
import { bindRecovery } from '#browser/recoveries-cookie.ts';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import { recoverPassword } from '#domain/account-changes/recover-password.ts';
import type { RecoveryTicket, TicketCheck } from '#domain/account-changes/recovery-ticket.ts';
import { resendRecovery } from '#domain/account-changes/start-recovery.ts';
import type { AccountContext } from '../context/account-context.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { mutation, mutationWithPayload } from './mutation.ts';
import { checkTicket } from './recovery-ticket.ts';
import { invalidPassword, limited, type SetPassword, SetPasswordPayload } from './set-password-payload.ts';

mutationWithPayload('setPasswordByRecovery', SetPasswordPayload, {
  description: 'Sets a new password with the ticket from a recovery email. Does not sign in.',
  input: (t) => ({
    ticket: t.string({ required: true, description: 'Ticket from the link in the email.' }),
    newPassword: t.string({ required: true }),
    endAllSessions: t.boolean({
      defaultValue: false,
      description: 'Ends the sessions of clients and devices as well. Browser sessions always end.',
    }),
  }),
  resolve: async ({ endAllSessions, newPassword, ticket }, context): Promise<SetPassword> => {
    const recovery = { ticketText: ticket, newPassword, endsApplications: endAllSessions === true };
    const { caller, core } = context;
    // Signed-in users change their current password instead. The ticket may belong to another account.
    if (caller.kind !== 'anonymous') throw refusal('FORBIDDEN', 'Unauthorized');
    if (!core.config.passwords.enabled) return { status: 'PASSWORD_CHANGES_DISABLED' };
    const check = await checkTicket(ticket, context);
    const isAllowed = isRecoveryOpen(core.config) || (check.kind === 'valid' && check.ticket.isByAdmin);
    if (!isAllowed) return { status: 'PASSWORD_CHANGES_DISABLED' };
    return check.kind === 'valid' ? await storePassword(recovery, check.ticket, context) : unusable(check);
  },
});

mutation('resendRecoveryEmail', {
  description: 'Sends another email to the address of this ticket.',
  input: (t) => ({ ticket: t.string({ required: true }) }),
  statuses: ['NO_SUCH_RECOVERY_TICKET', 'RATE_LIMITED', 'SENT'],
  payload: {
    progressUrl: {
      type: 'Url',
      description: 'URL of the page that confirms the email was sent; only valid in this browser.',
    },
  },
  resolve: async ({ ticket }, context) => {
    const { core, browser, request } = context;
    if (!isRecoveryOpen(core.config)) throw refusal('FEATURE_DISABLED', 'password recovery is disabled');
    const check = await checkTicket(ticket, context);
    if (check.kind === 'rate-limited') return { status: 'RATE_LIMITED' };
    // Includes tickets whose recovery is too old for another email.
    const isOver = check.kind === 'expired' && !check.isSessionOpen;
    if (check.kind === 'unknown' || check.kind === 'consumed' || isOver) return { status: 'NO_SUCH_RECOVERY_TICKET' };
    const { session } = check.ticket;
    const { account, rateLimiting } = core.config;
    const deps = { ...core, recoveryLimits: rateLimiting.accountRecovery };
    const sent = await resendRecovery(deps, session, request.clientAddress);
    if (!sent.ok) return { status: 'RATE_LIMITED' };
    // The link may have been opened in a different browser from the one that requested it.
    bindRecovery(request, session.id, account.recoverySessionTtlSeconds, core.clock.now());
    return { status: 'SENT', progressUrl: browser.urls.absolute(`recover/progress/${session.id}`) };
  },
});

interface Recovery {
  readonly ticketText: string;
  readonly newPassword: string;
  readonly endsApplications: boolean;
}

async function storePassword(
  recovery: Recovery,
  ticket: RecoveryTicket,
  context: AccountContext,
): Promise<SetPassword> {
  const { core, browser, request } = context;
  const { viewers } = browser;
  const { account, branding } = core.config;
  const deps = {
    ...core,
    serviceName: branding.serviceName,
    sessionTtlSeconds: account.recoverySessionTtlSeconds,
    ticketTtlSeconds: account.recoveryTicketTtlSeconds,
    signsOutDevices: account.recoverySignsOutDevices,
  };
  const outcome = await recoverPassword(deps, {
    ...recovery,
    ticket,
    language: browser.pages.language(request).language,
    address: request.clientAddress,
    userAgent: request.userAgent,
    signal: request.signal,
  });
  if (outcome.ok) {
    // The cookie of an ended session would show the ended-session page instead of the sign-in page.
    if (viewers.cookie(request) !== undefined) viewers.forget(request);
    browser.notices.leave(request, 'password_recovered');
    return { status: 'ALLOWED' };
  }
  switch (outcome.reason) {
    case 'rejected':
      return invalidPassword(outcome.rejected, context);
    case 'overloaded':
      throw limited(outcome);
    case 'lost': {
      const now = await checkTicket(recovery.ticketText, context);
      return now.kind === 'valid' ? { status: 'RECOVERY_TICKET_ALREADY_USED' } : unusable(now);
    }
  }
}

function unusable(check: Exclude<TicketCheck, { readonly kind: 'valid' }>): SetPassword {
  switch (check.kind) {
    case 'unknown':
      return { status: 'NO_SUCH_RECOVERY_TICKET' };
    case 'consumed':
      return { status: 'RECOVERY_TICKET_ALREADY_USED' };
    case 'expired':
      return { status: 'EXPIRED_RECOVERY_TICKET' };
    case 'locked':
      return { status: 'ACCOUNT_LOCKED' };
    case 'rate-limited':
      throw limited({ ...check, reason: 'rate-limited' });
  }
}
