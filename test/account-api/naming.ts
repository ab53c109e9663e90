/** Builds argument values that refer to an object of a user, or to an object that does not exist. */
import { isNonNullType } from 'graphql';
import { newId } from '#platform/base/ids.ts';
import { type Owned, PASSWORD } from './owned-objects.ts';
import { type Field, membersOf, type Values, valueOfType } from './schema-walk.ts';

/**
 * The object type that an argument or a member refers to. `id` refers to the field's return type, with the exceptions
 * below.
 */
const TYPE_OF: Readonly<Record<string, string>> = {
  applicationId: 'ConnectedApplication',
  browserSession: 'BrowserSession',
  browserSessionId: 'BrowserSession',
  challengeId: 'PasskeyChallenge',
  compatSessionId: 'CompatSession',
  consentId: 'Consent',
  enrolmentId: 'TotpEnrolment',
  linkId: 'UpstreamOAuth2Link',
  oauth2SessionId: 'Oauth2Session',
  passkeyId: 'Passkey',
  userEmailId: 'UserEmail',
  userId: 'User',
};
const TYPE_OF_ID: Readonly<Record<string, string>> = {
  completeEmailAuthentication: 'UserEmailAuthentication',
  resendEmailAuthenticationCode: 'UserEmailAuthentication',
  node: 'User',
};

/**
 * Returns the ID of the owner's object of a type. @throws Error when there is none; extend `owned-objects.ts` in that
 * case
 */
export function idOfType({ ids }: Owned, type: string): string {
  const id = ids.get(type);
  if (id === undefined) throw new Error(`the owner has no ${type}: owned-objects.ts makes one of each`);
  return id;
}

/** Returns an ID of the same type that does not exist. */
export function absent(id: string): string {
  return id.replace(/:.*/, `:${newId(0)}`);
}

/** Returns the name of a field's return type. */
export function outputOf(field: Field): string {
  return String(field.type).replaceAll(/[[\]!]/g, '');
}

export function isIdentifier({ type }: Pick<ReturnType<typeof membersOf>[number], 'type'>): boolean {
  return String(type).startsWith('ID');
}

/**
 * Returns values for the members of a field that are required or refer to an object.
 * @param of whose objects they refer to
 */
export function naming(owned: Owned, field: Field, of: 'owner' | 'nobody'): Values {
  const texts: Readonly<Record<string, string>> = {
    username: of === 'owner' ? owned.username : 'nobody-at-all',
    deviceId: owned.deviceId,
    password: PASSWORD,
    currentPassword: PASSWORD,
    scope: 'openid',
  };
  return Object.fromEntries(
    membersOf(field).flatMap((member) => {
      const { name, type } = member;
      if (!isIdentifier(member)) return isNonNullType(type) ? [[name, valueOfType(type, texts[name] ?? 'x')]] : [];
      const id = idOfType(owned, typeOfMember(field, name));
      return [[name, of === 'owner' ? id : absent(id)]];
    }),
  );
}

function typeOfMember(field: Field, name: string): string {
  const named = name === 'id' ? (TYPE_OF_ID[field.name] ?? outputOf(field)) : TYPE_OF[name];
  if (named === undefined) throw new Error(`which object ${name} of ${field.name} names is not said in naming.ts`);
  return named;
}
