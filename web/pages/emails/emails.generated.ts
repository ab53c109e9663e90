// Written by scripts/generate-reference.js from emails.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type VerifyEmailData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly emails: { readonly nodes: readonly ({ readonly id: string; readonly email: string })[] } }; readonly userEmailAuthentication: { readonly id: string; readonly email: string; readonly completedAt: string | null } | null };

export type VerifyEmailVariables = { readonly id: string };

export const VerifyEmail: TypedDocumentNode<VerifyEmailData, VerifyEmailVariables> = /* @__PURE__ */ gql(
  "query VerifyEmail($id:ID!){viewer{__typename ...on User{id emails(first:100){nodes{id email}}}}userEmailAuthentication(id:$id){id email completedAt}}",
);

export type DoVerifyEmailData = { readonly completeEmailAuthentication: { readonly status: 'CODE_EXPIRED' | 'COMPLETED' | 'INVALID_CODE' | 'IN_USE' | 'RATE_LIMITED' } };

export type DoVerifyEmailVariables = { readonly id: string; readonly code: string };

export const DoVerifyEmail: TypedDocumentNode<DoVerifyEmailData, DoVerifyEmailVariables> = /* @__PURE__ */ gql(
  "mutation DoVerifyEmail($id:ID!$code:String!){completeEmailAuthentication(input:{id:$id code:$code}){status}}",
);

export type ResendEmailAuthenticationCodeData = { readonly resendEmailAuthenticationCode: { readonly status: 'COMPLETED' | 'RATE_LIMITED' | 'RESENT' } };

export type ResendEmailAuthenticationCodeVariables = { readonly id: string; readonly language: string };

export const ResendEmailAuthenticationCode: TypedDocumentNode<ResendEmailAuthenticationCodeData, ResendEmailAuthenticationCodeVariables> = /* @__PURE__ */ gql(
  "mutation ResendEmailAuthenticationCode($id:ID!$language:String!){resendEmailAuthenticationCode(input:{id:$id language:$language}){status}}",
);
