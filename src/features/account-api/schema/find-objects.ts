/**
 * Finds objects by identifier. Objects that the caller may not read do not exist for the caller (account-graphql 2.2).
 */

import type { AccountDetails } from '#domain/accounts/account-details.ts';
import type { EmailAuthenticationId } from '#domain/accounts/email-authentications/email-authentication.ts';
import type { UserEmailId } from '#domain/accounts/list-user-emails.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type {
  BrowserSessionId,
  ClientId,
  CompatSessionId,
  ConsentId,
  OAuth2SessionId,
  PasskeyId,
  TotpEnrolmentId,
  UpstreamLinkId,
  UpstreamProviderId,
  UserId,
} from '#vocabulary/ids.ts';
import type { AccountContext } from '../context/account-context.ts';
import {
  appSessionModel,
  type BrowserSessionModel,
  browserSessionModel,
  type CompatSessionModel,
  type ConnectedApplicationModel,
  type ConsentModel,
  clientModel,
  connectedApplicationModel,
  consentModel,
  linkModel,
  type Oauth2ClientModel,
  type Oauth2SessionModel,
  type PasskeyModel,
  passkeyModel,
  type TotpEnrolmentModel,
  type UpstreamLinkModel,
  type UpstreamProviderModel,
  type UserEmailAuthenticationModel,
  type UserEmailModel,
  type UserModel,
  userEmailAuthenticationModel,
  userEmailModel,
  userModel,
} from './models.ts';

export async function findUser(id: UserId, { caller, load, reads }: AccountContext): Promise<UserModel | undefined> {
  if (reads !== 'anybody' && reads !== id) return undefined;
  if (caller.kind !== 'anonymous' && caller.user?.id === id) return userModel(caller.user);
  const found = await load.accounts(id);
  return found === undefined ? undefined : userModel(found);
}

/** Returns an account that was found before. @throws LatchkeyError `not_found` if it was deleted in the meantime */
export async function accountOf(id: UserId, { load }: AccountContext): Promise<AccountDetails> {
  const found = await load.accounts(id);
  if (found === undefined) throw new LatchkeyError('not_found');
  return found;
}

export async function findBrowserSession(
  id: BrowserSessionId,
  { load }: AccountContext,
): Promise<BrowserSessionModel | undefined> {
  const found = await load.browserSessions(id);
  return found === undefined ? undefined : browserSessionModel(found);
}

export async function findOauth2Session(
  id: OAuth2SessionId,
  { load }: AccountContext,
): Promise<Oauth2SessionModel | undefined> {
  const found = await load.appSessions(id);
  const model = found === undefined ? undefined : appSessionModel(found);
  return model?.type === 'Oauth2Session' ? model : undefined;
}

export async function findCompatSession(
  id: CompatSessionId,
  { load }: AccountContext,
): Promise<CompatSessionModel | undefined> {
  const found = await load.appSessions(id);
  const model = found === undefined ? undefined : appSessionModel(found);
  return model?.type === 'CompatSession' ? model : undefined;
}

/** Every caller may read clients. */
export async function findClient(id: ClientId, { load }: AccountContext): Promise<Oauth2ClientModel | undefined> {
  const found = await load.clients(id);
  return found === undefined ? undefined : clientModel(found);
}

/** Returns undefined if the link's provider is no longer available to users. */
export async function findLink(id: UpstreamLinkId, { load }: AccountContext): Promise<UpstreamLinkModel | undefined> {
  const found = await load.links(id);
  return found === undefined ? undefined : linkModel(found);
}

export async function findPasskey(id: PasskeyId, { load }: AccountContext): Promise<PasskeyModel | undefined> {
  const found = await load.passkeys(id);
  return found === undefined ? undefined : passkeyModel(found);
}

/** Every caller may read the providers that are available to users. */
export async function findProvider(
  id: UpstreamProviderId,
  { core, load }: AccountContext,
): Promise<UpstreamProviderModel | undefined> {
  const provider = core.upstream.providers.find(id);
  const createdAt = provider === undefined ? undefined : await load.providerTimes(provider.id);
  if (provider === undefined || createdAt === undefined) return undefined;
  return { type: 'UpstreamOAuth2Provider', id: provider.id, createdAt, provider };
}

/** The identifier is the client's. The connected application is always the caller's own. */
export async function findConnectedApplication(
  id: ClientId,
  { load }: AccountContext,
): Promise<ConnectedApplicationModel | undefined> {
  const found = await load.connectedClients(id);
  return found === undefined ? undefined : connectedApplicationModel(found);
}

export async function findConsent(id: ConsentId, { load }: AccountContext): Promise<ConsentModel | undefined> {
  const found = await load.consents(id);
  return found === undefined ? undefined : consentModel(found);
}

export async function findUserEmail(id: UserEmailId, { load }: AccountContext): Promise<UserEmailModel | undefined> {
  const found = await load.userEmails(id);
  return found === undefined ? undefined : userEmailModel(found);
}

/** Finds an authentication that the request's browser session started. */
export async function findEmailAuthentication(
  id: EmailAuthenticationId,
  { load }: AccountContext,
): Promise<UserEmailAuthenticationModel | undefined> {
  const found = await load.emailAuthentications(id);
  return found === undefined ? undefined : userEmailAuthenticationModel(found);
}

/** Finds an enrollment that the request's browser session started. */
export async function findTotpEnrolment(
  id: TotpEnrolmentId,
  { load }: AccountContext,
): Promise<TotpEnrolmentModel | undefined> {
  const found = await load.totpEnrolments(id);
  return found === undefined ? undefined : { type: 'TotpEnrolment', ...found };
}
