// Written by scripts/generate-reference.js from passkeys.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type PasskeyListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly passkeys: { readonly nodes: readonly ({ readonly id: string; readonly name: string; readonly createdAt: string; readonly lastUsedAt: string | null; readonly backedUp: boolean; readonly providerName: string | null })[] } }; readonly siteConfig: { readonly id: string; readonly passkeysEnabled: boolean } };

export type PasskeyListVariables = { readonly [name: string]: never };

export const PasskeyList: TypedDocumentNode<PasskeyListData, PasskeyListVariables> = /* @__PURE__ */ gql(
  "query PasskeyList{viewer{__typename ...on User{id passkeys(first:20){nodes{id name createdAt lastUsedAt backedUp providerName}}}}siteConfig{id passkeysEnabled}}",
);

export type StartPasskeyRegistrationData = { readonly startPasskeyRegistration: { readonly status: 'DISABLED' | 'LIMIT_REACHED' | 'STARTED'; readonly challengeId: string | null; readonly options: unknown | null } };

export type StartPasskeyRegistrationVariables = { readonly [name: string]: never };

export const StartPasskeyRegistration: TypedDocumentNode<StartPasskeyRegistrationData, StartPasskeyRegistrationVariables> = /* @__PURE__ */ gql(
  "mutation StartPasskeyRegistration{startPasskeyRegistration(input:{}){status challengeId options}}",
);

export type CompletePasskeyRegistrationData = { readonly completePasskeyRegistration: { readonly status: 'ADDED' | 'ALREADY_REGISTERED' | 'EXPIRED' | 'INVALID_RESPONSE' | 'LIMIT_REACHED' } };

export type CompletePasskeyRegistrationVariables = { readonly challengeId: string; readonly response: unknown };

export const CompletePasskeyRegistration: TypedDocumentNode<CompletePasskeyRegistrationData, CompletePasskeyRegistrationVariables> = /* @__PURE__ */ gql(
  "mutation CompletePasskeyRegistration($challengeId:ID!$response:Json!){completePasskeyRegistration(input:{challengeId:$challengeId response:$response}){status}}",
);

export type SetPasskeyNameData = { readonly setPasskeyName: { readonly status: 'NOT_FOUND' | 'UPDATED' } };

export type SetPasskeyNameVariables = { readonly passkeyId: string; readonly name: string };

export const SetPasskeyName: TypedDocumentNode<SetPasskeyNameData, SetPasskeyNameVariables> = /* @__PURE__ */ gql(
  "mutation SetPasskeyName($passkeyId:ID!$name:String!){setPasskeyName(input:{passkeyId:$passkeyId name:$name}){status}}",
);

export type RemovePasskeyData = { readonly removePasskey: { readonly status: 'LAST_LOGIN_METHOD' | 'NOT_FOUND' | 'REMOVED' } };

export type RemovePasskeyVariables = { readonly passkeyId: string };

export const RemovePasskey: TypedDocumentNode<RemovePasskeyData, RemovePasskeyVariables> = /* @__PURE__ */ gql(
  "mutation RemovePasskey($passkeyId:ID!){removePasskey(input:{passkeyId:$passkeyId}){status}}",
);
