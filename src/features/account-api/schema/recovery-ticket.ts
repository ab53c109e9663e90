/** Recovery links: the holder of a ticket may see what it is for (account-graphql 4.4). */
import { checkRecoveryTicket, type TicketCheck } from '#domain/account-changes/recovery-ticket.ts';
import type { RecoveryTicketId } from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import { CreationEvent, Node } from './node.ts';
import { limited } from './set-password-payload.ts';

const STATUSES = ['CONSUMED', 'EXPIRED', 'VALID'] as const;

interface UserRecoveryTicketModel {
  readonly type: 'UserRecoveryTicket';
  readonly id: RecoveryTicketId;
  readonly createdAt: number;
  readonly status: (typeof STATUSES)[number];
  readonly username: string;
  readonly email: string;
}

const UserRecoveryTicketStatus = builder.enumType('UserRecoveryTicketStatus', { values: STATUSES });

const UserRecoveryTicket = builder.objectRef<UserRecoveryTicketModel>('UserRecoveryTicket').implement({
  description: 'Ticket from the link in a recovery email, for setting a new password.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    status: t.expose('status', { type: UserRecoveryTicketStatus }),
    username: t.exposeString('username', { description: 'Empty once the ticket has been used.' }),
    email: t.exposeString('email', { description: 'Recipient of the email; empty once the ticket has been used.' }),
  }),
});

builder.queryField('userRecoveryTicket', (t) =>
  t.field({
    type: UserRecoveryTicket,
    nullable: true,
    description: 'Recovery ticket by its value. Reading a ticket does not use it up.',
    args: { ticket: t.arg.string({ required: true }) },
    resolve: async (_, { ticket }, context) => ticketModel(await checkTicket(ticket, context)),
  }),
);

/** Returns the current state of a ticket. Lookups are rate limited per address, regardless of the field. */
export async function checkTicket(ticket: string, { core, request }: AccountContext): Promise<TicketCheck> {
  const { recoverySessionTtlSeconds: sessionTtlSeconds, recoveryTicketTtlSeconds: ticketTtlSeconds } =
    core.config.account;
  return await checkRecoveryTicket({ ...core, sessionTtlSeconds, ticketTtlSeconds }, ticket, request.clientAddress);
}

function ticketModel(check: TicketCheck): UserRecoveryTicketModel | undefined {
  switch (check.kind) {
    case 'unknown':
      return undefined;
    case 'rate-limited':
      throw limited({ ...check, reason: 'rate-limited' });
    case 'consumed':
      return { type: 'UserRecoveryTicket', ...check.ticket, status: 'CONSUMED', username: '', email: '' };
    case 'expired':
    case 'locked':
    case 'valid': {
      const { id, createdAt, user, session } = check.ticket;
      const status = check.kind === 'expired' ? 'EXPIRED' : 'VALID';
      const { username } = user;
      return { type: 'UserRecoveryTicket', id, createdAt, status, username, email: session.email };
    }
  }
}
