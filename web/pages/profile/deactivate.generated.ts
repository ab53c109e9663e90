// Written by scripts/generate-reference.js from deactivate.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type DeactivateUserData = { readonly deactivateUser: { readonly status: 'DEACTIVATED' | 'INCORRECT_PASSWORD' } };

export type DeactivateUserVariables = { readonly hsErase: boolean; readonly password?: string | null | undefined };

export const DeactivateUser: TypedDocumentNode<DeactivateUserData, DeactivateUserVariables> = /* @__PURE__ */ gql(
  "mutation DeactivateUser($hsErase:Boolean!$password:String){deactivateUser(input:{hsErase:$hsErase password:$password}){status}}",
);
