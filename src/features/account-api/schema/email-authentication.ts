/** Adding an email address, verified by a code sent to it (account-graphql 5.1). */

import { addProvenEmail } from '#domain/account-changes/add-proven-email.ts';
import { beginForSession } from '#domain/accounts/email-authentications/begin-for-session.ts';
import { emailPolicyOf, judgeEmail } from '#domain/accounts/email-authentications/email-policy.ts';
import { findForSession } from '#domain/accounts/email-authentications/find-for-session.ts';
import { resendEmailCode } from '#domain/accounts/email-authentications/resend-email-code.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser } from '../context/authorization.ts';
import { confirmPerson } from '../context/confirm-person.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { mailLanguage } from '../context/mail-language.ts';
import { builder } from './builder.ts';
import { emailViolations, tooManyEmails } from './email-violations.ts';
import { findEmailAuthentication } from './find-objects.ts';
import { UserEmailAuthentication, type UserEmailAuthenticationModel, userEmailAuthenticationModel } from './models.ts';
import { CreationEvent, idOf, Node } from './node.ts';

builder.objectType(UserEmailAuthentication, {
  description: 'Verification of an email address with a code.',
  interfaces: [Node, CreationEvent],
  fields: (t) => ({
    email: t.exposeString('email'),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
  }),
});

builder.queryField('userEmailAuthentication', (t) =>
  t.field({
    type: UserEmailAuthentication,
    nullable: true,
    description: 'Email verification started in this browser session.',
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => await findEmailAuthentication(idOf('UserEmailAuthentication', id), context),
  }),
);

const START_STATUSES = [
  'STARTED',
  'INVALID_EMAIL_ADDRESS',
  'RATE_LIMITED',
  'DENIED',
  'IN_USE',
  'INCORRECT_PASSWORD',
] as const;
const COMPLETE_STATUSES = ['COMPLETED', 'INVALID_CODE', 'CODE_EXPIRED', 'IN_USE', 'RATE_LIMITED'] as const;
const RESEND_STATUSES = ['RESENT', 'COMPLETED', 'RATE_LIMITED'] as const;

interface Started {
  readonly status: (typeof START_STATUSES)[number];
  readonly authentication?: UserEmailAuthenticationModel;
  readonly violations?: string[];
}

interface Resent {
  readonly status: (typeof RESEND_STATUSES)[number];
}

interface Completed {
  readonly status: (typeof COMPLETE_STATUSES)[number];
}

const StartEmailAuthenticationStatus = builder.enumType('StartEmailAuthenticationStatus', { values: START_STATUSES });
const StartEmailAuthenticationInput = builder.inputType('StartEmailAuthenticationInput', {
  fields: (t) => ({
    email: t.string({ required: true }),
    password: t.string({ description: 'Required if the account has a password.' }),
    language: t.string({ required: true, defaultValue: 'en', description: 'Language of the email, as a BCP 47 tag.' }),
  }),
});
const StartEmailAuthenticationPayload = builder.objectRef<Started>('StartEmailAuthenticationPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: StartEmailAuthenticationStatus }),
    authentication: t.field({
      type: UserEmailAuthentication,
      nullable: true,
      resolve: ({ authentication }) => authentication,
    }),
    violations: t.stringList({
      nullable: true,
      description: 'Reasons for the denial, in the language of the request.',
      resolve: ({ violations }) => violations,
    }),
  }),
});

const ResendEmailAuthenticationCodeStatus = builder.enumType('ResendEmailAuthenticationCodeStatus', {
  values: RESEND_STATUSES,
});
const ResendEmailAuthenticationCodeInput = builder.inputType('ResendEmailAuthenticationCodeInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    language: t.string({ required: true, defaultValue: 'en', description: 'Language of the email, as a BCP 47 tag.' }),
  }),
});
const ResendEmailAuthenticationCodePayload = builder
  .objectRef<Resent>('ResendEmailAuthenticationCodePayload')
  .implement({ fields: (t) => ({ status: t.expose('status', { type: ResendEmailAuthenticationCodeStatus }) }) });

const CompleteEmailAuthenticationStatus = builder.enumType('CompleteEmailAuthenticationStatus', {
  values: COMPLETE_STATUSES,
});
const CompleteEmailAuthenticationInput = builder.inputType('CompleteEmailAuthenticationInput', {
  fields: (t) => ({ id: t.id({ required: true }), code: t.string({ required: true }) }),
});
const CompleteEmailAuthenticationPayload = builder
  .objectRef<Completed>('CompleteEmailAuthenticationPayload')
  .implement({ fields: (t) => ({ status: t.expose('status', { type: CompleteEmailAuthenticationStatus }) }) });

