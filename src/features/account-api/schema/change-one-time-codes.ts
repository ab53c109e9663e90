/** Setting up and removing an authenticator app, and replacing recovery codes (account-graphql 7.2). */

import { showTotpSecret } from '#domain/records/totp-secret.ts';
import { completeTotpEnrolment } from '#domain/second-factors/complete-totp-enrolment.ts';
import { regenerateRecoveryCodes } from '#domain/second-factors/regenerate-recovery-codes.ts';
import { removeTotp } from '#domain/second-factors/remove-totp.ts';
import { startTotpEnrolment } from '#domain/second-factors/start-totp-enrolment.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { builder } from './builder.ts';
import { accountOf } from './find-objects.ts';
import { idOf, nodeId } from './node.ts';

const START_STATUSES = ['STARTED', 'ALREADY_ENROLLED', 'DISABLED'] as const;
const COMPLETE_STATUSES = ['ENROLLED', 'INVALID_CODE', 'EXPIRED', 'RATE_LIMITED'] as const;
const REMOVE_STATUSES = ['REMOVED', 'NOT_ENROLLED', 'REQUIRED_BY_POLICY'] as const;
const REGENERATE_STATUSES = ['GENERATED', 'NOT_ENROLLED'] as const;

interface Started {
  readonly status: (typeof START_STATUSES)[number];
  readonly enrolmentId?: string;
  readonly secret?: string;
  readonly otpauthUrl?: string;
  readonly expiresAt?: number;
}

interface Completed {
  readonly status: (typeof COMPLETE_STATUSES)[number];
  readonly recoveryCodes?: readonly string[];
}

interface Removed {
  readonly status: (typeof REMOVE_STATUSES)[number];
}

interface Regenerated {
  readonly status: (typeof REGENERATE_STATUSES)[number];
  readonly recoveryCodes?: readonly string[];
}

const StartTotpEnrolmentStatus = builder.enumType('StartTotpEnrolmentStatus', { values: START_STATUSES });
const StartTotpEnrolmentPayload = builder.objectRef<Started>('StartTotpEnrolmentPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: StartTotpEnrolmentStatus }),
    enrolmentId: t.id({ nullable: true, resolve: ({ enrolmentId }) => enrolmentId }),
    secret: t.string({
      nullable: true,
      description: 'Secret in Base32, for manual entry in the app. Only returned here.',
      resolve: ({ secret }) => secret,
    }),
    otpauthUrl: t.string({
      nullable: true,
      description: 'Content of the QR code.',
      resolve: ({ otpauthUrl }) => otpauthUrl,
    }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ expiresAt }) => expiresAt }),
  }),
});

const CompleteTotpEnrolmentStatus = builder.enumType('CompleteTotpEnrolmentStatus', { values: COMPLETE_STATUSES });
const CompleteTotpEnrolmentInput = builder.inputType('CompleteTotpEnrolmentInput', {
  fields: (t) => ({
    enrolmentId: t.id({ required: true }),
    code: t.string({ required: true, description: 'Six-digit code from the app.' }),
  }),
});
const CompleteTotpEnrolmentPayload = builder.objectRef<Completed>('CompleteTotpEnrolmentPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: CompleteTotpEnrolmentStatus }),
    recoveryCodes: t.stringList({
      nullable: true,
      description: 'Only returned here.',
      resolve: ({ recoveryCodes }) => copied(recoveryCodes),
    }),
  }),
});

const RemoveTotpStatus = builder.enumType('RemoveTotpStatus', { values: REMOVE_STATUSES });
const RemoveTotpPayload = builder.objectRef<Removed>('RemoveTotpPayload').implement({
  fields: (t) => ({ status: t.expose('status', { type: RemoveTotpStatus }) }),
});

const RegenerateRecoveryCodesStatus = builder.enumType('RegenerateRecoveryCodesStatus', {
  values: REGENERATE_STATUSES,
});
const RegenerateRecoveryCodesPayload = builder.objectRef<Regenerated>('RegenerateRecoveryCodesPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: RegenerateRecoveryCodesStatus }),
    recoveryCodes: t.stringList({
      nullable: true,
      description: 'Only returned here.',
      resolve: ({ recoveryCodes }) => copied(recoveryCodes),
    }),
  }),
});

builder.mutationFields((t) => ({
  startTotpEnrolment: t.field({
    type: StartTotpEnrolmentPayload,
    description: 'Creates a secret for an authenticator app. Takes effect once a code from the app is confirmed.',
    resolve: async (_, __, context) => await start(context),
  }),
  completeTotpEnrolment: t.field({
    type: CompleteTotpEnrolmentPayload,
    description: 'Sets up the authenticator app that generated the code.',
    args: { input: t.arg({ type: CompleteTotpEnrolmentInput, required: true }) },
    resolve: async (_, { input }, context) => await complete(input, context),
  }),
  removeTotp: t.field({
    type: RemoveTotpPayload,
    description: 'Removes the authenticator app of the caller and its recovery codes.',
    resolve: async (_, __, context) => await remove(context),
  }),
  regenerateRecoveryCodes: t.field({
    type: RegenerateRecoveryCodesPayload,
    description: 'Creates new recovery codes and invalidates the previous ones.',
    resolve: async (_, __, context) => await regenerate(context),
  }),
}));

async function start(context: AccountContext): Promise<Started> {
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
}

async function complete(
  { enrolmentId, code }: { readonly enrolmentId: string; readonly code: string },
  context: AccountContext,
): Promise<Completed> {
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
}

async function remove(context: AccountContext): Promise<Removed> {
  const { user } = requireBrowser(context);
  const { account, passwords } = context.core.config;
  if (account.secondFactor === 'required' && passwords.enabled && (await accountOf(user.id, context)).hasPassword)
    return { status: 'REQUIRED_BY_POLICY' };
  requireRecentAuthentication(context);
  const isRemoved = await removeTotp(context.core, own(context));
  context.forget();
  return { status: isRemoved ? 'REMOVED' : 'NOT_ENROLLED' };
}

async function regenerate(context: AccountContext): Promise<Regenerated> {
  requireBrowser(context);
  requireRecentAuthentication(context);
  const recoveryCodes = await regenerateRecoveryCodes(context.core, own(context));
  context.forget();
  return recoveryCodes === undefined ? { status: 'NOT_ENROLLED' } : { status: 'GENERATED', recoveryCodes };
}

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

function copied(codes: readonly string[] | undefined): string[] | undefined {
  return codes === undefined ? undefined : [...codes];
}
