/** What users can read about their authenticator apps and recovery codes (account-graphql 7.2). */
import type { RecoveryCodeFacts, TotpFacts } from '#domain/one-time-codes/find-one-time-codes.ts';
import { builder } from './builder.ts';
import { TotpEnrolment, User } from './models.ts';
import { CreationEvent, Node } from './node.ts';

const Totp = builder.objectRef<TotpFacts>('Totp').implement({
  description: 'An authenticator app, whose codes are asked for at sign-in.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
  }),
});

const RecoveryCodes = builder.objectRef<RecoveryCodeFacts>('RecoveryCodes').implement({
  description: 'Codes that are good for one sign-in each when the authenticator app is lost.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    total: t.exposeInt('total'),
    remaining: t.exposeInt('remaining', { description: 'Those that were not used.' }),
  }),
});

builder.objectType(TotpEnrolment, {
  description: 'An authenticator app that is being set up.',
  interfaces: [Node, CreationEvent],
});

builder.objectFields(User, (t) => ({
  totp: t.field({
    type: Totp,
    nullable: true,
    description: 'Null while no authenticator app is set up.',
    resolve: async ({ id }, _, { load }) => (await load.oneTimeCodes(id)).totp,
  }),
  recoveryCodes: t.field({
    type: RecoveryCodes,
    nullable: true,
    description: 'Null while there are none.',
    resolve: async ({ id }, _, { load }) => (await load.oneTimeCodes(id)).recoveryCodes,
  }),
}));