builder.mutationFields((t) => ({
  startEmailAuthentication: t.field({
    type: StartEmailAuthenticationPayload,
    description: 'Sends a verification code to an email address to be added.',
    args: { input: t.arg({ type: StartEmailAuthenticationInput, required: true }) },
    resolve: async (_, { input }, context) => await start(input, context),
  }),
  resendEmailAuthenticationCode: t.field({
    type: ResendEmailAuthenticationCodePayload,
    description: 'Sends a new code and invalidates the previous ones.',
    args: { input: t.arg({ type: ResendEmailAuthenticationCodeInput, required: true }) },
    resolve: async (_, { input }, context) => await resend(input, context),
  }),
  completeEmailAuthentication: t.field({
    type: CompleteEmailAuthenticationPayload,
    description: 'Adds the email address that the code was sent to.',
    args: { input: t.arg({ type: CompleteEmailAuthenticationInput, required: true }) },
    resolve: async (_, { input }, context) => await complete(input, context),
  }),
}));

interface StartInput {
  readonly email: string;
  readonly password?: string | null | undefined;
  readonly language: string;
}

async function start({ email: typed, password, language }: StartInput, context: AccountContext): Promise<Started> {
  const { user, session } = requireBrowser(context);
  const { core, browser, request } = context;
  requireChangeable(context);
  const locale = mailLanguage(language, browser.languages);
  const judged = await judgeEmail(typed, emailPolicyOf(core));
  // Forms trim what users type. The page has already done so.
  if (typed !== typed.trim() || (!judged.ok && judged.problems.includes('invalid'))) {
    return { status: 'INVALID_EMAIL_ADDRESS' };
  }
  const confirmation = await confirmPerson(context, password);
  if (!confirmation.ok) {
    return { status: confirmation.reason === 'rate-limited' ? 'RATE_LIMITED' : 'INCORRECT_PASSWORD' };
  }
  const translations = browser.pages.language(request);
  if (!judged.ok) return { status: 'DENIED', violations: emailViolations(translations, judged.problems) };

  const { email } = judged;
  const begun = await beginForSession(
    { ...core, limits: core.config.rateLimiting },
    { session: session.id, user: user.id, email, locale, address: request.clientAddress },
  );
  if (begun.ok) {
    const { id, createdAt } = begun;
    const began = { id, email: email.address, createdAt, completedAt: undefined };
    return { status: 'STARTED', authentication: userEmailAuthenticationModel(began) };
  }
  switch (begun.reason) {
    case 'own':
      return { status: 'IN_USE' };
    case 'too-many':
      return { status: 'DENIED', violations: [tooManyEmails(translations)] };
    case 'rate-limited':
      return { status: 'RATE_LIMITED' };
  }
}

async function resend(
  { id: nodeId, language }: { readonly id: string; readonly language: string },
  context: AccountContext,
): Promise<Resent> {
  const { session } = requireBrowser(context);
  const { core, browser, request } = context;
  const id = idOf('UserEmailAuthentication', nodeId);
  requireChangeable(context);
  const locale = mailLanguage(language, browser.languages);
  const [found] = await findForSession(core.database, [id], session.id, core.clock.now());
  // An abandoned authentication cannot be completed either, like a completed one.
  if (found === undefined || found.state !== 'open') return { status: 'COMPLETED' };
  const deps = { ...core, limits: core.config.rateLimiting };
  const sent = await resendEmailCode(deps, found, request.clientAddress, locale);
  return { status: sent.ok ? 'RESENT' : 'RATE_LIMITED' };
}

async function complete(
  { id: nodeId, code }: { readonly id: string; readonly code: string },
  context: AccountContext,
): Promise<Completed> {
  const { user, session } = requireBrowser(context);
  const { core, browser, request } = context;
  const authentication = idOf('UserEmailAuthentication', nodeId);
  requireChangeable(context);
  const outcome = await addProvenEmail(
    { ...core, limits: core.config.rateLimiting },
    {
      session: session.id,
      user: user.id,
      authentication,
      code,
      address: request.clientAddress,
      userAgent: request.userAgent,
      language: browser.pages.language(request).language,
    },
  );
  context.forget();
  switch (outcome) {
    case 'added':
      return { status: 'COMPLETED' };
    case 'wrong':
      return { status: 'INVALID_CODE' };
    case 'late':
      return { status: 'CODE_EXPIRED' };
    case 'in-use':
      return { status: 'IN_USE' };
    case 'rate-limited':
      return { status: 'RATE_LIMITED' };
    case 'too-many':
      throw refusal('FORBIDDEN', 'The account has the maximum number of email addresses.');
  }
}

function requireChangeable({ core }: AccountContext): void {
  if (!core.config.account.emailChangeAllowed) {
    throw refusal('FEATURE_DISABLED', 'Changing email addresses is disabled (account.email_change_allowed).');
  }
}
