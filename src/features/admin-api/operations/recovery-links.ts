/** Links to set a password, which administrators send or hand over (operations 4.4). */
import { z } from 'zod';
import { Urls } from '#browser/urls.ts';
import {
  handOverRecoveryTicket,
  mailRecoveryLink,
  type RecoveryLinkRequest,
} from '#domain/account-changes/issue-recovery-link.ts';
import { type UserRecord, users } from '#domain/administration/user-listing.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { json } from '#platform/http/response.ts';
import { actorOf } from '../definition/caller.ts';
import { time } from '../definition/documents.ts';
import {
  type AdminCall,
  change,
  idOfPath,
  logAction,
  missing,
  type Operation,
  readBody,
} from '../definition/operation.ts';
import { USER } from './users.ts';

const linkBody = z.strictObject({
  delivery: z
    .enum(['email', 'link'], 'must be email or link')
    .describe('`email`: sent to the primary address; `link`: returned once, for the administrator to hand over.'),
});

const issuedLink = z.object({
  meta: z
    .object({
      url: z.string().nullable().describe('The link; null: sent by email.'),
      expires_at: z.iso
        .datetime()
        .nullable()
        .describe('When the link stops working; null: sent by email, its time starts then.'),
    })
    .describe('The link.'),
});

export const recoveryLinkOperations: readonly Operation[] = [
  {
    id: 'createRecoveryLink',
    method: 'POST',
    path: `${USER.path}/:id/recovery-link`,
    tag: USER.type,
    summary: 'Creates a link with which the user sets a new password, or a first one',
    description:
      'The link works once, for `account.recovery_ticket_ttl`, also if users cannot request recovery themselves. ' +
      'Setting the password ends all browser sessions; the user is notified by email.',
    body: linkBody,
    answers: [{ status: 201, schema: issuedLink, description: 'The link, which is only returned here.' }],
    errors: [
      'invalid_id',
      'not_found',
      'invalid_body',
      'account_not_usable',
      'password_auth_disabled',
      'no_email',
      'mail_not_configured',
    ],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'user'>(context);
      const { delivery } = await readBody(context, linkBody);
      const user = await users.find(core.database, id);
      if (user === undefined) throw missing('user');
      checkUse(call, user);
      const request = { user: id, by: actorOf(call.caller), now: core.clock.now() };
      const issued = delivery === 'email' ? await mail(call, request) : await handOver(call, request);
      logAction(call, 'createRecoveryLink', id);
      return json(201, { meta: issued });
    },
  },
];

/** @throws LatchkeyError `account_not_usable`, `password_auth_disabled` */
function checkUse({ core }: AdminCall, { deactivated_at, locked_at }: UserRecord): void {
  if (deactivated_at !== null || locked_at !== null) throw new LatchkeyError('account_not_usable');
  if (!core.config.passwords.enabled) throw new LatchkeyError('password_auth_disabled');
}

function actionOn(id: RecoveryLinkRequest['user']) {
  return { operation: 'createRecoveryLink', target: { type: USER.type, id, userId: id } };
}

/** @throws LatchkeyError `mail_not_configured`, `no_email` */
async function mail(call: AdminCall, request: RecoveryLinkRequest) {
  const { email, i18n } = call.core.config;
  if (email.transport.kind === 'blackhole') throw new LatchkeyError('mail_not_configured');
  await change(call, actionOn(request.user), async (_, transaction) => {
    if (!(await mailRecoveryLink(transaction, request, i18n.defaultLanguage))) throw new LatchkeyError('no_email');
  });
  return { url: null, expires_at: null };
}

async function handOver(call: AdminCall, request: RecoveryLinkRequest) {
  const { account, http } = call.core.config;
  const ticket = await change(call, actionOn(request.user), (_, transaction) =>
    handOverRecoveryTicket(transaction, request),
  );
  return {
    url: new Urls(http.publicBase).recoveryLink(ticket),
    expires_at: time(request.now + account.recoveryTicketTtlSeconds * 1000),
  };
}
