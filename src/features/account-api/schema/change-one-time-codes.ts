/** Setting up and removing an authenticator app, and replacing recovery codes (account-graphql 7.2). */

import { showTotpSecret } from '#domain/records/totp-secret.ts';
import { completeTotpEnrolment } from '#domain/second-factors/complete-totp-enrolment.ts';
import { regenerateRecoveryCodes } from '#domain/second-factors/regenerate-recovery-codes.ts';
import { removeTotp } from '#domain/second-factors/remove-totp.ts';
import { startTotpEnrolment } from '#domain/second-factors/start-totp-enrolment.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { accountOf } from './find-objects.ts';
import { mutation, mutationWithoutInput } from './mutation.ts';
import { idOf, nodeId } from './node.ts';

mutationWithoutInput('startTotpEnrolment', {
  description: 'Creates a secret for an authenticator app. Takes effect once a code from the app is confirmed.',
  statuses: ['STARTED', 'ALREADY_ENROLLED', 'DISABLED'],
  payload: {
    enrolmentId: { type: 'ID' },
    secret: {
      type: 'String',
      description: 'Secret in Base32, for manual entry in the app. Only returned here.',
    },
    otpauthUrl: { type: 'String', description: 'Content of the QR code.' },
    expiresAt: { type: 'DateTime' },
  },
  resolve: async (context) => {
    const { user, session } = requireBrowser(context);
    const { core } = context;
    if (!core.config.account.totpEnabled) return { status: 'DISABLED' };
    requireRecentAuthentication(context);
    const started = await startTotpEnrolment(core, { user: user.id, session: session.id });
    if (started === undefined) return { status: 'ALREADY_ENROLLED' };
    const { id, secret, expiresAt } = started;
    const label = { issuer: core.config.branding.serviceName, account: user.username };
    return {
      status: 'STARTED',
      enrolmentId: nodeId({ type: 'TotpEnrolment', id }),
      ...showTotpSecret(secret, label),
      expiresAt,
    };
  },
});

mutation('completeTotpEnrolment', {
  description: 'Sets up the authenticator app that generated the code.',
  input: (t) => ({
    enrolmentId: t.id({ required: true }),
    code: t.string({ required: true, description: 'Six-digit code from the app.' }),
  }),
  statuses: ['ENROLLED', 'INVALID_CODE', 'EXPIRED', 'RATE_LIMITED'],
  payload: { recoveryCodes: { type: ['String'], description: 'Only returned here.' } },
  resolve: async ({ enrolmentId, code }, context) => {
    const { session } = requireBrowser(context);
    const enrolment = idOf('TotpEnrolment', enrolmentId);
    const completed = await completeTotpEnrolment(context.core, {
      ...own(context),
      enrolment,
      session: session.id,
      code,
    });
    context.forget();
    if (completed.ok) return { status: 'ENROLLED', recoveryCodes: completed.recoveryCodes };
    switch (completed.reason) {
      case 'expired':
        return { status: 'EXPIRED' };
      case 'too-many-codes':
        return { status: 'RATE_LIMITED' };
      case 'wrong':
        return { status: 'INVALID_CODE' };
    }
  },
});

mutationWithoutInput('removeTotp', {
  description: 'Removes the authenticator app of the caller and its recovery codes.',
  statuses: ['REMOVED', 'NOT_ENROLLED', 'REQUIRED_BY_POLICY'],
  resolve: async (context) => {
    const { user } = requireBrowser(context);
    const { account, passwords } = context.core.config;
    if (account.secondFactor === 'required' && passwords.enabled && (await accountOf(user.id, context)).hasPassword)
      return { status: 'REQUIRED_BY_POLICY' };
    requireRecentAuthentication(context);
    const isRemoved = await removeTotp(context.core, own(context));
    context.forget();
    return { status: isRemoved ? 'REMOVED' : 'NOT_ENROLLED' };
  },
});

mutationWithoutInput('regenerateRecoveryCodes', {
  description: 'Creates new recovery codes and invalidates the previous ones.',
  statuses: ['GENERATED', 'NOT_ENROLLED'],
  payload: { recoveryCodes: { type: ['String'], description: 'Only returned here.' } },
  resolve: async (context) => {
    requireBrowser(context);
    requireRecentAuthentication(context);
    const recoveryCodes = await regenerateRecoveryCodes(context.core, own(context));
    context.forget();
    return recoveryCodes === undefined ? { status: 'NOT_ENROLLED' } : { status: 'GENERATED', recoveryCodes };
  },
});

/** The owner of the codes: always the caller. */
function own(context: AccountContext) {
  const { user } = requireBrowser(context);
  const { browser, request } = context;
  return {
    user: user.id,
    address: request.clientAddress,
    userAgent: request.userAgent,
    language: browser.pages.language(request).language,
  };
}
