// Written by scripts/generate-reference.js from profile.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type UserProfileData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly username: string; readonly createdAt: string; readonly hasPassword: boolean; readonly givenName: string | null; readonly familyName: string | null; readonly timeZone: string | null; readonly language: string | null; readonly languageChosen: boolean; readonly matrix: { readonly displayName: string | null; readonly available: boolean } }; readonly siteConfig: { readonly id: string; readonly serverName: string; readonly emailChangeAllowed: boolean; readonly passwordLoginEnabled: boolean; readonly passwordChangeAllowed: boolean; readonly displayNameChangeAllowed: boolean; readonly profileChangeAllowed: boolean; readonly languages: readonly (string)[]; readonly accountDeactivationAllowed: boolean; readonly dataExportEnabled: boolean }; readonly upstreamOauth2Providers: { readonly nodes: readonly ({ readonly id: string })[] } };

export type UserProfileVariables = { readonly [name: string]: never };

export const UserProfile: TypedDocumentNode<UserProfileData, UserProfileVariables> = /* @__PURE__ */ gql(
  "query UserProfile{viewer{__typename ...on User{id username createdAt hasPassword givenName familyName timeZone language languageChosen matrix{displayName available}}}siteConfig{id serverName emailChangeAllowed passwordLoginEnabled passwordChangeAllowed displayNameChangeAllowed profileChangeAllowed languages accountDeactivationAllowed dataExportEnabled}upstreamOauth2Providers(first:1){nodes{id}}}",
);

export type SetDisplayNameData = { readonly setDisplayName: { readonly status: 'INVALID' | 'SET' } };

export type SetDisplayNameVariables = { readonly userId: string; readonly displayName?: string | null | undefined };

export const SetDisplayName: TypedDocumentNode<SetDisplayNameData, SetDisplayNameVariables> = /* @__PURE__ */ gql(
  "mutation SetDisplayName($userId:ID!$displayName:String){setDisplayName(input:{userId:$userId displayName:$displayName}){status}}",
);

export type SetProfileData = { readonly setProfile: { readonly status: 'INVALID_FAMILY_NAME' | 'INVALID_GIVEN_NAME' | 'INVALID_LANGUAGE' | 'INVALID_TIME_ZONE' | 'SET' } };

export type SetProfileVariables = { readonly userId: string; readonly givenName?: string | null | undefined; readonly familyName?: string | null | undefined; readonly timeZone?: string | null | undefined; readonly language?: string | null | undefined };

export const SetProfile: TypedDocumentNode<SetProfileData, SetProfileVariables> = /* @__PURE__ */ gql(
  "mutation SetProfile($userId:ID!$givenName:String$familyName:String$timeZone:String$language:String){setProfile(input:{userId:$userId givenName:$givenName familyName:$familyName timeZone:$timeZone language:$language}){status}}",
);
