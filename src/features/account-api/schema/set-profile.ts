/** What users enter about themselves, for the scope `profile` (account-graphql 5.3). */
import { setProfile } from '#domain/accounts/set-profile.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { actorOf } from '../context/actor.ts';
import { requireSelf } from '../context/authorization.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { recordIfAdministrator } from '../context/record-action.ts';
import { builder } from './builder.ts';
import { accountOf, findUser } from './find-objects.ts';
import { User } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf } from './node.ts';

builder.objectFields(User, (t) => ({
  givenName: t.string({
    nullable: true,
    description: 'Given name, as entered by the user.',
    resolve: async ({ id }, _, context) => (await accountOf(id, context)).givenName,
  }),
  familyName: t.string({
    nullable: true,
    description: 'Family name, as entered by the user.',
    resolve: async ({ id }, _, context) => (await accountOf(id, context)).familyName,
  }),
  timeZone: t.string({
    nullable: true,
    description: 'Time zone: a name from the IANA time zone database.',
    resolve: async ({ id }, _, context) => (await accountOf(id, context)).timeZone,
  }),
  language: t.string({
    nullable: true,
    description: 'Language of emails (BCP 47), chosen by the user or used on the last viewed page.',
    resolve: async ({ id }, _, context) => (await accountOf(id, context)).language,
  }),
  languageChosen: t.boolean({
    description: 'Whether the user chose the language.',
    resolve: async ({ id }, _, context) => (await accountOf(id, context)).isLanguageChosen,
  }),
}));

const STATUS_OF = {
  set: 'SET',
  'invalid-given-name': 'INVALID_GIVEN_NAME',
  'invalid-family-name': 'INVALID_FAMILY_NAME',
  'invalid-time-zone': 'INVALID_TIME_ZONE',
} as const;

/** Names of the changed members, for the audit log. */
const MEMBERS = { givenName: 'given_name', familyName: 'family_name', timeZone: 'time_zone', language: 'language' };

mutation('setProfile', {
  description: 'Sets what a user enters about themselves. Absent values stay as they are; null removes a value.',
  input: (t) => ({
    userId: t.id({ required: true }),
    givenName: t.string({ description: 'At most 255 characters.' }),
    familyName: t.string({ description: 'At most 255 characters.' }),
    timeZone: t.string({ description: 'A name from the IANA time zone database.' }),
    language: t.string({
      description: 'One of the installed languages (BCP 47); null: the language of the last viewed page.',
    }),
  }),
  statuses: ['INVALID_FAMILY_NAME', 'INVALID_GIVEN_NAME', 'INVALID_LANGUAGE', 'INVALID_TIME_ZONE', 'SET'],
  payload: { user: { type: User } },
  resolve: async ({ userId, ...values }, context) => {
    const id = idOf('User', userId);
    requireSelf(context, id);
    const { browser, core, reads } = context;
    const { language, ...claims } = values;
    const changesClaims = Object.values(claims).some((value) => value !== undefined);
    if (reads !== 'anybody' && changesClaims && !core.config.account.profileChangeAllowed)
      throw refusal('FEATURE_DISABLED', 'changing the profile is disabled');
    const user = await findUser(id, context);
    if (user === undefined) throw new LatchkeyError('not_found');
    if (typeof language === 'string' && !browser.languages.includes(language))
      return { status: 'INVALID_LANGUAGE', user };
    const changed = Object.entries(MEMBERS).flatMap(([name, member]) => (name in values ? [member] : []));
    const action = { operation: 'setProfile', target: { type: 'user', id, userId: id }, changed };
    const record = recordIfAdministrator(context, action);
    const outcome = await setProfile(core, { user: id, values, by: actorOf(context, id), record });
    context.forget();
    return { status: STATUS_OF[outcome], user };
  },
});
