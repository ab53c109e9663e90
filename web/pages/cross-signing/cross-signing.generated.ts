// Written by scripts/generate-reference.js from cross-signing.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type AllowCrossSigningResetData = { readonly allowUserCrossSigningReset: { readonly user: { readonly id: string } | null } };

export type AllowCrossSigningResetVariables = { readonly userId: string };

export const AllowCrossSigningReset: TypedDocumentNode<AllowCrossSigningResetData, AllowCrossSigningResetVariables> = /* @__PURE__ */ gql(
  "mutation AllowCrossSigningReset($userId:ID!){allowUserCrossSigningReset(input:{userId:$userId}){user{id}}}",
);
