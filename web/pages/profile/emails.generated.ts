// Written by scripts/generate-reference.js from emails.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type UserEmailListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly emails: { readonly nodes: readonly ({ readonly id: string; readonly email: string; readonly isPrimary: boolean })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type UserEmailListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined };

export const UserEmailList: TypedDocumentNode<UserEmailListData, UserEmailListVariables> = /* @__PURE__ */ gql(
  "query UserEmailList($first:Int$after:String$last:Int$before:String){viewer{__typename ...on User{id emails(first:$first after:$after last:$last before:$before){nodes{id email isPrimary}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}",
);

export type AddEmailData = { readonly startEmailAuthentication: { readonly status: 'DENIED' | 'INCORRECT_PASSWORD' | 'INVALID_EMAIL_ADDRESS' | 'IN_USE' | 'RATE_LIMITED' | 'STARTED'; readonly violations: readonly (string)[] | null; readonly authentication: { readonly id: string } | null } };

export type AddEmailVariables = { readonly email: string; readonly password?: string | null | undefined; readonly language: string };

export const AddEmail: TypedDocumentNode<AddEmailData, AddEmailVariables> = /* @__PURE__ */ gql(
  "mutation AddEmail($email:String!$password:String$language:String!){startEmailAuthentication(input:{email:$email password:$password language:$language}){status violations authentication{id}}}",
);

export type SetPrimaryEmailData = { readonly setPrimaryEmail: { readonly status: 'NOT_FOUND' | 'SET' | 'UNVERIFIED'; readonly user: { readonly id: string } | null } };

export type SetPrimaryEmailVariables = { readonly id: string };

export const SetPrimaryEmail: TypedDocumentNode<SetPrimaryEmailData, SetPrimaryEmailVariables> = /* @__PURE__ */ gql(
  "mutation SetPrimaryEmail($id:ID!){setPrimaryEmail(input:{userEmailId:$id}){status user{id}}}",
);

export type RemoveEmailData = { readonly removeEmail: { readonly status: 'INCORRECT_PASSWORD' | 'NOT_FOUND' | 'REMOVED'; readonly user: { readonly id: string } | null } };

export type RemoveEmailVariables = { readonly id: string; readonly password?: string | null | undefined };

export const RemoveEmail: TypedDocumentNode<RemoveEmailData, RemoveEmailVariables> = /* @__PURE__ */ gql(
  "mutation RemoveEmail($id:ID!$password:String){removeEmail(input:{userEmailId:$id password:$password}){status user{id}}}",
);
