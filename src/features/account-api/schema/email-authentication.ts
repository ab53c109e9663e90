/** Adding an email address, verified by a code sent to it (account-graphql 5.1). */

import { addVerifiedEmail } from '#domain/account-changes/add-verified-email.ts';
import { beginForSession } from '#domain/accounts/email-authentications/begin-for-session.ts';
import { checkEmailPolicy, emailPolicyOf } from '#domain/accounts/email-authentications/email-policy.ts';
import { findForSession } from '#domain/accounts/email-authentications/find-for-session.ts';
import { resendEmailCode } from '#domain/accounts/email-authentications/resend-email-code.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser } from '../context/authorization.ts';
import { confirmIdentity } from '../context/confirm-identity.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { mailLanguage } from '../context/mail-language.ts';
import { builder } from './builder.ts';
import { emailViolations, tooManyEmails } from './email-violations.ts';
import { findEmailAuthentication } from './find-objects.ts';
import { UserEmailAuthentication, userEmailAuthenticationModel } from './models.ts';
import { mutation } from './mutation.ts';
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

mutation('startEmailAuthentication', {
  description: 'Sends a verification code to an email address to be added.',
  input: (t) => ({
    email: t.string({ required: true }),
    password: t.string({ description: 'Required if the account has a password.' }),
    language: t.string({ required: true, defaultValue: 'en', description: 'Language of the email, as a BCP 47 tag.' }),
  }),
  statuses: ['STARTED', 'INVALID_EMAIL_ADDRESS', 'RATE_LIMITED', 'DENIED', 'IN_USE', 'INCORRECT_PASSWORD'],
  payload: {
    authentication: { type: UserEmailAuthentication },
    violations: { type: ['String'], description: 'Reasons for the denial, in the language of the request.' },
  },
  resolve: async ({ email: typed, password, language }, context) => {
    const { user, session } = requireBrowser(context);
    const { core, browser, request } = context;
    requireChangeable(context);
    const locale = mailLanguage(language, browser.languages);
    const judged = await checkEmailPolicy(typed, emailPolicyOf(core));
    // Forms trim what users type. The page has already done so.
    if (typed !== typed.trim() || (!judged.ok && judged.problems.includes('invalid'))) {
      return { status: 'INVALID_EMAIL_ADDRESS' };
    }
    const confirmation = await confirmIdentity(context, password);
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
  },
});

mutation('resendEmailAuthenticationCode', {
  description: 'Sends a new code and invalidates the previous ones.',
  input: (t) => ({
    id: t.id({ required: true }),
    language: t.string({ required: true, defaultValue: 'en', description: 'Language of the email, as a BCP 47 tag.' }),
  }),
  statuses: ['RESENT', 'COMPLETED', 'RATE_LIMITED'],
  resolve: async ({ id, language }, context) => {
    const { session } = requireBrowser(context);
    const { core, browser, request } = context;
    const authentication = idOf('UserEmailAuthentication', id);
    requireChangeable(context);
    const locale = mailLanguage(language, browser.languages);
    const [found] = await findForSession(core.database, [authentication], session.id, core.clock.now());
    // An abandoned authentication cannot be completed either, like a completed one.
    if (found === undefined || found.state !== 'open') return { status: 'COMPLETED' };
    const deps = { ...core, limits: core.config.rateLimiting };
    const sent = await resendEmailCode(deps, found, request.clientAddress, locale);
    return { status: sent.ok ? 'RESENT' : 'RATE_LIMITED' };
  },
});

mutation('completeEmailAuthentication', {
  description: 'Adds the email address that the code was sent to.',
  input: (t) => ({ id: t.id({ required: true }), code: t.string({ required: true }) }),
  statuses: ['COMPLETED', 'INVALID_CODE', 'CODE_EXPIRED', 'IN_USE', 'RATE_LIMITED'],
  resolve: async ({ id, code }, context) => {
    const { user, session } = requireBrowser(context);
    const { core, browser, request } = context;
    const authentication = idOf('UserEmailAuthentication', id);
    requireChangeable(context);
    const outcome = await addVerifiedEmail(
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
  },
});

function requireChangeable({ core }: AccountContext): void {
  if (!core.config.account.emailChangeAllowed) {
    throw refusal('FEATURE_DISABLED', 'Changing email addresses is disabled (account.email_change_allowed).');
  }
}
