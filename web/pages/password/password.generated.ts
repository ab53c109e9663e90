// Written by scripts/generate-reference.js from password.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type PasswordChangeData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string; readonly hasPassword: boolean }; readonly siteConfig: { readonly id: string; readonly passwordChangeAllowed: boolean; readonly minimumPasswordComplexity: number } };

export type PasswordChangeVariables = { readonly [name: string]: never };

export const PasswordChange: TypedDocumentNode<PasswordChangeData, PasswordChangeVariables> = /* @__PURE__ */ gql(
  "query PasswordChange{viewer{__typename ...on User{id username hasPassword}}siteConfig{id passwordChangeAllowed minimumPasswordComplexity}}",
);

export type ChangePasswordData = { readonly setPassword: { readonly status: 'ACCOUNT_LOCKED' | 'ALLOWED' | 'EXPIRED_RECOVERY_TICKET' | 'INVALID_NEW_PASSWORD' | 'NOT_ALLOWED' | 'NOT_FOUND' | 'NO_CURRENT_PASSWORD' | 'NO_SUCH_RECOVERY_TICKET' | 'PASSWORD_CHANGES_DISABLED' | 'RECOVERY_TICKET_ALREADY_USED' | 'WRONG_PASSWORD'; readonly suggestions: readonly (string)[] | null } };

export type ChangePasswordVariables = { readonly userId: string; readonly oldPassword: string; readonly newPassword: string; readonly keepOtherSessions?: boolean | null | undefined; readonly endApplicationSessions?: boolean | null | undefined };

export const ChangePassword: TypedDocumentNode<ChangePasswordData, ChangePasswordVariables> = /* @__PURE__ */ gql(
  "mutation ChangePassword($userId:ID!$oldPassword:String!$newPassword:String!$keepOtherSessions:Boolean$endApplicationSessions:Boolean){setPassword(input:{userId:$userId currentPassword:$oldPassword newPassword:$newPassword keepOtherSessions:$keepOtherSessions endApplicationSessions:$endApplicationSessions}){status suggestions}}",
);

export type PasswordRecoveryData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string }; readonly viewerSession: { readonly __typename: 'Anonymous' | 'Oauth2Session' } | { readonly __typename: 'BrowserSession'; readonly id: string }; readonly siteConfig: { readonly id: string; readonly minimumPasswordComplexity: number }; readonly userRecoveryTicket: { readonly id: string; readonly status: 'CONSUMED' | 'EXPIRED' | 'VALID'; readonly username: string; readonly email: string } | null };

export type PasswordRecoveryVariables = { readonly ticket: string };

export const PasswordRecovery: TypedDocumentNode<PasswordRecoveryData, PasswordRecoveryVariables> = /* @__PURE__ */ gql(
  "query PasswordRecovery($ticket:String!){viewer{__typename ...on User{id username}}viewerSession{__typename ...on BrowserSession{id}}siteConfig{id minimumPasswordComplexity}userRecoveryTicket(ticket:$ticket){id status username email}}",
);

export type RecoverPasswordData = { readonly setPasswordByRecovery: { readonly status: 'ACCOUNT_LOCKED' | 'ALLOWED' | 'EXPIRED_RECOVERY_TICKET' | 'INVALID_NEW_PASSWORD' | 'NOT_ALLOWED' | 'NOT_FOUND' | 'NO_CURRENT_PASSWORD' | 'NO_SUCH_RECOVERY_TICKET' | 'PASSWORD_CHANGES_DISABLED' | 'RECOVERY_TICKET_ALREADY_USED' | 'WRONG_PASSWORD'; readonly suggestions: readonly (string)[] | null } };

export type RecoverPasswordVariables = { readonly ticket: string; readonly newPassword: string; readonly endAllSessions?: boolean | null | undefined };

export const RecoverPassword: TypedDocumentNode<RecoverPasswordData, RecoverPasswordVariables> = /* @__PURE__ */ gql(
  "mutation RecoverPassword($ticket:String!$newPassword:String!$endAllSessions:Boolean){setPasswordByRecovery(input:{ticket:$ticket newPassword:$newPassword endAllSessions:$endAllSessions}){status suggestions}}",
);

export type ResendRecoveryEmailData = { readonly resendRecoveryEmail: { readonly status: 'NO_SUCH_RECOVERY_TICKET' | 'RATE_LIMITED' | 'SENT'; readonly progressUrl: string | null } };

export type ResendRecoveryEmailVariables = { readonly ticket: string };

export const ResendRecoveryEmail: TypedDocumentNode<ResendRecoveryEmailData, ResendRecoveryEmailVariables> = /* @__PURE__ */ gql(
  "mutation ResendRecoveryEmail($ticket:String!){resendRecoveryEmail(input:{ticket:$ticket}){status progressUrl}}",
);
