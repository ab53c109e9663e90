/** What users can read about their authenticator apps and recovery codes (account-graphql 7.2). */
import type { RecoveryCodeFacts, TotpFacts } from '#domain/second-factors/find-one-time-codes.ts';
import { builder } from './builder.ts';
import { TotpEnrolment, User } from './models.ts';
import { CreationEvent, Node } from './node.ts';

const Totp = builder.objectRef<TotpFacts>('Totp').implement({
  description: 'Authenticator app, used as a second factor.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
  }),
});

const RecoveryCodes = builder.objectRef<RecoveryCodeFacts>('RecoveryCodes').implement({
  description: 'Single-use codes for signing in if the authenticator app is lost.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    total: t.exposeInt('total'),
    remaining: t.exposeInt('remaining', { description: 'Number of unused codes.' }),
  }),
});

builder.objectType(TotpEnrolment, {
  description: 'Authenticator app that is being set up.',
  interfaces: [Node, CreationEvent],
});

builder.objectFields(User, (t) => ({
  totp: t.field({
    type: Totp,
    nullable: true,
    description: 'Null if no authenticator app is set up.',
    resolve: async ({ id }, _, { load }) => (await load.oneTimeCodes(id)).totp,
  }),
  recoveryCodes: t.field({
    type: RecoveryCodes,
    nullable: true,
    description: 'Null if the user has no recovery codes.',
    resolve: async ({ id }, _, { load }) => (await load.oneTimeCodes(id)).recoveryCodes,
  }),
}));
