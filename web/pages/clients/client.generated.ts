// Written by scripts/generate-reference.js from client.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type OAuth2ClientData = { readonly viewer: { readonly __typename: 'Anonymous' | 'User' }; readonly oauth2Client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly clientUri: string | null; readonly logoUri: string | null; readonly isVerified: boolean; readonly tosUri: string | null; readonly policyUri: string | null } | null };

export type OAuth2ClientVariables = { readonly id: string };

export const OAuth2Client: TypedDocumentNode<OAuth2ClientData, OAuth2ClientVariables> = /* @__PURE__ */ gql(
  "query OAuth2Client($id:ID!){viewer{__typename}oauth2Client(id:$id){id clientId clientName clientUri logoUri isVerified tosUri policyUri}}",
);
